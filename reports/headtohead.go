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

func headToHead(set *results.Set) (document.Document, error) {
	d := document.Document{Title: "Head to head"}
	points := set.Points
	d.Say(state(points))
	for _, v := range append(results.MissedRates(points), objectives(set)...) {
		d.Add(v)
	}
	var notes document.Footnotes
	for _, g := range bySetting(points) {
		d.Add(document.Heading{Level: 1, Text: g.name})
		l := layoutOf(g.points, nil, nil)
		d.Say(l.above)
		d.Add(duel(g, l, &notes))
		d.Say(unequalFlushes(conclusive(g.points)))
		d.Say(clientModes(conclusive(g.points)))
		if c := conclusive(g.points); len(c) > 0 {
			v := verdict(group{g.name, c})
			v.Headed = true
			d.Add(v)
		}
		d.Warn("these records", unnamed(g.points))
	}
	if len(points) > 0 {
		d.Say("Latency is end to end from the intended time. A sustainable rate stands with [highest passing–lowest failing]. " +
			"CPU is in seconds per million messages, at the sustainable rate where there is one, else of the peak, count or backlog, else at the highest fixed rate. Figures are medians over n repetitions that ended ok.")
	}
	d.Add(notes.Blocks()...)
	return d, nil
}

// side is everything measured of one broker under one size and guarantee.
type side struct {
	name   string
	points []results.Point
}

func duel(g group, l layout, notes *document.Footnotes) document.Table {
	var sides []side
	for _, p := range g.points {
		i := slices.IndexFunc(sides, func(s side) bool { return s.name == p.Name })
		if i < 0 {
			i = len(sides)
			sides = append(sides, side{name: p.Name})
		}
		sides[i].points = append(sides[i].points, p)
	}
	slices.SortStableFunc(sides, func(a, b side) int { return results.CompareKinds(a.points[0], b.points[0]) })
	rates := fixedRates(sides)
	modes := slices.ContainsFunc(g.points, knowsMode)
	t := document.Table{Columns: duelColumns(l, rates, drawnRates(rates, sides), anyLoad(g.points, flushing), modes)}
	for _, s := range sides {
		row := s.row(rates, notes)
		if modes {
			row[clientModeKey] = document.Text(clientMode(s.points[0]))
		}
		l.name(row, s.points[0])
		t.Rows = append(t.Rows, row)
	}
	return t
}

// The metrics that a duel shows at every fixed rate, and of what a message costs.
var (
	duelLatencies = []string{"e2e_p50_ns", "e2e_p99_ns"}
	duelCosts     = []string{"broker_cpu_s_per_million", "generator_cpu_s_per_million", "broker_rss_bytes", flushesKey}
)

// rateKey is the key of the column that shows a metric at a fixed rate.
func rateKey(key string, rate float64) string {
	return key + "_at_" + strconv.FormatFloat(rate, 'f', -1, 64)
}

// mostDrawn is how many fixed rates a chart has room for.
const mostDrawn = 3

// drawnRates are the rates of the chart of latencies: of those at which most sides were measured the lowest, the highest
// and one between.
func drawnRates(rates []float64, sides []side) []float64 {
	count := map[float64]int{}
	most := 0
	for _, s := range sides {
		for _, l := range s.fixed() {
			count[l.Rate]++
			most = max(most, count[l.Rate])
		}
	}
	shared := slices.DeleteFunc(slices.Clone(rates), func(rate float64) bool { return count[rate] < most })
	if n := len(shared); n > mostDrawn {
		return []float64{shared[0], shared[n/2], shared[n-1]}
	}
	return shared
}

