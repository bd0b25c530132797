// A contender is a row of the head-to-head report. From the points
//
//	kafka: sustainable, rate 1k/s, rate 20k/s
//	nats:  sustainable, rate 1k/s
//
// of one message size and guarantee it makes two contenders. The fixed rates of kafka are 1k/s and 20k/s, and
// its costs are those at its sustainable rate.

package reports

import (
	"cmp"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
)

// contender is the points of one broker with one message size and guarantee. A broker that was measured in
// several variants, by a setting or by the shape of the load, is several contenders: the variant is part of
// its points' name.
type contender struct {
	points []results.Point     // at least one, in the order of their loads
	fixed  []results.LoadPoint // measured at fixed rates, lowest first, one for each rate
}

// contendersOf splits points by their names, the brokers in their usual order.
func contendersOf(points []results.Point) []contender {
	contenders := lists.Map(results.GroupBy(points, func(p results.Point) string { return p.Name }), func(g group) contender {
		return contender{points: g.Members, fixed: fixedLoadPoints(g.Members)}
	})
	slices.SortStableFunc(contenders, func(a, b contender) int { return results.ComparePoints(a.first(), b.first()) })
	return contenders
}

func (c contender) first() results.Point { return c.points[0] }

// fixedLoadPoints lists what was measured at fixed rates and ended ok, lowest first, one load point for
// each rate. A rate that was measured by itself and in a curve is taken from the measurement by itself.
// Left out are fractions of a sustainable rate, which differ from broker to broker, and fault trials,
// whose latency is that of an outage.
func fixedLoadPoints(points []results.Point) []results.LoadPoint {
	var alone, ofCurves []results.LoadPoint
	for _, p := range points {
		switch {
		case len(p.Spec.Faults) > 0: // left out
		case p.Spec.Measure == study.MeasureCurve:
			ofCurves = append(ofCurves, p.MeasuredLoads()...)
		default:
			alone = append(alone, p.MeasuredLoads()...)
		}
	}
	unfit := func(l results.LoadPoint) bool { return !l.Fixed() || !l.Used() }
	fixed := slices.DeleteFunc(slices.Concat(alone, ofCurves), unfit)
	slices.SortStableFunc(fixed, func(a, b results.LoadPoint) int { return cmp.Compare(a.Rate, b.Rate) })
	return slices.CompactFunc(fixed, func(a, b results.LoadPoint) bool { return a.Rate == b.Rate }) // keeps the first
}

// recordsAtRate are the records of a fixed rate. There are none if the contender wasn't measured at it.
func (c contender) recordsAtRate(rate float64) []results.Record {
	for _, l := range c.fixed {
		if l.Rate == rate {
			return l.Records
		}
	}
	return nil
}

// recordsOfMeasure are the records that ended ok of a kind of measurement without faults, such as "peak".
// Of several points of that kind the one with the highest load is taken.
func (c contender) recordsOfMeasure(measure string) []results.Record {
	for _, p := range slices.Backward(c.points) { // the highest load first
		if p.Spec.Measure == measure && len(p.Spec.Faults) == 0 && len(p.Ok()) > 0 {
			return p.Ok()
		}
	}
	return nil
}

// searchRecords are the records of the search for the sustainable rate, or of the one before a curve.
// There are none if no search found a rate.
func (c contender) searchRecords() []results.Record {
	for _, measure := range []string{study.MeasureSustainable, study.MeasureCurve} {
		if records := c.recordsOfMeasure(measure); results.Sustained(records).N > 0 {
			return records
		}
	}
	return nil
}

// costBasis is the load whose costs are shown.
type costBasis struct {
	load    string // "sustainable rate"; empty if no cost is known
	records []results.Record
}

// costs chooses the load whose costs are shown: the sustainable rate, else the peak, count, backlog or reading, else the highest fixed rate.
func (c contender) costs() costBasis {
	if records := withCost(c.searchRecords()); len(records) > 0 {
		return costBasis{load: "sustainable rate", records: records}
	}
	for _, measure := range []string{study.MeasurePeak, study.MeasureCount, study.MeasureBacklog, study.MeasureRead} {
		if records := withCost(c.recordsOfMeasure(measure)); len(records) > 0 {
			return costBasis{load: measure, records: records}
		}
	}
	for _, l := range slices.Backward(c.fixed) { // the highest rate first
		if records := withCost(l.Records); len(records) > 0 {
			return costBasis{load: results.RateText(l.Rate), records: records}
		}
	}
	return costBasis{}
}

// withCost are the records with a cost per message.
func withCost(records []results.Record) []results.Record {
	noCost := func(r results.Record) bool { return r.Result == nil || r.Result.Cost.Messages == 0 }
	return slices.DeleteFunc(slices.Clone(records), noCost)
}

// statusCell shows how the contender's repetitions ended, with footnotes that say why.
func (c contender) statusCell(notes *footnotes) document.Cell {
	marks := lists.Flat(c.points, func(p results.Point) []int { return reasonMarks(p, notes) })
	cell := document.Text(c.status()).Toned(worstTone(c.points...)).Marked(marks...)
	for _, p := range c.points {
		for _, place := range []doubt.Place{doubt.Row, doubt.Counts} { // no column has counts
			cell = notes.doubted(cell, place, withRates(p.Ok()), loadOf(p, p.Load()))
		}
	}
	return cell
}

// doubted adds to a cell the marks of the doubts about records, which are of one of the contender's points.
func (c contender) doubted(notes *footnotes, cell document.Cell, place doubt.Place, records []results.Record) document.Cell {
	for _, p := range c.points {
		if len(records) > 0 && p.ID == records[0].PointID {
			return notes.doubted(cell, place, records, loadOf(p, p.Load()))
		}
	}
	return cell
}

// status is the status that all points share, such as "ok". If they differ, it is the worst ending of each
// point that did not end ok, with its load. Then come the loads that missed their rate or an objective:
// "failed 1 of 3 at rate 1k/s, rate missed at rate 20k/s".
func (c contender) status() string {
	var statuses, endings, missed []string
	for _, p := range c.points {
		statuses = append(statuses, p.Status())
		worst := p.Endings()[0] // a point has at least one repetition; the worst ending comes first
		if worst != string(results.OK) {
			endings = append(endings, worst+" at "+p.Load())
		}
		for _, target := range missedByAny(p) {
			missed = append(missed, target+" at "+p.Load())
		}
	}
	if shared := common(statuses); shared != "" {
		endings = []string{shared}
	}
	return strings.Join(append(endings, missed...), ", ")
}

// shownRecords are the records of all points whose figures are shown.
func (c contender) shownRecords() []results.Record { return lists.Flat(c.points, results.Point.Shown) }

// repetitions is the largest number of repetitions that ended ok at one load.
func (c contender) repetitions() int {
	return slices.Max(lists.Map(c.points, func(p results.Point) int { return len(p.Ok()) }))
}
