package claim_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/claim"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// at is a point of a made-up study: its axes, and the publish rates of its repetitions. "x: 1 failed" has a status.
type at struct {
	axes  string
	rates []float64
}

// records makes records of points; the axis "when" is now unless it is given, "sweep" is e, "status" is no axis.
func records(points ...at) []store.Record {
	var out []store.Record
	for _, p := range points {
		axes := map[string]string{"sweep": "e", "when": "now"}
		for pair := range strings.FieldsSeq(p.axes) {
			name, value, _ := strings.Cut(pair, "=")
			axes[name] = value
		}
		status := store.Status(axes["status"])
		delete(axes, "status")
		if status == "" {
			status = store.OK
		}
		spec := study.Spec{Broker: axes["broker"], Measure: "peak"}
		for i, rate := range p.rates {
			r := store.Record{
				ID: int64(len(out) + 1), Study: "s", PointID: fmt.Sprint(slices.Sorted(maps.Keys(axes)), p.axes), Axes: axes, Repetition: i + 1, Status: status, Spec: spec,
				Result: &store.Result{Measurement: store.Measurement{Seconds: 1, PublishRate: rate, ReceiveRate: rate / 2}},
			}
			if axes["when"] == claim.Published {
				r.Kind, r.Status, r.Result = store.KindPublished, store.Published, &store.Result{Given: map[string]float64{"publish_rate": rate}}
			}
			out = append(out, r)
		}
	}
	return out
}

