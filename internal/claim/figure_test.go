package claim_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/claim"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// part is what the only statement of a claim comes to.
func part(t *testing.T, statement string, points ...at) claim.Part {
	t.Helper()
	return evaluate(parse(t, statement), results.Of(records(points...)), "s", claim.Now).Parts[0]
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(b)) }

// The textbook's five points: their line has an R² of 0.6, wherever along the axis they lie.
func TestHowWellALineFitsIsToldOfTheMediansAndOfEachRepetition(t *testing.T) {
	textbook, straight := []float64{2, 4, 5, 4, 5}, []float64{1, 2, 3, 4, 5}
	for _, from := range []int{1, 11} {
		var one, two []at
		for i := range textbook {
			axes := "x=" + string(rune('0'+from/10)) + string(rune('0'+from%10+i))
			one = append(one, at{axes, textbook[i : i+1]})
			two = append(two, at{axes, []float64{textbook[i], straight[i]}})
		}
		if f := part(t, "slope: {along: x, r2: 0.5}", one...).R2; !near(f.Value, 0.6) || !near(f.Low, 0.6) || !near(f.High, 0.6) || f.N != 1 {
			t.Errorf("from %d: %+v, want 0.6", from, f)
		}
		// The medians are 1.5, 3, 4, 4, 5: a covariance of 8, variances of 10 and 7.
		if f := part(t, "slope: {along: x, r2: 0.5}", two...).R2; !near(f.Value, 64.0/70) || !near(f.Low, 0.6) || !near(f.High, 1) || f.N != 2 {
			t.Errorf("from %d, two repetitions: %+v, want 0.914 within 0.6 to 1", from, f)
		}
	}
	for name, c := range map[string]struct {
		points []at
		want   claim.Verdict
	}{
		"either repetition fits":         {[]at{{"x=1", []float64{1, 2}}, {"x=2", []float64{2, 3}}, {"x=3", []float64{3, 4}}}, claim.Reproduced},
		"one fits and the other doesn't": {[]at{{"x=1", []float64{1, 9}}, {"x=2", []float64{2, 1}}, {"x=3", []float64{3, 9}}}, claim.Undecided},
	} {
		if p := part(t, "slope: {along: x, r2: 0.99}", c.points...); p.PointsTo != c.want {
			t.Errorf("%s: %+v, want %s", name, p, c.want)
		}
	}
}

func TestASpreadThatEndsOnABoundOfZeroIsNotBeyondIt(t *testing.T) {
	level := []at{{"x=1", []float64{100}}, {"x=2", []float64{100}}}
	for expect, last := range map[string][]float64{"{from: 0}": {90, 100}, "{to: 0}": {100, 110}} {
		p := part(t, "slope: {along: x, change: "+expect+"}", append(level, at{"x=3", last})...)
		if p.PointsTo != claim.Undecided || p.Reason != claim.WithinSpread {
			t.Errorf("a change of %v to %v within %s: %+v", p.Figure.Low, p.Figure.High, expect, p)
		}
	}
}

func TestARatioOfNothingToSomethingIsZeroAndOneToNothingIsNone(t *testing.T) {
	all := records(at{"x=1", []float64{100, 200}})
	for i := range all {
		all[i].Result.Books = store.Books{Sent: 9, Acked: 9, Expected: 9, Received: 9}
	}
	part := func(t *testing.T, statement string) claim.Part {
		t.Helper()
		return evaluate(parse(t, statement), results.Of(all), "s", claim.Now).Parts[0]
	}
	if p := part(t, "ratio: {of: {metric: lost}, to: {metric: publish_rate}, expect: {to: 1%}}"); p.PointsTo != claim.Reproduced || p.Figure.Value != 0 || p.Figure.N != 2 {
		t.Errorf("nothing lost: %+v", p)
	}
	p := part(t, "ratio: {of: {metric: publish_rate}, to: {metric: lost}, expect: {to: 1%}}")
	if p.PointsTo != claim.Undecided || p.Reason != claim.NoFigure || p.Why != "there is no ratio to zero" {
		t.Errorf("to nothing: %+v", p)
	}
	p = part(t, "ratio: {of: {metric: publish_rate}, to: {metric: drain_rate}, expect: {to: 1%}}")
	if p.Reason != claim.NoFigure || p.Why != "no figure of drained" {
		t.Errorf("to what was not measured: %+v", p)
	}
}

