package claim_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/claim"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// Each figure is reckoned by hand from the rates of the points.
func TestTheFigureOfAStatementIsThatOfItsDefinition(t *testing.T) {
	two := func(axes string, a, b float64) at { return at{axes, []float64{a, b}} }
	for _, c := range []struct {
		name, statement string
		points          []at
		want            claim.Figure
		missing         int
	}{
		{"a ratio", "ratio: {of: {m: a}, to: {m: b}, expect: {to: 1}}", []at{two("m=a", 40, 44), two("m=b", 90, 110)}, claim.Figure{Value: 0.42, Low: 40.0 / 110, High: 44.0 / 90, N: 2, Unit: unit.Factor}, 0},
		{"a ratio of unequal repetitions", "ratio: {of: {m: a}, to: {m: b}, expect: {to: 1}}", []at{{"m=a", []float64{40}}, two("m=b", 90, 110)}, claim.Figure{Value: 0.4, Low: 40.0 / 110, High: 40.0 / 90, N: 1, Unit: unit.Factor}, 0},
		{"of two ratios one is missing", "ratio: {of: {m: a}, to: {m: b}, expect: {to: 1}}", []at{two("m=a x=1", 4, 4), two("m=b x=1", 8, 8), two("m=a x=2", 4, 4), two("m=b x=2 status=failed", 8, 8)}, claim.Figure{Value: 0.5, Low: 0.5, High: 0.5, N: 2, Unit: unit.Factor}, 1},
		{"a threshold", "threshold: {expect: {from: 1}}", []at{two("x=1", 10, 20)}, claim.Figure{Value: 15, Low: 10, High: 20, N: 2, Unit: unit.PerSecond}, 0},
		{"the mean of cells", "threshold: {take: mean, expect: {from: 1}}", []at{two("x=1", 10, 20), two("x=2", 30, 50)}, claim.Figure{Value: 27.5, Low: 20, High: 35, N: 2, Unit: unit.PerSecond}, 0},
		{"the least of pooled points", "over: [], pool: min, threshold: {expect: {from: 1}}", []at{two("x=1", 10, 20), two("x=2", 30, 50)}, claim.Figure{Value: 15, Low: 10, High: 20, N: 2, Unit: unit.PerSecond}, 0},
		{"the best of pooled points", "over: [], pool: best, threshold: {expect: {from: 1}}", []at{two("x=1", 10, 20), two("x=2", 30, 50)}, claim.Figure{Value: 40, Low: 30, High: 50, N: 2, Unit: unit.PerSecond}, 0},
		{"the best where the lowest is", "best: lowest, over: [], pool: best, threshold: {expect: {from: 1}}", []at{two("x=1", 10, 20), two("x=2", 30, 50)}, claim.Figure{Value: 15, Low: 10, High: 20, N: 2, Unit: unit.PerSecond}, 0},
		{"the median of three, and of failed ones", "threshold: {take: median, expect: {from: 1}}", []at{{"x=1", []float64{1}}, {"x=2", []float64{9}}, {"x=3", []float64{5}}, {"x=4 status=void", []float64{7}}}, claim.Figure{Value: 5, Low: 5, High: 5, N: 1, Unit: unit.PerSecond}, 1},
		{"each of several", "threshold: {expect: {from: 1}}", []at{two("x=1", 10, 20), two("x=2", 30, 50), two("x=3", 1, 3)}, claim.Figure{Value: 15, Low: 1, High: 50, N: 2, Unit: unit.PerSecond}, 0},

		{"the lead of the first", "rank: {by: b, first: k}", []at{two("b=k", 90, 110), two("b=r", 50, 50), two("b=p", 10, 10)}, claim.Figure{Value: 2, Low: 1.8, High: 2.2, N: 2, Unit: unit.Factor}, 0},
		{"the first that is none", "rank: {by: b, first: r}", []at{two("b=k", 100, 100), two("b=r", 50, 50), two("b=p", 10, 10)}, claim.Figure{Value: 0.5, Low: 0.5, High: 0.5, N: 2, Unit: unit.Factor}, 0},
		{"the last behind the one before", "rank: {by: b, last: p}", []at{two("b=k", 100, 100), two("b=r", 50, 50), two("b=p", 10, 10)}, claim.Figure{Value: 0.2, Low: 0.2, High: 0.2, N: 2, Unit: unit.Factor}, 0},
		{"the first where the lowest is", "best: lowest, rank: {by: b, first: p}", []at{two("b=k", 100, 100), two("b=r", 50, 50), two("b=p", 10, 10)}, claim.Figure{Value: 5, Low: 5, High: 5, N: 2, Unit: unit.Factor}, 0},
		{"the last where the lowest is best", "best: lowest, rank: {by: b, last: k}", []at{two("b=k", 100, 100), two("b=r", 50, 50), two("b=p", 10, 10)}, claim.Figure{Value: 0.5, Low: 0.5, High: 0.5, N: 2, Unit: unit.Factor}, 0},
		{"an order is told by its first", "rank: {by: b, order: [k, r]}", []at{two("b=k", 100, 100), two("b=r", 50, 50), two("b=p", 80, 80)}, claim.Figure{Value: 1.25, Low: 1.25, High: 1.25, N: 2, Unit: unit.Factor}, 0},
		{"one that a failed contender has left alone", "rank: {by: b, first: k}", []at{two("b=k x=1", 8, 8), two("b=r x=1", 4, 4), two("b=k x=2", 8, 8), two("b=r x=2 status=failed", 4, 4)}, claim.Figure{Value: 2, Low: 2, High: 2, N: 2, Unit: unit.Factor}, 1},
		{"against nothing", "rank: {by: b, first: k}", []at{two("b=k", 8, 8), two("b=r", 0, 0)}, claim.Figure{}, 0},

		{"the change of a course", "slope: {along: x, change: {from: -1}}", []at{two("x=10", 70, 72), two("x=2", 100, 100), two("x=9", 90, 90)}, claim.Figure{Value: -0.29, Low: -0.30, High: -0.28, N: 2, Unit: unit.Share}, 0},
		{"a course without the point that failed", "slope: {along: x, change: {from: -1}}", []at{two("x=1", 100, 100), two("x=2", 90, 90), two("x=3 status=failed", 1, 1), two("x=4", 80, 80)}, claim.Figure{Value: -0.2, Low: -0.2, High: -0.2, N: 2, Unit: unit.Share}, 0},
		{"of two courses one is short", "slope: {along: x, change: {from: -1}}", []at{two("x=1 y=1", 100, 100), two("x=2 y=1", 90, 90), two("x=3 y=1", 80, 80), two("x=1 y=2", 5, 5)}, claim.Figure{Value: -0.2, Low: -0.2, High: -0.2, N: 2, Unit: unit.Share}, 1},
		{"of two courses one failed", "slope: {along: x, change: {from: -1}}", []at{two("x=1 y=1", 100, 100), two("x=2 y=1", 90, 90), two("x=3 y=1", 80, 80), two("x=1 y=2 status=void", 5, 5)}, claim.Figure{Value: -0.2, Low: -0.2, High: -0.2, N: 2, Unit: unit.Share}, 1},
		{"a constant within its spread", "shape: {along: x, form: constant, within: 1%}", []at{two("x=1", 98, 102), two("x=2", 104, 108), two("x=3", 96, 96)}, claim.Figure{Value: 0.1, Low: 8.0 / 102, High: 12.0 / 98, N: 2, Unit: unit.Share}, 0},
		{"a constant that may be one", "shape: {along: x, form: constant, within: 1%}", []at{two("x=1", 90, 110), two("x=2", 95, 105)}, claim.Figure{Value: 0, Low: 0, High: 20.0 / 92.5, N: 2, Unit: unit.Share}, 0},
		{"the smallest step of a rise", "shape: {along: x, form: rising}", []at{two("x=1", 10, 10), two("x=2", 20, 20), two("x=3", 30, 30)}, claim.Figure{Value: 1.5, Low: 1.5, High: 1.5, N: 2, Unit: unit.Factor}, 0},
		{"the largest step of a fall", "shape: {along: x, form: falling}", []at{two("x=1", 30, 30), two("x=2", 20, 20), two("x=3", 10, 10)}, claim.Figure{Value: 2.0 / 3, Low: 2.0 / 3, High: 2.0 / 3, N: 2, Unit: unit.Factor}, 0},
		{"an interior maximum above both ends", "shape: {along: x, form: interior maximum}", []at{two("x=1", 10, 10), two("x=2", 30, 30), two("x=3", 25, 25), two("x=4", 20, 20)}, claim.Figure{Value: 1.5, Low: 1.5, High: 1.5, N: 2, Unit: unit.Factor}, 0},
	} {
		p := part(t, c.statement, c.points...)
		if f := p.Figure; !near(f.Value, c.want.Value) || !near(f.Low, c.want.Low) || !near(f.High, c.want.High) || f.N != c.want.N || f.Unit != c.want.Unit || p.Missing != c.missing {
			t.Errorf("%s: %+v, %d missing; want %+v, %d missing", c.name, f, p.Missing, c.want, c.missing)
		}
	}
}

