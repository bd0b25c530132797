// A row of the head-to-head report: everything that was measured of one broker.

package reports

import (
	"cmp"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
)

// side is everything that was measured of one broker with one message size and guarantee. Loads of another shape, such as Poisson
// arrivals, are another side: a point's name holds the shape where points differ in it.
type side struct {
	points []results.Point     // at least one, in the order of their loads
	fixed  []results.LoadPoint // what was measured at fixed rates, lowest first, one for each rate
	cost   costBasis
}

func (s side) first() results.Point { return s.points[0] }

// costBasis is the load at which the costs of a side are shown.
type costBasis struct {
	load    string
	records []results.Record // empty if no cost is known
}

// sidesOf splits points by broker, the kinds of brokers in their usual order.
func sidesOf(points []results.Point) []side {
	var sides []side
	for _, g := range groupBy(points, func(p results.Point) string { return p.Name }) {
		s := side{points: g.points, fixed: fixedLoadPoints(g.points)}
		s.cost = s.costBasis()
		sides = append(sides, s)
	}
	slices.SortStableFunc(sides, func(a, b side) int { return results.CompareKinds(a.first(), b.first()) })
	return sides
}

// statusCell is the side's status, with footnotes that say why.
func (s side) statusCell(notes *document.Footnotes) document.Cell {
	var marks []int
	for _, p := range s.points {
		marks = append(marks, reasons(p, notes)...)
	}
	slices.Sort(marks)
	return document.Text(s.status()).Toned(toneOfPoints(s.points...)).Marked(slices.Compact(marks)...)
}

// repetitions counts the repetitions that ended ok at any load.
func (s side) repetitions() document.Cell {
	repetitions := map[int]bool{}
	for _, p := range s.points {
		for _, r := range p.Ok() {
			repetitions[r.Repetition] = true
		}
	}
	return document.Number(len(repetitions))
}

// clientMode is the mode that all points of the side share. It is empty if they differ, or if it is not known.
func (s side) clientMode() string {
	mode := clientMode(s.points[0])
	if slices.ContainsFunc(s.points, func(p results.Point) bool { return clientMode(p) != mode }) {
		return ""
	}
	return mode
}

// status is the status that all points share, or else the worst ending of each point that has a bad one, with its load. Then come the
// loads that missed their rate or an objective: "failed 1 of 3 at rate 1k/s, rate missed at rate 20k/s".
func (s side) status() string {
	var statuses, endings, missed []string
	for _, p := range s.points {
		statuses = append(statuses, p.Status())
		if worst := p.Endings()[0]; worst != string(results.OK) { // a point has a record, and so an ending
			endings = append(endings, worst+" at "+p.Load())
		}
		for _, what := range missedBy(p, p.Ok()) {
			missed = append(missed, what+" at "+p.Load())
		}
	}
	if alike(statuses) {
		endings = statuses[:1]
	}
	return strings.Join(append(endings, missed...), ", ")
}

// fixedLoadPoints lists the load points at fixed rates that ended ok, lowest first, one for each rate. If a rate was measured both by
// itself and in a curve, the point measured only for that rate is used. Fractions of a sustainable rate are no fixed rates, and
// are left out.
func fixedLoadPoints(points []results.Point) []results.LoadPoint {
	var rates, curves, found []results.LoadPoint
	for _, p := range points {
		if p.Spec.Measure == "curve" {
			curves = append(curves, p.MeasuredLoads()...)
		} else {
			rates = append(rates, p.MeasuredLoads()...)
		}
	}
	for _, l := range append(rates, curves...) {
		sameRate := func(o results.LoadPoint) bool { return o.Rate == l.Rate }
		if l.Fixed() && l.Used() && !slices.ContainsFunc(found, sameRate) {
			found = append(found, l)
		}
	}
	slices.SortFunc(found, func(a, b results.LoadPoint) int { return cmp.Compare(a.Rate, b.Rate) })
	return found
}

// recordsAt are the records of a fixed rate. There are none if the side wasn't measured at it.
func (s side) recordsAt(rate float64) []results.Record {
	for _, l := range s.fixed {
		if l.Rate == rate {
			return l.Records
		}
	}
	return nil
}

// recordsOf are the records that ended ok of the point made for a measure. Of several, which differ in their load, it is the one
// with the highest: a group's points are in the order of their loads.
func (s side) recordsOf(measure string) []results.Record {
	for _, p := range slices.Backward(s.points) {
		if p.Spec.Measure == measure && len(p.Ok()) > 0 {
			return p.Ok()
		}
	}
	return nil
}

// sustained is the sustainable rate of the point made for it, else of a curve. It is blank if neither has one.
func (s side) sustained() document.Cell {
	for _, measure := range []string{"sustainable", "curve"} {
		if b := results.Sustained(s.recordsOf(measure)); b.N > 0 {
			return b.Cell()
		}
	}
	return document.Cell{}
}

// costLoads are kinds of measurement in the order in which their costs are preferred, with the load at which each cost arose. The cost
// of a curve as a whole is that of the sustainable rate which its search found.
var costLoads = []struct{ measure, load string }{
	{"sustainable", "sustainable rate"}, {"curve", "sustainable rate"}, {"peak", "peak"}, {"count", "count"}, {"backlog", "backlog"},
}

// costBasis is the first of costLoads that has a cost, else the highest fixed rate.
func (s side) costBasis() costBasis {
	for _, c := range costLoads {
		if records := withCost(s.recordsOf(c.measure)); len(records) > 0 {
			return costBasis{load: c.load, records: records}
		}
	}
	if len(s.fixed) == 0 {
		return costBasis{}
	}
	highest := s.fixed[len(s.fixed)-1]
	return costBasis{load: results.RateText(highest.Rate), records: highest.Records}
}

// withCost are the records with a cost per message.
func withCost(records []results.Record) []results.Record {
	var out []results.Record
	for _, r := range records {
		if r.Result != nil && r.Result.Cost.Messages > 0 {
			out = append(out, r)
		}
	}
	return out
}

// fixedRates are the rates at which any side was measured, lowest first.
func fixedRates(sides []side) []float64 {
	var rates []float64
	for _, s := range sides {
		for _, l := range s.fixed {
			rates = append(rates, l.Rate)
		}
	}
	slices.Sort(rates)
	return slices.Compact(rates)
}