// A repetition that had been the only one would have no ratio, so that of the others doesn't decide.
func TestARatioThatOneRepetitionDoesNotHaveCannotBeTold(t *testing.T) {
	p := part(t, "ratio: {of: {metric: receive_rate}, to: {metric: publish_rate}, expect: {about: 0.5, within: 1%}}", at{"x=1", []float64{100, 0}})
	if p.PointsTo != claim.Undecided || p.Why != "there is no ratio to zero" {
		t.Errorf("%+v", p)
	}
}

// Without a loss of the first there is no telling how many times fewer it lost: the place holds, and the lead is no figure.
func TestALeadOverNothingIsNoFigure(t *testing.T) {
	all := records(at{"broker=kafka", []float64{1, 1}}, at{"broker=nats", []float64{1, 1}})
	for i := range all {
		lost := int64(0)
		if all[i].Spec.Broker == "nats" {
			lost = 5
		}
		all[i].Result.Books = store.Books{Sent: 9, Acked: 9, Expected: 9, Received: 9 - lost, Lost: lost}
	}
	a := evaluate(parse(t, "rank: {by: broker, first: kafka, metric: lost}"), results.Of(all), "s", claim.Now)
	if a.PointsTo != claim.Reproduced || a.Parts[0].Figure.N != 0 || a.Repetitions() != 2 {
		t.Errorf("%+v", a)
	}
}

