package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/remark"
)

// cliff is a broker that sustains exactly so much, seen without noise.
func cliff(capacity float64) func(Request) (Verdict, float64) {
	return func(r Request) (Verdict, float64) {
		if r.Rate <= capacity {
			return Pass, r.Rate
		}
		return Fail, capacity
	}
}

// on makes an answer for one goal from a verdict and what came through.
func on(f func(Request) (Verdict, float64)) func(context.Context, Request) (Answer, error) {
	return func(_ context.Context, r Request) (Answer, error) {
		v, through := f(r)
		return Answer{Judgements: []Judgement{{Verdict: v, Reason: remark.Of("so it was")}}, Served: math.Min(r.Rate, through), Through: through}, nil
	}
}

// found runs a search for one goal and fails unless it ends with bounds around capacity.
func found(t *testing.T, name string, p Plan, capacity float64, f func(Request) (Verdict, float64)) Result {
	t.Helper()
	r, err := Run(t.Context(), p, on(f))
	b := r.Goals[0]
	if err != nil || b.Undecided.Text != "" || b.Low > capacity || b.High < capacity || b.High > b.Low*(1+p.Goals[0].Width)*(1+1e-9) {
		t.Errorf("%s: %+v after %d trials, %v; the truth is %.0f", name, b, r.Trials, err, capacity)
	}
	return r
}

func TestAnyBeginningLeadsToTheCapacity(t *testing.T) {
	for _, capacity := range []float64{3, 500, 12_345, 1e6} {
		for _, begin := range []float64{0, 1, capacity / 50, capacity / 2, 0.9 * capacity, capacity, 1.1 * capacity, 3 * capacity, 50 * capacity} {
			p := planFor(confirmed(2, 0))
			p.Begin = begin
			found(t, fmt.Sprintf("%g from %g", capacity, begin), p, capacity, cliff(capacity))
		}
	}
}

func TestBelowARefutedRateLongTrialsStepDownFromOneWidth(t *testing.T) {
	var rates []float64
	_, err := Run(t.Context(), planFor(confirmed(2, 0)), on(func(r Request) (Verdict, float64) {
		if r.Kind == Short {
			v, _ := cliff(1000)(r)
			return v, 0 // what came through isn't known
		}
		if n := len(rates); n == 0 || rates[n-1] != r.Rate {
			rates = append(rates, r.Rate)
		}
		return Fail, 0
	}))
	if err != nil || len(rates) < 6 {
		t.Fatalf("%v, %v", rates, err)
	}
	for i, widths := range []float64{1, 2, 4, 8, 16} {
		if got, want := rates[i]/rates[i+1], math.Pow(1.05, widths); math.Abs(got-want) > 1e-9 {
			t.Errorf("step %d of %v is %g times, want %g", i, rates, got, want)
		}
	}
}

func TestALittleThatCameThroughTellsTheCapacityToo(t *testing.T) {
	var rates []float64
	p := planFor(confirmed(1, 0))
	p.Begin, p.Floor = 1.5, 0.01
	found(t, "0.9/s", p, 0.9, func(r Request) (Verdict, float64) {
		rates = append(rates, r.Rate)
		return cliff(0.9)(r)
	})
	if want := 0.9 / math.Sqrt(1.05); !slices.ContainsFunc(rates, func(r float64) bool { return math.Abs(r-want) < 1e-9 }) {
		t.Errorf("tried %v, want %g among them", rates, want)
	}
}

func TestJustSoManyTrialsAreKeptBackAsConfirmingTakes(t *testing.T) {
	for times := 1; times < 5; times++ {
		for most := times + 1; most < 12; most++ {
			p := planFor(confirmed(times, 0))
			p.MaxTrials = most
			kinds := map[Kind]int{}
			r, err := Run(t.Context(), p, on(func(r Request) (Verdict, float64) {
				kinds[r.Kind]++
				return Pass, r.Rate
			}))
			if err != nil || kinds[Short] != most-times || kinds[Confirm] != times || r.Goals[0].Low == 0 {
				t.Errorf("%d trials, %d of which confirm: %v, %+v, %v", most, times, kinds, r.Goals[0], err)
			}
		}
	}
}

