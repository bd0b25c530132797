package search

import (
	"context"
	"testing"

	"github.com/brokermark/brokermark/internal/remark"
)

// The broker does 1,000/s. Where it is offered far more, it takes the processor from the generator, and the trial is void.
func TestARateThatOnlyAVoidTrialFellBehindAtIsNotLookedAtAgainBeforeALowerOne(t *testing.T) {
	const capacity = 1000
	p := planFor(confirmed(2, 0))
	p.Begin = 8 * capacity
	var asked []float64
	r, err := Run(t.Context(), p, func(_ context.Context, r Request) (Answer, error) {
		asked = append(asked, r.Rate)
		look := Judgement{Verdict: Pass}
		switch {
		case r.Rate > 2*capacity:
			look = Judgement{Verdict: Void, Reason: remark.Of("the generator was late")}
		case r.Rate > capacity:
			look = Judgement{Verdict: Fail, Reason: remark.Of("backlog")}
		}
		return Answer{Judgements: []Judgement{look}, Served: min(r.Rate, capacity), Through: min(r.Rate, capacity)}, nil
	})
	if err != nil || len(asked) < 2 || asked[1] >= asked[0] {
		t.Fatalf("%v: asked for %v", err, asked)
	}
	if b := r.Goals[0]; b.Low > capacity || b.High < capacity || b.High > b.Low*1.06 || b.Void != "" {
		t.Errorf("%+v", b)
	}
}
