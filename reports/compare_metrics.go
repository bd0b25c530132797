// The tests of a comparison, and the words for what they show. Of hundreds of tests some show a difference by chance
// alone, so the p values of all metrics and all pairs of a comparison are corrected together (Holm): of three
// tests with p = 0.01, 0.03 and 0.04 only the first still shows a difference.

package reports

import (
	"fmt"
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// comparedMetrics are the keys of the metrics that a comparison shows beside the headline of what was measured, if
// both sides have them. Each metric has a better direction.
var comparedMetrics = slices.Concat([]string{
	results.KeySustainableLow, results.KeyThroughput, results.KeyEndToEndP50, results.KeyEndToEndP99, results.KeyPublishP99,
	results.KeyTotalSeconds, results.KeyDrainRate,
	results.KeyBrokerCPU, results.KeyGeneratorCPU, results.KeyBrokerRSS, results.KeyLostAcked,
}, pipelineFigures)

// metricTest is one metric of a pair, and the test of whether the second side differs from the first. If the
// first side's e2e p99 was 10, 11, 12 and 13 ms in its repetitions and the second's 20, 22, 24 and 26 ms, the
// Estimate is 2.
type metricTest struct {
	metric                results.Metric
	firstName, secondName string // of the sides
	results.Difference           // its A is the first side, its B the second
}

// testedPair is a pair with the tests of its metrics. A pair with published figures has none.
type testedPair struct {
	pair
	tests []metricTest
}

// testPairs tests every metric of every pair, and corrects all tests as one family.
func testPairs(pairs []pair) []testedPair {
	var tested []testedPair
	for _, p := range pairs {
		t := testedPair{pair: p}
		if !p.hasPublished() {
			t.tests = p.test()
		}
		tested = append(tested, t)
	}
	var family []*results.Difference
	for _, t := range tested {
		for i := range t.tests {
			family = append(family, &t.tests[i].Difference)
		}
	}
	results.Correct(family) // in place
	return tested
}

// test tests the headline and the metrics that both sides have, unless they are zero on both. Where a side has no latency
// from the intended time, latencies from the actual send are compared as well.
func (p pair) test() []metricTest {
	keys := slices.Clone(comparedMetrics)
	if headline, ok := p.headline(); ok && !slices.Contains(keys, headline.Key) { // the throughput of a peak
		keys = append([]string{headline.Key}, keys...)
	}
	if !p.first.hasLatency() || !p.second.hasLatency() {
		keys = append(keys, results.FromSend...)
	}
	first, second := p.first.usable(), p.second.usable()
	var tests []metricTest
	for _, key := range keys {
		m := results.MustMetric(key)
		ofFirst, ofSecond := m.Values(first), m.Values(second)
		if len(ofFirst) == 0 || len(ofSecond) == 0 {
			continue
		}
		if slices.Max(ofFirst) == 0 && slices.Max(ofSecond) == 0 {
			continue // nothing but zeros
		}
		tests = append(tests, metricTest{
			metric: m, firstName: p.first.sideName, secondName: p.second.sideName,
			Difference: results.DifferenceOf(m, first, second),
		})
	}
	return tests
}

func (t metricTest) isFromSend() bool { return slices.Contains(results.FromSend, t.metric.Key) }

// secondIsBetter reports, of a shown difference, whether its direction is the better one of the metric.
func (t metricTest) secondIsBetter() bool {
	return (t.B.Median > t.A.Median) == (t.metric.Better == results.Higher)
}

// sentence says how the second side compares with the first, and what that rests on: "jetstream is 8.5 times lower than kafka, which is
// worse (0.118× [0.114–0.123×], p = 0.023, …)."
func (t metricTest) sentence() string {
	switch {
	case t.Answer == results.Undecided && !t.Tested():
		return fmt.Sprintf("undecided; the runs point to %s %s: %s.", t.secondName, t.ChangeFrom(t.firstName), t.Why())
	case t.Answer == results.Undecided:
		return fmt.Sprintf("undecided (%s).", t.Why())
	case t.Answer == results.DoesNotDiffer:
		return fmt.Sprintf("they do not differ (%s).", t.Why())
	}
	judged, ratio := "worse", ""
	if t.secondIsBetter() {
		judged = "better"
	}
	if !math.IsNaN(t.Estimate) { // a value is 0 or less
		ratio = withInterval(t.Estimate, t.Low, t.High) + ", "
	}
	return fmt.Sprintf("%s is %s, which is %s (%s%s).", t.secondName, t.ChangeFrom(t.firstName), judged, ratio, t.Why())
}

func (t metricTest) ratioCell() document.Cell {
	if !t.Tested() || math.IsNaN(t.Estimate) {
		return document.Number(t.Estimate)
	}
	return document.Cell{Kind: document.Interval, Number: t.Estimate, Low: t.Low, High: t.High}
}

// findingText says in a few words who is better: "kafka better".
func (t metricTest) findingText() string {
	switch {
	case t.Answer == results.DoesNotDiffer:
		return "no tenth apart"
	case t.Answer == results.Undecided:
		return string(t.Answer)
	case t.secondIsBetter():
		return t.secondName + " better"
	}
	return t.firstName + " better"
}

// pCell shows a p value. It is blank where nothing was tested.
func (t metricTest) pCell(p float64) document.Cell {
	if !t.Tested() {
		return document.Cell{}
	}
	return document.Number(p)
}

// columns are those of the table that shows the tests of a pair. Programs also read p_alone, the p value that
// is not corrected for the other tests.
func (p pair) columns() []columnOf[metricTest] {
	first, second := p.sideColumns()
	return []columnOf[metricTest]{
		textColumn(forPrograms("workload"), func(metricTest) string { return p.title }), // people read it in the heading
		textColumn(document.Column{Key: "metric", Name: "metric", Identifies: true}, func(t metricTest) string { return t.metric.Name }),
		cellColumn(first, func(t metricTest) document.Cell { return t.A.Cell().In(t.metric.Unit) }),
		cellColumn(second, func(t metricTest) document.Cell { return t.B.Cell().In(t.metric.Unit) }),
		textColumn(document.Column{Key: "finding", Name: "finding"}, metricTest.findingText),
		cellColumn(document.Column{Key: "ratio", Name: "ratio", Unit: unit.Factor, Spread: true}, metricTest.ratioCell),
		cellColumn(document.Column{Key: "p", Name: "p"}, func(t metricTest) document.Cell { return t.pCell(t.P) }),
		textColumn(document.Column{Key: "n", Name: "n"}, func(t metricTest) string { return fmt.Sprintf("%d, %d", t.A.N, t.B.N) }),
		numberColumn(document.Column{Key: "first_n", Unit: unit.Count, MachinesOnly: true}, func(t metricTest) int { return t.A.N }),
		numberColumn(document.Column{Key: "second_n", Unit: unit.Count, MachinesOnly: true}, func(t metricTest) int { return t.B.N }),
		cellColumn(forPrograms("p_alone"), func(t metricTest) document.Cell { return t.pCell(t.Alone) }),
		numberColumn(document.Column{Key: "tests", Unit: unit.Count, MachinesOnly: true}, func(t metricTest) int { return t.Family }),
	}
}

// sideColumns are the columns of the figures of both sides, headed by the sides' names.
func (p pair) sideColumns() (first, second document.Column) {
	return document.Column{Key: "first", Name: p.first.sideName, Spread: true},
		document.Column{Key: "second", Name: p.second.sideName, Spread: true}
}