func TestALongTrialThatFailedIsLookedAtAgainFirst(t *testing.T) {
	for bad := 1; bad < 3; bad++ { // the first or the second that was to confirm
		var confirms []Request
		p := planFor(confirmed(2, 0))
		last := Request{}
		found(t, "a hiccup", p, 1000, func(r Request) (Verdict, float64) {
			if len(confirms) == bad && (r != confirms[bad-1] || last != r) {
				t.Errorf("after %v failed in part, %+v is asked for", confirms, r)
			}
			last = r
			if r.Kind == Confirm {
				if confirms = append(confirms, r); len(confirms) == bad {
					return Fail, r.Rate
				}
			}
			return cliff(1000)(r)
		})
	}
}

func TestWhatCameThroughTellsWhereTheCapacityIs(t *testing.T) {
	for _, begin := range []float64{1100, 1300, 4000, 90_000} {
		p := planFor(confirmed(2, 0))
		p.Begin = begin
		r := found(t, fmt.Sprintf("from %g", begin), p, 1000, cliff(1000))
		if r.Trials != 3+2+1+1 { // too much, just below, just above; then long ones, and just above once more before its long one
			t.Errorf("%d trials from %g", r.Trials, begin)
		}
	}
}

// A trial that fails once, whichever it is, changes nothing: it is looked at again.
func TestOneHiccupNeverBiasesTheResult(t *testing.T) {
	const capacity = 1000.0
	for _, confirms := range []int{1, 2, 3} {
		p := planFor(confirmed(confirms, 0))
		p.Begin = 700
		clean := found(t, "clean", p, capacity, cliff(capacity))
		for at := range clean.Trials {
			n := 0
			r := found(t, fmt.Sprintf("hiccup in trial %d", at), p, capacity, func(r Request) (Verdict, float64) {
				if n++; n == at+1 {
					return Fail, r.Rate
				}
				return cliff(capacity)(r)
			})
			if r.Trials > clean.Trials+12 {
				t.Errorf("%d confirmations, a hiccup in trial %d: %d trials instead of %d", confirms, at, r.Trials, clean.Trials)
			}
		}
	}
}

func TestALuckyShortTrialDecidesNothing(t *testing.T) {
	// Short trials are fooled up to 1,000/s; long ones see that 800/s is the truth.
	found(t, "lenient", planFor(confirmed(2, 0)), 800, func(r Request) (Verdict, float64) {
		if r.Kind == Short {
			return cliff(1000)(r)
		}
		return cliff(800)(r)
	})
}

func TestABrokenPromiseIsAnUpperBoundForGood(t *testing.T) {
	const broken = 700.0 // above it the broker loses, now and then
	losses := 0
	p := planFor(confirmed(2, 0))
	r, err := Run(t.Context(), p, func(_ context.Context, r Request) (Answer, error) {
		a := Answer{Judgements: []Judgement{{Verdict: Pass}}, Served: r.Rate, Through: r.Rate}
		if r.Rate > broken && losses%2 == 0 {
			a.Judgements[0] = Judgement{Verdict: Fail, Reason: remark.Of("1 message was lost"), Broken: true}
		}
		if r.Rate > broken {
			losses++
		}
		return a, nil
	})
	if b := r.Goals[0]; err != nil || b.Low > broken*1.05 || b.Low < broken/1.1 {
		t.Errorf("%+v, %v", b, err)
	}
}

func TestWhatCameDuringTheNextTrialWasNotLost(t *testing.T) {
	const capacity = 800.0
	longTrials, frozen := 0, false // at the end of the first long trial, longer than it is waited for
	r, err := Run(t.Context(), planFor(confirmed(2, 0.34)), func(ctx context.Context, r Request) (Answer, error) {
		a, err := on(cliff(capacity))(ctx, r)
		a.CameLate = frozen
		if r.Kind == Confirm {
			longTrials++
		}
		frozen = r.Kind == Confirm && longTrials == 1
		if frozen {
			a.Judgements[0] = Judgement{Verdict: Fail, Reason: remark.Of("5 messages were lost"), Broken: true}
		}
		return a, err
	})
	if b := r.Goals[0]; err != nil || b.Low > capacity || b.High < capacity {
		t.Errorf("%+v, %v", b, err)
	}
}