func TestWhyAnAnswerCannotBeToldIsSaidInTheWordsThatFit(t *testing.T) {
	one := []float64{5}
	for _, c := range []struct {
		name, statement string
		points          []at
		why             string
	}{
		{"repetitions", "threshold: {expect: {from: 2}}", []at{{"x=1", []float64{1, 3}}}, "the repetitions lie on both sides"},
		{"some places", "threshold: {expect: {from: 2}}", []at{{"x=1", []float64{1, 3}}, {"x=2", one}, {"x=3", one}}, "in 1 of 3 places the repetitions lie on both sides"},
		{"some places beside one that failed", "threshold: {expect: {from: 2}}", []at{{"x=1", []float64{1, 3}}, {"x=2", one}, {"x=3 status=failed", one}}, "in 1 of 3 places the repetitions lie on both sides"},
		{"a mean, whatever its places are", "take: mean, threshold: {expect: {from: 2}}", []at{{"x=1", []float64{1, 3}}, {"x=2", []float64{1.5, 1.6}}, {"x=3", []float64{2.1, 2.2}}}, "the repetitions lie on both sides"},
		{"a share of nothing at one place", "shape: {along: x, form: constant, within: 1%}", []at{
			{"x=1 y=1", []float64{0}}, {"x=2 y=1", []float64{0}}, {"x=1 y=2", one}, {"x=2 y=2", one},
		}, "in 1 of 2 places there is no ratio to zero"},
		{"a share of nothing at one place, repetitions at another", "shape: {along: x, form: constant, within: 1%}", []at{
			{"x=1 y=1", []float64{0}}, {"x=2 y=1", []float64{0}}, {"x=1 y=2", []float64{5, 5}}, {"x=2 y=2", []float64{5, 6}},
		}, "in 1 of 2 places the repetitions lie on both sides"},
		{"a place that failed", "rank: {by: broker, first: kafka}", []at{
			{"x=1 broker=kafka", one}, {"x=1 broker=nats", []float64{1}}, {"x=2 broker=kafka status=failed", one}, {"x=2 broker=nats", []float64{1}},
		}, "1 of 2 points have no repetition that ended ok"},
		{"a contender without a figure", "rank: {by: broker, first: kafka}", []at{
			{"broker=kafka", one}, {"broker=nats", []float64{1}}, {"broker=redis status=failed", one}, {"broker=pulsar status=void", one},
		}, "without a figure of pulsar, redis the place is open"},
		{"two that failed", "threshold: {expect: {from: 2}}", []at{{"x=1", one}, {"x=2 status=failed", one}, {"x=3 status=void", one}}, "2 of 3 points have no repetition that ended ok"},
		{"a ratio to zero at one place", "ratio: {of: {m: a}, to: {m: b}, expect: {to: 1}}", []at{
			{"x=1 m=a", one}, {"x=1 m=b", one}, {"x=2 m=a", one}, {"x=2 m=b", []float64{0}},
		}, "1 of 2 places have no figure"},
		{"a course that is too short at one place", "slope: {along: x, change: {from: -1}}", []at{
			{"x=1 y=1", one}, {"x=2 y=1", one}, {"x=3 y=1", one}, {"x=1 y=2", one},
		}, "1 of 2 places have no figure"},
		{"all failed", "threshold: {expect: {from: 2}}", []at{{"x=1 status=failed", one}, {"x=2 status=void", one}}, "no repetition ended ok (failed; void)"},
		{"an ambiguous cell", "over: [], threshold: {expect: {from: 2}}", []at{{"x=1", one}, {"x=2", one}}, `2 points of published at "": the claim has to name an axis in over, or how to pool them`},
		{"an axis that isn't there", "slope: {along: y, sign: rising}", []at{{"x=1", one}}, `no point has an axis or a setting "y"`},
		{"another experiment", "experiment: f, threshold: {expect: {from: 2}}", []at{{"x=1", one}}, "nothing was measured of f"},
		{"a value", "select: {x: 7}, threshold: {expect: {from: 2}}", []at{{"x=1", one}, {"x=2", one}}, "no point has x 7; there are 1, 2"},
		{"one of two values", "select: {x: [7, 8]}, threshold: {expect: {from: 2}}", []at{{"x=1", one}}, "no point has x 7 or 8; there are 1"},
		{"another value", "select: {x: {not: [1]}}, threshold: {expect: {from: 2}}", []at{{"x=1", one}}, "no point has x other than 1; there are 1"},
		{"a lower bound", "select: {x: {from: 4}}, threshold: {expect: {from: 2}}", []at{{"x=1", one}}, "no point has x from 4; there are 1"},
		{"an upper bound", "select: {x: {to: 0.5}}, threshold: {expect: {from: 2}}", []at{{"x=1", one}}, "no point has x up to 0.5; there are 1"},
		{"both bounds", "select: {x: {from: 2, to: 3}}, threshold: {expect: {from: 2}}", []at{{"x=1", one}}, "no point has x from 2 to 3; there are 1"},
		{"the lowest of words", "select: {x: lowest}, threshold: {expect: {from: 2}}", []at{{"x=a", one}}, "no point has x lowest; there are a"},
		{"the highest of words", "select: {x: highest}, threshold: {expect: {from: 2}}", []at{{"x=a", one}}, "no point has x highest; there are a"},
		{"two points of a course", "over: [], slope: {along: x, sign: rising}", []at{{"x=1 y=1", one}, {"x=1 y=2", one}}, "2 points at x=1: the claim has to name an axis in over, or how to pool them"},
		{"a short course", "slope: {along: x, sign: rising}", []at{{"x=1", one}, {"x=2", one}}, "fewer than 3 values of x were measured"},
		{"a short shape", "shape: {along: x, form: rising}", []at{{"x=1", one}}, "fewer than 2 values of x were measured"},
		{"a share of nothing", "shape: {along: x, form: constant, within: 1%}", []at{{"x=1", []float64{0}}, {"x=2", []float64{0}}}, "there is no ratio to zero"},
		{"no rate of a curve", "at: every, threshold: {expect: {from: 2}}", []at{{"x=1", one}}, "no rate of a curve is every"},
		{"none to compare with", "ratio: {of: {mode: a}, to: {mode: b}, expect: {to: 2}}", []at{{"mode=a x=1", one}, {"mode=b x=2", one}}, "no two points differ in nothing but what is compared"},
	} {
		statement := "{id: 1, says: s, where: w, metric: publish_rate, experiment: e, " + c.statement + "}"
		if strings.Contains(c.statement, "experiment") {
			statement = "{id: 1, says: s, where: w, metric: publish_rate, " + c.statement + "}"
		}
		claims, err := claim.Parse("c.yaml", []byte("claims: ["+statement+"]"))
		if err != nil {
			t.Fatal(err)
		}
		a := evaluate(claims[0], results.Of(records(c.points...)), "s", claim.Now)
		if a.PointsTo != claim.Undecided || a.Why != c.why {
			t.Errorf("%s: %s (%q), want %q", c.name, a.PointsTo, a.Why, c.why)
		}
	}
}

