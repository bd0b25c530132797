// Package reports holds the reports, one per file: each turns results into a document. It reads results and nothing
// else. Importing the package registers all of them.
//
//	report, err := reports.Lookup("headtohead")
//	if err != nil { // names the reports that exist
//		return err
//	}
//	d, err := report.Build(results.Of(records)) // render.Render writes d as text
package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

func init() {
	Register(Report{
		Name:  "summary",
		Doc:   "the verdict in words, then every point: rate, latency, losses, cost and doubts",
		Build: summary,
	})
}

func summary(set *results.Set) (document.Document, error) { return Summary(set).Document(), nil }

// Summary is the verdict in words, and every point below it.
func Summary(set *results.Set) Sections {
	points := set.Points
	s := Sections{Title: "Summary", Opening: verdicts(set)}
	var notes document.Footnotes
	for _, g := range bySetting(points) {
		s.Groups = append(s.Groups, summarySection(g, &notes))
	}
	if slices.ContainsFunc(points, measured) {
		s.Closing = append(s.Closing, howToRead(points)...)
	}
	s.Closing = append(s.Closing, notes.Blocks()...)
	return s
}

// verdicts say how the repetitions ended, which targets were missed, and who is best. A sweep of one broker has a recommendation in
// the place of a ranking.
func verdicts(set *results.Set) []document.Block {
	var d document.Document
	points := set.Points
	d.Say(statusSentence(points))
	if len(points) == 0 {
		return d.Blocks
	}
	for _, v := range append(results.MissedRates(points), objectives(set)...) {
		d.Add(v)
	}
	d.Add(document.Heading{Level: 1, Text: "Verdict"})
	sweeps, ranked := sweepsOf(points), rankable(points)
	for _, g := range bySetting(ranked) {
		if !recommended(g, sweeps) {
			d.Add(verdict(g))
		}
	}
	d.Say(unequalGuarantees(ranked))
	d.Say(clientModes(ranked))
	for _, s := range sweeps {
		v := s.verdict()
		v.Detail = strings.TrimSpace(v.Detail + " More: brokermark report recommend.")
		d.Add(v)
	}
	if trials, _ := faultTrials(points); len(trials) > 0 {
		d.Add(document.Verdict{About: "Through faults", Finding: countVerdicts(trials), Detail: "More: brokermark report promise."})
	}
	return d.Blocks
}

// summarySection has a row for every point of a group and for every rate of a curve.
func summarySection(g group, notes *document.Footnotes) Section {
	var d document.Document
	l := layoutOf(g.points, statable{loads: loadsOf(g), facts: statedAbove})
	d.Say(l.sentence)
	d.Add(summaryTable(g, l, notes))
	for _, t := range []document.Table{pipelineTable(g, l), goalsTable(g, l, notes)} {
		if len(t.Rows) > 0 {
			d.Add(t)
		}
	}
	d.Warn("these records", unnamedDifferences(g.points))
	return Section{Name: g.name, Points: g.points, Blocks: d.Blocks}
}

// howToRead explains the figures of the tables.
func howToRead(points []results.Point) []document.Block {
	var d document.Document
	if results.AnyClosedLoop(points) {
		d.Say(results.ClosedLoopNote)
	}
	if slices.ContainsFunc(points, func(p results.Point) bool { return len(results.Goals(p.Shown())) > 0 }) {
		d.Say("Conditional throughput is what at least came through per second at the sustainable rate, but for the share of the time " +
			"that may exceed the bounds. A goal is undecided where the trials left a bound open or too wide.")
	}
	if anyLoad(points, results.OnlyFromSend) {
		d.Say("Latencies of imported results are known from the actual send only: they hide every wait before it, and stand in columns of their own.")
	}
	curves := ""
	if slices.ContainsFunc(points, func(p results.Point) bool { return p.Spec.Measure == "curve" }) {
		curves = "Each rate of a curve is a measurement of its own. "
	}
	d.Say("Rates and latencies are medians over the n repetitions that ended ok; a sustainable rate is followed by " +
		bracketWords + ". " + curves + "CPU is in seconds per million messages. Figures in parentheses are of void or failed points and never used.")
	return d.Blocks
}

// unequalGuarantees names brokers that were given the same messages and load and are not compared, because each was asked for
// the guarantee that is usual for it. It is empty if any brokers are compared.
func unequalGuarantees(points []results.Point) string {
	var brokers, deliveries []string
	for _, g := range bySetting(points) {
		first := g.points[0].Spec
		severalBrokers := slices.ContainsFunc(g.points, func(p results.Point) bool { return p.Spec.Broker != first.Broker })
		if severalBrokers || !slices.ContainsFunc(g.points, func(p results.Point) bool { return hasCounterpart(p, points) }) {
			return ""
		}
		brokers, deliveries = append(brokers, first.Broker), append(deliveries, first.Delivery)
	}
	if brokers == nil {
		return ""
	}
	slices.Sort(brokers)
	slices.Sort(deliveries)
	return fmt.Sprintf("%s are not compared: they were asked for different guarantees (%s). With the same --delivery they are.",
		strings.Join(slices.Compact(brokers), " and "), strings.Join(slices.Compact(deliveries), ", "))
}