func TestABrokerThatLosesAtEveryRateIsNotSearchedForLong(t *testing.T) {
	trials := 0
	r, err := Run(t.Context(), planFor(confirmed(2, 0)), func(_ context.Context, r Request) (Answer, error) {
		trials++
		return Answer{Judgements: []Judgement{{Verdict: Fail, Reason: remark.Of("lost"), Broken: true}}, Through: 0.9 * r.Rate}, nil // a tenth is lost
	})
	if b := r.Goals[0]; err != nil || b.Low != 0 || b.High == 0 || b.Undecided.Text != "no rate passed" || trials > 6 {
		t.Errorf("%+v, %v after %d trials", b, err, trials)
	}
}

func TestNothingSustainableIsSaidAndNotSearchedForever(t *testing.T) {
	r, err := Run(t.Context(), planFor(confirmed(2, 0)), on(func(Request) (Verdict, float64) { return Fail, 0 }))
	if b := r.Goals[0]; err != nil || b.Low != 0 || b.Undecided.Text != "no rate passed" || b.Conditional != 0 || r.Trials > 14 {
		t.Errorf("%+v, %v after %d trials", b, err, r.Trials)
	}
}

// Without bounds each step goes twice as far as the last one, at most to four times the rate or a quarter of it.
func TestStepsWithoutABoundGrow(t *testing.T) {
	for verdict, up := range map[Verdict]bool{Pass: true, Fail: false} {
		var rates []float64
		p := planFor(confirmed(2, 0))
		p.Begin, p.MaxTrials, p.MaxRate = 1e6, 9, 1e12
		_, err := Run(t.Context(), p, on(func(r Request) (Verdict, float64) {
			if r.Kind == Short {
				rates = append(rates, r.Rate)
			}
			return verdict, 0
		}))
		if err != nil || len(rates) < 6 {
			t.Fatalf("%v, %v", rates, err)
		}
		want := math.Pow(1.05, 4)
		for i := 1; i < len(rates); i++ {
			ratio := rates[i-1] / rates[i]
			if up {
				ratio = rates[i] / rates[i-1]
			}
			if math.Abs(ratio-want) > 1e-9*want {
				t.Errorf("%s: step %d of %v is %g times, want %g", verdict, i, rates, ratio, want)
			}
			want = math.Min(want*want, 4)
		}
	}
}

func TestWhatTheGeneratorLimitsIsALowerBoundThatSaysSo(t *testing.T) {
	r, err := Run(t.Context(), planFor(confirmed(1, 0)), on(func(r Request) (Verdict, float64) {
		if r.Rate > 1000 {
			return Void, 0
		}
		return Pass, r.Rate
	}))
	b := r.Goals[0]
	if err != nil || b.Low > 1000 || b.Low < 1000/1.06 || b.High != 0 || !strings.HasSuffix(b.Void, "/s: so it was") || !strings.HasPrefix(b.Undecided.Text, "void at ") {
		t.Errorf("%+v, %v", b, err)
	}
}

func TestWhatIsVoidForOneGoalAloneIsNotAskedForEver(t *testing.T) {
	// Above 500/s the second goal's trials are void: the load of another process looks like a latency.
	seen := map[Request]int{}
	p := planFor(confirmed(2, 0), confirmed(2, 0))
	r, err := Run(t.Context(), p, func(_ context.Context, r Request) (Answer, error) {
		seen[r]++
		v, through := cliff(1000)(r)
		second := Judgement{Verdict: v}
		if r.Rate > 500 {
			second = Judgement{Verdict: Void, Reason: remark.Of("others")}
		}
		return Answer{Judgements: []Judgement{{Verdict: v}, second}, Served: through, Through: through}, nil
	})
	if one, two := r.Goals[0], r.Goals[1]; err != nil || one.Undecided.Text != "" || two.Low == 0 || two.Low > 500 || two.Low < 500/1.06 || two.Void == "" {
		t.Errorf("%+v, %v", r.Goals, err)
	}
	for request, n := range seen {
		if n > maxVoids+2 {
			t.Errorf("%+v was asked for %d times", request, n)
		}
	}
}

