package claim_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/claim"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// thrice are three repetitions that scatter by a per cent.
func thrice(v float64) []float64 { return []float64{v, 1.01 * v, 0.99 * v} }

func answer(t *testing.T, statement string, all []store.Record) claim.Answer {
	t.Helper()
	return evaluate(parse(t, statement), results.Of(all), "s", claim.Now)
}

// Whatever another machine reaches says nothing of a number of the publication's own.
func TestAnAbsoluteClaimIsNotComparableWhateverWasMeasured(t *testing.T) {
	for _, rates := range [][]float64{{5}, thrice(5), thrice(50)} {
		all := records(at{"x=1", rates}, at{"x=1 when=published", []float64{40}})
		c := parse(t, "absolute: true, threshold: {expect: {from: 30}}")
		a := evaluate(c, results.Of(all), "s", claim.Now)
		if a.Verdict != claim.NotComparable || a.PointsTo != claim.NotComparable || a.Why != "" || a.Parts[0].Figure.Value != rates[0] {
			t.Errorf("%v: %+v", rates, a)
		}
		if p := evaluate(c, results.Of(all), "s", claim.Published); p.Verdict != claim.Reproduced {
			t.Errorf("by its own tables: %+v", p)
		}
	}
	if a := answer(t, "absolute: true, threshold: {expect: {from: 30}}", records(at{"x=1 status=failed", []float64{5}})); a.Verdict != claim.Undecided {
		t.Errorf("without a figure: %+v", a)
	}
}

func TestPlacesThatWereNotMeasuredLeaveAClaimAboutAllUndecided(t *testing.T) {
	for _, c := range []struct {
		statement string
		rates     []float64
		want      claim.Verdict
	}{
		{"places: 2, threshold: {expect: {from: 1}}", []float64{5, 5}, claim.Reproduced},
		{"places: 6, threshold: {expect: {from: 1}}", []float64{5, 5}, claim.Undecided},
		{"places: 6, threshold: {expect: {from: 1}}", []float64{5, 0.5}, claim.NotReproduced},
		{"places: 3, share: 60%, threshold: {expect: {from: 1}}", []float64{5, 5}, claim.Reproduced},
		{"places: 4, share: 60%, threshold: {expect: {from: 1}}", []float64{5, 5}, claim.Undecided},
		{"places: 6, threshold: {take: max, expect: {from: 1}}", []float64{5, 0.5}, claim.Reproduced},
		{"places: 6, threshold: {take: max, expect: {to: 9}}", []float64{5, 0.5}, claim.Undecided},
		{"places: 6, threshold: {take: median, expect: {from: 1}}", []float64{5, 5}, claim.Undecided},
	} {
		a := answer(t, c.statement, records(two(c.rates)...))
		if a.Verdict != c.want || c.want == claim.Undecided && (a.Reason != claim.FewPlaces || !strings.HasPrefix(a.Why, "2 of the ")) {
			t.Errorf("%s of %v: %s (%s), want %s", c.statement, c.rates, a.Verdict, a.Why, c.want)
		}
	}
}

func TestADoubtOfTheClassTooShortForbidsADecisionOnTheFigureItTouches(t *testing.T) {
	for _, c := range []struct {
		kind    *doubt.Kind
		measure string
		want    claim.Verdict
		reason  claim.Reason
		doubts  int
	}{
		{doubt.NotSettled, "peak", claim.Undecided, claim.TooShort, 1},
		{doubt.WarmupUnknown, "peak", claim.Undecided, claim.TooShort, 1},
		{doubt.CoarseRate, "peak", claim.Undecided, claim.TooShort, 1},
		{doubt.FewSamples, "peak", claim.Reproduced, claim.Decided, 0}, // a rate counts all messages
		{doubt.Stolen, "peak", claim.Reproduced, claim.Decided, 1},     // the rate of a closed loop is its window over its latency
		{doubt.FewSamples, "latency", claim.Reproduced, claim.Decided, 0},
		{doubt.CoarseCPU, "peak", claim.Reproduced, claim.Decided, 0},
		{doubt.BusyMachine, "peak", claim.Reproduced, claim.Decided, 1},
		{doubt.OldVersion, "peak", claim.Reproduced, claim.Decided, 0},
	} {
		all := records(at{"x=1", thrice(5)}, at{"x=2", thrice(7)})
		for i := range all {
			all[i].Spec.Measure = c.measure
		}
		all[1].Doubts = []store.Doubt{store.DoubtOf(c.kind, "so it was")}
		a := answer(t, "threshold: {expect: {from: 1}}", all)
		if a.Verdict != c.want || a.Reason != c.reason || a.PointsTo != claim.Reproduced || len(a.Parts[0].Doubts) != c.doubts {
			t.Errorf("%s of a %s: %+v", c.kind.Code(), c.measure, a)
		}
		if want := c.kind.Code() + ": so it was; points to: reproduced"; c.reason == claim.TooShort && a.Why != want {
			t.Errorf("%q, want %q", a.Why, want)
		}
	}
}

