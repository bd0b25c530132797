package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/brokermark/brokermark/internal/advise"
	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/render"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

// gates are the thresholds of --fail-if, such as 'e2e_p99 > 50ms', and the file of --junit for the verdicts on them. Results
// beyond a threshold end the program with the exit code 7.
type gates struct {
	failIf       []string
	junit        string // path; "": no file
	allowMissing bool   // a workload or a rate that only one side of a comparison has is no failure
	conditions   []gate.Condition
	file         *file // at junit, until the verdicts are written; nil without
}

func (g *gates) flags(f *pflag.FlagSet, example string) {
	g.thresholds(f, "`threshold` to fail beyond, such as '"+example+"'; repeatable")
	f.Var((*fileName)(&g.junit), "junit", "`file` for the verdicts as JUnit XML")
}

// thresholds adds the flag of thresholds alone, for a command that judges nothing.
func (g *gates) thresholds(f *pflag.FlagSet, doc string) {
	f.StringArrayVar(&g.failIf, "fail-if", nil, doc)
}

// answerable refuses thresholds that no point of a plan has a figure for. Points that are refused have none; if all are, there is
// nothing to judge in any case.
func (g *gates) answerable(points []study.Point, refused map[string]string) error {
	left := slices.DeleteFunc(slices.Clone(points), func(p study.Point) bool { return refused[p.ID] != "" })
	if err := gate.Unanswerable(left, g.conditions); err != nil {
		return badInput("--fail-if: %w", err)
	}
	return nil
}

// open parses the thresholds and creates the file, before anything takes time.
func (g *gates) open(parse func(string) (gate.Condition, error)) (err error) {
	if g.conditions, err = gate.ParseAll(g.failIf, parse); err != nil {
		return badInput("--fail-if: %w", err)
	}
	if g.junit == "" {
		return nil
	}
	if g.file, err = newFile(g.junit); err != nil {
		return fmt.Errorf("--junit: %w", err)
	}
	return nil
}

// wanted reports whether verdicts are asked for.
func (g *gates) wanted() bool { return g.file != nil || len(g.conditions) > 0 }

// close removes the file if no verdicts have been written to it.
func (g *gates) close() {
	if g.file != nil {
		_ = g.file.finish(errors.New("there are no verdicts"))
	}
}

// judge tells the verdicts on stored points, by the thresholds and by the objectives in their specs, those of the contenders that advise has
// not chosen left out. It returns an error if one failed.
func (g *gates) judge(out io.Writer, set *results.Set) error {
	lost := advise.Lost(set.Records)
	objectives := gate.JudgeObjectives(&results.Set{Points: slices.DeleteFunc(slices.Clone(set.Points), func(p results.Point) bool { return lost[p.ID] })})
	for _, c := range lists.AddNew(nil, lists.Map(objectives, func(v gate.Verdict) string { return v.Condition })...) {
		tellVerdicts(out, "objective", c, objectives)
	}
	if err := g.tell(out, gate.Judge(set, g.conditions), append(gate.Endings(set), objectives...)); err != nil {
		return err
	}
	return failedGates(objectives, "objectives")
}

// tell prints verdicts on the thresholds, and writes them to the file together with further ones. It returns an error if one failed.
func (g *gates) tell(out io.Writer, verdicts, further []gate.Verdict) error {
	for _, c := range g.conditions {
		tellVerdicts(out, "gate", c.Text, verdicts)
	}
	if f := g.file; f != nil {
		g.file = nil
		if err := f.finish(gate.WriteJUnit(f, append(further, verdicts...))); err != nil {
			return fmt.Errorf("--junit: %w", err)
		}
	}
	return failedGates(verdicts, "--fail-if")
}

// failedGates returns an error if a verdict is a failure. of names the conditions.
func failedGates(verdicts []gate.Verdict, of string) error {
	if n := gate.Failures(verdicts); n > 0 {
		return &failure{code: exitGate, err: fmt.Errorf("%s of %s: see above", unit.Counted(n, "failure"), of)}
	}
	return nil
}

// fewVerdicts is how many verdicts on one condition are printed one by one. Of more than that only those that failed are.
const fewVerdicts = 20

// tellVerdicts prints how many verdicts on a condition have each outcome, and single ones. what is the condition's kind.
func tellVerdicts(out io.Writer, what, condition string, verdicts []gate.Verdict) {
	count := map[gate.Outcome]int{}
	ofCondition := lists.Filter(verdicts, func(v gate.Verdict) bool { return v.Condition == condition })
	for _, v := range ofCondition {
		count[v.Outcome]++
	}
	every := []gate.Outcome{gate.Failed, gate.Undecided, gate.Skipped, gate.Passed}
	seen := lists.Filter(every, func(o gate.Outcome) bool { return count[o] > 0 })
	parts := lists.Map(seen, func(o gate.Outcome) string { return fmt.Sprintf("%s %d", o, count[o]) })
	fmt.Fprintf(out, "%s %s: %s\n", what, condition, strings.Join(parts, ", "))
	for _, v := range ofCondition {
		if v.Outcome == gate.Failed || v.Outcome == gate.Undecided || len(ofCondition) <= fewVerdicts {
			fmt.Fprintf(out, "  %-7s  %s: %s\n", v.Outcome, render.Line(v.Point), render.Line(v.Text))
		}
	}
}
