package search

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/remark"
)

func TestAShortTrialIsLongEnoughForAHundredMessages(t *testing.T) {
	for _, capacity := range []float64{8, 35, 70, 400} {
		p := planFor(confirmed(2, 0))
		p.Begin = capacity / 2
		short := 0
		f := cliff(capacity)
		if _, err := Run(t.Context(), p, on(func(r Request) (Verdict, float64) {
			want := time.Duration(math.Max(float64(p.Short), 100/r.Rate*1e9))
			if r.Kind == Short {
				short++
				if r.For != want {
					t.Errorf("%g/s for %s, want %s", r.Rate, r.For, want)
				}
			}
			if r.Kind == Confirm && r.For != p.Goals[0].FinalDuration {
				t.Errorf("%g/s is confirmed for %s", r.Rate, r.For)
			}
			return f(r)
		})); err != nil {
			t.Fatal(err)
		}
		if enough := 100/capacity < 4; enough != (short > 0) {
			t.Errorf("%g/s: %d short trials", capacity, short)
		}
	}
}

func TestWhereNothingPassedThereIsNoUpperEndOfShortTrials(t *testing.T) {
	p := planFor(confirmed(2, 0))
	p.MaxTrials = 3
	r, err := Run(t.Context(), p, func(_ context.Context, r Request) (Answer, error) {
		return Answer{Judgements: []Judgement{{Verdict: Fail, Reason: remark.Of("so it was")}}}, nil
	})
	if b := r.Goals[0]; err != nil || b.Low != 0 || b.High != 0 || b.Undecided.Text != "no rate passed" {
		t.Errorf("%+v, %v", b, err)
	}
}