func TestAVoidTrialIsRepeatedAndForgottenWhereItTurnsOutWell(t *testing.T) {
	seen := map[Request]int{}
	r := found(t, "void once", planFor(confirmed(2, 0)), 1200, func(r Request) (Verdict, float64) {
		if seen[r]++; seen[r] == 1 {
			return Void, 0
		}
		return cliff(1200)(r)
	})
	if r.Goals[0].Void != "" {
		t.Errorf("%+v", r.Goals[0])
	}
}

func TestAMachineThatIsAlwaysInTheWayEndsTheSearch(t *testing.T) {
	r, err := Run(t.Context(), planFor(confirmed(2, 0)), on(func(Request) (Verdict, float64) { return Void, 0 }))
	if b := r.Goals[0]; err != nil || b.Low != 0 || b.Void == "" || b.Undecided.Text != "no rate passed; void "+b.Void || r.Trials != maxVoidsInARow {
		t.Errorf("%+v, %v after %d trials", b, err, r.Trials)
	}
}

func TestTheLastTrialsConfirmWhatThereIs(t *testing.T) {
	// A broker that long trials find ever slower: every confirmation fails until little is left to try.
	limit := 1000.0
	p := planFor(confirmed(1, 0))
	p.MaxTrials = 24
	r, err := Run(t.Context(), p, on(func(r Request) (Verdict, float64) {
		if r.Kind == Confirm && r.Rate > 500 {
			limit = r.Rate * 0.9
			return Fail, r.Rate
		}
		return cliff(limit)(r)
	}))
	if b := r.Goals[0]; err != nil || b.Low == 0 || b.Low > 500 || r.Trials > 24 {
		t.Errorf("%+v, %v after %d trials; want a confirmed rate of at most 500", b, err, r.Trials)
	}
}

func TestTheTrialsAreNeverMoreThanAllowedAndTheAnswerSaysWhatIsMissing(t *testing.T) {
	for most := 1; most < 30; most++ {
		for goals := 1; goals < 3; goals++ {
			p := planFor(slices.Repeat([]Goal{confirmed(2, 0)}, goals)...)
			p.MaxTrials = most
			r, err := Run(t.Context(), p, func(_ context.Context, r Request) (Answer, error) {
				v, _ := cliff(12_345)(r) // what came through isn't known: it has to halve its way
				return Answer{Judgements: slices.Repeat([]Judgement{{Verdict: v}}, goals)}, nil
			})
			if err != nil || r.Trials > most*goals {
				t.Errorf("%d trials of %d for %d goals, %v", r.Trials, most, goals, err)
			}
			for _, b := range r.Goals {
				if most >= 3 && b.Low == 0 { // the first rate passes, and two trials were kept back to confirm it
					t.Errorf("%d trials for %d goals and nothing confirmed: %+v", most, goals, b)
				}
				want := fmt.Sprintf("stopped after %d trials before the bounds were within 5 %%", r.Trials)
				switch {
				case b.Low == 0:
					want = strings.Replace(fmt.Sprintf("1000/s passed, but no rate was confirmed within %d trials", r.Trials), " 1 trials", " 1 trial", 1)
				case b.High == 0:
					want = fmt.Sprintf("stopped after %d trials before any rate failed", r.Trials)
				case strings.Contains(b.Undecided.Text, "too short"):
					want = fmt.Sprintf("stopped after %d trials, when only trials too short to count had failed, at %.0f/s", r.Trials, b.High)
					if b.High <= 12_345 {
						t.Errorf("%d trials: %+v", most, b)
					}
				case b.High <= b.Low*1.05*(1+1e-9):
					want = ""
				}
				if b.Undecided.Text != want || b.Low == 0 && want == "" || b.Void != "" {
					t.Errorf("%d trials: %+v", most, b)
				}
			}
		}
	}
}

func TestARateThatIsAllowedAtMostIsTheAnswerWhereItPasses(t *testing.T) {
	for _, most := range []float64{5000, 0.8} {
		p := planFor(confirmed(2, 0))
		p.MaxRate, p.Floor = most, most/100
		r, err := Run(t.Context(), p, on(func(r Request) (Verdict, float64) {
			if r.Rate > most {
				t.Errorf("tried %g/s", r.Rate)
			}
			return Pass, r.Rate
		}))
		if b := r.Goals[0]; err != nil || b.Low != most || b.High != 0 || b.Undecided.Text != "" || b.Conditional != most {
			t.Errorf("%+v, %v", b, err)
		}
	}
}

