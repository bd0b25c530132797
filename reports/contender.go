// A contender is a row of the head-to-head report: everything that was measured of one broker with one message size and guarantee.

package reports

import (
	"cmp"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
)

// contender gathers the points of one broker, such as its sustainable rate, its peak, and its latency at 1,000 and at 10,000 messages/s.
// Brokers that were measured in several variants, by a setting or by the shape of the load, are several contenders: a point's name holds
// what points differ in.
type contender struct {
	points []results.Point     // at least one, in the order of their loads
	fixed  []results.LoadPoint // measured at fixed rates, lowest first, one for each rate
	cost   costBasis
}

// costBasis is the load at which the costs of a contender are shown.
type costBasis struct {
	load    string           // "sustainable rate"
	records []results.Record // empty if no cost is known
}

// contendersOf splits points by broker, the kinds of brokers in their usual order.
func contendersOf(points []results.Point) []contender {
	var contenders []contender
	for _, g := range groupBy(points, func(p results.Point) string { return p.Name }) {
		c := contender{points: g.points, fixed: fixedLoadPoints(g.points)}
		c.cost = c.costBasis()
		contenders = append(contenders, c)
	}
	slices.SortStableFunc(contenders, func(a, b contender) int { return results.ComparePoints(a.first(), b.first()) })
	return contenders
}

func (c contender) first() results.Point { return c.points[0] }

// fixedLoadPoints lists what was measured at fixed rates and ended ok, lowest first, one load point for each rate. If a rate was measured
// both by itself and in a curve, the measurement by itself is used. Fractions of a sustainable rate, which differ from broker to broker, are
// left out, and so are fault trials: their latency is that of an outage.
func fixedLoadPoints(points []results.Point) []results.LoadPoint {
	var alone, ofCurves, fixed []results.LoadPoint
	for _, p := range points {
		switch {
		case len(p.Spec.Faults) > 0:
		case p.Spec.Measure == "curve":
			ofCurves = append(ofCurves, p.MeasuredLoads()...)
		default:
			alone = append(alone, p.MeasuredLoads()...)
		}
	}
	for _, l := range append(alone, ofCurves...) {
		sameRate := func(o results.LoadPoint) bool { return o.Rate == l.Rate }
		if l.Fixed() && l.Used() && !slices.ContainsFunc(fixed, sameRate) {
			fixed = append(fixed, l)
		}
	}
	slices.SortFunc(fixed, func(a, b results.LoadPoint) int { return cmp.Compare(a.Rate, b.Rate) })
	return fixed
}

// fixedRates are the rates at which any contender was measured, lowest first.
func fixedRates(contenders []contender) []float64 {
	var rates []float64
	for _, c := range contenders {
		for _, l := range c.fixed {
			rates = append(rates, l.Rate)
		}
	}
	slices.Sort(rates)
	return slices.Compact(rates)
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

// recordsOfMeasure are the records that ended ok of the point made for a kind of measurement, such as "peak". Of several points, which
// differ in their load, the one with the highest is used: the points are in the order of their loads.
func (c contender) recordsOfMeasure(measure string) []results.Record {
	for _, p := range slices.Backward(c.points) {
		if p.Spec.Measure == measure && len(p.Ok()) > 0 {
			return p.Ok()
		}
	}
	return nil
}

// sustainedCell is the sustainable rate that a search found, else the one that was found before a curve. It is blank without either.
func (c contender) sustainedCell() document.Cell {
	for _, measure := range []string{"sustainable", "curve"} {
		if bracket := results.Sustained(c.recordsOfMeasure(measure)); bracket.N > 0 {
			return bracket.Cell()
		}
	}
	return document.Cell{}
}

// costBasis is the load whose costs are shown: the sustainable rate if there is one, else the peak, count or backlog, else the highest
// fixed rate. The cost of a curve as a whole is that of the sustainable rate which its search found.
func (c contender) costBasis() costBasis {
	for _, preferred := range []struct{ measure, load string }{
		{measure: "sustainable", load: "sustainable rate"},
		{measure: "curve", load: "sustainable rate"},
		{measure: "peak", load: "peak"},
		{measure: "count", load: "count"},
		{measure: "backlog", load: "backlog"},
	} {
		if records := withCost(c.recordsOfMeasure(preferred.measure)); len(records) > 0 {
			return costBasis{load: preferred.load, records: records}
		}
	}
	if len(c.fixed) == 0 {
		return costBasis{}
	}
	highest := c.fixed[len(c.fixed)-1]
	return costBasis{load: results.RateText(highest.Rate), records: highest.Records}
}

// withCost are the records with a cost per message.
func withCost(records []results.Record) []results.Record {
	return slices.DeleteFunc(slices.Clone(records), func(r results.Record) bool { return r.Result == nil || r.Result.Cost.Messages == 0 })
}

// statusCell shows how the contender's repetitions ended, with footnotes that say why.
func (c contender) statusCell(notes *document.Footnotes) document.Cell {
	var marks []int
	for _, p := range c.points {
		marks = append(marks, reasonMarks(p, notes)...)
	}
	slices.Sort(marks)
	return document.Text(c.status()).Toned(toneOfPoints(c.points...)).Marked(slices.Compact(marks)...)
}

// status is the status that all points share, or else the worst ending of each point that has a bad one, with its load. Then come the
// loads that missed their rate or an objective: "failed 1 of 3 at rate 1k/s, rate missed at rate 20k/s".
func (c contender) status() string {
	var statuses, endings, missed []string
	for _, p := range c.points {
		statuses = append(statuses, p.Status())
		if worst := p.Endings()[0]; worst != string(results.OK) { // a point has a record, and so an ending
			endings = append(endings, worst+" at "+p.Load())
		}
		for _, what := range missedTargets(p, p.Ok()) {
			missed = append(missed, what+" at "+p.Load())
		}
	}
	if alike(statuses) {
		endings = statuses[:1]
	}
	return strings.Join(append(endings, missed...), ", ")
}

// shownRecords are the records of all points whose figures are shown.
func (c contender) shownRecords() []results.Record {
	var records []results.Record
	for _, p := range c.points {
		records = append(records, p.Shown()...)
	}
	return records
}

// repetitions counts the repetitions that ended ok at any load.
func (c contender) repetitions() int {
	numbers := map[int]bool{}
	for _, p := range c.points {
		for _, r := range p.Ok() {
			numbers[r.Repetition] = true
		}
	}
	return len(numbers)
}

// clientMode is the mode in which all points used the client library. It is empty if they differ, or if it is not known.
func (c contender) clientMode() string {
	mode := clientMode(c.first())
	if slices.ContainsFunc(c.points, func(p results.Point) bool { return clientMode(p) != mode }) {
		return ""
	}
	return mode
}