func TestATrendNamesTheValuesThatItIsJudgedWithout(t *testing.T) {
	two := func(axes string) at { return at{axes, []float64{9, 9}} }
	for statement, want := range map[string]string{
		"slope: {along: x, change: {from: -1}}": "x=3",
		"shape: {along: x, form: constant}":     "x=3",
		"threshold: {expect: {from: 1}}":        "",
	} {
		p := part(t, statement, two("x=1 y=1"), two("x=2 y=1"), two("x=3 y=1 status=failed"), two("x=4 y=1"),
			two("x=1 y=2"), two("x=2 y=2"), two("x=3 y=2 status=failed"), two("x=4 y=2"))
		if got := strings.Join(p.Without, ", "); got != want {
			t.Errorf("%s: without %q, want %q", statement, got, want)
		}
	}
}

// 110/100 − 1 is a hair more than 0.1, and 0.7 − 1 a hair less than −0.3.
func TestRoundingPutsNoFigureBeyondItsBound(t *testing.T) {
	for expect, last := range map[string]float64{"{to: 10%}": 110, "{from: -30%}": 70, "{from: 10%, to: 10%}": 110} {
		p := part(t, "slope: {along: x, change: "+expect+"}", at{"x=1", []float64{100}}, at{"x=2", []float64{100}}, at{"x=3", []float64{last}})
		if p.PointsTo != claim.Reproduced {
			t.Errorf("%s of %v: %s", expect, p.Figure.Value, p.PointsTo)
		}
	}
}