func TestSeveralGoalsAreAnsweredByOneSearch(t *testing.T) {
	// Sustains 10,000/s, within 10 ms up to 6,000/s.
	free, bound := confirmed(2, 0), confirmed(2, 0)
	bound.Latency, bound.Quantile = 10*time.Millisecond, 0.99
	broker := func(goals ...Goal) (trials int, answers []Bounds) {
		r, err := Run(t.Context(), planFor(goals...), func(_ context.Context, r Request) (Answer, error) {
			v, through := cliff(10_000)(r)
			a := Answer{Served: through, Through: through}
			for _, g := range goals {
				if g.Latency > 0 && r.Rate > 6000 {
					a.Judgements = append(a.Judgements, Judgement{Verdict: Fail})
					continue
				}
				a.Judgements = append(a.Judgements, Judgement{Verdict: v})
			}
			return a, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return r.Trials, r.Goals
	}
	one, _ := broker(free)
	other, _ := broker(bound)
	both, answers := broker(free, bound)
	if both >= one+other {
		t.Errorf("%d trials for both goals, %d and %d for one", both, one, other)
	}
	for i, truth := range []float64{10_000, 6000} {
		if b := answers[i]; b.Low > truth || b.High < truth || b.Undecided.Text != "" {
			t.Errorf("goal %d: %+v, the truth is %g", i, b, truth)
		}
	}
}

func TestASoakThatFailsMovesTheAnswerDown(t *testing.T) {
	g := confirmed(2, 0)
	g.Soak = time.Minute
	r := found(t, "soak", planFor(g), 800, func(r Request) (Verdict, float64) {
		if r.Kind == Soak {
			return cliff(800)(r) // the page cache is full
		}
		return cliff(1000)(r)
	})
	if r.Goals[0].Low > 800 {
		t.Errorf("%+v", r.Goals[0])
	}
}

func TestAfterASoakFailedTheNextIsWhereThatOneCouldHavePassed(t *testing.T) {
	for through, want := range map[float64]float64{500: 500 / math.Sqrt(1.05), 0: 0, 999: 0} { // 0: not told, four widths down
		g := confirmed(2, 0)
		g.Soak = time.Minute
		var soaks []float64
		_, err := Run(t.Context(), planFor(g), on(func(r Request) (Verdict, float64) {
			if r.Kind != Soak {
				return cliff(1000)(r)
			}
			if soaks = append(soaks, r.Rate); len(soaks) == 1 {
				return Fail, through
			}
			return Pass, r.Rate
		}))
		if err != nil || len(soaks) < 2 {
			t.Fatalf("%v, %v", soaks, err)
		}
		if want == 0 {
			want = soaks[0] / math.Pow(1.05, 4)
		}
		if math.Abs(soaks[1]-want) > 1e-9*want {
			t.Errorf("%g/s came through: soaks at %v, the second should be at %g", through, soaks, want)
		}
	}
}

func TestASoakThatFailsCountsHoweverManyTrialsAreAllowedToFail(t *testing.T) {
	for confirms := 1; confirms < 40; confirms++ {
		for _, exceed := range []float64{0, 0.3, 0.5, 0.9} {
			g := confirmed(confirms, exceed)
			g.Soak = time.Minute
			p := planFor(g)
			p.MaxTrials = 300
			r, err := Run(t.Context(), p, on(func(r Request) (Verdict, float64) {
				if r.Kind == Soak {
					return cliff(800)(r)
				}
				return cliff(1000)(r)
			}))
			if err != nil || r.Goals[0].Low > 800 {
				t.Errorf("%d confirmations, %g may fail: %+v, %v", confirms, exceed, r.Goals[0], err)
			}
		}
	}
}

func TestASingleVoidTrialIsNamedWhereItIsAllThereIs(t *testing.T) {
	p := planFor(confirmed(2, 0))
	p.MaxTrials = 1
	r, err := Run(t.Context(), p, on(func(Request) (Verdict, float64) { return Void, 0 }))
	if b := r.Goals[0]; err != nil || b.Void == "" {
		t.Errorf("%+v, %v", b, err)
	}
}

func TestOnceASoakHasFailedOnlySoaksCount(t *testing.T) {
	for most := 5; most < 25; most++ {
		g := confirmed(2, 0)
		g.Soak = time.Minute
		p := planFor(g)
		p.MaxTrials = most
		passed := map[float64]bool{}
		failed := 0
		r, err := Run(t.Context(), p, on(func(r Request) (Verdict, float64) {
			if r.Kind != Soak {
				return cliff(1000)(r)
			}
			v, _ := cliff(500)(r)
			if passed[r.Rate] = v == Pass; v == Fail {
				failed++
			}
			return v, 0
		}))
		if b := r.Goals[0]; err != nil || failed > 0 && b.Low > 0 && !passed[b.Low] || failed > 0 && b.Low == 0 && b.Undecided.Text == "" {
			t.Errorf("%d trials, %d soaks failed: %+v, %v", most, failed, b, err)
		}
	}
}

func TestAPromiseBrokenOverEightTimesTheRateIsNoMatterOfTheRate(t *testing.T) {
	for low, want := range map[float64]bool{800: false, 101: false, 100: true, 99: true} {
		for _, unit := range []float64{1, 1.0 / 1024} { // also where all rates are below 1/s
			g := newSearcher(planFor(confirmed(2, 0))).goals[0]
			for _, rate := range []float64{low, 800, 300} {
				g.at(rate * unit).Broken = rate != 300
			}
			g.at(10 * unit).BadShort = time.Second // failed, but broke nothing
			if got := g.everBroken(); got != want {
				t.Errorf("at %g/s and %g/s: %v", 800*unit, low*unit, got)
			}
		}
	}
}

func TestASearchWithoutASoakNeverAsksForOne(t *testing.T) {
	found(t, "no soak", planFor(confirmed(2, 0)), 800, func(r Request) (Verdict, float64) {
		if r.Kind == Soak || r.For > 5*time.Second {
			t.Errorf("%+v", r)
		}
		return cliff(800)(r)
	})
	for most := 1; most < 30; most++ { // also where the trials run out before the bounds are near
		p := planFor(confirmed(2, 0))
		p.MaxTrials = most
		_, err := Run(t.Context(), p, on(func(r Request) (Verdict, float64) {
			if r.Kind == Soak || r.For < time.Second {
				t.Errorf("of %d trials one is %+v", most, r)
			}
			v, _ := cliff(12_345)(r)
			return v, 0
		}))
		if err != nil {
			t.Error(err)
		}
	}
}

// Long trials at a rate below, made for another goal, don't stand in for a soak.
func TestARateThatWasConfirmedForAnotherGoalIsNoSoakedOne(t *testing.T) {
	bound, soaked := confirmed(2, 0), confirmed(2, 0)
	bound.Latency, bound.Quantile = 10*time.Millisecond, 0.99 // held up to 600/s
	soaked.Soak = time.Minute
	confirmedBelow := 0
	for most := 5; most < 30; most++ {
		p := planFor(bound, soaked)
		p.MaxTrials = most
		passed, failed, below := map[float64]bool{}, 0, map[float64]int{}
		r, err := Run(t.Context(), p, func(_ context.Context, r Request) (Answer, error) {
			v, through := cliff(1000)(r)
			if r.Kind == Soak {
				v, through = cliff(500)(r)
				if passed[r.Rate] = v == Pass; v == Fail {
					failed++
				}
			}
			first := v
			if r.Rate > 600 {
				first = Fail
			} else if r.Kind == Confirm {
				below[r.Rate]++
			}
			return Answer{Judgements: []Judgement{{Verdict: first}, {Verdict: v}}, Served: through, Through: 0}, nil
		})
		b := r.Goals[1]
		if err != nil || failed > 0 && b.Low > 0 && !passed[b.Low] {
			t.Errorf("%d trials, %d soaks failed: %+v, %v", most, failed, b, err)
		}
		if failed > 0 && b.Low == 0 && len(below) > 0 {
			confirmedBelow++
		}
	}
	if confirmedBelow == 0 {
		t.Error("no search ended between a soak that failed and one that passed: the test shows nothing")
	}
}

// Every trial has another capacity, a tenth away at one standard deviation. The second goal's narrow bracket makes lower bounds for
// the first, and the third goal asks for no soak.
func TestALowerBoundIsSoakedIfTrialsAreLeft(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 3))
		goals := slices.Repeat([]Goal{confirmed(2, 0)}, 3)
		goals[0].Soak, goals[1].Soak = time.Minute, time.Minute
		goals[0].Width, goals[1].Width = 0.2, 0.01
		p := planFor(goals...)
		p.MaxTrials = 60
		r, err := Run(t.Context(), p, func(_ context.Context, r Request) (Answer, error) {
			if r.For < time.Second {
				t.Fatalf("seed %d: %+v", seed, r)
			}
			a := Answer{Served: r.Rate}
			capacity := 3000 * math.Exp(0.1*rng.NormFloat64())
			for i := range goals {
				v, _ := cliff(capacity / float64(max(1, i)))(r)
				a.Judgements = append(a.Judgements, Judgement{Verdict: v})
			}
			return a, nil
		})
		for i, b := range r.Goals {
			if err != nil || r.Trials < p.MaxTrials && strings.Contains(b.Undecided.Text, "not soaked") {
				t.Errorf("seed %d, goal %d after %d trials: %+v, %v", seed, i, r.Trials, b, err)
			}
		}
	}
}