func TestASmokeTestOnlyPointsToAnAnswer(t *testing.T) {
	for rate, want := range map[float64]claim.Verdict{5: claim.Reproduced, 0.5: claim.NotReproduced} {
		all := records(at{"x=1", thrice(rate)})
		all[2].Scale = study.SmokeTest
		if a := answer(t, "threshold: {expect: {from: 1}}", all); a.Verdict != claim.Undecided || a.Reason != claim.SmokeTest || a.PointsTo != want {
			t.Errorf("%v: %+v", rate, a)
		}
	}
}

// Of twenty claims that are answered together one is wrong by chance if each alone errs in one case of twenty.
func TestTheMoreClaimsAreAnsweredTheSurerEachHasToBe(t *testing.T) {
	set := results.Of(records(at{"x=1", []float64{50, 56, 45}}, at{"x=2", []float64{100, 112, 90}}))
	c := parse(t, "ratio: {of: {x: 1}, to: {x: 2}, expect: {to: 0.85}}")
	if a := evaluate(c, set, "s", claim.Now); a.Verdict != claim.Reproduced {
		t.Fatalf("alone: %+v", a)
	}
	many := []claim.Claim{c}
	for range 19 { // with figures like its own, and no answer
		many = append(many, parse(t, "ratio: {of: {x: 1}, to: {x: 2}, expect: {to: 0.5}}"))
	}
	if a := claim.Answers(many, set, "s", claim.Now)[0]; a.Verdict != claim.Undecided || a.Reason != claim.WithinSpread || a.PointsTo != claim.Reproduced {
		t.Errorf("among twenty: %+v", a)
	}
	absolute := parse(t, "absolute: true, threshold: {expect: {from: 1}}")
	for i := range many[1:] { // which nothing is tested of
		many[i+1] = absolute
	}
	if a := claim.Answers(many, set, "s", claim.Now)[0]; a.Verdict != claim.Reproduced {
		t.Errorf("among absolute ones: %+v", a)
	}
}

// The spread is that of the whole experiment, so that few repetitions of many points decide.
func TestTheSpreadIsPooledOverTheExperiment(t *testing.T) {
	points := []at{{"x=1", []float64{50, 52}}, {"x=2", []float64{100, 104}}}
	const statement = "select: {x: [1, 2]}, ratio: {of: {x: 1}, to: {x: 2}, expect: {to: 0.6}}"
	if a := answer(t, statement, records(points...)); a.Verdict != claim.Undecided {
		t.Fatalf("alone: %+v", a)
	}
	others := points
	for x := range 6 {
		others = append(others, at{fmt.Sprintf("x=%d", x+3), thrice(float64(200 + x))})
	}
	if a := answer(t, statement, records(others...)); a.Verdict != claim.Reproduced {
		t.Errorf("beside six points: %+v", a)
	}
	for i := range others[2:] {
		others[i+2].axes += " sweep=f"
	}
	if a := answer(t, statement, records(others...)); a.Verdict != claim.Undecided {
		t.Errorf("beside another experiment: %+v", a)
	}
}

// Two metrics are divided in each repetition, and their ratios have a spread as any other figure has.
func TestTheSpreadOfARatioOfMetricsIsPooledOverTheExperiment(t *testing.T) {
	const statement = "select: {x: 1}, ratio: {of: {metric: receive_rate}, to: {metric: publish_rate}, expect: {to: 0.55}}"
	points := []at{{"x=1", []float64{50, 90}}}
	for others, want := range map[int]claim.Verdict{0: claim.Undecided, 6: claim.Reproduced} {
		of := points
		for x := range others {
			of = append(of, at{fmt.Sprintf("x=%d", x+2), []float64{100, 300, 200}})
		}
		all := records(of...)
		for i := range all {
			all[i].Result.ReceiveRate = all[i].Result.PublishRate * []float64{0.5, 0.515, 0.485}[all[i].Repetition-1]
		}
		if a := answer(t, statement, all); a.Verdict != want {
			t.Errorf("beside %d points: %+v", others, a)
		}
	}
}

