package cli

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/brokermark/brokermark/internal/advise"
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/explain"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
	"github.com/brokermark/brokermark/internal/verdict"
	"github.com/brokermark/brokermark/reports"
)

// explainsHere refuses --explain with agents.
func (w *workload) explainsHere(a agents) error {
	if w.explain && a.count != "" {
		return badInput("--explain: not with --agents: it shows whether the rate moves with the generator of this machine")
	}
	return nil
}

// explainPlan says what --explain adds to a plan; "" without it.
func (w *workload) explainPlan(p plan) string {
	if !w.explain {
		return ""
	}
	n := w.explainedRepeats(p)
	each := time.Duration(float64(n) * repetitionSeconds(p.points[0].Spec) * float64(time.Second))
	return fmt.Sprintf("Then --explain repeats the point without and with one or two changes of what was its limit, %s each: about %s to %s more.",
		unit.Counted(n, "repetition"), span(2*each), span(3*each))
}

// explainable refuses --explain for a plan of which the limit can't be explained.
func (w *workload) explainable(p plan) error {
	points := p.different()
	spec := points[0].Spec
	closed := []string{study.MeasurePeak, study.MeasureCount, study.MeasureRate, study.MeasureSustainable}
	switch {
	case !w.explain:
		return nil
	case len(points) > 1:
		return hinted(badInput("--explain: %d points; allowed: one", len(points)), "one value for each setting, such as --size 1KiB, chooses a point")
	case !slices.Contains(closed, spec.Measure):
		return badInput("--explain: measure: %s has no limit that is named; allowed: peak, count, rate and sustainable", spec.Measure)
	case spec.Pipeline != nil:
		return badInput("--explain: a pipeline has no limit that is named; allowed: points without one")
	case spec.Generator != "":
		return badInput("--explain: generator: %s has no limit that is named; allowed: the generator of brokermark", spec.Generator)
	case len(spec.Faults) > 0:
		return badInput("--explain: faults change the rate as well; allowed: points without faults")
	}
	return nil
}

// explained is what run needs to know of an explanation, which is a study of its own: its repetitions are none of the point's.
type explained struct {
	about   explain.Case
	untried []string // changes that can't be made, and why
	silent  bool     // only records are wanted on stdout
	first   string   // a line before the first repetition

	open *store.Store
}

// explainRun shows whether the limit of a plan's only point moves, when its repetitions are stored.
func (s *shell) explainRun(ctx context.Context, o runOptions, p plan) error {
	point := p.different()[0]
	here := advise.Origin{Host: lab.HostFacts(), Tool: toolVersion()}
	all, err := storedIn(ctx, o.store, store.Filter{PointIDs: p.pointIDs()})
	if err != nil {
		return err
	}
	own, _ := here.Split(all)
	ok := slices.DeleteFunc(results.Latest(own), func(r store.Record) bool { return r.Status != store.OK })
	e := &explained{silent: o.format != "table"}
	switch {
	case len(ok) == 0:
		return s.sayUnexplained(e, "Nothing to explain: no repetition ended ok.")
	case explain.KeptUp(ok):
		return s.sayUnexplained(e, "Nothing to explain: the broker kept up with what was offered, so nothing set its pace. A search finds its limit: --measure sustainable.")
	}
	e.about.Cause = explain.CauseOf(ok)
	q := e.plan(point, here, o.workload.explainedRepeats(p))
	if len(q.runs) == 0 {
		err = s.sayUnexplained(e, "")
	} else {
		second := runOptions{store: o.store, format: "table", log: o.log, again: o.again, keep: o.keep, question: e}
		err = s.carryOut(ctx, second, q)
	}
	if err != nil {
		return err
	}
	return s.profileRun(ctx, o, e, point, ok)
}

// explainedRepeats is how many repetitions each change has: as many as the point, and no fewer than can be tested, but for a first look.
func (w *workload) explainedRepeats(p plan) int {
	of := p.studies[0]
	switch {
	case of.Until > 0:
		return verdict.Enough
	case w.quick:
		return of.Repeats
	}
	return max(verdict.Enough, of.Repeats)
}

