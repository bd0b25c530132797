// The tests of a comparison, and the words for what they show. Each metric is tested by the rank test of
// Mann and Whitney, which assumes no distribution. Of hundreds of tests some show a difference by chance
// alone, so the p values of all metrics and all pairs of a comparison are corrected together (Holm).

package reports

import (
	"fmt"
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// comparedMetrics are the keys of the metrics that a comparison shows if both sides have them. Each
// metric has a better direction.
var comparedMetrics = slices.Concat([]string{
	results.KeySustainableLow, results.KeyPublishRate, results.KeyEndToEndP50, results.KeyEndToEndP99, results.KeyPublishP99, results.KeyTotalSeconds, results.KeyDrainRate,
	results.KeyBrokerCPU, results.KeyGeneratorCPU, results.KeyBrokerRSS, results.KeyLostAcked,
}, pipelineFigures)

// metricTest is one metric of a pair, and the test of whether the second side differs from the first.
type metricTest struct {
	metric             results.Metric
	first, second      string // the names of the sides
	results.Difference        // its A is the first side, its B the second
}

// testedPair is a pair with the tests of its metrics. A pair with published figures has none.
type testedPair struct {
	pair
	tests []metricTest
}

// testPairs tests every metric of every pair, and corrects all tests as one family.
func testPairs(pairs []pair) []testedPair {
	var tested []testedPair
	var family []*results.Difference
	for _, p := range pairs {
		t := testedPair{pair: p}
		if !p.hasPublished() {
			t.tests = p.test()
		}
		for i := range t.tests {
			family = append(family, &t.tests[i].Difference)
		}
		tested = append(tested, t)
	}
	results.Correct(family)
	return tested
}

// test tests the metrics that both sides have, unless they are zero on both. Where a side has no latency
// from the intended time, latencies from the actual send are compared as well.
func (p pair) test() []metricTest {
	keys := slices.Clone(comparedMetrics)
	if !p.first.hasLatency() || !p.second.hasLatency() {
		keys = append(keys, results.FromSend...)
	}
	first, second := p.first.usable(), p.second.usable()
	var tests []metricTest
	for _, key := range keys {
		m := results.MustMetric(key)
		ofFirst, ofSecond := m.Values(first), m.Values(second)
		known := len(ofFirst) > 0 && len(ofSecond) > 0
		if known && (slices.Max(ofFirst) != 0 || slices.Max(ofSecond) != 0) {
			tests = append(tests, metricTest{metric: m, first: p.first.side, second: p.second.side, Difference: results.ContrastOf(m, first, second)})
		}
	}
	return tests
}

func (t metricTest) isFromSend() bool { return slices.Contains(results.FromSend, t.metric.Key) }

// better names the better side. It is empty unless a difference is shown.
func (t metricTest) better() string {
	switch {
	case !t.Shown():
		return ""
	case t.secondIsHigher() == (t.metric.Better == results.Higher):
		return t.second
	}
	return t.first
}

// secondIsHigher tells the direction of a shown difference. Cliff's delta is the share of pairs of values
// in which the second side's is the larger one, less the share in which it is the smaller one.
func (t metricTest) secondIsHigher() bool { return t.Delta > 0 }

// sentence says how the second side compares with the first, and what that rests on: "jetstream is lower
// than kafka, 0.118× [0.114–0.123×], which is worse (p = 0.023, …)."
func (t metricTest) sentence() string {
	switch t.Answer() {
	case results.NotTested:
		return fmt.Sprintf("%s is %s; %s.", t.second, t.ChangeFrom(t.first), t.Why())
	case results.NoDifferenceShown:
		return fmt.Sprintf("no difference shown (%s).", t.Why())
	}
	direction, judged := "lower", "worse"
	if t.secondIsHigher() {
		direction = "higher"
	}
	if t.better() == t.second {
		judged = "better"
	}
	return fmt.Sprintf("%s is %s than %s%s, which is %s (%s).", t.second, direction, t.first, t.ratioText(), judged, t.Why())
}

// ratioText is the ratio with its interval: ", 1.24× [1.20–1.31×]". It is empty where there is no ratio,
// because a value is 0 or less.
func (t metricTest) ratioText() string {
	switch {
	case math.IsNaN(t.Ratio):
		return ""
	case math.IsInf(t.RatioHigh, 0):
		return ", " + unit.Factor.Format(t.Ratio)
	}
	return fmt.Sprintf(", %s [%s]", unit.Factor.Format(t.Ratio), unit.Factor.Range(t.RatioLow, t.RatioHigh))
}

// ratioCell has an interval if there are enough values for one.
func (t metricTest) ratioCell() document.Cell {
	if math.IsInf(t.RatioHigh, 0) {
		return document.Number(t.Ratio)
	}
	return document.Cell{Kind: document.Interval, Number: t.Ratio, Low: t.RatioLow, High: t.RatioHigh}
}

// findingText says in a word or two who is better.
func (t metricTest) findingText() string {
	switch t.Answer() {
	case results.NotTested:
		return "not tested"
	case results.NoDifferenceShown:
		return "no difference shown"
	}
	return t.better() + " better"
}

// pValue is blank where nothing was tested.
func (t metricTest) pValue(p float64) document.Cell {
	if t.Answer() == results.NotTested {
		return document.Cell{}
	}
	return document.Number(p)
}

// columns are those of the table that shows the tests of a pair.
func (p pair) columns() []columnOf[metricTest] {
	return []columnOf[metricTest]{
		textColumn(document.Column{Key: "workload", MachinesOnly: true}, func(metricTest) string { return p.title }), // readers see it in the heading
		textColumn(document.Column{Key: "metric", Name: "metric", Identifies: true}, func(t metricTest) string { return t.metric.Name }),
		cellColumn(document.Column{Key: "first", Name: p.first.side, Spread: true}, func(t metricTest) document.Cell { return t.A.Cell().In(t.metric.Unit) }),
		cellColumn(document.Column{Key: "second", Name: p.second.side, Spread: true}, func(t metricTest) document.Cell { return t.B.Cell().In(t.metric.Unit) }),
		textColumn(document.Column{Key: "finding", Name: "finding"}, metricTest.findingText),
		cellColumn(document.Column{Key: "ratio", Name: "ratio", Unit: unit.Factor, Spread: true}, metricTest.ratioCell),
		numberColumn(document.Column{Key: "delta", Name: "delta"}, func(t metricTest) float64 { return t.Delta }),
		cellColumn(document.Column{Key: "p", Name: "p"}, func(t metricTest) document.Cell { return t.pValue(t.Adjusted) }),
		textColumn(document.Column{Key: "n", Name: "n"}, func(t metricTest) string { return fmt.Sprintf("%d, %d", t.A.N, t.B.N) }),
		numberColumn(document.Column{Key: "first_n", Unit: unit.Count, MachinesOnly: true}, func(t metricTest) int { return t.A.N }),
		numberColumn(document.Column{Key: "second_n", Unit: unit.Count, MachinesOnly: true}, func(t metricTest) int { return t.B.N }),
		cellColumn(document.Column{Key: "p_alone", MachinesOnly: true}, func(t metricTest) document.Cell { return t.pValue(t.P) }), // not corrected for other tests
		numberColumn(document.Column{Key: "tests", Unit: unit.Count, MachinesOnly: true}, func(t metricTest) int { return t.Family }),
	}
}
