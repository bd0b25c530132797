package search

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/remark"
)

// Above 500/s full-length trials are void, for the first goal or for the second alone.
func TestARateThatCannotBeMeasuredIsGivenUpAfterAsManyVoidTrialsAsStated(t *testing.T) {
	for _, voidFor := range []int{0, 1} {
		voids, most := map[float64]int{}, 0
		p := planFor(confirmed(2, 0), confirmed(2, 0))
		p.MaxRate = 600 // a search that could go on would go round the rate
		r, err := Run(t.Context(), p, func(_ context.Context, r Request) (Answer, error) {
			looks := []Judgement{{Verdict: Pass}, {Verdict: Pass}}
			if r.Kind == Confirm && r.Rate > 500 {
				looks[voidFor] = Judgement{Verdict: Void, Reason: remark.Of("others")}
				voids[r.Rate]++
				most = max(most, voids[r.Rate])
			}
			return Answer{Judgements: looks, Served: r.Rate}, nil
		})
		if err != nil || most != maxVoids {
			t.Errorf("goal %d, %v: %v void trials at the rates, want %d at the worst", voidFor, err, voids, maxVoids)
		}
		if b := r.Goals[voidFor]; b.Low > 500 || b.Low < 500/1.06 || b.Void == "" {
			t.Errorf("goal %d: %+v, want what could be measured, up to 500/s", voidFor, b)
		}
	}
}

// Short trials always pass, full-length ones up to 1,500/s: the bounds stay wide apart for a while.
func TestAnIntervalThatStayedTooWideIsCalledSoWithTheWidthAskedFor(t *testing.T) {
	said := false
	for most := 4; most < 40; most++ {
		p := planFor(confirmed(2, 0))
		p.MaxTrials, p.MaxRate, p.Goals[0].Width = most, 4000, 0.03
		r, err := Run(t.Context(), p, on(func(r Request) (Verdict, float64) {
			if r.Kind == Short {
				return Pass, 0
			}
			v, _ := cliff(1500)(r)
			return v, 0
		}))
		if err != nil {
			t.Fatal(err)
		}
		b := r.Goals[0]
		wide := b.Low > 0 && b.High > b.Low*1.031
		if says := strings.Contains(b.Undecided.Text, "before the bounds were within 3 %"); says != wide {
			t.Errorf("%d trials: %+v", most, b)
		}
		said = said || wide
	}
	if !said {
		t.Error("no search ended with bounds too far apart: the test shows nothing")
	}
}

func TestWhereAlmostNothingCameThroughTheFloorIsTriedBeforeGivingUp(t *testing.T) {
	for floor, want := range map[float64]bool{1: true, 10: true, 40: true, 49: true, 51: false, 90: false} { // of 100/s, from half on
		p := planFor(confirmed(2, 0))
		p.Begin, p.Floor = 100, floor
		tried := false
		r, err := Run(t.Context(), p, on(func(r Request) (Verdict, float64) {
			tried = tried || r.Rate == floor
			if r.Rate < floor {
				t.Errorf("tried %g/s, below the floor of %g/s", r.Rate, floor)
			}
			return Fail, 0.01
		}))
		if b := r.Goals[0]; err != nil || tried != want || b.Low != 0 || b.Undecided.Text != "no rate passed" {
			t.Errorf("floor %g/s, tried %v: %+v, %v", floor, tried, b, err)
		}
	}
}

func TestTheFirstSoakIsAtTheRateThatWasConfirmed(t *testing.T) {
	for _, most := range []float64{0, 900} { // where a rate failed, and where none did
		p := planFor(confirmed(2, 0))
		p.Goals[0].Soak, p.MaxRate = time.Minute, most
		highest, first := 0.0, 0.0
		r, err := Run(t.Context(), p, on(func(r Request) (Verdict, float64) {
			v, through := cliff(1000)(r)
			switch {
			case r.Kind == Soak && first == 0:
				first = r.Rate
			case r.Kind == Confirm && v == Pass:
				highest = max(highest, r.Rate)
			}
			return v, through
		}))
		if b := r.Goals[0]; err != nil || first == 0 || first != highest || b.Low != first || b.Undecided.Text != "" {
			t.Errorf("at most %g/s: confirmed %g/s, soaked %g/s first: %+v, %v", most, highest, first, b, err)
		}
	}
}

// Every second trial is void, as on a machine whose generator is often late.
func TestVoidTrialsTakeNoTrialFromTheBroker(t *testing.T) {
	for _, capacity := range []float64{300, 1500, 7000, 40_000} {
		for most := 4; most <= 40; most++ {
			p := planFor(confirmed(2, 0))
			p.MaxTrials = most
			broker := cliff(capacity)
			quiet, err := Run(t.Context(), p, on(func(r Request) (Verdict, float64) { v, _ := broker(r); return v, 0 }))
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			disturbed, err := Run(t.Context(), p, on(func(r Request) (Verdict, float64) {
				if n++; n%2 == 0 {
					return Void, 0
				}
				v, _ := broker(r)
				return v, 0
			}))
			if err != nil {
				t.Fatal(err)
			}
			if quiet.Goals[0].Low > 0 && disturbed.Goals[0].Low == 0 {
				t.Errorf("capacity %g/s, %d trials: undisturbed %+v, disturbed %+v", capacity, most, quiet.Goals[0], disturbed.Goals[0])
			}
			if disturbed.Trials > 2*most {
				t.Errorf("%d trials took %d", most, disturbed.Trials)
			}
		}
	}
}

