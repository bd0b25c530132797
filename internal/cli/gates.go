package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/reports"
)

// gates are the thresholds that decide about the exit code, and the file that tells of them.
type gates struct {
	failIf     []string
	junit      string
	conditions []gate.Condition
	file       *file // of junit; nil without
}

func (g *gates) flags(f *pflag.FlagSet, example string) {
	f.StringArrayVar(&g.failIf, "fail-if", nil, "`threshold` to fail beyond, such as '"+example+"'; repeatable")
	f.StringVar(&g.junit, "junit", "", "`file` for the verdicts as JUnit XML")
}

// open understands the thresholds and makes the file, before anything takes time.
func (g *gates) open(parse func(string) (gate.Condition, error)) (err error) {
	g.conditions, err = gate.ParseAll(g.failIf, parse)
	switch {
	case err != nil:
		return badInput("--fail-if: %w", err)
	case g.junit == "":
		return nil
	}
	if g.file, err = newFile(g.junit); err != nil {
		return &failure{code: codeOf(err), err: fmt.Errorf("--junit: %w", err), hint: hintOf(err)}
	}
	return nil
}

// wanted tells that somebody asked for verdicts.
func (g *gates) wanted() bool { return g.file != nil || len(g.conditions) > 0 }

var errNothingSaid = errors.New("nothing has been said about the verdicts")

// close ends the file if nothing has been said about the verdicts.
func (g *gates) close() {
	if g.file != nil {
		_ = g.file.finish(errNothingSaid)
	}
}

// judge tells how stored points fare, and is nil when nothing is beyond a threshold.
func (g *gates) judge(out io.Writer, set *results.Set) error {
	verdicts := gate.Judge(set, g.conditions)
	objectives := gate.JudgeObjectives(set)
	tellObjectives(out, objectives)
	err := g.tell(out, verdicts, append(gate.Endings(set), objectives...))
	if n := gate.Failures(objectives); n > 0 && err == nil {
		return &failure{code: exitGate, err: fmt.Errorf("%s of objectives: see above", counted(n, "failure"))}
	}
	return err
}

// judgeChanges tells how the second side of a comparison fares.
func (g *gates) judgeChanges(out io.Writer, a, b reports.Side, named []string) error {
	return g.tell(out, gate.Changes(reports.Pairs(a, b, named...), g.conditions), nil)
}

// tell writes verdicts for people and, with what else belongs there, for machines.
func (g *gates) tell(out io.Writer, verdicts, besides []gate.Verdict) error {
	for _, c := range g.conditions {
		tellOf(out, "gate", c.Text, verdicts)
	}
	if g.file != nil {
		f := g.file
		g.file = nil
		if err := f.finish(gate.WriteJUnit(f, append(besides, verdicts...))); err != nil {
			return &failure{code: codeOf(err), err: fmt.Errorf("--junit: %w", err), hint: hintOf(err)}
		}
	}
	if n := gate.Failures(verdicts); n > 0 {
		return &failure{code: exitGate, err: fmt.Errorf("%s of --fail-if: see above", counted(n, "failure"))}
	}
	return nil
}

// tellObjectives tells of each objective how many loads reach it, and which don't.
func tellObjectives(out io.Writer, verdicts []gate.Verdict) {
	var conditions []string
	for _, v := range verdicts {
		if !slices.Contains(conditions, v.Condition) {
			conditions = append(conditions, v.Condition)
		}
	}
	for _, c := range conditions {
		tellOf(out, "objective", c, verdicts)
	}
}

// fewVerdicts is how many of one condition are shown one by one; beyond that only those that failed.
const fewVerdicts = 20

func tellOf(out io.Writer, what, condition string, verdicts []gate.Verdict) {
	count := map[gate.Outcome]int{}
	var of []gate.Verdict
	for _, v := range verdicts {
		if v.Condition == condition {
			of = append(of, v)
			count[v.Outcome]++
		}
	}
	var parts []string
	for _, o := range []gate.Outcome{gate.Failed, gate.Undecided, gate.Skipped, gate.Passed} {
		if count[o] > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", o, count[o]))
		}
	}
	fmt.Fprintf(out, "%s %s: %s\n", what, condition, strings.Join(parts, ", "))
	for _, v := range of {
		if v.Outcome == gate.Failed || v.Outcome == gate.Undecided || len(of) <= fewVerdicts {
			fmt.Fprintf(out, "  %-7s  %s: %s\n", v.Outcome, oneLine(v.Point), oneLine(v.Text))
		}
	}
}

// oneLine keeps a label from writing lines of its own.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}
