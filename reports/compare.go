// The comparison of two sides, such as two versions of a broker: a sentence and a table for each workload
// that both were given. What both measured of a workload is a pair, and has a half of each side. Here kafka is
// the first side and jetstream the second, with seven repetitions each:
//
//	sustainable: jetstream is lower than kafka, 0.118× [0.114–0.123×], which is worse (p = 0.023, Mann–Whitney U, Holm over 40 tests,
//	n=7 and n=7).
//
//	metric                   kafka           jetstream  finding              ratio                delta       p  n
//	sustainable  812k/s [780–844k/s]  96k/s [92.2–99.8k/s]  kafka better  0.118× [0.114–0.123×]     −1  0.0233  7, 7

package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
)

// Compare sets the second side against the first, workload by workload: medians with intervals, a test, the size of the effect, and a
// sentence. All metrics of all workloads are one family of tests. A difference in any setting but those that are meant to differ, such as
// "broker", raises a warning.
func Compare(first, second Side, meantToDiffer ...string) document.Document {
	d := document.Document{Title: fmt.Sprintf("%s against %s", second.Name, first.Name)}
	if why := NothingToCompare(first, second, meantToDiffer...); why != "" {
		d.Say(why + ".")
		return d
	}
	matched := match(first, second, meantToDiffer)
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
	if matched.unmatched > 0 {
		d.Say(fmt.Sprintf("Left out: %s that only one side was given.", plural(matched.unmatched, "workload")))
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
		"Ratio: Hodges–Lehmann estimate [95 % interval]. " +
		"Delta: Cliff's, how much more often the second side is the larger one, −1 to 1. " +
		"p: Mann–Whitney U, two-sided, corrected for all tests of this comparison together (Holm); below 5 % a difference is shown."
)

// NothingToCompare says why two sides can't be compared: one is part of the other, or no point of one was given the work of a point of the
// other. It is empty if they can.
func NothingToCompare(first, second Side, meantToDiffer ...string) string {
	const partOf = "Nothing to compare: every repetition of %s is one of %s, too"
	switch {
	case first.isPartOf(second):
		return fmt.Sprintf(partOf, first.nameAndSize(), second.nameAndSize())
	case second.isPartOf(first):
		return fmt.Sprintf(partOf, second.nameAndSize(), first.nameAndSize())
	case len(match(first, second, meantToDiffer).pairs) > 0:
		return ""
	}
	text := fmt.Sprintf("Nothing to compare: no point of %s has the message size, guarantee and load of a point of %s",
		first.nameAndSize(), second.nameAndSize())
	if differences := alwaysDifferent(first, second); len(differences) > 0 {
		text += "; they differ in " + strings.Join(differences, "; ")
	}
	return text
}

// nameAndSize names a side and how much it holds: "kafka (5 records)".
func (s Side) nameAndSize() string {
	return fmt.Sprintf("%s (%s)", s.Name, plural(len(s.Set.Records), "record"))
}

// repetitionID identifies a repetition in any store: a copied store keeps the time at which it began.
type repetitionID struct {
	point  string
	number int
	began  int64 // Unix time in nanoseconds
}

func idOf(r results.Record) repetitionID {
	return repetitionID{point: r.PointID, number: r.Repetition, began: r.Began.UnixNano()}
}

// isPartOf tells whether the other side has all repetitions of this one.
func (s Side) isPartOf(other Side) bool {
	ofOther := map[repetitionID]bool{}
	for _, r := range other.Set.Records {
		ofOther[idOf(r)] = true
	}
	for _, r := range s.Set.Records {
		if !ofOther[idOf(r)] {
			return false
		}
	}
	return len(s.Set.Records) > 0
}

// alwaysDifferent lists the settings of which the sides have no value in common, so that no workload of one matches one of the other, with
// the values of both: "delivery: at-least-once and at-most-once".
func alwaysDifferent(first, second Side) []string {
	var differences []string
	for _, path := range []string{"messageSize", "delivery", "measure", "load.rate", "load.shape"} {
		ofFirst, ofSecond := first.values(path), second.values(path)
		isShared := slices.ContainsFunc(ofFirst, func(v string) bool { return slices.Contains(ofSecond, v) })
		if len(ofFirst) > 0 && len(ofSecond) > 0 && !isShared {
			differences = append(differences, fmt.Sprintf("%s: %s and %s", path,
				strings.Join(results.Shorten(ofFirst), ", "), strings.Join(results.Shorten(ofSecond), ", ")))
		}
	}
	return differences
}

// values lists the values of a setting among the points of a side, each once.
func (s Side) values(path string) []string {
	var values []string
	for _, p := range s.Set.Points {
		if v := p.Facts()[path]; v != "" && !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values
}

// endings lists how the repetitions of points ended, each ending once: "failed, void".
func endings(points []results.Point) string {
	var all []string
	for _, p := range points {
		all = append(all, p.Endings()...)
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}

// testedBlocks show a pair: what limits the comparison, the conclusion in sentences, then every metric in a
// table.
func (p testedPair) testedBlocks(meantToDiffer []string) []document.Block {
	var d document.Document
	d.Add(document.Heading{Level: 1, Text: p.title})
	conclude := func(sentence string) { d.Add(document.Verdict{About: p.title, Finding: sentence, Headed: true}) }
	for _, h := range p.halves() {
		if len(h.usable()) == 0 {
			conclude(fmt.Sprintf("No repetition of %s ended ok (%s): no conclusion.", h.sideName, endings(h.points)))
			return d.Blocks
		}
	}
	for _, h := range p.halves() {
		for _, sentence := range h.reservations() {
			conclude(sentence)
		}
	}
	if m, ok := p.headline(); ok {
		conclude(p.sentenceAbout(m))
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
	for _, v := range results.Trends(h.points) {
		sentences = append(sentences, h.sideName+": "+v.Text())
	}
	for _, v := range objectiveVerdicts(&results.Set{Points: h.points}) {
		sentences = append(sentences, strings.TrimSpace(fmt.Sprintf("%s: %s: %s %s", h.sideName, v.About, v.Finding, v.Detail)))
	}
	return sentences
}

// firstFailure is why the first repetition of a point that failed did. None of the figures that are compared tells of it.
func firstFailure(p results.Point) (why string, failed bool) {
	i := slices.IndexFunc(p.Records, func(r results.Record) bool { return r.Status == results.Failed })
	if i < 0 {
		return "", false
	}
	why, _, _ = strings.Cut(p.Records[i].Reason, "\n")
	return why, true
}

// headline is the metric that the workload was measured for. A curve of given rates has no sustainable
// rate: there the latency at its last rate is compared. ok is false for an unknown kind of measurement.
func (p pair) headline() (m results.Metric, ok bool) {
	m, ok = results.Headline(p.first.points[0].Spec.Measure)
	if m.Key == results.KeySustainableLow && !p.first.has(m) && !p.second.has(m) {
		m, ok = results.Headline("rate")
		m.Name += " at the last rate"
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
		if !h.has(m) {
			return fmt.Sprintf("%s: not known of %s, so there is no comparison of it.", m.Name, h.sideName)
		}
	}
	i := slices.IndexFunc(p.tests, func(t metricTest) bool { return t.metric.Key == m.Key })
	if i < 0 { // both sides have values, and only zeros are left untested
		return fmt.Sprintf("%s: nothing but zeros on both sides.", m.Name)
	}
	return m.Name + ": " + p.tests[i].sentence()
}
