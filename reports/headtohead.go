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
			"CPU is in seconds per million messages, at the sustainable rate where there is one, else of the peak, count or backlog, else at the highest fixed rate. " +
			"Figures are medians over at most n repetitions that ended ok.")
	}
	closing.Add(notes.Blocks()...)
	s.Closing = closing.Blocks
	return s
}

// comparison has a row for every broker, and says in what they were not alike.
func comparison(g group, notes *document.Footnotes) Section {
	var d document.Document
	l := layoutOf(g.points, nil, nil)
	d.Say(l.above)
	d.Add(comparisonTable(g, l, notes))
	sound := conclusive(g.points)
	d.Say(unequalFlushes(sound))
	d.Say(clientModes(sound))
	if len(sound) > 0 {
		v := verdict(group{g.name, sound})
		v.Headed = true
		d.Add(v)
	}
	d.Warn("these records", unnamed(g.points))
	return Section{g.name, g.points, d.Blocks}
}

// bracketWords explain the brackets behind a sustainable rate.
const bracketWords = "[passed–failed], the widest bounds that its searches found"

// side is everything measured of one broker under one size and guarantee.
type side struct {
	points []results.Point
	fixed  []results.LoadPoint // what was measured at fixed rates, lowest first, one for each rate
}

// sidesOf splits points by broker, the kinds of brokers in their usual order.
func sidesOf(points []results.Point) []side {
	var sides []side
	for _, g := range groupBy(points, func(p results.Point) string { return p.Name }) {
		sides = append(sides, side{points: g.points, fixed: fixedLoadPoints(g.points)})
	}
	slices.SortStableFunc(sides, func(a, b side) int { return results.CompareKinds(a.points[0], b.points[0]) })
	return sides
}

func comparisonTable(g group, l layout, notes *document.Footnotes) document.Table {
	sides := sidesOf(g.points)
	rates := fixedRates(sides)
	t := document.Table{Columns: comparisonColumns(g.points, l, sides)}
	for _, s := range sides {
		row := s.row(rates, notes)
		if slices.ContainsFunc(g.points, knowsMode) {
			row[clientModeKey] = document.Text(clientMode(s.points[0]))
		}
		l.name(row, s.points[0])
		t.Rows = append(t.Rows, row)
	}
	return t
}

// The metrics that are shown at every fixed rate, and of what a message costs.
var (
	comparedLatencies = []string{"e2e_p50_ns", "e2e_p99_ns"}
	comparedCosts     = []string{"broker_cpu_s_per_million", "generator_cpu_s_per_million", "broker_rss_bytes", flushesKey}
)

// rateKey is the key of the column that shows a metric at a fixed rate.
func rateKey(key string, rate float64) string {
	return key + "_at_" + strconv.FormatFloat(rate, 'f', -1, 64)
}

// maxCharted is how many fixed rates a chart has room for.
const maxCharted = 3

// chartedRates picks the rates for the chart of latencies: of those at which most sides were measured the lowest, the
// middle one and the highest.
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

func comparisonColumns(points []results.Point, l layout, sides []side) []document.Column {
	columns := []document.Column{
		{Key: "message_bytes", Unit: unit.Bytes, Data: true},
		{Key: "delivery", Data: true},
	}
	if slices.ContainsFunc(points, knowsMode) {
		columns = append(columns, document.Column{Key: clientModeKey, Data: true})
	}
	columns = append(columns, l.columns()...)
	columns = append(
		columns,
		document.Column{Key: "status", Name: "status"},
		document.Column{Key: "sustainable", Name: "sustainable", Unit: unit.PerSecond, Spread: true, Chart: "Sustainable rate: more is better"},
		document.Column{Key: "peak_rate", Name: "peak", Unit: unit.PerSecond},
	)
	rates := fixedRates(sides)
	charted := chartedRates(rates, sides)
	for _, rate := range rates {
		chart := ""
		if slices.Contains(charted, rate) {
			chart = "End-to-end p99 at fixed rates: less is better"
		}
		columns = append(columns,
			document.Column{Key: rateKey("e2e_p50_ns", rate), Name: "p50 at\n" + results.RateText(rate), Unit: unit.Nanoseconds},
			document.Column{Key: rateKey("e2e_p99_ns", rate), Name: "p99 at\n" + results.RateText(rate), Unit: unit.Nanoseconds, Chart: chart})
	}
	for _, c := range metricColumns(comparedCosts, dataOnly{flushesKey: !anyLoad(points, flushing)}) {
		if c.Unit == unit.CPUSeconds {
			c.Chart = "CPU-seconds per million: less is better"
		}
		columns = append(columns, c)
	}
	return append(columns,
		document.Column{Key: "doubts", Name: "doubts", Unit: unit.Count},
		document.Column{Key: "n", Name: "n", Unit: unit.Count})
}