func parse(t *testing.T, statement string) claim.Claim {
	t.Helper()
	claims, err := claim.Parse("claims.yaml", []byte("claims:\n- {id: 1, says: something, where: here, experiment: e, metric: publish_rate, "+statement+"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return claims[0]
}

// evaluate answers a claim as if the study had no other.
func evaluate(c claim.Claim, set *results.Set, study, side string) claim.Answer {
	return claim.Answers([]claim.Claim{c}, set, study, side)[0]
}

func TestStatements(t *testing.T) {
	one := func(v float64) []float64 { return []float64{v} }
	modes := func(a, b []float64) []at { return []at{{"mode=a", a}, {"mode=b", b}} }
	course := func(values ...float64) (out []at) {
		for i, v := range values {
			out = append(out, at{fmt.Sprintf("x=%d", i+1), one(v)})
		}
		return out
	}
	brokers := func(k, r, p []float64) []at {
		return []at{{"broker=kafka", k}, {"broker=rabbitmq", r}, {"broker=pulsar", p}}
	}
	for _, test := range []struct {
		name, statement string
		points          []at
		want            claim.Verdict
		reason          claim.Reason
	}{
		{"a ratio within its bounds", "ratio: {of: {mode: a}, to: {mode: b}, expect: {from: 0.3, to: 0.45}}", modes(one(40), one(100)), claim.Reproduced, ""},
		{"a ratio below them", "ratio: {of: {mode: a}, to: {mode: b}, expect: {from: 0.3, to: 0.45}}", modes(one(29), one(100)), claim.NotReproduced, ""},
		{"a ratio on the bound", "ratio: {of: {mode: a}, to: {mode: b}, expect: {from: 30%, to: 45%}}", modes(one(30), one(100)), claim.Reproduced, ""},
		{"a ratio whose repetitions lie on both sides", "ratio: {of: {mode: a}, to: {mode: b}, expect: {to: 0.45}}", modes([]float64{40, 44}, []float64{90, 100}), claim.Undecided, claim.WithinSpread},
		{"a ratio whose repetitions all hold", "ratio: {of: {mode: a}, to: {mode: b}, expect: {to: 0.45}}", modes([]float64{38, 40}, []float64{90, 100}), claim.Reproduced, ""},
		{"a ratio of one that failed", "ratio: {of: {mode: a}, to: {mode: b}, expect: {to: 0.45}}", []at{{"mode=a", one(1)}, {"mode=b status=failed", one(100)}}, claim.Undecided, claim.NoneUsable},
		{"a ratio of one that is void", "ratio: {of: {mode: a}, to: {mode: b}, expect: {to: 0.45}}", []at{{"mode=a status=void", one(1)}, {"mode=b", one(100)}}, claim.Undecided, claim.NoneUsable},
		{"a ratio to zero", "ratio: {of: {mode: a}, to: {mode: b}, expect: {to: 0.45}}", modes(one(1), one(0)), claim.Undecided, claim.NoFigure},
		{"a ratio to what was never run", "ratio: {of: {mode: a}, to: {mode: c}, expect: {to: 0.45}}", modes(one(1), one(2)), claim.Undecided, claim.NothingMeasured},
		{"a ratio along an axis that isn't there", "ratio: {of: {way: a}, to: {mode: b}, expect: {to: 0.45}}", modes(one(1), one(2)), claim.Undecided, claim.Misfit},
		{
			"the median of ratios", "ratio: {of: {mode: a}, to: {mode: b}, take: median, expect: {from: 0.4, to: 0.6}}",
			[]at{{"mode=a x=1", one(1)}, {"mode=b x=1", one(10)}, {"mode=a x=2", one(5)}, {"mode=b x=2", one(10)}, {"mode=a x=3", one(9)}, {"mode=b x=3", one(10)}},
			claim.Reproduced, "",
		},
		{
			"each of several ratios", "ratio: {of: {mode: a}, to: {mode: b}, over: [x], expect: {from: 0.4, to: 0.6}}",
			[]at{{"mode=a x=1", one(1)}, {"mode=b x=1", one(10)}, {"mode=a x=2", one(5)}, {"mode=b x=2", one(10)}},
			claim.NotReproduced, "",
		},
		{
			"half of the ratios", "ratio: {of: {mode: a}, to: {mode: b}, over: [x], share: 50%, expect: {from: 0.4, to: 0.6}}",
			[]at{{"mode=a x=1", one(1)}, {"mode=b x=1", one(10)}, {"mode=a x=2", one(5)}, {"mode=b x=2", one(10)}},
			claim.Reproduced, "",
		},
		{
			"the ratio of maxima", "ratio: {of: {mode: a}, to: {mode: b}, over: [], pool: max, expect: {about: 2, within: 1%}}",
			[]at{{"mode=a x=1", one(1)}, {"mode=b x=1", one(10)}, {"mode=a x=2", one(20)}, {"mode=b x=2", one(5)}},
			claim.Reproduced, "",
		},
		{"several points and no word on how to pool them", "ratio: {of: {mode: a}, to: {mode: b}, over: [], expect: {to: 2}}", []at{{"mode=a x=1", one(1)}, {"mode=b x=1", one(10)}, {"mode=a x=2", one(20)}}, claim.Undecided, claim.Misfit},
		{"two metrics of the same repetitions", "ratio: {of: {metric: receive_rate}, to: {metric: publish_rate}, expect: {about: 0.5, within: 1%}}", []at{{"mode=a", []float64{1, 1000}}}, claim.Reproduced, ""},

		{"the largest beyond a bound", "threshold: {take: max, expect: {from: 250000}}", course(1, 300000, 5), claim.Reproduced, ""},
		{"each beyond a bound", "threshold: {expect: {from: 2}}", course(1, 3, 5), claim.NotReproduced, ""},
		{"the mean", "threshold: {take: mean, expect: {about: 3, within: 1%}}", course(1, 3, 5), claim.Reproduced, ""},
		{"the mean, where one failed", "threshold: {take: mean, expect: {from: 3}}", []at{{"x=1", one(5)}, {"x=2 status=failed", one(9)}, {"x=3", one(3)}}, claim.Undecided, claim.NoneUsable},
		{"the largest beyond a bound, where one failed", "threshold: {take: max, expect: {from: 2}}", []at{{"x=1", one(5)}, {"x=2 status=failed", one(9)}}, claim.Reproduced, ""},
		{"the largest within a bound, where one failed", "threshold: {take: max, expect: {to: 9}}", []at{{"x=1", one(5)}, {"x=2 status=failed", one(9)}}, claim.Undecided, claim.NoneUsable},
		{"the smallest within a bound, where one failed", "threshold: {take: min, expect: {to: 9}}", []at{{"x=1", one(5)}, {"x=2 status=failed", one(9)}}, claim.Reproduced, ""},
		{"the median of three, of which one failed", "threshold: {take: median, expect: {from: 2}}", []at{{"x=1", one(5)}, {"x=2 status=failed", one(9)}, {"x=3", one(3)}}, claim.Reproduced, ""},
		{"the mean beyond a bound, whatever one that failed had", "threshold: {take: mean, expect: {to: 2}}", []at{{"x=1", one(5)}, {"x=2 status=failed", one(9)}}, claim.NotReproduced, ""},
		{"a bound within the spread", "threshold: {expect: {from: 2}}", []at{{"x=1", []float64{1, 3}}}, claim.Undecided, claim.WithinSpread},
		{"each, where one failed and the others hold", "threshold: {expect: {from: 2}}", []at{{"x=1", one(3)}, {"x=2 status=failed", one(3)}}, claim.Undecided, claim.NoneUsable},
		{"each, where one failed and another doesn't hold", "threshold: {expect: {from: 2}}", []at{{"x=1", one(1)}, {"x=2 status=failed", one(3)}}, claim.NotReproduced, ""},
		{"nothing but refusals", "threshold: {expect: {from: 2}}", []at{{"x=1 status=refused", one(0)}}, claim.Undecided, claim.NoneUsable},
		{"another metric", "threshold: {metric: drain_rate, expect: {from: 2}}", course(1), claim.Undecided, claim.NoFigure},
		{"the lowest of an axis", "select: {x: lowest}, threshold: {expect: {from: 7}}", course(7, 1, 1), claim.Reproduced, ""},
		{"the highest of an axis", "select: {x: highest}, threshold: {expect: {from: 7}}", course(1, 1, 7), claim.Reproduced, ""},
		{"a range of an axis", "select: {x: {from: 2, to: 3}}, threshold: {expect: {from: 7}}", course(1, 7, 7, 1), claim.Reproduced, ""},
		{"a range but for one", "select: {x: {from: 2, not: 3}}, threshold: {expect: {from: 7}}", course(1, 7, 1, 7), claim.Reproduced, ""},
		{"all but one", "select: {x: {not: 2}}, threshold: {expect: {to: 1}}", course(1, 7, 1), claim.Reproduced, ""},
		{"a setting that is no axis", "select: {measure: peak}, threshold: {expect: {to: 1}}", course(1), claim.Reproduced, ""},

		{"the first place", "rank: {by: broker, first: kafka}", brokers(one(9), one(5), one(3)), claim.Reproduced, ""},
		{"the last place", "rank: {by: broker, last: pulsar}", brokers(one(9), one(5), one(3)), claim.Reproduced, ""},
		{"the second place", "rank: {by: broker, second: rabbitmq}", brokers(one(9), one(5), one(3)), claim.Reproduced, ""},
		{"not the second place", "rank: {by: broker, second: kafka}", brokers(one(9), one(5), one(3)), claim.NotReproduced, ""},
		{"the first where lower is better", "best: lowest, rank: {by: broker, first: pulsar}", brokers(one(9), one(5), one(3)), claim.Reproduced, ""},
		{"a whole order", "rank: {by: broker, order: [kafka, rabbitmq, pulsar]}", brokers(one(9), one(5), one(3)), claim.Reproduced, ""},
		{"an order with two swapped", "rank: {by: broker, order: [kafka, pulsar, rabbitmq]}", brokers(one(9), one(5), one(3)), claim.NotReproduced, ""},
		{"a place within the spread", "rank: {by: broker, first: kafka}", brokers([]float64{4, 9}, []float64{5, 6}, one(3)), claim.Undecided, claim.WithinSpread},
		{"a last place that the spread of the others leaves alone", "rank: {by: broker, last: pulsar}", brokers([]float64{4, 9}, []float64{5, 6}, one(3)), claim.Reproduced, ""},
		{"a rank of one alone", "rank: {by: broker, first: kafka}", []at{{"broker=kafka", one(1)}}, claim.Undecided, claim.TooFew},
		{"a rank without the one in question", "rank: {by: broker, first: nats}", brokers(one(9), one(5), one(3)), claim.Undecided, claim.TooFew},
		{"a rank whose first failed", "rank: {by: broker, first: kafka}", []at{{"broker=kafka status=failed", one(9)}, {"broker=rabbitmq", one(1)}, {"broker=pulsar", one(2)}}, claim.Undecided, claim.NoneUsable},
		{"a first place that one without a figure may have", "rank: {by: broker, first: kafka}", []at{{"broker=kafka", one(9)}, {"broker=rabbitmq", one(5)}, {"broker=pulsar status=failed", one(3)}}, claim.Undecided, claim.NoneUsable},
		{"a last place that one without a figure may have", "rank: {by: broker, last: rabbitmq}", []at{{"broker=kafka", one(9)}, {"broker=rabbitmq", one(5)}, {"broker=pulsar status=void", one(3)}}, claim.Undecided, claim.NoneUsable},
		{"a first place that is lost whatever the others have", "rank: {by: broker, first: rabbitmq}", []at{{"broker=kafka", one(9)}, {"broker=rabbitmq", one(5)}, {"broker=pulsar status=failed", one(3)}}, claim.NotReproduced, ""},
		{"an order of those that have figures", "rank: {by: broker, order: [kafka, rabbitmq]}", []at{{"broker=kafka", one(9)}, {"broker=rabbitmq", one(5)}, {"broker=pulsar status=failed", one(3)}}, claim.Reproduced, ""},
		{"a first place before one that refused", "rank: {by: broker, first: kafka}", []at{{"broker=kafka", one(9)}, {"broker=rabbitmq", one(5)}, {"broker=pulsar status=refused", one(3)}}, claim.Reproduced, ""},
		{"a last place before one that refused", "rank: {by: broker, last: rabbitmq}", []at{{"broker=kafka", one(9)}, {"broker=rabbitmq", one(5)}, {"broker=pulsar status=refused", one(3)}}, claim.Reproduced, ""},
		{
			"the best of several points each", "rank: {by: broker, first: kafka, over: [], pool: best}",
			[]at{{"broker=kafka x=1", one(1)}, {"broker=kafka x=5", one(9)}, {"broker=rabbitmq x=1", one(5)}, {"broker=rabbitmq x=5", one(4)}},
			claim.Reproduced, "",
		},
		{
			"first in most places", "rank: {by: broker, first: kafka, share: 0.6}",
			[]at{{"broker=kafka x=1", one(9)}, {"broker=rabbitmq x=1", one(5)}, {"broker=kafka x=2", one(9)}, {"broker=rabbitmq x=2", one(5)}, {"broker=kafka x=3", one(1)}, {"broker=rabbitmq x=3", one(5)}},
			claim.Reproduced, "",
		},

		{"a falling line", "slope: {along: x, sign: falling}", course(9, 7, 8, 3), claim.Reproduced, ""},
		{"a line that rises", "slope: {along: x, sign: falling}", course(1, 2, 3), claim.NotReproduced, ""},
		{"a level line neither rises nor falls", "slope: {along: x, sign: rising}", course(2, 2, 2), claim.NotReproduced, ""},
		{"a line that fits", "slope: {along: x, r2: 0.99}", course(1, 2, 3.01), claim.Reproduced, ""},
		{"a line that doesn't", "slope: {along: x, r2: 0.99}", course(1, 9, 1, 9), claim.NotReproduced, ""},
		{"the change from end to end", "slope: {along: x, change: {from: -45%, to: -25%}}", course(100, 90, 70), claim.Reproduced, ""},
		{"a change beyond", "slope: {along: x, change: {from: -45%, to: -25%}}", course(100, 90, 80), claim.NotReproduced, ""},
		{"two points are no line", "slope: {along: x, sign: falling}", course(2, 1), claim.Undecided, claim.TooFew},
		{"a slope within the spread", "slope: {along: x, sign: falling}", []at{{"x=1", []float64{1, 3}}, {"x=2", one(2)}, {"x=3", []float64{1, 3}}}, claim.Undecided, claim.WithinSpread},
		{"a line along words", "slope: {along: mode, sign: falling}", modes(one(1), one(2)), claim.Undecided, claim.Misfit},

		{"constant", "shape: {along: x, form: constant, within: 10%}", course(100, 104, 96), claim.Reproduced, ""},
		{"not constant", "shape: {along: x, form: constant, within: 10%}", course(100, 120, 96), claim.NotReproduced, ""},
		{"constant along words", "shape: {along: mode, form: constant, within: 10%}", modes(one(100), one(101)), claim.Reproduced, ""},
		{"constant or not by the repetition", "shape: {along: x, form: constant, within: 10%}", []at{{"x=1", []float64{100, 120}}, {"x=2", one(100)}}, claim.Undecided, claim.WithinSpread},
		{"rising", "shape: {along: x, form: rising}", course(1, 2, 2, 3), claim.Reproduced, ""},
		{"not always rising", "shape: {along: x, form: rising}", course(1, 3, 2), claim.NotReproduced, ""},
		{"rising, but for what is tolerated", "shape: {along: x, form: rising, within: 40%}", course(1, 3, 2), claim.Reproduced, ""},
		{"falling", "shape: {along: x, form: falling}", course(3, 2, 1), claim.Reproduced, ""},
		{"falling to zero and up again", "shape: {along: x, form: falling}", course(5, 0, 7), claim.NotReproduced, ""},
		{"rising from zero", "shape: {along: x, form: rising}", course(0, 0, 7), claim.Reproduced, ""},
		{"not falling", "shape: {along: x, form: falling}", course(3, 1, 2), claim.NotReproduced, ""},
		{"an interior maximum", "shape: {along: x, form: interior maximum}", course(1, 5, 4), claim.Reproduced, ""},
		{"a maximum at the end", "shape: {along: x, form: interior maximum}", course(1, 5, 6), claim.NotReproduced, ""},
		{"values in the order of their numbers", "shape: {along: size, form: rising}", []at{{"messageSize=10kB", one(3)}, {"messageSize=100", one(1)}, {"messageSize=1kB", one(2)}}, claim.Reproduced, ""},

		{"all of several", "all: [{threshold: {take: max, expect: {from: 3}}}, {slope: {along: x, sign: rising}}]", course(1, 2, 3), claim.Reproduced, ""},
		{"all but one of several", "all: [{threshold: {take: max, expect: {from: 4}}}, {slope: {along: x, sign: rising}}]", course(1, 2, 3), claim.NotReproduced, ""},
		{"undecidable", "undecidable: there is no such thing", course(1), claim.Undecided, claim.Undecidable},
	} {
		t.Run(test.name, func(t *testing.T) {
			statement := test.statement
			c := claim.Claim{}
			if strings.HasPrefix(statement, "undecidable") {
				claims, err := claim.Parse("claims.yaml", []byte("claims: [{id: 1, says: s, where: w, "+statement+"}]"))
				if err != nil {
					t.Fatal(err)
				}
				c = claims[0]
			} else {
				c = parse(t, statement)
			}
			a := evaluate(c, results.Of(records(test.points...)), "s", claim.Now)
			if a.PointsTo != test.want || test.want == claim.Undecided && a.Reason != test.reason {
				t.Errorf("%s (%s: %s), want %s (%s)\n%+v", a.PointsTo, a.Reason, a.Why, test.want, test.reason, a.Parts)
			}
			if (a.Verdict == claim.Undecided) != (a.Why != "") {
				t.Errorf("why: %q", a.Why)
			}
		})
	}
}

func TestThenNowAndPublishedAreApart(t *testing.T) {
	set := results.Of(records(
		at{"x=1 when=then", []float64{1}}, at{"x=1 when=now", []float64{2}}, at{"x=1 when=published", []float64{3}},
	))
	c := parse(t, "threshold: {expect: {from: 0}}")
	for when, want := range map[string]float64{claim.Then: 1, claim.Now: 2, claim.Published: 3} {
		if f := evaluate(c, set, "s", when).Parts[0].Figure; f.Value != want || f.N != 1 {
			t.Errorf("%s: %+v, want %v", when, f, want)
		}
	}
	if a := evaluate(c, set, "another study", claim.Now); a.Reason != claim.NothingMeasured {
		t.Errorf("another study's records: %+v", a)
	}
}

func TestWhatHasNoAxisOfVersionsIsOfNow(t *testing.T) {
	r := records(at{"x=1", []float64{5}})
	delete(r[0].Axes, "when")
	if got := claim.Sides(results.Of(r), "s"); !slices.Equal(got, []string{claim.Now}) {
		t.Errorf("%v", got)
	}
}

func TestOfTheSameAxesMeasuredTwoWaysTheLatestStands(t *testing.T) {
	first, second := records(at{"x=1", []float64{5}}), records(at{"x=1", []float64{9}})
	second[0].PointID, second[0].ID = "at another scale", 77
	a := evaluate(parse(t, "threshold: {expect: {from: 0}}"), results.Of(append(second, first...)), "s", claim.Now)
	if f := a.Parts[0].Figure; f.Value != 9 || f.N != 1 {
		t.Errorf("%+v", f)
	}
}

func TestTheLoadsOfACurveAreChosenByItsKnee(t *testing.T) {
	result := &store.Result{Knee: &store.Knee{Rate: 1990, JumpedAt: 10000}}
	for i, rate := range []float64{50, 2000, 10000, 60000} {
		result.Curve = append(result.Curve, store.CurvePoint{Rate: rate, Status: store.OK, Measurement: store.Measurement{PublishRate: float64(i + 1), Seconds: 1}})
	}
	flat := *result
	flat.Knee = &store.Knee{Rate: 9900} // what came through rises no further
	for _, test := range []struct {
		at     string
		result *store.Result
		want   string
	}{
		{"every", result, "[1 2 3 4]"},
		{"lowest", result, "[1]"},
		{"knee", result, "[2]"},
		{"below-knee", result, "[1 2]"},
		{"above-knee", result, "[3 4]"},
		{"knee", &flat, "[3]"},
		{"above-knee", &flat, "[4]"},
		{"knee", &store.Result{Curve: result.Curve}, "[]"},
	} {
		r := store.Record{Study: "s", PointID: "p", Axes: map[string]string{"sweep": "e"}, Repetition: 1, Status: store.OK, Spec: study.Spec{Measure: "curve"}, Result: test.result}
		got := []float64{}
		for _, c := range evaluate(parse(t, "at: "+test.at+", threshold: {expect: {from: 0}}"), results.Of([]store.Record{r}), "s", claim.Now).Parts[0].Cells {
			got = append(got, c.Figure.Value)
		}
		slices.Sort(got)
		if knee := evaluate(parse(t, "at: knee, threshold: {expect: {from: 0}}"), results.Of([]store.Record{r}), "s", claim.Now).Parts[0].Figure; test.at == "knee" && test.result == result && (knee.Low != 2 || knee.High != 3) {
			t.Errorf("at a knee between two rates: %+v", knee)
		}
		if fmt.Sprint(got) != test.want {
			t.Errorf("at %s: rates %v, want %s", test.at, got, test.want)
		}
	}
}

func TestARateBetweenTwoThatWereTriedIsKnownNoBetter(t *testing.T) {
	for _, test := range []struct {
		name, statement string
		result          store.Result
		want            claim.Verdict
	}{
		{"a knee between 2,000 and 10,000 may be 6,560", "metric: knee_rate, threshold: {expect: {about: 6560, within: 25%}}", store.Result{Knee: &store.Knee{Rate: 2000, JumpedAt: 10000}}, claim.Undecided},
		{"and isn't 60,000", "metric: knee_rate, threshold: {expect: {about: 60000, within: 25%}}", store.Result{Knee: &store.Knee{Rate: 2000, JumpedAt: 10000}}, claim.NotReproduced},
		{"a knee without a jump is what came through", "metric: knee_rate, threshold: {expect: {about: 2000, within: 1%}}", store.Result{Knee: &store.Knee{Rate: 2000}}, claim.Reproduced},
		{"a search's bracket", "metric: sustainable_low, threshold: {expect: {from: 1000, to: 1050}}", store.Result{Sustainable: &store.Sustainable{HeldNs: 20e9, Low: 1000, High: 1100}}, claim.Undecided},
		{"a search that found no upper bound", "metric: sustainable_low, threshold: {expect: {from: 1000}}", store.Result{Sustainable: &store.Sustainable{HeldNs: 20e9, Low: 1000}}, claim.Reproduced},
		{"nor a lower one", "metric: sustainable_low, threshold: {expect: {to: 2000}}", store.Result{Sustainable: &store.Sustainable{HeldNs: 20e9, Low: 1000}}, claim.Undecided},
	} {
		claims, err := claim.Parse("c.yaml", []byte("claims: [{id: 1, says: s, where: w, experiment: e, "+test.statement+"}]"))
		if err != nil {
			t.Fatal(err)
		}
		r := store.Record{Study: "s", PointID: "p", Axes: map[string]string{"sweep": "e"}, Repetition: 1, Status: store.OK, Spec: study.Spec{Measure: "curve"}, Result: &test.result}
		if a := evaluate(claims[0], results.Of([]store.Record{r}), "s", claim.Now); a.PointsTo != test.want {
			t.Errorf("%s: %s (%s)", test.name, a.PointsTo, a.Why)
		}
	}
}