func TestAFlatLineNeitherRisesNorFalls(t *testing.T) {
	for _, sign := range []string{"rising", "falling"} {
		for _, y := range []float64{3.3, 7, 1e6 / 3} {
			p := part(t, "slope: {along: x, sign: "+sign+"}", at{"x=1", []float64{y}}, at{"x=2", []float64{y}}, at{"x=4", []float64{y}}, at{"x=9", []float64{y}})
			if got := p.Cells[0].Verdict; got != claim.NotReproduced {
				t.Errorf("%v everywhere is %s: %s", y, sign, got)
			}
		}
	}
}

// On its bound a shape is still what it is said to be, except for a maximum, which has to lie above.
func TestAShapeHoldsOnItsBound(t *testing.T) {
	course := func(values ...float64) (out []at) {
		for i, v := range values {
			out = append(out, at{"x=" + string(rune('1'+i)), []float64{v}})
		}
		return out
	}
	for _, c := range []struct {
		statement string
		points    []at
		want      claim.Verdict
	}{
		{"form: constant, within: 10%", course(100, 105, 95), claim.Reproduced},
		{"form: constant, within: 9%", course(100, 105, 95), claim.NotReproduced},
		{"form: constant", course(100, 100), claim.Reproduced},
		{"form: rising", course(5, 5), claim.Reproduced},
		{"form: rising, within: 50%", course(10, 5), claim.Reproduced},
		{"form: rising, within: 49%", course(10, 5), claim.NotReproduced},
		{"form: rising, within: 5%", course(100, 95.1, 90.4, 86), claim.NotReproduced}, // each step is within 5 %, but it falls all along
		{"form: falling, within: 5%", course(86, 90.2, 94.5, 99), claim.NotReproduced},
		{"form: rising, within: 5%", course(100, 96, 99, 96, 110), claim.Reproduced},
		{"form: falling", course(5, 5), claim.Reproduced},
		{"form: falling, within: 50%", course(10, 15), claim.Reproduced},
		{"form: falling, within: 49%", course(10, 15), claim.NotReproduced},
		{"form: interior maximum", course(5, 5, 5), claim.NotReproduced},
		{"form: interior maximum, within: 20%", course(10, 13, 5), claim.Reproduced},
		{"form: interior maximum, within: 30%", course(10, 12, 5), claim.NotReproduced},
	} {
		if p := part(t, "shape: {along: x, "+c.statement+"}", c.points...); p.PointsTo != c.want {
			t.Errorf("%s of %+v: %s, want %s", c.statement, c.points, p.PointsTo, c.want)
		}
	}
}

