package cli

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/tune"
	"github.com/brokermark/brokermark/reports"
)

// points are those of SPEC with the settings of a candidate.
func (t *tuned) points(x tune.Candidate) ([]study.Point, error) {
	base := t.base.Clone()
	for k, i := range x {
		switch knob := t.question.Knobs[k]; {
		case t.written[knob.Path]:
			base.Narrow(knob.Path, knob.Values[i])
		case i > 0:
			if err := base.SetAxis(t.where[knob.Path], knob.Path, knob.Values[i:i+1]); err != nil {
				return nil, err
			}
		}
	}
	return base.Points()
}

// point makes the point of a step.
func (t *tuned) point(step tune.Step) (study.Point, error) {
	points, err := t.points(step.Candidate)
	if err != nil {
		return study.Point{}, err
	}
	p := points[0]
	p.Study, p.Label, p.Axes = t.question.Study, t.question.Name(step.Candidate), t.question.Axes(step)
	p.Spec.Name, p.Spec.Label, p.Spec.Objectives = p.Study, p.Label, t.bounds
	p.Spec.Seed = t.question.Seed
	if step.Part == tune.Confirm {
		p.Spec.Seed++ // other arrivals, and points of their own
	}
	p.ID = p.Spec.ID()
	return p, nil
}

// allowed implements tune.Case.Allowed.
func (t *tuned) allowed(x tune.Candidate) bool {
	p, err := t.point(tune.Step{Candidate: x, Part: tune.Race})
	return err == nil && askPowers(p.Spec) == nil
}

// cost is how many seconds a repetition takes, as far as is known.
func (t *tuned) cost() float64 {
	if t.ran > 0 {
		return time.Since(t.began).Seconds() / float64(t.ran)
	}
	return t.least
}

// affordable is how many repetitions there is time for.
func (t *tuned) affordable() int { return int(t.left().Seconds() / t.cost()) }

// next returns the repetitions that come next.
func (t *tuned) next(records []store.Record) (runs []study.Run, err error) {
	steps, about := t.question.Next(records, t.affordable())
	for _, step := range steps {
		p, err := t.point(step)
		if err != nil {
			return nil, err
		}
		runs = append(runs, study.Run{Point: &p, Repetition: step.Repetition})
	}
	t.about = about
	if t.say != nil && about != "" {
		t.say("%s", about)
	}
	return runs, nil
}

// begin implements question.
func (t *tuned) begin(st *store.Store, _ map[product]error, say func(format string, args ...any)) {
	t.open, t.say, t.began, t.gone = st, say, time.Now(), map[string]bool{}
	if t.about != "" {
		say("%s", t.about)
	}
}

// enough implements question: what overran its estimate must not take the time of the confirmations.
func (t *tuned) enough(_ context.Context, run study.Run) bool {
	after := 1
	if run.Point.Axes["sweep"] == tune.Race {
		after += 2 * tune.LeastConfirmations
	}
	if t.affordable() < after {
		return true
	}
	t.ran++
	return false
}

// further implements question.
func (t *tuned) further(ctx context.Context) ([]study.Run, error) {
	records, err := t.records(ctx)
	if err != nil {
		return nil, err
	}
	a := t.question.Decide(records)
	for _, s := range a.Stages {
		for _, e := range s.Entries {
			if e.Left != "" {
				t.leaves(e.Name, e.Left)
			}
		}
	}
	runs, err := t.next(records)
	if len(runs) == 0 && a.Verdict == tune.Open {
		t.say("the time of %s is up", study.Duration(t.limit))
	}
	return runs, err
}

// records are those of this machine and version. What came to nothing before this command began is measured again.
func (t *tuned) records(ctx context.Context) ([]store.Record, error) {
	all, err := t.open.Records(ctx, store.Filter{Study: t.question.Study})
	if err != nil {
		return nil, err
	}
	here, _ := t.here.Split(all)
	return t.usable(here), nil
}

func (t *tuned) usable(records []store.Record) []store.Record {
	return slices.DeleteFunc(records, func(r store.Record) bool {
		return (r.Status == store.Void || r.Status == store.Failed && r.Result == nil) && r.Began.Before(t.began)
	})
}

// finish implements question.
func (t *tuned) finish(s *shell) error {
	records, err := t.records(context.Background())
	if err != nil {
		return err
	}
	a := t.question.Decide(records)
	full := reports.TuningRecord(a, records)
	if err := s.answer(t.out, t.isPage, reports.Tuning(a), full, source(results.Of(records), t.store, "", t.out, "tune")); err != nil {
		return err
	}
	if a.Verdict == tune.Better || a.Verdict == tune.Nothing {
		return nil
	}
	why := errors.New("no answer yet: " + cmp.Or(a.Why, string(a.Verdict)))
	return &failure{code: exitGate, err: why, hint: "the same command with a longer --budget goes on from there"}
}
