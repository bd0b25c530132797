package reports

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

func init() {
	Register(Report{
		Name:  "headtohead",
		Doc:   "one row per broker for each message size and guarantee: sustainable rate, latency at fixed rates, cost",
		Build: headToHead,
	})
}

func headToHead(set *results.Set) (document.Document, error) { return HeadToHead(set).Document(), nil }

// HeadToHead compares brokers, a table for each message size and guarantee.
func HeadToHead(set *results.Set) Sections {
	points := set.Points
	var opening, closing document.Document
	opening.Say(statusSentence(points))
	for _, v := range append(results.MissedRates(points), objectives(set)...) {
		opening.Add(v)
	}
	var notes document.Footnotes
	s := Sections{Title: "Head to head", Opening: opening.Blocks}
	for _, g := range bySetting(points) {
		s.Groups = append(s.Groups, comparison(g, &notes))
	}
	if len(points) > 0 {
		closing.Say("Latency is end to end, from the intended time of sending. A sustainable rate is followed by " + bracketWords + ". " +
			costWords + " Figures are medians over at most n repetitions that ended ok.")
	}
	closing.Add(notes.Blocks()...)
	s.Closing = closing.Blocks
	return s
}

// comparison has a row for every broker, and names the differences between them.
func comparison(g group, notes *document.Footnotes) Section {
	var d document.Document
	l := layoutOf(g.points, statable{})
	d.Say(l.sentence)
	d.Add(comparisonTable(sidesOf(g.points), l, notes))
	sound := conclusive(g.points)
	unlike := unequalFlushes(sound)
	d.Say(unlike)
	d.Say(clientModes(sound))
	if len(sound) > 0 {
		v := verdict(group{name: g.name, points: sound})
		v.Headed = true
		d.Add(v)
	}
	d.Warn("these records", unnamed(g.points))
	return Section{Name: g.name, Points: g.points, Blocks: d.Blocks, Unlike: unlike}
}

// bracketWords explain the brackets behind a sustainable rate.
const bracketWords = "[passed–failed], the widest bounds that its searches found"

// side is everything measured of one broker under one size and guarantee. Loads of another shape, such as Poisson arrivals, are
// another side: a point's name holds the shape where points differ in it.
type side struct {
	points []results.Point     // not empty
	fixed  []results.LoadPoint // what was measured at fixed rates, lowest first, one for each rate
	cost   costFigures
}

// costFigures are the records from which costs are read, and of which load they are.
type costFigures struct {
	load    string
	records []results.Record // empty if no cost is known
}

// sidesOf splits points by broker, the kinds of brokers in their usual order.
func sidesOf(points []results.Point) []side {
	var sides []side
	for _, g := range groupBy(points, func(p results.Point) string { return p.Name }) {
		s := side{points: g.points, fixed: fixedLoadPoints(g.points)}
		s.cost = s.costs()
		sides = append(sides, s)
	}
	slices.SortStableFunc(sides, func(a, b side) int { return results.CompareKinds(a.points[0], b.points[0]) })
	return sides
}

// The metrics that are shown at every fixed rate, and of what a message costs.
var (
	comparedLatencies = []string{"e2e_p50_ns", "e2e_p99_ns"}
	comparedCosts     = []string{"broker_cpu_s_per_million", "generator_cpu_s_per_million", "broker_rss_bytes", flushesKey}
)

// comparisonTable has a row for each side.
func comparisonTable(sides []side, l layout, notes *document.Footnotes) document.Table {
	first := func(s side) results.Point { return s.points[0] }
	knowMode := slices.ContainsFunc(sides, func(s side) bool { return s.clientMode() != "" })
	columns := []columnOf[side]{
		{document.Column{Key: "message_bytes", Unit: unit.Bytes, Data: true}, func(s side) document.Cell {
			return document.Number(first(s).Spec.MessageSize.Mean())
		}},
		{document.Column{Key: "delivery", Data: true}, func(s side) document.Cell { return document.Text(first(s).Spec.Delivery) }},
	}
	if knowMode {
		columns = append(columns, columnOf[side]{
			document.Column{Key: "client_mode", Data: true}, func(s side) document.Cell { return document.Text(s.clientMode()) },
		})
	}
	columns = append(columns, columnsOf(l.columns(), first)...)
	columns = append(columns, []columnOf[side]{
		{document.Column{Key: "status", Name: "status"}, func(s side) document.Cell { return s.statusCell(notes) }},
		{
			document.Column{Key: "sustainable", Name: "sustainable", Unit: unit.PerSecond, Spread: true, Chart: "Sustainable rate: more is better"},
			side.sustained,
		},
		{document.Column{Key: "peak_rate", Name: "peak", Unit: unit.PerSecond}, func(s side) document.Cell {
			return summaryOf("publish_rate", s.recordsOf("peak")).Cell()
		}},
	}...)
	columns = slices.Concat(columns, latencyColumns(sides), costColumns(sides))
	return tableOf(append(columns, []columnOf[side]{
		{document.Column{Key: "doubts", Name: "doubts", Unit: unit.Count}, func(s side) document.Cell {
			var shown []results.Record
			for _, p := range s.points {
				shown = append(shown, p.Shown()...)
			}
			return doubts(first(s), withRates(shown), nil, notes)
		}},
		{document.Column{Key: "n", Name: "n", Unit: unit.Count}, side.repetitions},
	}...), sides)
}

