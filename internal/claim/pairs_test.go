package claim_test

import (
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/claim"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// tls are figures of three brokers at two sizes. With tls=on k has 6 times as much at s=2, r 5 times, and p 3 times; at s=1 each has twice.
func tls(kAtOne string) []at {
	one := func(axes string, v float64) at { return at{axes, []float64{v, v}} }
	return []at{
		one("b=k s=1 tls=off"+kAtOne, 20), one("b=k s=1 tls=on", 40), one("b=k s=2 tls=off", 30), one("b=k s=2 tls=on", 180),
		one("b=r s=1 tls=off", 5), one("b=r s=1 tls=on", 10), one("b=r s=2 tls=off", 10), one("b=r s=2 tls=on", 50),
		one("b=p s=1 tls=off", 50), one("b=p s=1 tls=on", 100),
		{"b=p s=2 tls=off", []float64{90, 110}},
		{"b=p s=2 tls=on", []float64{290, 310}},
	}
}

const ofTLS = "of: {tls: on}, to: {tls: off}, "

// Each figure is reckoned by hand from the rates of the points.
func TestRanksAndTrendsMayBeOfRatios(t *testing.T) {
	for _, c := range []struct {
		statement, failed string
		want              claim.Verdict
		figure            claim.Figure
		cells, missing    int
	}{
		{"best: lowest, select: {s: 2}, rank: {" + ofTLS + "by: b, first: p}", "", claim.Reproduced, claim.Figure{Value: 5 / 3.0, Low: 5 / (310 / 90.0), High: 5 / (290 / 110.0), N: 2, Unit: unit.Factor}, 1, 0},
		{"best: lowest, select: {s: 2}, rank: {" + ofTLS + "by: b, first: r}", "", claim.NotReproduced, claim.Figure{Value: 3 / 5.0, Low: (290 / 110.0) / 5, High: (310 / 90.0) / 5, N: 2, Unit: unit.Factor}, 1, 0},
		{"select: {s: 2}, rank: {" + ofTLS + "by: b, order: [k, r, p]}", "", claim.Reproduced, claim.Figure{Value: 1.2, Low: 1.2, High: 1.2, N: 2, Unit: unit.Factor}, 1, 0},
		{"rank: {" + ofTLS + "by: b, first: k}", "", claim.Undecided, claim.Figure{Value: 1.1, Low: 1, High: 1.2, N: 2, Unit: unit.Factor}, 2, 0}, // at s=1 all are equal
		{"select: {b: [k, r]}, shape: {" + ofTLS + "along: s, form: rising}", "", claim.Reproduced, claim.Figure{Value: 2.75, Low: 2.5, High: 3, N: 2, Unit: unit.Factor}, 2, 0},
		{"select: {b: [k, r]}, shape: {" + ofTLS + "along: s, form: rising}", " status=failed", claim.Undecided, claim.Figure{Value: 2.5, Low: 2.5, High: 2.5, N: 2, Unit: unit.Factor}, 1, 1},
		{"select: {s: 2}, over: [], slope: {" + ofTLS + "along: s, sign: rising}", "", claim.Undecided, claim.Figure{}, 0, 0},
	} {
		p := part(t, c.statement, tls(c.failed)...)
		if f := p.Figure; p.PointsTo != c.want || !near(f.Value, c.figure.Value) || !near(f.Low, c.figure.Low) || !near(f.High, c.figure.High) || f.N != c.figure.N || f.Unit != c.figure.Unit ||
			len(p.Cells) != c.cells || p.Missing != c.missing {
			t.Errorf("%s%s: %s (%s), %+v of %d places, %d missing; want %+v", c.statement, c.failed, p.PointsTo, p.Why, f, len(p.Cells), p.Missing, c)
		}
	}
}

// Of 1, 2 and 3 times as much the line fits wholly, though neither dividends nor divisors lie on one.
func TestASlopeOfRatiosHasTheFitOfTheRatios(t *testing.T) {
	p := part(t, "slope: {of: {m: a}, to: {m: b}, along: x, sign: rising, r2: 0.99}",
		at{"m=a x=1", []float64{7, 8}}, at{"m=b x=1", []float64{7, 8}}, at{"m=a x=2", []float64{4, 6}}, at{"m=b x=2", []float64{2, 3}}, at{"m=a x=3", []float64{27, 30}}, at{"m=b x=3", []float64{9, 10}})
	if p.PointsTo != claim.Reproduced || !near(p.R2.Value, 1) || !near(p.R2.Low, 1) || !near(p.Figure.Value, 2) {
		t.Errorf("%+v", p)
	}
}

// A doubt about either of them touches the ratio.
func TestARatioOfRatiosHasTheDoubtsOfBothItsOperands(t *testing.T) {
	for i := range 4 {
		all := records(at{"m=a x=1", thrice(5)}, at{"m=b x=1", thrice(5)}, at{"m=a x=2", thrice(9)}, at{"m=b x=2", thrice(5)})
		all[3*i].Doubts = []store.Doubt{store.DoubtOf(doubt.NotSettled, "so it was")}
		if a := answer(t, "shape: {of: {m: a}, to: {m: b}, along: x, form: rising}", all); a.PointsTo != claim.Reproduced || a.Reason != claim.TooShort || len(a.Parts[0].Doubts) != 1 {
			t.Errorf("record %d: %+v", 3*i, a)
		}
	}
}

func TestADivisorThatIsSeveralPointsIsRefused(t *testing.T) {
	p := part(t, "shape: {of: {m: a}, to: {m: [b, c]}, along: x, form: rising}",
		at{"m=a x=1", []float64{5}}, at{"m=b x=1", []float64{5}}, at{"m=c x=1", []float64{5}})
	if p.Reason != claim.Misfit || p.Why != `2 points to divide by at "": to has to name one` {
		t.Errorf("%s: %s", p.Reason, p.Why)
	}
}

func TestOperandsComeInTwos(t *testing.T) {
	for _, statement := range []string{
		"rank: {of: {m: a}, by: x, first: 1}", "shape: {to: {m: a}, along: x, form: rising}", "slope: {of: {m: a}, along: x, sign: rising}", "ratio: {of: {m: a}, expect: {to: 1}}",
	} {
		_, err := claim.Parse("c.yaml", []byte("claims: [{id: 1, says: s, where: w, metric: publish_rate, "+statement+"}]"))
		if err == nil || !strings.Contains(err.Error(), "a ratio needs of and to") {
			t.Errorf("%s: %v", statement, err)
		}
	}
}
