// The summary: a verdict in words, then a table of every point with its rate, latency, losses, cost and doubts. The report "verdicts" is
// the verdict alone. A point is one broker with one complete set of settings; points with the same message size and guarantee share a table:
//
//	broker     load         status  sustainable         throughput  e2e p99  lost  n
//	kafka      rate 1k/s    ok                                1k/s  13.1 ms     0  5
//	kafka      sustainable  ok      828k/s [812–887k/s]                         0  2

package reports

import (
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/lists"
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

// Summary is the verdict in words, and every point below it.
func Summary(set *results.Set) Sections {
	s := Sections{Title: "Summary", Opening: verdicts(set)}
	var notes footnotes
	s.Groups = lists.Map(results.BySetting(set.Points), func(g results.Group[results.Point]) Section { return summarySection(g, &notes) })
	s.Closing = append(howToRead(set.Points), notes.blocks()...)
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
			for _, v := range rankingVerdicts(results.Title(g.Members), g.Members) {
				d.Add(v)
			}
		}
	}
	d.Say(unequalGuarantees(ranked)) // Say adds nothing for an empty text
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
func summarySection(g group, notes *footnotes) Section {
	var d document.Document
	points, loadPoints := g.Members, results.LoadPointsOf(g.Members)
	l := layoutOf(points).withConstants(points, loadPoints)
	d.Say(l.sentence())
	d.Add(tableOf("", summaryColumns(points, l, notes), loadPoints))
	for _, p := range points {
		notes.say(p)
	}
	for _, t := range []document.Table{pipelineTable(points, l), goalsTable(points, l, notes)} {
		if len(t.Rows) > 0 {
			d.Add(t)
		}
	}
	d.Warn("these records", unnamedDifferences(points))
	return Section{Name: results.Title(g.Members), Points: points, Blocks: d.Blocks}
}

// summaryColumns identify a load point, say how it ended, and show its figures and its doubts.
func summaryColumns(points []results.Point, l layout, notes *footnotes) []columnOf[results.LoadPoint] {
	status := document.Column{Key: "status", Name: "status", Attribute: true}
	sustainable := document.Column{Key: "sustainable", Name: "sustainable", Unit: unit.PerSecond, Spread: true}
	columns := pointColumns(l)
	columns = append(columns,
		cellColumn(status, func(lp results.LoadPoint) document.Cell {
			cell := statusCell(lp, notes)
			if !lp.Used() {
				return cell
			}
			return notes.doubted(cell, doubt.Row, lp.Records, loadOf(lp.Point, lp.RowTitle))
		}),
		cellColumn(sustainable, func(lp results.LoadPoint) document.Cell {
			return notes.doubted(lp.Cell(results.KeySustainableLow), doubt.Rate, lp.Records, loadOf(lp.Point, lp.RowTitle))
		}),
		cellColumn(heldColumn, func(lp results.LoadPoint) document.Cell { return lp.Cell(results.KeySustainableHeld) }),
	)
	hidden := hiddenInSummary(points)
	columns = append(columns, metricColumns(summaryKeys, hidden, func(lp results.LoadPoint, key string) document.Cell {
		cell := summaryCell(lp, key)
		if hidden[key] {
			return cell
		}
		return notes.doubtedMetric(cell, results.MustMetric(key), lp.Records, loadOf(lp.Point, lp.RowTitle))
	})...)
	return append(columns,
		doubtsColumn(func(lp results.LoadPoint) []results.Record { return lp.Records }),
		repetitionsColumn(func(lp results.LoadPoint) int { return len(lp.Records) }),
	)
}

// summaryCell shows a metric of a load point. A count of messages is the sum over all repetitions that ended ok or failed: 3 messages lost
// in one of five repetitions are 3 lost, not a median of 0. The counts of others are no fact about the broker, and stand in parentheses.
func summaryCell(lp results.LoadPoint, key string) document.Cell {
	metric := results.MustMetric(key)
	if !metric.Counts() {
		return lp.Cell(key)
	}
	isFact := lp.Status == results.OK || lp.Status == results.Failed
	return lp.Over(metric).Cell().Excluded(!isFact)
}

// summaryKeys are the keys of a row's figures.
var summaryKeys = []string{
	results.KeyOfferedRate, results.KeyDue, results.KeyUnsent, results.KeyThroughput, results.KeyPublishRate, results.KeyTotalSeconds, results.KeyDrainRate,
	results.KeyEndToEndP50, results.KeyEndToEndP99, results.KeyFillingP99, results.KeyLaggingP99, results.KeyPublishP50, results.KeyPublishP99,
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
		results.KeyPublishRate:   !slices.ContainsFunc(points, results.Point.Published), // papers print no throughput
		results.KeyPauseP99:      !anyLoad(points, pausedTooLong),
		results.KeyPauseMax:      true,
		results.KeyBrokerFlushes: !anyLoad(points, flushedFiles),
	}
	for _, key := range []string{results.KeyPublishP50, results.KeyPublishP99} {
		hidden[key] = !slices.ContainsFunc(points, results.Point.PublishesOnly)
	}
	fromSend := anyLoad(points, results.OnlyFromSend)
	for _, key := range results.FromSend {
		hidden[key] = !fromSend
	}
	return hidden
}