func TestOneRunBetweenTwoRatesIsNotSaidToBeRepetitions(t *testing.T) {
	r := store.Record{
		Study: "s", PointID: "p", Axes: map[string]string{"sweep": "e"}, Repetition: 1, Status: store.OK, Spec: study.Spec{Measure: "curve"},
		Result: &store.Result{Knee: &store.Knee{Rate: 2000, JumpedAt: 10_000}},
	}
	p := evaluate(parse(t, "threshold: {metric: knee_rate, expect: {from: 5000}}"), results.Of([]store.Record{r}), "s", claim.Now).Parts[0]
	if p.Why != "what is known of the figures allows for both" {
		t.Errorf("%+v", p)
	}
}

func TestAKneeIsBeforeTheLowestRateAtWhichAnyRepetitionJumped(t *testing.T) {
	var curve []store.CurvePoint
	for i, rate := range []float64{50, 2000, 10_000, 60_000} {
		curve = append(curve, store.CurvePoint{Rate: rate, Status: store.OK, Measurement: store.Measurement{PublishRate: float64(i + 1), Seconds: 1}})
	}
	for _, jumps := range [][]float64{{10_000, 60_000, 0}, {60_000, 0, 10_000}, {0, 10_000, 60_000}} {
		var all []store.Record
		for i, at := range jumps {
			all = append(all, store.Record{
				Study: "s", PointID: "p", Axes: map[string]string{"sweep": "e"}, Repetition: i + 1, Status: store.OK, Spec: study.Spec{Measure: "curve"},
				Result: &store.Result{Knee: &store.Knee{Rate: 500, JumpedAt: at}, Curve: curve},
			})
		}
		p := evaluate(parse(t, "at: below-knee, threshold: {expect: {from: 0}}"), results.Of(all), "s", claim.Now).Parts[0]
		if len(p.Cells) != 2 || p.Cells[0].Name != "load=50" || p.Cells[1].Name != "load=2000" {
			t.Errorf("jumps at %v: %+v", jumps, p.Cells)
		}
	}
}

// A point without a figure does no harm: the others need no pooling.
func TestWhatFailedNeedsNoPooling(t *testing.T) {
	if p := part(t, "over: [], threshold: {expect: {from: 2}}", at{"x=1", []float64{3}}, at{"x=2 status=failed", []float64{3}}); p.PointsTo != claim.Reproduced {
		t.Errorf("%+v", p)
	}
}

func TestARangeOfASingleValueIsOne(t *testing.T) {
	points := []at{{"x=1", []float64{2}}}
	if p := part(t, "threshold: {expect: {from: 2, to: 2}}", points...); p.PointsTo != claim.Reproduced {
		t.Errorf("%+v", p)
	}
	if p := part(t, "select: {x: {from: 1, to: 1}}, threshold: {expect: {from: 2}}", points...); p.PointsTo != claim.Reproduced {
		t.Errorf("%+v", p)
	}
}

func TestAnAnswerRestsOnItsFewestRepetitions(t *testing.T) {
	points := []at{{"x=1", []float64{1, 1, 1}}, {"x=2", []float64{2, 2}}, {"x=3", []float64{3, 3, 3, 3}}}
	a := evaluate(parse(t, "all: [{select: {x: 3}, threshold: {expect: {from: 3}}}, {threshold: {expect: {from: 1}}}, {select: {x: 1}, threshold: {expect: {from: 1}}}]"),
		results.Of(records(points...)), "s", claim.Now)
	if a.Repetitions() != 2 || a.PointsTo != claim.Reproduced {
		t.Errorf("%d repetitions: %+v", a.Repetitions(), a)
	}
	if n := (claim.Answer{Parts: []claim.Part{{}}}).Repetitions(); n != 0 {
		t.Errorf("%d repetitions of no figure", n)
	}
}

