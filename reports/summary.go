// Package reports holds the reports, one per file: each turns results into a document. It reads results
// and nothing else. Importing the package registers all of them.
//
//	report, err := reports.Lookup("headtohead")
//	if err != nil { // names the reports that exist
//		return err
//	}
//	d, err := report.Build(results.Of(records)) // render.Render writes d as text
package reports

import (
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
		Build: func(set *results.Set) (document.Document, error) { return Summary(set).Document(), nil },
	})
	Register(Report{
		Name: "verdicts",
		Doc:  "the verdict in words alone, without the points",
		Build: func(set *results.Set) (document.Document, error) {
			d := document.Document{Title: "Verdicts", Blocks: verdicts(set)}
			d.Say(doubtsSentence(set.Points))
			return d, nil
		},
	})
}

// Summary is the verdict in words, and every point below it. A point is a broker with one complete set
// of settings; points with the same message size and guarantee share a table.
func Summary(set *results.Set) Sections {
	s := Sections{Title: "Summary", Opening: verdicts(set)}
	var notes document.Footnotes
	for _, g := range results.BySetting(set.Points) {
		s.Groups = append(s.Groups, summarySection(g, &notes))
	}
	s.Closing = append(howToRead(set.Points), notes.Blocks()...)
	return s
}

// verdicts say how the repetitions ended, which targets were missed, and which broker is best. A sweep,
// one broker at many settings, has a recommendation instead of a ranking.
func verdicts(set *results.Set) []document.Block {
	var d document.Document
	addStatus(&d, set)
	points := set.Points
	if len(points) == 0 {
		return d.Blocks
	}
	d.Add(document.Heading{Level: 1, Text: "Verdict"})
	sweeps, ranked := sweepsOf(points), rankable(points)
	for _, g := range results.BySetting(ranked) {
		if !isRecommended(g.Members, sweeps) {
			for _, v := range rankingVerdicts(g.Name, g.Members) {
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
	if trials := faultTrials(points); len(trials) > 0 {
		detail := "More: brokermark report promise."
		d.Add(document.Verdict{About: "Through faults", Finding: countVerdicts(trials), Detail: detail})
	}
	return d.Blocks
}

// summarySection has a row for every load point of a group: one load of a point, over its repetitions.
// A curve has a row for each rate.
func summarySection(g group, notes *document.Footnotes) Section {
	var d document.Document
	points, loadPoints := g.Members, results.LoadPointsOf(g.Members)
	l := layoutOf(points).withConstants(points, loadPoints)
	d.Say(l.sentence())
	d.Add(tableOf("", summaryColumns(points, l, notes), loadPoints))
	for _, t := range []document.Table{pipelineTable(points, l), goalsTable(points, l, notes)} {
		if len(t.Rows) > 0 {
			d.Add(t)
		}
	}
	d.Warn("these records", unnamedDifferences(points))
	return Section{Name: g.Name, Points: points, Blocks: d.Blocks}
}

// summaryColumns identify a load point, say how it ended, and show its figures and its doubts.
func summaryColumns(points []results.Point, l layout, notes *document.Footnotes) []columnOf[results.LoadPoint] {
	status := document.Column{Key: "status", Name: "status", Attribute: true}
	sustainable := document.Column{Key: "sustainable", Name: "sustainable", Unit: unit.PerSecond, Spread: true}
	columns := pointColumns(l)
	columns = append(columns,
		cellColumn(status, func(lp results.LoadPoint) document.Cell { return statusCell(lp, notes) }),
		cellColumn(sustainable, func(lp results.LoadPoint) document.Cell { return lp.Cell(results.KeySustainableLow) }),
	)
	columns = append(columns, metricColumns(summaryKeys, hiddenInSummary(points), summaryCell)...)
	return append(columns,
		doubtsColumn(notes, func(lp results.LoadPoint) []results.Record { return lp.Records }),
		repetitionsColumn(func(lp results.LoadPoint) int { return len(lp.Records) }),
	)
}

// summaryCell shows a metric of a load point. A count is the total over all repetitions that count, those
// that failed included: 3 messages lost in one of five repetitions are 3 lost, not a median of 0. The load
// point leaves out those that failed, if others didn't. Each rate of a curve has counts of its own, which
// the repetition's total would mix.
func summaryCell(lp results.LoadPoint, key string) document.Cell {
	metric := results.MustMetric(key)
	if !metric.Counts() {
		return lp.Cell(key)
	}
	records := lp.Records
	if counting := slices.DeleteFunc(slices.Clone(lp.Point.Records), countsNothing); len(counting) > 0 && !isCurveRate(lp) {
		records = counting
	}
	return metric.Over(records).Cell().Excluded(slices.ContainsFunc(records, countsNothing))
}

// countsNothing tells whether the message counts of a record are no fact about the broker: only those of
// repetitions that ended ok or failed are.
func countsNothing(r results.Record) bool {
	return r.Status != results.OK && r.Status != results.Failed
}

// summaryKeys are the keys of a row's figures.
var summaryKeys = []string{
	results.KeyOfferedRate, results.KeyDue, results.KeyUnsent, results.KeyPublishRate, results.KeyTotalSeconds, results.KeyDrainRate,
	results.KeyEndToEndP50, results.KeyEndToEndP99,
	results.KeyServiceP50, results.KeyServiceP99, results.KeyEndToEndServiceP50, results.KeyEndToEndServiceP99,
	results.KeyPauseP99, results.KeyPauseMax, results.KeyLost, results.KeyDuplicated,
	results.KeyBrokerCPU, results.KeyGeneratorCPU, results.KeyBrokerRSS, results.KeyBrokerFlushes,
}

// hiddenInSummary are the columns that only programs read, because nothing of the kind happened to
// these points.
func hiddenInSummary(points []results.Point) hiddenColumns {
	missed := len(results.MissedRates(points)) > 0
	hidden := hiddenColumns{
		results.KeyOfferedRate:   !missed,
		results.KeyDue:           true,
		results.KeyUnsent:        !missed,
		results.KeyPauseP99:      !anyLoad(points, pausedTooLong),
		results.KeyPauseMax:      true,
		results.KeyBrokerFlushes: !anyLoad(points, flushedFiles),
	}
	for _, key := range results.FromSend {
		hidden[key] = !anyLoad(points, results.OnlyFromSend)
	}
	return hidden
}

// pipelineFigures are the keys of the figures that only a pipeline has, an application around a broker.
var pipelineFigures = []string{
	results.KeyResponseP50, results.KeyResponseP99, results.KeyResponseMax,
	results.KeyQueueMax, results.KeyServerCPUPerRequest, results.KeyConsumerCPUMax,
}

// pipelineTable has a row for every load of every pipeline among points.
func pipelineTable(points []results.Point, l layout) document.Table {
	pipelines := slices.DeleteFunc(slices.Clone(points), func(p results.Point) bool { return p.Spec.Pipeline == nil })
	columns := slices.Concat(
		pointColumns(l),
		metricColumns(pipelineFigures, nil, results.LoadPoint.Cell),
		[]columnOf[results.LoadPoint]{repetitionsColumn(func(lp results.LoadPoint) int { return len(lp.Records) })},
	)
	title := "The pipelines; response times are what clients saw, from the sending of a request to its last answer"
	return tableOf(title, columns, results.LoadPointsOf(pipelines))
}

// howToRead explains the figures of the tables. It is empty if nothing was measured.
func howToRead(points []results.Point) []document.Block {
	if !slices.ContainsFunc(points, isMeasured) {
		return nil
	}
	var d document.Document
	if results.AnyClosedLoop(points) {
		d.Say(results.ClosedLoopNote)
	}
	if slices.ContainsFunc(points, hasGoals) {
		d.Say("Conditional throughput: at the sustainable rate at least this many messages per second came through, " +
			"in all of the time but the share that a goal may be missed for. " +
			"A goal is undecided if the trials left a bound unknown, or the bounds too far apart.")
	}
	if anyLoad(points, results.OnlyFromSend) {
		d.Say("Latencies of imported results are known from the actual send only: " +
			"they hide every wait before it, and stand in columns of their own.")
	}
	curves := ""
	if slices.ContainsFunc(points, isCurve) {
		curves = "Each rate of a curve is a measurement of its own. "
	}
	d.Say("Rates and latencies are medians over the n repetitions that ended ok; " +
		"counts of messages are sums, also over those that failed. " +
		"A sustainable rate is followed by " + bracketWords + ". " + curves +
		"CPU is in seconds per million messages. Figures in parentheses are of void or failed points and never used.")
	return d.Blocks
}

func isMeasured(p results.Point) bool {
	return slices.ContainsFunc(p.Shown(), func(r results.Record) bool { return r.Result != nil })
}

func hasGoals(p results.Point) bool { return len(results.Goals(p.Shown())) > 0 }

func isCurve(p results.Point) bool { return p.Spec.Measure == "curve" }