// latencyColumns show the latencies at each fixed rate. The chart draws some of the rates.
func latencyColumns(sides []side) []columnOf[side] {
	rates := fixedRates(sides)
	charted := chartedRates(rates, sides)
	var columns []columnOf[side]
	for _, rate := range rates {
		for _, key := range comparedLatencies {
			c := document.Column{
				Key:  key + "_at_" + strconv.FormatFloat(rate, 'f', -1, 64),
				Name: strings.TrimPrefix(results.MustMetric(key).Name, "e2e ") + " at\n" + results.RateText(rate), Unit: unit.Nanoseconds,
			}
			if key == "e2e_p99_ns" && slices.Contains(charted, rate) {
				c.Chart = "End-to-end p99 at fixed rates: less is better"
			}
			columns = append(columns, columnOf[side]{c, func(s side) document.Cell { return summaryOf(key, s.recordsAt(rate)).Cell() }})
		}
	}
	return columns
}

// costColumns show what a message costs. Costs at different loads are not comparable: then a column says which load each is of, and
// no chart draws them.
func costColumns(sides []side) []columnOf[side] {
	var loads []string
	var points []results.Point
	for _, s := range sides {
		points = append(points, s.points...)
		if len(s.cost.records) > 0 {
			loads = append(loads, s.cost.load)
		}
	}
	comparable := alike(loads)
	columns := []columnOf[side]{{document.Column{Key: "cost_load", Name: "cost at", Data: comparable}, func(s side) document.Cell { return document.Text(s.cost.load) }}}
	for _, c := range metricColumns(comparedCosts, dataOnly{flushesKey: !anyLoad(points, flushing)}) {
		if c.Unit == unit.CPUSeconds && comparable {
			c.Chart = "CPU-seconds per million: less is better"
		}
		columns = append(columns, columnOf[side]{c, func(s side) document.Cell { return summaryOf(c.Key, s.cost.records).Cell() }})
	}
	return columns
}

// maxCharted is how many fixed rates a chart has room for.
const maxCharted = 3

// chartedRates picks the rates for the chart of latencies: of those at which most sides were measured the lowest, the
// middle one and the highest. rates are sorted.
func chartedRates(rates []float64, sides []side) []float64 {
	count := map[float64]int{}
	most := 0
	for _, s := range sides {
		for _, l := range s.fixed {
			count[l.Rate]++
			most = max(most, count[l.Rate])
		}
	}
	shared := slices.DeleteFunc(slices.Clone(rates), func(rate float64) bool { return count[rate] < most })
	if n := len(shared); n > maxCharted {
		return []float64{shared[0], shared[n/2], shared[n-1]}
	}
	return shared
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

// clientMode is the mode that all points of the side share; empty if they differ or don't know it.
func (s side) clientMode() string {
	mode := clientMode(s.points[0])
	if slices.ContainsFunc(s.points, func(p results.Point) bool { return clientMode(p) != mode }) {
		return ""
	}
	return mode
}

// summaryOf is a metric over records.
func summaryOf(key string, records []results.Record) results.Summary {
	return results.Summarize(results.MustMetric(key).Values(records))
}

// status is the common status of all points, or else the bad endings with their loads; then the loads that missed their rate or
// an objective.
func (s side) status() string {
	var endings, missed []string
	statuses := []string{}
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

// costLoads are the measures whose costs are shown, in this order, and the load that each cost is of: a curve's own is of the
// sustainable rate that its search found.
var costLoads = []struct{ measure, load string }{
	{"sustainable", "sustainable rate"}, {"curve", "sustainable rate"}, {"peak", "peak"}, {"count", "count"}, {"backlog", "backlog"},
}

// costWords say the order of costLoads.
const costWords = "CPU is in seconds per million messages, at the sustainable rate where there is one, else of the peak, count or backlog, " +
	"else at the highest fixed rate."

// costs are of the first of costLoads that has any, else of the highest fixed rate.
func (s side) costs() costFigures {
	for _, of := range costLoads {
		if records := withCost(s.recordsOf(of.measure)); records != nil {
			return costFigures{of.load, records}
		}
	}
	if n := len(s.fixed); n > 0 {
		return costFigures{results.RateText(s.fixed[n-1].Rate), s.fixed[n-1].Records}
	}
	return costFigures{}
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
