// The comparison of two sides, such as two versions of a broker: a sentence and a table for each workload
// that both were given. What both measured of a workload is a pair, and has a half of each side. Here kafka is
// the first side and jetstream the second, with seven repetitions each:
//
//	sustainable: jetstream is 8.5 times lower than kafka, which is worse (0.118× [0.114–0.123×], p = 0.023, Holm over 40 tests, n=7 and n=7).
//
//	metric                   kafka           jetstream  finding              ratio                     p  n
//	sustainable  812k/s [780–844k/s]  96k/s [92.2–99.8k/s]  kafka better  0.118× [0.114–0.123×]  0.0233  7, 7

package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

// Compare sets the second side against the first, workload by workload: medians with intervals, a test, the size of the effect, and a
// sentence. All metrics of all workloads are one family of tests. A difference in any setting but those that are meant to differ, such as
// "broker", raises a warning.
func Compare(first, second Side, meantToDiffer ...string) document.Document {
	d := document.Document{Title: fmt.Sprintf("%s against %s", second.Name, first.Name)}
	matched := match(first, second, meantToDiffer)
	if why := whyNothingToCompare(first, second, matched); why != "" {
		d.Say(why + ".")
		return d
	}
	anyPublished := slices.ContainsFunc(matched.pairs, pair.hasPublished)
	if anyPublished {
		d.Say(results.PublishedNote)
	}
	anyTested := false
	for _, p := range testPairs(matched.pairs) {
		if p.hasPublished() {
			d.Add(p.publishedBlocks()...)
		} else {
			d.Add(p.testedBlocks(meantToDiffer)...)
			anyTested = anyTested || len(p.tests) > 0
		}
	}
	if n := len(matched.unmatched); n > 0 {
		d.Say(fmt.Sprintf("Left out: %s that only one side was given.", unit.Counted(n, "workload")))
	}
	if slices.ContainsFunc(matched.pairs, pair.hasClosedLoop) {
		d.Say(results.ClosedLoopNote)
	}
	if anyPublished {
		d.Say(publishedTerms)
	}
	if anyTested {
		d.Say(testedTerms)
	}
	return d
}

// The terms of the tables, below a comparison.
const (
	publishedTerms = "Beside published figures: medians over repetitions that ended ok, counts added up. " +
		"Ratio: one figure divided by the other."
	testedTerms = "Medians over repetitions that ended ok [95 % interval, or smallest–largest below 6 values]. " +
		"Ratio: of the medians [95 % interval by Student's t of logarithms, with what the measurement leaves open]. " +
		"p: corrected for all tests of this comparison together (Holm); below 5 % they differ."
)

// endings lists how the repetitions of points ended, each ending once: "failed, void".
func endings(points []results.Point) string {
	all := lists.Flat(points, results.Point.Endings)
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}

// testedBlocks show a pair: what limits the comparison, the conclusion in sentences, then every metric in a
// table.
func (p testedPair) testedBlocks(meantToDiffer []string) []document.Block {
	heading := document.Heading{Level: 1, Text: p.title}
	for _, h := range p.halves() {
		if len(h.endedOK()) == 0 {
			none := fmt.Sprintf("No repetition of %s ended ok (%s): no conclusion.", h.sideName, endings(h.points))
			return []document.Block{heading, document.Verdict{About: p.title, Finding: none, Headed: true}}
		}
	}
	if len(p.first.usable()) == 0 {
		none := "No rate of the curves ended ok on both sides: no conclusion."
		return []document.Block{heading, document.Verdict{About: p.title, Finding: none, Headed: true}}
	}
	sentences := slices.Concat(p.first.reservations(), p.second.reservations())
	if m, ok := p.headline(); ok {
		sentences = append(sentences, p.sentenceAbout(m))
	}
	var d document.Document
	d.Add(heading)
	for _, sentence := range sentences {
		d.Add(document.Verdict{About: p.title, Finding: sentence, Headed: true})
	}
	if slices.ContainsFunc(p.tests, metricTest.isFromSend) {
		d.Say(fmt.Sprintf("The latency of %s is only known from the actual send, so that is what is compared: "+
			"it hides every wait before the send.", p.sidesWithoutLatency()))
	}
	d.Add(tableOf("", p.columns(), p.tests))
	d.Warn("the compared records", results.Residue(slices.Concat(p.first.usable(), p.second.usable()), meantToDiffer...))
	return d.Blocks
}

// reservations says in a sentence each which repetitions of a side failed, which rates and objectives it missed, and whether its figures
// rose or fell from repetition to repetition: "kafka: Not everything that was offered came through. …".
func (h half) reservations() []string {
	var sentences []string
	for _, p := range h.points {
		if why, failed := firstFailure(p); failed {
			sentences = append(sentences, fmt.Sprintf("%s: %s: %s. The figures are of those that ended ok.",
				h.sideName, p.Status(), strings.TrimSuffix(why, ".")))
		}
		for _, v := range results.MissedRates([]results.Point{p}) {
			sentences = append(sentences, h.sideName+": "+v.Finding)
		}
	}
	trends := lists.Map(results.Trends(h.points), func(v document.Verdict) string { return h.sideName + ": " + v.Text() })
	objectives := lists.Map(objectiveVerdicts(&results.Set{Points: h.points}), func(v document.Verdict) string {
		return strings.TrimSpace(fmt.Sprintf("%s: %s: %s %s", h.sideName, v.About, v.Finding, v.Detail))
	})
	return slices.Concat(sentences, trends, objectives)
}