// hasCounterpart tells whether another broker was given the messages and the load of p, and another delivery guarantee.
func hasCounterpart(p results.Point, points []results.Point) bool {
	return slices.ContainsFunc(points, func(o results.Point) bool {
		sameWork := o.Spec.MessageSize.String() == p.Spec.MessageSize.String() && o.Load() == p.Load()
		return sameWork && o.Spec.Broker != p.Spec.Broker && o.Spec.Delivery != p.Spec.Delivery
	})
}

// measured tells whether any repetition of p has figures.
func measured(p results.Point) bool {
	return slices.ContainsFunc(p.Shown(), func(r results.Record) bool { return r.Result != nil })
}

// summaryMetrics are the figures of a row. Counts are those of every repetition that ran, the others those of the
// repetitions shown.
var summaryMetrics = []string{
	results.KeyOfferedRate, results.KeyDue, results.KeyUnsent, results.KeyPublishRate, results.KeyTotalSeconds, results.KeyDrainRate, results.KeyEndToEndP50, results.KeyEndToEndP99,
	results.KeyServiceP50, results.KeyServiceP99, results.KeyEndToEndServiceP50, results.KeyEndToEndServiceP99, results.KeyPauseP99, results.KeyPauseMax,
	results.KeyLost, results.KeyDuplicated, results.KeyBrokerCPU, results.KeyGeneratorCPU, results.KeyBrokerRSS, results.KeyBrokerFlushes,
}

// loadsOf are the loads of a summary's rows.
func loadsOf(g group) []string {
	var loads []string
	for _, l := range results.LoadPointsOf(g.points) {
		loads = append(loads, l.RowTitle)
	}
	return loads
}

// summaryTable has a row for each load point of a group.
func summaryTable(g group, l layout, notes *document.Footnotes) document.Table {
	loadPoints, loadsOfPoint := results.LoadPointsOf(g.points), map[string][]results.LoadPoint{}
	for _, l := range loadPoints {
		loadsOfPoint[l.Point.ID] = append(loadsOfPoint[l.Point.ID], l)
	}
	columns := append(pointColumns(l), []columnOf[results.LoadPoint]{
		{document.Column{Key: "status", Name: "status"}, func(l results.LoadPoint) document.Cell { return statusCell(l, notes) }},
		{
			document.Column{Key: "sustainable", Name: "sustainable", Unit: unit.PerSecond, Spread: true},
			func(l results.LoadPoint) document.Cell { return l.Cell(results.KeySustainableLow) },
		},
	}...)
	for _, c := range metricColumns(summaryMetrics, hiddenInSummary(g.points)) {
		columns = append(columns, columnOf[results.LoadPoint]{c, func(l results.LoadPoint) document.Cell {
			if c.Unit == unit.Count && !rateOfCurve(l) {
				return totalCell(l.Point, c.Key)
			}
			return l.Cell(c.Key)
		}})
	}
	return tableOf(append(columns, columnOf[results.LoadPoint]{
		document.Column{Key: "doubts", Name: "doubts", Unit: unit.Count},
		func(l results.LoadPoint) document.Cell {
			return doubts(l.Point, l.Records, doubtsOfOneRate(l, loadsOfPoint[l.Point.ID]), notes)
		},
	}, repetitionsColumn), loadPoints)
}

// hiddenInSummary are those of summaryMetrics that would tell a reader nothing about points.
func hiddenInSummary(points []results.Point) dataOnly {
	offered := len(results.MissedRates(points)) > 0
	fromSend := anyLoad(points, results.OnlyFromSend)
	hidden := dataOnly{
		results.KeyOfferedRate: !offered, results.KeyDue: true, results.KeyUnsent: !offered, results.KeyPauseP99: !anyLoad(points, pausedTooLong), results.KeyPauseMax: true,
		results.KeyBrokerFlushes: !anyLoad(points, flushing),
	}
	for _, key := range results.FromSend {
		hidden[key] = !fromSend
	}
	return hidden
}

// pausedTooLong tells whether the generator's machine paused for long enough to be doubted.
func pausedTooLong(r results.Record) bool {
	return slices.ContainsFunc(r.Doubts, func(d results.Doubt) bool {
		return d.Code == results.DoubtPauses || d.Code == results.DoubtGeneratorLag
	})
}

// totalCell adds a count over every repetition that ran, failed ones too: a loss isn't averaged away.
func totalCell(p results.Point, key string) document.Cell {
	ran := slices.DeleteFunc(slices.Clone(p.Records), func(r results.Record) bool {
		return r.Status != results.OK && r.Status != results.Failed
	})
	return results.LoadPoint{Status: results.OK, Records: ran}.Cell(key)
}

// withRates lists records, then each rate of their curves as a record of its own.
func withRates(records []results.Record) []results.Record {
	out := slices.Clone(records)
	for _, r := range records {
		for _, l := range results.Loads(r) {
			if l.Rate > 0 {
				out = append(out, l.Record)
			}
		}
	}
	return out
}