// A repetition that lost confirmed messages failed because of that, and its losses are the ones that a claim about losses is about. How many
// repetitions there are decides nothing.
func TestMessagesAreCountedPerRepetitionAlsoOfThoseThatFailed(t *testing.T) {
	lost := func(axes string, counts ...int64) []store.Record {
		all := records(at{axes: axes, rates: make([]float64, len(counts))})
		for i := range all {
			all[i].Result.Books = store.Books{Sent: 100, Acked: 100, Expected: 100, Received: 100 - counts[i], Lost: counts[i]}
			if counts[i] == 77 {
				all[i].Status = store.Failed
			}
		}
		return all
	}
	for _, c := range []struct {
		name, statement string
		records         []store.Record
		want            claim.Verdict
		figure          float64
	}{
		{"nothing was lost", "threshold: {expect: {to: 0}}", lost("mode=a", 0, 0, 0), claim.Reproduced, 0},
		{"one of three failed by its losses", "threshold: {expect: {to: 0}}", lost("mode=a", 0, 77, 0), claim.NotReproduced, 77.0 / 3},
		{"none ended ok, and there were losses", "threshold: {expect: {to: 0}}", lost("mode=a", 77, 77), claim.NotReproduced, 77},
		{"none ended ok, and there may have been more", "threshold: {expect: {to: 80}}", lost("mode=a", 77, 77), claim.Undecided, 77},
		{"as many as repetitions allow", "threshold: {expect: {to: 6}}", lost("mode=a", 5, 5, 5), claim.Reproduced, 5},
		{
			"equal losses in two and in three", "ratio: {of: {mode: a}, to: {mode: b}, expect: {about: 1, within: 1%}}",
			slices.Concat(lost("mode=a", 5, 5, 5), lost("mode=b", 5, 5)), claim.Reproduced, 1,
		},
		{
			"a share of the same repetitions", "ratio: {of: {metric: lost}, to: {metric: sent}, expect: {to: 0}}",
			lost("mode=a", 0, 77, 0), claim.NotReproduced, 77.0 / 300,
		},
	} {
		c.records = slices.Clone(c.records)
		for i := range c.records {
			c.records[i].ID = int64(i + 1)
		}
		p := evaluate(parseOf(t, "lost", c.statement), results.Of(c.records), "s", claim.Now).Parts[0]
		if p.PointsTo != c.want || math.Abs(p.Figure.Value-c.figure) > 1e-9 {
			t.Errorf("%s: %s by %+v", c.name, p.PointsTo, p.Figure)
		}
	}
}

// parseOf is parse for a metric other than the publish rate.
func parseOf(t *testing.T, metric, statement string) claim.Claim {
	t.Helper()
	claims, err := claim.Parse("claims.yaml", []byte("claims:\n- {id: 1, says: something, where: here, experiment: e, metric: "+metric+", "+statement+"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return claims[0]
}

// The rate of a search in which every rate passed is known from below only, and so is a slope that it is part of.
func TestASlopeTakesARateThatNothingBoundsForWhatItIs(t *testing.T) {
	searched := func(lows, highs [3]float64) []store.Record {
		all := records(at{"x=1", []float64{1}}, at{"x=2", []float64{1}}, at{"x=3", []float64{1}})
		for i := range all {
			all[i].Result.Sustainable = &store.Sustainable{HeldNs: 20e9, Low: lows[i], High: highs[i]} // 0: every rate passed
		}
		return all
	}
	for _, c := range []struct {
		name        string
		lows, highs [3]float64
		sign        string
		want        claim.Verdict
	}{
		{"unbounded at its end", [3]float64{10, 20, 100}, [3]float64{11, 22, 0}, "rising", claim.Reproduced},
		{"unbounded at its end", [3]float64{10, 20, 100}, [3]float64{11, 22, 0}, "falling", claim.NotReproduced},
		{"unbounded at its beginning", [3]float64{10, 20, 30}, [3]float64{0, 22, 33}, "rising", claim.Undecided},
		{"unbounded in the middle, which has no weight", [3]float64{10, 20, 30}, [3]float64{11, 0, 33}, "rising", claim.Reproduced},
		{"unbounded everywhere", [3]float64{10, 20, 30}, [3]float64{}, "rising", claim.Undecided},
	} {
		claims := parseOf(t, "sustainable_low", "slope: {along: x, sign: "+c.sign+"}")
		p := evaluate(claims, results.Of(searched(c.lows, c.highs)), "s", claim.Now).Parts[0]
		if p.PointsTo != c.want {
			t.Errorf("%s, %s: %s (%s)", c.name, c.sign, p.PointsTo, p.Why)
		}
	}
}
