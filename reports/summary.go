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

// Summary is the verdict in words, and every point below it. A point is a broker with one complete set of settings; points that were given
// messages of the same size under the same guarantee stand in one table.
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

// verdicts say how the repetitions ended, which targets were missed, and which broker is best. A sweep, one broker at many settings, has a
// recommendation instead of a ranking.
func verdicts(set *results.Set) []document.Block {
	var d document.Document
	addStatus(&d, set)
	points := set.Points
	if len(points) == 0 {
		return d.Blocks
	}
	d.Add(document.Heading{Level: 1, Text: "Verdict"})
	sweeps, ranked := sweepsOf(points), rankable(points)
	for _, g := range bySetting(ranked) {
		if !isRecommended(g, sweeps) {
			for _, v := range rankingVerdicts(g) {
				d.Add(v)
			}
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

// unequalGuarantees says that no brokers are compared because each was asked for the guarantee that is usual for it, though all were given
// the same messages and load. It is empty otherwise.
func unequalGuarantees(points []results.Point) string {
	var brokers, deliveries []string
	for _, g := range bySetting(points) {
		counterparts := slices.ContainsFunc(g.points, func(p results.Point) bool { return hasCounterpart(p, points) })
		if g.severalBrokers() || !counterparts {
			return ""
		}
		spec := g.points[0].Spec
		brokers, deliveries = append(brokers, spec.Broker), append(deliveries, spec.Delivery)
	}
	if brokers == nil {
		return ""
	}
	slices.Sort(brokers)
	slices.Sort(deliveries)
	return fmt.Sprintf("%s are not compared: they were asked for different guarantees (%s). With the same --delivery they are.",
		strings.Join(slices.Compact(brokers), " and "), strings.Join(slices.Compact(deliveries), ", "))
}

// severalBrokers tells whether a group's points are of different brokers.
func (g group) severalBrokers() bool {
	return slices.ContainsFunc(g.points, func(p results.Point) bool { return p.Spec.Broker != g.points[0].Spec.Broker })
}

// hasCounterpart tells whether another broker was given the same messages and load as p, under another delivery guarantee.
func hasCounterpart(p results.Point, points []results.Point) bool {
	return slices.ContainsFunc(points, func(o results.Point) bool {
		sameWork := o.Spec.MessageSize.String() == p.Spec.MessageSize.String() && o.Load() == p.Load()
		return sameWork && o.Spec.Broker != p.Spec.Broker && o.Spec.Delivery != p.Spec.Delivery
	})
}

// summarySection has a row for every load point of a group: one load of a point, over its repetitions. A curve has a row for each rate.
func summarySection(g group, notes *document.Footnotes) Section {
	var d document.Document
	loadPoints := results.LoadPointsOf(g.points)
	l := layoutOf(g.points, statable{loads: rowTitles(loadPoints), facts: statedAbove})
	d.Say(l.sentence)
	d.Add(tableOf("", summaryColumns(g.points, loadPoints, l, notes), loadPoints))
	for _, t := range []document.Table{pipelineTable(g, l), goalsTable(g, l, notes)} {
		if len(t.Rows) > 0 {
			d.Add(t)
		}
	}
	d.Warn("these records", unnamedDifferences(g.points))
	return Section{Name: g.name, Points: g.points, Blocks: d.Blocks}
}

func rowTitles(loadPoints []results.LoadPoint) []string {
	var titles []string
	for _, l := range loadPoints {
		titles = append(titles, l.RowTitle)
	}
	return titles
}

// summaryColumns identify a load point, say how it ended, and show its figures and its doubts.
func summaryColumns(points []results.Point, loadPoints []results.LoadPoint, l layout, notes *document.Footnotes) []columnOf[results.LoadPoint] {
	siblings := map[string][]results.LoadPoint{} // all load points of a point, by its ID
	for _, l := range loadPoints {
		siblings[l.Point.ID] = append(siblings[l.Point.ID], l)
	}
	figures := metricColumns(summaryKeys, hiddenInSummary(points), func(l results.LoadPoint, key string) document.Cell {
		if results.MustMetric(key).Counts() && !isCurveRate(l) {
			return totalCell(l.Point, key)
		}
		return l.Cell(key)
	})
	return slices.Concat(pointColumns(l), []columnOf[results.LoadPoint]{
		cellColumn(document.Column{Key: "status", Name: "status", Attribute: true}, func(l results.LoadPoint) document.Cell { return statusCell(l, notes) }),
		cellColumn(document.Column{Key: "sustainable", Name: "sustainable", Unit: unit.PerSecond, Spread: true},
			func(l results.LoadPoint) document.Cell { return l.Cell(results.KeySustainableLow) }),
	}, figures, []columnOf[results.LoadPoint]{
		cellColumn(document.Column{Key: "doubts", Name: "doubts", Unit: unit.Count}, func(l results.LoadPoint) document.Cell {
			return doubtsCell(l.Point.Spec.Broker, doubtsOfRate(l, siblings[l.Point.ID]), notes)
		}),
		repetitionsColumn(func(l results.LoadPoint) int { return len(l.Records) }),
	})
}

// summaryKeys are the keys of a row's figures.
var summaryKeys = []string{
	results.KeyOfferedRate, results.KeyDue, results.KeyUnsent, results.KeyPublishRate, results.KeyTotalSeconds, results.KeyDrainRate,
	results.KeyEndToEndP50, results.KeyEndToEndP99, results.KeyServiceP50, results.KeyServiceP99, results.KeyEndToEndServiceP50, results.KeyEndToEndServiceP99,
	results.KeyPauseP99, results.KeyPauseMax, results.KeyLost, results.KeyDuplicated,
	results.KeyBrokerCPU, results.KeyGeneratorCPU, results.KeyBrokerRSS, results.KeyBrokerFlushes,
}

// hiddenInSummary are the columns that only programs read, because nothing of the kind happened to these points.
func hiddenInSummary(points []results.Point) hiddenColumns {
	missed := len(results.MissedRates(points)) > 0
	hidden := hiddenColumns{
		results.KeyOfferedRate:   !missed,
		results.KeyDue:           true,
		results.KeyUnsent:        !missed,
		results.KeyPauseP99:      !anyLoad(points, pausedTooLong),
		results.KeyPauseMax:      true,
		results.KeyBrokerFlushes: !anyLoad(points, flushing),
	}
	for _, key := range results.FromSend {
		hidden[key] = !anyLoad(points, results.OnlyFromSend)
	}
	return hidden
}

// totalCell adds up a count over every repetition that ran, those that failed included: 3 messages lost in one of five repetitions are 3
// lost, not a median of 0.
func totalCell(p results.Point, key string) document.Cell {
	ran := slices.DeleteFunc(slices.Clone(p.Records), func(r results.Record) bool {
		return r.Status != results.OK && r.Status != results.Failed
	})
	return results.LoadPoint{Status: results.OK, Records: ran}.Cell(key)
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