// Once long trials have refuted what a short one said, no short one is asked for any more; before that, short ones look
// where to look.
func TestShortTrialsAreOnlyAskedForAsLongAsTheyAreRight(t *testing.T) {
	var kinds []Kind
	short, failures := map[float64]bool{}, map[float64]int{}
	fooled := 0
	found(t, "lenient", planFor(confirmed(2, 0)), 800, func(r Request) (Verdict, float64) {
		kinds = append(kinds, r.Kind)
		if r.Kind == Short {
			if fooled > 0 {
				t.Errorf("trial %d is short, after %d rates were refuted", len(kinds), fooled)
			}
			short[r.Rate] = r.Rate <= 1000
			return cliff(1000)(r)
		}
		v, through := cliff(800)(r)
		if v == Fail {
			if failures[r.Rate]++; failures[r.Rate] == 2 && short[r.Rate] {
				fooled++
			}
		}
		return v, through
	})
	if kinds[0] != Short || fooled == 0 {
		t.Errorf("%v, %d fooled", kinds, fooled)
	}
}

// What came through at a rate that failed says where to look, unless a trial that passed there has refuted it.
func TestARefutedGuessHalvesTheDistance(t *testing.T) {
	for _, through := range []float64{400, 999, 1000} {
		var rates []float64
		p := planFor(confirmed(2, 0))
		p.MaxTrials = 8
		if _, err := Run(t.Context(), p, on(func(r Request) (Verdict, float64) {
			if rates = append(rates, r.Rate); len(rates) == 1 {
				return Pass, r.Rate
			}
			return Fail, through
		})); err != nil {
			t.Fatal(err)
		}
		if want := math.Sqrt(rates[0] * rates[1]); rates[0] != 1000 || math.Abs(rates[2]-want) > 1e-9*want {
			t.Errorf("%g came through: tried %v, want the third at %g", through, rates, want)
		}
	}
}

func TestAnErrorAndTheContextEndASearch(t *testing.T) {
	broken := errors.New("the broker died")
	r, err := Run(t.Context(), planFor(confirmed(2, 0)), func(context.Context, Request) (Answer, error) { return Answer{}, broken })
	if !errors.Is(err, broken) || r.Trials != 1 || len(r.Goals) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, err = Run(ctx, planFor(confirmed(2, 0)), on(func(r Request) (Verdict, float64) { cancel(); return Pass, r.Rate }))
	if !errors.Is(err, context.Canceled) || r.Trials != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestATrialThatIsNotJudgedForEveryGoalEndsTheSearch(t *testing.T) {
	p := planFor(confirmed(2, 0), confirmed(3, 0))
	r, err := Run(t.Context(), p, on(cliff(1000))) // judges for one goal
	if err == nil || r.Trials != 1 || len(r.Goals) != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}