// A figure in the middle leaves open what a straight line does, and not whether the last figure is above the first.
func TestTheSignOfASlopeIsThatOfTheChangeThatIsShown(t *testing.T) {
	points := []at{{"x=1", thrice(5)}, {"x=2", []float64{5, 20, 80}}, {"x=4", thrice(10)}}
	for sign, want := range map[string]claim.Verdict{"rising": claim.Reproduced, "falling": claim.NotReproduced} {
		a := answer(t, "slope: {along: x, sign: "+sign+"}", records(points...))
		if f := a.Parts[0].Sure; a.Verdict != want || f.Low < 0.8 || f.High > 1.2 {
			t.Errorf("%s: %s, %+v", sign, a.Verdict, f)
		}
	}
	if a := answer(t, "slope: {along: x, sign: rising}", records(at{"x=1", thrice(0)}, at{"x=2", thrice(3)}, at{"x=4", thrice(10)})); a.PointsTo != claim.Reproduced {
		t.Errorf("from zero: %+v", a)
	}
}

// In a closed loop a standstill of the generator lowers the rate by as much, so that a claim may be true of the generator alone.
func TestAnAnswerThatAStandstillMayHaveMadeIsUndecided(t *testing.T) {
	for _, c := range []struct {
		measure string
		stood   [2]float64 // at x=1 and x=2
		want    claim.Verdict
	}{
		{"peak", [2]float64{0, 0.2}, claim.Undecided},
		{"peak", [2]float64{0, 0.02}, claim.Reproduced},
		{"peak", [2]float64{0.2, 0.2}, claim.Reproduced},
		{"latency", [2]float64{0, 0.2}, claim.Reproduced}, // by a schedule
	} {
		all := records(at{"x=1", thrice(100)}, at{"x=2", thrice(75)})
		for i := range all {
			all[i].Spec.Measure = c.measure
			if share := c.stood[i/3]; share > 0 {
				d := store.DoubtOf(doubt.Pauses, "so it was")
				d.Share = share
				all[i].Doubts = []store.Doubt{d}
			}
		}
		a := answer(t, "ratio: {of: {x: 2}, to: {x: 1}, expect: {to: 0.8}}", all)
		isOpen := strings.HasPrefix(a.Why, "the generator stood still for up to 20 % of the time")
		if a.Verdict != c.want || a.PointsTo != claim.Reproduced || isOpen != (c.want == claim.Undecided) {
			t.Errorf("%+v: %+v", c, a)
		}
	}
}

func TestOneRunDecidesNothingAtTheRateOfACurveEither(t *testing.T) {
	one := curveOf(store.Knee{Rate: 1990, JumpedAt: 10_000}, 50, 2000, 10_000)
	for _, choice := range []string{"knee", "lowest", "every"} {
		statement := "at: " + choice + ", threshold: {expect: {from: 0.5}}"
		if a := answer(t, statement, []store.Record{one}); a.Verdict != claim.Undecided || a.Reason != claim.OneRun {
			t.Errorf("%s, one run: %+v", choice, a)
		}
		again, third := one, one
		again.Repetition, third.Repetition = 2, 3
		if a := answer(t, statement, []store.Record{one, again, third}); a.Verdict != claim.Reproduced {
			t.Errorf("%s, three runs: %+v", choice, a)
		}
	}
}