func TestAShareOfThePlacesIsCountedUpToTheNextWhole(t *testing.T) {
	places := func(holding, failing, unknown int) (out []at) {
		for i := range holding + failing + unknown {
			rates := []float64{9}
			switch {
			case i >= holding+failing:
				rates = []float64{1, 9}
			case i >= holding:
				rates = []float64{1}
			}
			out = append(out, at{"x=" + string(rune('a'+i)), rates})
		}
		return out
	}
	for _, c := range []struct {
		share                     string
		holding, failing, unknown int
		want                      claim.Verdict
	}{
		{"50%", 2, 2, 0, claim.Reproduced},
		{"50%", 1, 3, 0, claim.NotReproduced},
		{"50%", 2, 3, 0, claim.NotReproduced}, // three of five
		{"50%", 2, 2, 1, claim.Undecided},
		{"50%", 3, 1, 1, claim.Reproduced},
		{"50%", 1, 3, 1, claim.NotReproduced},
		{"100%", 3, 0, 0, claim.Reproduced},
		{"100%", 3, 0, 1, claim.Undecided},
		{"0.3", 3, 7, 0, claim.Reproduced}, // 0.3 · 10 is a little more than 3
	} {
		p := part(t, "threshold: {share: "+c.share+", expect: {from: 5}}", places(c.holding, c.failing, c.unknown)...)
		if p.PointsTo != c.want || p.Count(claim.Reproduced) != c.holding || p.Count(claim.NotReproduced) != c.failing {
			t.Errorf("%+v: %s", c, p.PointsTo)
		}
	}
}