// firstFailure is why the first failed repetition of a point failed. No compared figure shows it.
func firstFailure(p results.Point) (why string, failed bool) {
	i := slices.IndexFunc(p.Records, func(r results.Record) bool { return r.Status == results.Failed })
	if i < 0 {
		return "", false
	}
	why, _, _ = strings.Cut(p.Records[i].Reason, "\n")
	return why, true
}

// headline is the metric that the workload was measured for. A curve of given rates has no sustainable
// rate: there the latency at one of its rates is compared (see chooseRate). ok is false for an unknown kind of measurement.
// If the sides were measured in different ways, it is the first side's headline.
func (p pair) headline() (m results.Metric, ok bool) {
	m, ok = results.HeadlineOf(p.first.points) // all points of a half were given the same load
	if p.first.curve.given {
		m, ok = results.Headline(study.MeasureRate)
		m.Name += p.first.curve.atRate()
	}
	return m, ok
}

// sidesWithoutLatency names the sides whose latency is known from the actual send only.
func (p pair) sidesWithoutLatency() string {
	switch {
	case p.first.hasLatency():
		return p.second.sideName
	case p.second.hasLatency():
		return p.first.sideName
	}
	return "both sides"
}

// sentenceAbout says how the second side compares with the first in m.
func (p testedPair) sentenceAbout(m results.Metric) string {
	for _, h := range p.halves() {
		if len(m.Values(h.usable())) == 0 {
			return fmt.Sprintf("%s: not known of %s, so there is no comparison of it.", m.Name, h.sideName)
		}
	}
	i := slices.IndexFunc(p.tests, func(t metricTest) bool { return t.metric.Key == m.Key })
	if i < 0 { // both sides have values, and only zeros are left untested
		return fmt.Sprintf("%s: nothing but zeros on both sides.", m.Name)
	}
	return m.Name + ": " + p.tests[i].sentence()
}

// untestedMetric is a metric of both sides, one of which was published: its summary on each, and no test of
// them. For an e2e mean of 4 ms in the paper and one of 2 ms measured now the ratio is 0.50.
type untestedMetric struct {
	metric        results.Metric
	first, second results.Summary // of each side
}

// ratio is blank if the first side has nothing to divide by.
func (u untestedMetric) ratio() document.Cell {
	if u.first.Median <= 0 {
		return document.Cell{}
	}
	return document.Number(u.second.Median / u.first.Median)
}

// publishedBlocks set figures of a publication beside those of the other side, without a test.
func (p pair) publishedBlocks() []document.Block {
	first, second := p.first.usableOrPublished(), p.second.usableOrPublished()
	var metrics []untestedMetric
	for _, m := range results.Metrics {
		m = m.AsRecorded() // with the latency of closed loops, which papers print
		u := untestedMetric{metric: m, first: m.Over(first), second: m.Over(second)}
		if u.first.N > 0 && u.second.N > 0 {
			metrics = append(metrics, u)
		}
	}
	heading := document.Heading{Level: 1, Text: p.title}
	if len(metrics) == 0 {
		none := fmt.Sprintf("No figure is known of both %s and %s.", p.first.sideName, p.second.sideName)
		return []document.Block{heading, document.Paragraph{Text: none}}
	}
	firstColumn, secondColumn := p.sideColumns()
	return []document.Block{heading, tableOf("", []columnOf[untestedMetric]{
		textColumn(document.Column{Key: "metric", Name: "metric", Identifies: true}, func(u untestedMetric) string { return u.metric.Name }),
		cellColumn(firstColumn, func(u untestedMetric) document.Cell { return u.first.Cell().In(u.metric.Unit) }),
		cellColumn(secondColumn, func(u untestedMetric) document.Cell { return u.second.Cell().In(u.metric.Unit) }),
		cellColumn(document.Column{Key: "ratio", Name: "ratio", Unit: unit.Factor}, untestedMetric.ratio),
		numberColumn(document.Column{Key: "first_n", Unit: unit.Count, MachinesOnly: true}, func(u untestedMetric) int { return u.first.N }),
		numberColumn(document.Column{Key: "second_n", Unit: unit.Count, MachinesOnly: true}, func(u untestedMetric) int { return u.second.N }),
	}, metrics)}
}

// usableOrPublished lists the records that conclusions may be drawn from, and those of published points.
func (h half) usableOrPublished() []results.Record {
	return append(h.usable(), recordsOf(lists.Filter(h.points, results.Point.Published))...)
}