// plan makes the point with and without each change that can be made, in turns. Their study has a name of its own for each point, change,
// machine and version, so that the same command goes on, and compares no other's repetitions.
func (e *explained) plan(point study.Point, here advise.Origin, repeats int) plan {
	changes, why := explain.ChangesFor(e.about.Cause)
	if why != "" {
		e.untried = append(e.untried, fmt.Sprintf("%s: %s", e.about.Cause, why))
	}
	machine := explain.Machine{Cores: min(here.Host.Cores, runtime.NumCPU()), Memory: here.Host.MemoryBytes}
	specs := []study.Spec{point.Spec}
	names := []string{explain.Unchanged}
	for _, c := range changes {
		spec := c.Apply(point.Spec, machine)
		if why := impossible(point.Spec, spec); why != "" {
			e.untried = append(e.untried, fmt.Sprintf("%s: %s", c.Name, why))
			continue
		}
		specs, names = append(specs, spec), append(names, c.Name)
	}
	sum := sha256.Sum256(fmt.Append(nil, point.ID, names, here))
	e.about.Study = fmt.Sprintf("%s%x", explain.StudyPrefix, sum[:4])
	if len(specs) == 1 {
		return plan{}
	}
	var p plan
	for i, spec := range specs {
		at := point
		at.Study, at.Axes = e.about.Study, e.about.Axes(names[i])
		at.Label = point.Label + ", " + names[i]
		spec.Name, spec.Label, spec.Objectives = at.Study, at.Label, nil
		spec.Seed = int64(binary.BigEndian.Uint64(sum[:]) >> 12) // points of their own
		at.Spec, at.ID = spec, spec.ID()
		p.points = append(p.points, at)
	}
	for r := range repeats {
		for i := range p.points {
			p.runs = append(p.runs, study.Run{Point: &p.points[i], Repetition: r + 1})
		}
	}
	e.first = fmt.Sprintf("explain: the limit was %s; %s of %s in turns, which don't count",
		e.about.Limit(), unit.Counted(repeats, "repetition"), results.Enumerate(names))
	return p
}

// impossible says why a change can't be made; "" if it can.
func impossible(before, after study.Spec) string {
	switch {
	case before.ID() == after.ID():
		return "there is none"
	case (before.Limits != after.Limits || before.DataInMemory != after.DataInMemory) && !starts(before):
		return "this broker is no process that was started here"
	}
	if err := askPowers(after); err != nil {
		return err.Error()
	}
	return ""
}

// begin implements question.
func (e *explained) begin(st *store.Store, _ map[product]error, say func(format string, args ...any)) {
	e.open = st
	say("%s", e.first)
}

// enough implements question.
func (e *explained) enough(context.Context, study.Run) bool { return false }

// further implements question.
func (e *explained) further(context.Context) ([]study.Run, error) { return nil, nil }

// finish implements question.
func (e *explained) finish(s *shell) error {
	records, err := e.open.Records(context.Background(), store.Filter{Study: e.about.Study})
	if err != nil {
		return err
	}
	answer, ok := e.about.Decide(records)
	if !ok {
		return s.sayUnexplained(e, "Nothing to explain: no repetition without a change ended.")
	}
	d := reports.Explanation(answer)
	return s.show(e, d)
}

func (s *shell) sayUnexplained(e *explained, sentence string) error {
	d := document.Document{Title: reports.ExplanationTitle}
	d.Say(sentence)
	return s.show(e, d)
}

// show prints an explanation below the results of the run.
func (s *shell) show(e *explained, d document.Document) error {
	for _, line := range e.untried {
		d.Say("Not tried: " + line + ".")
	}
	if e.silent {
		return nil
	}
	fmt.Fprintln(s.out)
	return s.write(d, "table")
}