func TestSidesAndAliasesOfAClaimAreReadAsWritten(t *testing.T) {
	claims, err := claim.Parse("c.yaml", []byte(`claims:
- id: 7
  says: it is so
  where: page 3
  published: twice
  note: roughly
  metric: publish_rate
  at: knee
  all:
  - {ratio: {of: {mode: a, at: every}, to: {mode: b}, expect: &bounds {from: 2}}}
  - {threshold: {expect: *bounds, over: [], pool: mean}}
  - {rank: {by: broker, last: kafka}, best: lowest}
  - {rank: {by: broker, second: kafka}}
  - {slope: {along: partitions, sign: falling, r2: 0.5}, share: 50%}
  - {select: {x: {from: 1, not: [2, 3]}, y: highest, z: [lowest, 5]}, shape: {along: x, form: interior maximum, within: 5%}}
`))
	if err != nil {
		t.Fatal(err)
	}
	c := claims[0]
	if c.ID != "7" || c.Says != "it is so" || c.Where != "page 3" || c.Published != "twice" || c.Note != "roughly" || c.Undecidable != "" {
		t.Errorf("%+v", c)
	}
	s := c.Statements
	if len(s[0].Of.Select) != 1 || len(s[0].To.Select) != 1 || s[0].Kind != claim.Ratio || s[0].Of.At != "every" || s[0].To.At != "knee" || s[0].Expect.From != 2 || !math.IsInf(s[0].Expect.To, 1) || s[0].OverGiven {
		t.Errorf("a ratio: %+v", s[0])
	}
	if s[1].Expect != s[0].Expect || !s[1].OverGiven || len(s[1].Over) != 0 || s[1].Pool != "mean" || s[1].At != "knee" {
		t.Errorf("a threshold: %+v", s[1])
	}
	if s[2].Place != -1 || s[2].Who != "kafka" || s[2].By != "broker" || !s[2].LowestWins || s[3].Place != 2 || s[3].LowestWins {
		t.Errorf("ranks: %+v, %+v", s[2], s[3])
	}
	if s[4].Along != "partitionsPerTopic" || s[4].Sign != "falling" || s[4].R2 != 0.5 || s[4].Take != claim.TakeShare || s[4].Share != 0.5 || s[4].Change.Given() {
		t.Errorf("a slope: %+v", s[4])
	}
	x, y, z := s[5].Select["x"], s[5].Select["y"], s[5].Select["z"]
	if s[5].Form != "interior maximum" || s[5].Within != 0.05 || x.Bounds.From != 1 || !math.IsInf(x.Bounds.To, 1) || len(x.Not) != 2 || y.End != claim.Highest || z.End != "" || len(z.Any) != 2 {
		t.Errorf("a shape: %+v", s[5])
	}
}

// A search in which every rate passed has no upper end: a line through it rises, and may rise without limit.
func TestALineThroughASearchThatFoundNoUpperBoundRises(t *testing.T) {
	for name, highs := range map[string][]float64{"at the end": {1100, 2100, 0}, "in the middle": {1100, 0, 3100}} {
		var all []store.Record
		for i, high := range highs {
			r := records(at{fmt.Sprintf("x=%d", i+1), []float64{1}})[0]
			r.Result = &store.Result{Sustainable: &store.Sustainable{HeldNs: 20e9, Low: float64(1000 * (i + 1)), High: high}}
			all = append(all, r)
		}
		a := evaluate(parse(t, "slope: {metric: sustainable_low, along: x, sign: rising}"), results.Of(all), "s", claim.Now)
		if a.PointsTo != claim.Reproduced {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

func TestTheNameOfARateHasNoExponent(t *testing.T) {
	all := results.Of([]store.Record{curveOf(store.Knee{}, 1_000_000, 2_500_000)})
	p := evaluate(parse(t, "at: every, threshold: {expect: {from: 0}}"), all, "s", claim.Now).Parts[0]
	if len(p.Cells) != 2 || p.Cells[0].Name != "load=1000000" {
		t.Errorf("%+v", p.Cells)
	}
	p = evaluate(parse(t, "select: {x: {from: 3000000}}, threshold: {expect: {from: 0}}"), results.Of(records(at{"x=1", []float64{1}})), "s", claim.Now).Parts[0]
	if p.Why != "no point has x from 3000000; there are 1" {
		t.Error(p.Why)
	}
}

func TestPointsWithoutTheMetricAreNotCountedAmongThoseToPool(t *testing.T) {
	p := part(t, "over: [], threshold: {expect: {from: 2}}", at{"x=1", []float64{3}}, at{"x=2", []float64{3}}, at{"x=3 status=failed", []float64{3}})
	if !strings.HasPrefix(p.Why, "2 points of published") {
		t.Error(p.Why)
	}
}
