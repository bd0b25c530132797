package search

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// unsteady runs the model with a capacity that is another one in each trial, a tenth away at one standard deviation: a
// machine that others use.
func unsteady(q *queue, goals []Goal) func(context.Context, Request) (Answer, error) {
	mean, steady := q.capacity, q.answer(goals)
	return func(ctx context.Context, r Request) (Answer, error) {
		q.capacity = mean * math.Exp(0.1*q.rng.NormFloat64())
		return steady(ctx, r)
	}
}

func TestABudgetEndsASearchInTimeAndWithBounds(t *testing.T) {
	const searches, budget = 2400, 30 * time.Second
	const unbounded = searches / 12 // of these are also run without a budget
	var nothing, open, without, late int
	for i := range searches {
		rng := rand.New(rand.NewPCG(31, uint64(i)))
		q, _, loss := someBroker(rng, i%3)
		p := planFor(confirmed(2, loss))
		p.Begin = q.capacity * math.Exp(0.6*(rng.Float64()-0.7))
		mean := q.capacity
		if long := *q; i < unbounded {
			long.rng = rand.New(rand.NewPCG(37, uint64(i))) // what follows draws the same with and without this
			if r, err := Run(t.Context(), p, unsteady(&long, p.Goals)); err == nil && r.Goals[0].Low > 0 && long.took > budget {
				without++
			}
		}
		p.Budget = budget
		r, err := Run(t.Context(), p, unsteady(q, p.Goals))
		b := r.Goals[0]
		if q.took > budget+2*time.Second { // the last trial may drain for longer than the one before it
			late++
		}
		switch {
		case err != nil:
			t.Fatal(err)
		case b.Low == 0:
			nothing++
		case b.High == 0:
			open++
		case b.High <= b.Low || b.Low > 1.3*mean || b.High < 0.7*mean:
			t.Errorf("%.0f to %.0f/s, the mean capacity is %.0f/s", b.Low, b.High, mean)
		case !within(b.Low, b.High, p.Goals[0].Width) && !strings.Contains(b.Undecided.Text, "trials"):
			t.Errorf("%.0f to %.0f/s without a word: %q", b.Low, b.High, b.Undecided.Text)
		}
		if q.took > 2*budget+p.Goals[0].FinalDuration+2*time.Second { // a rate that passed is decided still
			t.Errorf("%.0f/s: took %s, %d trials: %+v", mean, q.took, r.Trials, b)
		}
	}
	t.Logf("%d of %d take longer without a budget; with it %d of %d do, %d found nothing, %d no upper end", without, unbounded, late, searches, nothing, open)
	if without < unbounded/3 {
		t.Errorf("only %d of %d searches take longer than the budget without it", without, unbounded)
	}
	if late > searches/15 { // more with steps of one width all the way
		t.Errorf("%d of %d had nothing confirmed when the budget was used up", late, searches)
	}
	if nothing > searches/20 || open > searches/5 {
		t.Errorf("%d of %d found nothing, %d no upper end", nothing, searches, open)
	}
}

func TestARateThatPassedALongTrialIsDecidedThoughTheBudgetIsUsedUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 19))
	var used int
	for i := range 400 {
		q, _, loss := someBroker(rng, i%3)
		p := planFor(confirmed(2, loss))
		p.Begin, p.Budget = q.capacity*math.Exp(0.6*(rng.Float64()-0.7)), 12*time.Second
		passed, failed := map[float64]int{}, map[float64]bool{}
		var last Request
		answer := unsteady(q, p.Goals)
		r, err := Run(t.Context(), p, func(ctx context.Context, asked Request) (Answer, error) {
			last = asked
			a, err := answer(ctx, asked)
			if asked.Kind == Confirm && a.Judgements[0].Verdict == Pass {
				passed[asked.Rate]++
			} else if asked.Kind == Confirm {
				failed[asked.Rate] = true
			}
			return a, err
		})
		if err != nil {
			t.Fatal(err)
		}
		if q.took > 2*p.Budget {
			used++
		}
		if r.Goals[0].Low == 0 && passed[last.Rate] > 0 && !failed[last.Rate] {
			t.Errorf("%.0f/s passed the last trial after %s and is undecided: %+v", last.Rate, q.took, r.Goals[0])
		}
		if most := 2*p.Budget + p.Goals[0].FinalDuration + 3*time.Second; q.took > most {
			t.Errorf("took %s, more than %s", q.took, most)
		}
	}
	if used == 0 {
		t.Error("no search used its budget up: nothing was shown")
	}
}