func duelColumns(l layout, rates, drawn []float64, flushing, modes bool) []document.Column {
	columns := []document.Column{
		{Key: "message_bytes", Unit: unit.Bytes, Data: true},
		{Key: "delivery", Data: true},
	}
	if modes {
		columns = append(columns, document.Column{Key: clientModeKey, Data: true})
	}
	columns = append(columns, l.columns()...)
	columns = append(
		columns,
		document.Column{Key: "status", Name: "status"},
		document.Column{Key: "sustainable", Name: "sustainable", Unit: unit.PerSecond, Spread: true, Chart: "Sustainable rate: more is better"},
		document.Column{Key: "peak_rate", Name: "peak", Unit: unit.PerSecond},
	)
	for _, rate := range rates {
		chart := ""
		if slices.Contains(drawn, rate) {
			chart = "End-to-end p99 at fixed rates: less is better"
		}
		columns = append(columns,
			document.Column{Key: rateKey("e2e_p50_ns", rate), Name: "p50 at\n" + results.RateText(rate), Unit: unit.Nanoseconds},
			document.Column{Key: rateKey("e2e_p99_ns", rate), Name: "p99 at\n" + results.RateText(rate), Unit: unit.Nanoseconds, Chart: chart})
	}
	for _, c := range metricColumns(duelCosts, map[string]bool{flushesKey: !flushing}) {
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
	var shown, sound []results.Record
	var marks []int
	for _, p := range s.points {
		shown = append(shown, p.Shown()...)
		sound = append(sound, p.Ok()...)
		marks = append(marks, reasons(p, notes)...)
	}
	slices.Sort(marks)
	row := document.Row{
		"message_bytes": document.Number(s.points[0].Spec.MessageSize.Mean()),
		"delivery":      document.Text(s.points[0].Spec.Delivery),
		"status":        document.Text(s.status()).Toned(toneOfPoints(s.points...)).Marked(slices.Compact(marks)...),
		"sustainable":   s.sustained(),
		"peak_rate":     s.peak(),
		"doubts":        doubts(s.points[0], withLevels(shown), nil, notes),
	}
	fixed := s.fixed()
	for _, rate := range rates {
		var at results.Level // without records where the side has none at this rate
		for _, l := range fixed {
			if l.Rate == rate {
				at = l
			}
		}
		for _, key := range duelLatencies {
			row[rateKey(key, rate)] = summaryOf(key, at.Records).Cell()
		}
	}
	cost := s.cost(fixed)
	repetitions := map[int]bool{}
	for _, r := range sound {
		repetitions[r.Repetition] = true
	}
	for _, key := range duelCosts {
		row[key] = summaryOf(key, cost).Cell()
	}
	row["n"] = document.Number(len(repetitions))
	return row
}

// peak is what was confirmed per second as fast as the window allowed.
func (s side) peak() document.Cell { return summaryOf("publish_rate", s.of("peak")).Cell() }

// summaryOf is a metric over records.
func summaryOf(key string, records []results.Record) results.Summary {
	return results.Summarize(results.Level{Records: records}.Measured(key))
}

// status is that of all points, or what went wrong where.
func (s side) status() string {
	same := true // all points ended alike
	var words, missed []string
	for _, p := range s.points {
		same = same && p.Status() == s.points[0].Status()
		if ended := fared("", p, p.Ok()); ended != "" {
			missed = append(missed, strings.TrimPrefix(ended, ", ")+" at "+p.Load())
		}
		if worst := p.Endings()[0]; worst != string(results.OK) {
			words = append(words, worst+" at "+p.Load())
		}
	}
	if same {
		words = []string{s.points[0].Status()}
	}
	return strings.Join(append(words, missed...), ", ")
}

// fixed lists what was measured at fixed rates, lowest first: of each rate, the repetitions of one point. A point made
// for that rate comes before a curve through it. Fractions of different sustainable rates are different rates: no
// column for them.
func (s side) fixed() []results.Level {
	var found []results.Level
	for _, curves := range []bool{false, true} {
		for i, p := range s.points {
			if curves != (p.Spec.Measure == "curve") {
				continue
			}
			for _, l := range results.MeasuredLoads(i, p) {
				same := func(o results.Level) bool { return o.Rate == l.Rate }
				if l.Fixed() && l.Used() && !slices.ContainsFunc(found, same) {
					found = append(found, l)
				}
			}
		}
	}
	slices.SortFunc(found, func(a, b results.Level) int { return cmp.Compare(a.Rate, b.Rate) })
	return found
}

// of are the records that ended ok of the point that was made for a measure, at the highest load where there are
// several: other loads cost something else.
func (s side) of(measure string) []results.Record {
	var records []results.Record
	for _, p := range s.points {
		if ok := p.Ok(); p.Spec.Measure == measure && len(ok) > 0 {
			records = ok
		}
	}
	return records
}

// sustained is the search of the point made for it, else that of a curve.
func (s side) sustained() document.Cell {
	for _, measure := range []string{"sustainable", "curve"} {
		if b := results.Sustained(s.of(measure)); b.N > 0 {
			return b.Cell()
		}
	}
	return document.Cell{}
}

// cost are the records that say what a message costs: those of the search for the sustainable rate, else of the peak, a count or a backlog, else at the highest fixed
// rate.
func (s side) cost(fixed []results.Level) []results.Record {
	for _, measure := range []string{"sustainable", "curve", "peak", "count", "backlog"} {
		if records := withCost(s.of(measure)); records != nil {
			return records
		}
	}
	if len(fixed) > 0 {
		return fixed[len(fixed)-1].Records
	}
	return nil
}

// withCost are the records that know what confirmed messages cost.
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
		for _, f := range s.fixed() {
			rates = append(rates, f.Rate)
		}
	}
	slices.Sort(rates)
	return slices.Compact(rates)
}