// A machine on which nothing can be measured ends a search, too.
func TestASearchOfVoidTrialsEnds(t *testing.T) {
	p := planFor(confirmed(2, 0))
	p.MaxTrials = 3
	n := 0
	r, err := Run(t.Context(), p, on(func(Request) (Verdict, float64) {
		if n++; n%7 == 0 {
			return Pass, 0
		}
		return Void, 0
	}))
	if err != nil || r.Trials > 2*p.MaxTrials {
		t.Errorf("%d trials, %v", r.Trials, err)
	}
}

// A soak fails, and the first one at the next rate is void. Shorter trials have proved too lenient by then.
func TestAVoidSoakIsFollowedByASoak(t *testing.T) {
	p := planFor(confirmed(2, 0))
	p.Goals[0].Soak = time.Minute
	soaks := 0
	r, err := Run(t.Context(), p, on(func(r Request) (Verdict, float64) {
		if soaks > 0 && r.Kind != Soak {
			t.Errorf("%+v after %d soaks", r, soaks)
		}
		if r.Kind != Soak {
			return cliff(1000)(r)
		}
		if soaks++; soaks == 2 {
			return Void, 0
		}
		return cliff(800)(r)
	}))
	if b := r.Goals[0]; err != nil || soaks < 3 || b.Low > 800 || b.High < 800 || b.Undecided.Text != "" {
		t.Errorf("%+v, %v after %d soaks", b, err, soaks)
	}
}

func TestARateWhoseSoaksAreVoidIsGivenUp(t *testing.T) {
	for _, from := range []int{1, 2} { // the first soak at the confirmed rate, or the first below a failed one
		p := planFor(confirmed(2, 0))
		p.Goals[0].Soak = time.Minute
		soaks := map[float64]int{}
		r, err := Run(t.Context(), p, on(func(r Request) (Verdict, float64) {
			if r.Kind != Soak {
				return cliff(1000)(r)
			}
			if soaks[r.Rate]++; len(soaks) < from {
				return Fail, 0
			}
			return Void, 0
		}))
		b, most := r.Goals[0], 0
		for _, n := range soaks {
			most = max(most, n)
		}
		if err != nil || most != maxVoids || b.Undecided.Text == "" {
			t.Errorf("void from soak %d on: %v soaks at the rates, want %d at the worst: %+v, %v", from, soaks, maxVoids, b, err)
		}
	}
}

// Short trials are fooled up to 1,000/s, long ones see that 800/s is the truth, and the first long one at each lower rate is void.
func TestAVoidLongTrialIsRepeatedAsALongOne(t *testing.T) {
	failed, voids := map[float64]int{}, map[float64]bool{}
	rejected := false
	found(t, "lenient short trials", planFor(confirmed(2, 0)), 800, func(r Request) (Verdict, float64) {
		v, _ := cliff(800)(r)
		switch {
		case r.Kind == Short && rejected:
			t.Errorf("%+v after long trials have rejected %v", r, failed)
		case r.Kind == Short:
			v, _ = cliff(1000)(r)
		case rejected && !voids[r.Rate]:
			voids[r.Rate] = true
			v = Void
		case v == Fail:
			failed[r.Rate]++
			rejected = rejected || failed[r.Rate] == 2
		}
		return v, 0
	})
	if len(voids) == 0 {
		t.Error("no long trial was void: the test shows nothing")
	}
}

// Others use so much of the machine that the generator keeps no schedule above a limit: what it can offer is a lower bound all the same.
func TestASearchThatIsVoidAtItsFirstRatesEndsWithALowerBound(t *testing.T) {
	for _, limit := range []float64{900, 500, 90, 20, 2} {
		p := planFor(confirmed(1, 0)) // begins at 1,000/s
		r, err := Run(t.Context(), p, on(func(r Request) (Verdict, float64) {
			if r.Rate > limit {
				return Void, 0.99 * r.Rate
			}
			return Pass, r.Rate
		}))
		b := r.Goals[0]
		if err != nil || b.Low > limit || b.Low < limit/1.06 || b.Void == "" || b.Undecided.Text == "" {
			t.Errorf("up to %g/s: %+v after %d trials, %v", limit, b, r.Trials, err)
		}
	}
}

// Seen: NATS beside a neighbour that took a third of a core. Every short trial up to 207,000/s passed, and nine long ones from there down
// to 166,000/s were void, of 20 s each, until the budget of 100 s and one more were spent.
func TestASearchThatIsVoidAtItsFirstRatesEndsWithARateBelowThem(t *testing.T) {
	for _, measurable := range []float64{200e3, 150e3, 100e3, 70e3, 40e3} { // up to this rate long trials are not void
		p := planFor(confirmed(1, 0))
		p.Begin, p.MaxTrials, p.Budget = 346e3, 40, 100*time.Second
		p.Goals[0].Width, p.Goals[0].FinalDuration, p.Goals[0].DurationSum = 0.1, 20*time.Second, 20*time.Second
		var took time.Duration
		r, err := Run(t.Context(), p, func(_ context.Context, r Request) (Answer, error) {
			v, through := cliff(210e3)(r)
			if r.Kind == Confirm && r.Rate > measurable {
				v, through = Void, r.Rate
			}
			took += r.For + 500*time.Millisecond
			return Answer{
				Judgements: []Judgement{{Verdict: v, Reason: remark.Of("the generator was late")}}, Served: through, Through: through, Took: r.For + 500*time.Millisecond,
			}, nil
		})
		if b := r.Goals[0]; err != nil || b.Low < measurable/maxGrowth || b.Low > measurable || b.High > 0 && b.High < 200e3 || took > 2*p.Budget {
			t.Errorf("up to %.0f/s: %+v, %v after %s", measurable, b, err, took)
		}
	}
}