func (s side) row(rates []float64, notes *document.Footnotes) document.Row {
	var shown []results.Record
	var marks []int
	repetitions := map[int]bool{}
	for _, p := range s.points {
		shown = append(shown, p.Shown()...)
		marks = append(marks, reasons(p, notes)...)
		for _, r := range p.Ok() {
			repetitions[r.Repetition] = true
		}
	}
	slices.Sort(marks)
	row := document.Row{
		"message_bytes": document.Number(s.points[0].Spec.MessageSize.Mean()),
		"delivery":      document.Text(s.points[0].Spec.Delivery),
		"status":        document.Text(s.status()).Toned(toneOfPoints(s.points...)).Marked(slices.Compact(marks)...),
		"sustainable":   s.sustained(),
		"peak_rate":     summaryOf("publish_rate", s.recordsOf("peak")).Cell(),
		"doubts":        doubts(s.points[0], withRates(shown), nil, notes),
		"n":             document.Number(len(repetitions)),
	}
	for _, rate := range rates {
		records := s.recordsAt(rate)
		for _, key := range comparedLatencies {
			row[rateKey(key, rate)] = summaryOf(key, records).Cell()
		}
	}
	cost := s.cost()
	for _, key := range comparedCosts {
		row[key] = summaryOf(key, cost).Cell()
	}
	return row
}

// summaryOf is a metric over records.
func summaryOf(key string, records []results.Record) results.Summary {
	return results.Summarize(results.LoadPoint{Records: records}.Measured(key))
}

// status is the common status of all points, or else the bad endings with their loads; then the loads that missed their rate or
// an objective.
func (s side) status() string {
	var endings, missed []string
	alike := true
	for _, p := range s.points {
		alike = alike && p.Status() == s.points[0].Status()
		if worst := p.Endings()[0]; worst != string(results.OK) {
			endings = append(endings, worst+" at "+p.Load())
		}
		for _, what := range missedBy(p, p.Ok()) {
			missed = append(missed, what+" at "+p.Load())
		}
	}
	if alike {
		endings = []string{s.points[0].Status()}
	}
	return strings.Join(append(endings, missed...), ", ")
}

// fixedLoadPoints lists the load points at fixed rates, lowest first, one for each rate. A point made for the rate goes before a
// curve through it. Fractions of a sustainable rate are no fixed rates, and are left out.
func fixedLoadPoints(points []results.Point) []results.LoadPoint {
	var found []results.LoadPoint
	add := func(curves bool) {
		for i, p := range points {
			if curves != (p.Spec.Measure == "curve") {
				continue
			}
			for _, l := range results.MeasuredLoads(i, p) {
				sameRate := func(o results.LoadPoint) bool { return o.Rate == l.Rate }
				if l.Fixed() && l.Used() && !slices.ContainsFunc(found, sameRate) {
					found = append(found, l)
				}
			}
		}
	}
	add(false)
	add(true)
	slices.SortFunc(found, func(a, b results.LoadPoint) int { return cmp.Compare(a.Rate, b.Rate) })
	return found
}

// recordsAt are the records of a fixed rate; none where the side wasn't measured at it.
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
	var records []results.Record
	for _, p := range s.points {
		if ok := p.Ok(); p.Spec.Measure == measure && len(ok) > 0 {
			records = ok
		}
	}
	return records
}

// sustained is the sustainable rate of the point made for it, else of a curve.
func (s side) sustained() document.Cell {
	for _, measure := range []string{"sustainable", "curve"} {
		if b := results.Sustained(s.recordsOf(measure)); b.N > 0 {
			return b.Cell()
		}
	}
	return document.Cell{}
}

// cost are the records from which costs are read: of the first of these measures that has any, else of the highest fixed rate.
func (s side) cost() []results.Record {
	for _, measure := range []string{"sustainable", "curve", "peak", "count", "backlog"} {
		if records := withCost(s.recordsOf(measure)); records != nil {
			return records
		}
	}
	if n := len(s.fixed); n > 0 {
		return s.fixed[n-1].Records
	}
	return nil
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

func fixedRates(sides []side) []float64 {
	var rates []float64
	for _, s := range sides {
		for _, f := range s.fixed {
			rates = append(rates, f.Rate)
		}
	}
	slices.Sort(rates)
	return slices.Compact(rates)
}
