package claim_test

import (
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/claim"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

func TestContendersThatAreLevelHaveNoOrder(t *testing.T) {
	for _, statement := range []string{"first: k", "last: k", "order: [k, r]", "order: [r, k]"} {
		for _, best := range []string{"highest", "lowest"} {
			p := part(t, "best: "+best+", rank: {by: b, "+statement+"}", at{"b=k", []float64{5, 7}}, at{"b=r", []float64{7, 9}}, at{"b=p", []float64{7}})
			level := part(t, "best: "+best+", rank: {by: b, "+statement+"}", at{"b=k", []float64{5}}, at{"b=r", []float64{5}})
			if p.PointsTo != claim.Undecided || level.PointsTo != claim.Undecided {
				t.Errorf("%s, best is the %s: %s and %s", statement, best, p.PointsTo, level.PointsTo)
			}
		}
	}
}

func TestARatioOfOneThatReachedNothingIsZero(t *testing.T) {
	p := part(t, "ratio: {of: {m: a}, to: {m: b}, expect: {to: 1%}}", at{"m=a", []float64{0, 10}}, at{"m=b", []float64{1000, 2000}})
	if f := p.Figure; p.PointsTo != claim.Reproduced || f.Low != 0 || f.High != 0.01 || f.N != 2 {
		t.Errorf("%+v", p)
	}
	p = part(t, "ratio: {of: {m: a}, to: {m: b}, expect: {to: 1}}", at{"m=a", []float64{5}}, at{"m=b", []float64{0, 10}})
	if p.PointsTo != claim.Undecided || p.Figure.N != 0 {
		t.Errorf("to one that may be zero: %+v", p)
	}
}

// curveOf is a curve that had its knee at a rate, with a publish rate of 1, 2, 3 … at its rates; a rate below 0 failed.
func curveOf(knee store.Knee, rates ...float64) store.Record {
	r := store.Record{
		Study: "s", PointID: "p", Axes: map[string]string{"sweep": "e"}, Repetition: 1, Status: store.OK, Spec: study.Spec{Measure: "curve"},
		Result: &store.Result{Knee: &knee},
	}
	for i, rate := range rates {
		c := store.CurvePoint{Rate: max(rate, -rate), Status: store.OK, Measurement: store.Measurement{PublishRate: float64(i + 1), Seconds: 1}}
		if rate < 0 {
			c.Status, c.Reason = store.Failed, "late"
		}
		r.Result.Curve = append(r.Result.Curve, c)
	}
	return r
}

func TestAKneeWhoseNextRateFailedIsKnownAtItselfAlone(t *testing.T) {
	for _, c := range []struct {
		next      float64
		low, high float64
	}{{10_000, 2, 3}, {-10_000, 2, 2}} {
		all := results.Of([]store.Record{curveOf(store.Knee{Rate: 1990, JumpedAt: 10_000}, 50, 2000, c.next)})
		f := evaluate(parse(t, "at: knee, threshold: {expect: {from: 1}}"), all, "s", claim.Now).Parts[0].Figure
		if f.Value != 2 || f.Low != c.low || f.High != c.high {
			t.Errorf("next rate %v: %+v, want %v to %v", c.next, f, c.low, c.high)
		}
	}
}

// Where nothing jumped, a rate came through that has 98 % of what was offered.
func TestARateOfWhichNinetyEightPerCentCameThroughIsBelowTheKnee(t *testing.T) {
	for rate, want := range map[float64]int{9800: 2, 9799: 1} {
		all := results.Of([]store.Record{curveOf(store.Knee{Rate: rate}, 500, 10_000, 20_000)})
		p := evaluate(parse(t, "at: below-knee, threshold: {expect: {from: 0}}"), all, "s", claim.Now).Parts[0]
		if len(p.Cells) != want {
			t.Errorf("%v of 10,000/s came through: %d rates are below the knee, want %d", rate, len(p.Cells), want)
		}
	}
}

// Papers print the latencies of closed loops, so a ratio of two of them has a figure; it is marked as such.
func TestARatioOfLatenciesOfAClosedLoopHasAFigure(t *testing.T) {
	r := records(at{"x=1", []float64{100}})[0]
	h := hist.New()
	h.RecordN(100, 90)
	h.RecordN(200, 10)
	r.Result.Latency.EndToEnd = h.Snapshot()
	a := evaluate(parse(t, "ratio: {of: {metric: e2e_p99_ns}, to: {metric: e2e_p50_ns}, expect: {about: 2, within: 1%}}"), results.Of([]store.Record{r}), "s", claim.Now)
	if a.PointsTo != claim.Reproduced || !a.Closed {
		t.Errorf("%+v", a)
	}
}

func TestAKeyThatIsGivenAgainAndAgainIsToldOfItsFirstPlace(t *testing.T) {
	_, err := claim.Parse("c.yaml", []byte("claims:\n- id: 1\n  id: 2\n  id: [3]\n  says: s\n  where: w\n  undecidable: u\n"))
	if err == nil || strings.Count(err.Error(), "given twice, first at line 2") != 2 || strings.Contains(err.Error(), "not a text") {
		t.Errorf("%v", err)
	}
}

// What has to hold at every curve is undecided if one of them has no rates, because no run of it ended ok.
func TestACurveThatFailedIsAPlaceThatIsMissing(t *testing.T) {
	measured, failed := curveOf(store.Knee{Rate: 60, JumpedAt: 100}, 50, 100), curveOf(store.Knee{})
	measured.PointID, measured.Axes = "m", map[string]string{"sweep": "e", "x": "1"}
	failed.PointID, failed.Axes = "f", map[string]string{"sweep": "e", "x": "2"}
	failed.Status, failed.Result = store.Failed, nil
	for _, rates := range []string{"every", "lowest", "knee", "below-knee", "above-knee"} {
		a := evaluate(parse(t, "at: "+rates+", threshold: {expect: {from: 1}}"), results.Of([]store.Record{measured, failed}), "s", claim.Now)
		if a.PointsTo != claim.Undecided || a.Reason != claim.NoneUsable || a.Parts[0].Missing != 1 || len(a.Parts[0].Cells) == 0 {
			t.Errorf("%s: %+v", rates, a)
		}
	}
}

// The less was measured, the less is decided: one run points to an answer, and repetitions that scatter little give it.
func TestOneRunPointsToAnAnswerAndDecidesNone(t *testing.T) {
	const statement = "ratio: {of: {m: a}, to: {m: b}, expect: {to: 0.6}}"
	for _, c := range []struct {
		a, b   []float64
		want   claim.Verdict
		reason claim.Reason
	}{
		{[]float64{50}, []float64{100}, claim.Undecided, claim.OneRun},
		{[]float64{50, 51}, []float64{100, 102}, claim.Undecided, claim.WithinSpread},
		{[]float64{50, 51, 49}, []float64{100, 101, 99}, claim.Reproduced, claim.Decided},
		{[]float64{50, 59, 41}, []float64{100, 101, 99}, claim.Undecided, claim.WithinSpread},
		{[]float64{50, 51, 49}, []float64{50, 51, 49}, claim.NotReproduced, claim.Decided},
	} {
		p := evaluate(parse(t, statement), results.Of(records(at{"m=a", c.a}, at{"m=b", c.b})), "s", claim.Now)
		if p.Verdict != c.want || p.Reason != c.reason || p.Verdict == claim.Undecided && !strings.Contains(p.Why, "point") {
			t.Errorf("%v to %v: %s (%s: %s), want %s", c.a, c.b, p.Verdict, p.Reason, p.Why, c.want)
		}
	}
}