// A decided answer says with what bound it would be another: an end of the interval that is nearest to the bound.
func TestAnAnswerSaysHowFarItsBoundCouldMove(t *testing.T) {
	for _, c := range []struct {
		statement string
		rates     []float64
		bound     float64
	}{
		{"threshold: {expect: {from: 4}}", []float64{5, 7}, 4},
		{"threshold: {expect: {from: 9}}", []float64{5, 7}, 9},
		{"threshold: {expect: {to: 9}}", []float64{5, 7}, 9},
		{"threshold: {expect: {from: 4, to: 20}}", []float64{5, 7}, 4},
		{"threshold: {take: mean, expect: {from: 4}}", []float64{5, 7}, 4},
		{"threshold: {share: 50%, expect: {from: 4}}", []float64{5, 7}, 4},
		{"ratio: {of: {x: 2}, to: {x: 1}, expect: {from: 1.1}}", []float64{5, 7}, 1.1},
		{"shape: {along: x, form: rising, within: 10%}", []float64{5, 7}, 0.9},
		{"shape: {along: x, form: constant, within: 10%}", []float64{5, 7}, 0.1},
	} {
		p := answer(t, c.statement, records(two(c.rates)...)).Parts[0]
		if !p.Turn.Given() || !near(p.Turn.Bound, c.bound) {
			t.Errorf("%s: %+v", c.statement, p.Turn)
			continue
		}
		// Of the same data with the bound moved to both sides of At the answers differ.
		beyond := func(share float64) claim.Verdict {
			moved := parse(t, c.statement)
			s := &moved.Statements[0]
			at := p.Turn.At + share*math.Abs(p.Turn.At)
			switch {
			case s.Kind == claim.Shape && s.Form == "rising":
				s.Within = 1 - at
			case s.Kind == claim.Shape:
				s.Within = at
			case near(s.Expect.From, c.bound):
				s.Expect.From = at
			default:
				s.Expect.To = at
			}
			return evaluate(moved, results.Of(records(two(c.rates)...)), "s", claim.Now).Verdict
		}
		if below, above := beyond(-0.001), beyond(0.001); below == above {
			t.Errorf("%s: %s whether the bound is below or above %v", c.statement, below, p.Turn.At)
		}
	}
	if p := answer(t, "rank: {by: x, first: 2}", records(at{"x=1", thrice(5)}, at{"x=2", thrice(7)})).Parts[0]; p.Turn.Given() {
		t.Errorf("a rank has no bound: %+v", p.Turn)
	}
}

func two(rates []float64) []at { return []at{{"x=1", thrice(rates[0])}, {"x=2", thrice(rates[1])}} }

func TestAFigureHasTheIntervalThatDecides(t *testing.T) {
	p := answer(t, "threshold: {expect: {from: 1}}", records(at{"x=1", thrice(5)})).Parts[0]
	if !(p.Sure.Low < p.Figure.Low && p.Figure.High < p.Sure.High) || p.Sure.Value != 5 {
		t.Errorf("%+v within %+v", p.Figure, p.Sure)
	}
	if p := answer(t, "threshold: {expect: {from: 1}}", records(at{"x=1", []float64{5}})).Parts[0]; p.Sure.N != 0 {
		t.Errorf("of one run: %+v", p.Sure)
	}
}

// In each of many studies nothing differs, so that each answer that one figure is the larger is wrong. A study gives one in at most 5 % of all cases, however
// many claims it has, and however many places a claim has of which one alone can refute it.
func TestAtMostOneStudyOfTwentyHasAWrongAnswer(t *testing.T) {
	random := rand.New(rand.NewPCG(45, 2))
	const studies, pairs = 300, 10
	each := parse(t, "ratio: {of: {m: a}, to: {m: b}, expect: {from: 1}}")
	var single []claim.Claim
	for x := range pairs {
		single = append(single, parse(t, fmt.Sprintf("select: {x: %d}, ratio: {of: {m: a}, to: {m: b}, expect: {from: 1.000001}}", x)))
	}
	falselyReproduced, falselyRefuted := 0, 0
	for range studies {
		var points []at
		for x := range pairs {
			for _, m := range []string{"a", "b"} {
				p := at{axes: fmt.Sprintf("m=%s x=%d", m, x)}
				for range 3 {
					p.rates = append(p.rates, 100*math.Exp(0.05*random.NormFloat64()))
				}
				points = append(points, p)
			}
		}
		set := results.Of(records(points...))
		isReproduced := func(a claim.Answer) bool { return a.Verdict == claim.Reproduced }
		if slices.ContainsFunc(claim.Answers(single, set, "s", claim.Now), isReproduced) {
			falselyReproduced++
		}
		if evaluate(each, set, "s", claim.Now).Verdict == claim.NotReproduced {
			falselyRefuted++
		}
	}
	if most := studies / 20; falselyReproduced > most || falselyRefuted > most {
		t.Errorf("of %d studies %d reproduce a claim by chance, and %d refute one", studies, falselyReproduced, falselyRefuted)
	}
}
