package reports

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

func init() {
	Register(Report{
		Name:  "headtohead",
		Doc:   "one row per broker for each message size and guarantee: sustainable rate, latency at fixed rates, cost",
		Build: headToHead,
	})
}

func headToHead(records []store.Record) (document.Document, error) {
	d := document.Document{Title: "Head to head"}
	points := results.Points(records)
	d.Say(state(points))
	var notes document.Footnotes
	for _, g := range bySetting(points) {
		d.Add(document.Heading{Level: 1, Text: g.name})
		d.Add(duel(g, &notes))
		if c := calm(g.points); len(c) > 0 {
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

// fixedRate is what was measured at one fixed rate, by a rate point or as a part of a curve.
type fixedRate struct {
	point   string
	rate    float64
	latency []store.Latency
	cost    []store.Cost
}

func duel(g group, notes *document.Footnotes) document.Table {
	var sides []side
	for _, p := range g.points {
		i := slices.IndexFunc(sides, func(s side) bool { return s.name == p.Name })
		if i < 0 {
			i = len(sides)
			sides = append(sides, side{name: p.Name})
		}
		sides[i].points = append(sides[i].points, p)
	}
	slices.SortStableFunc(sides, func(a, b side) int { return results.CompareNames(a.name, b.name) })
	rates := fixedRates(sides)
	t := document.Table{Columns: duelColumns(rates)}
	for _, s := range sides {
		t.Rows = append(t.Rows, s.row(rates, notes))
	}
	return t
}

func duelColumns(rates []float64) []document.Column {
	columns := []document.Column{
		{Key: "message_bytes", Unit: unit.Bytes, Data: true},
		{Key: "delivery", Data: true},
		{Key: "broker", Name: "broker", Row: true},
		{Key: "status", Name: "status"},
		{Key: "sustainable", Name: "sustainable", Unit: unit.PerSecond, Spread: true},
		{Key: "peak_rate", Name: "peak", Unit: unit.PerSecond},
	}
	for _, rate := range rates {
		text, exact := results.RateText(rate), strconv.FormatFloat(rate, 'f', -1, 64)
		columns = append(columns,
			document.Column{Key: "e2e_p50_ns_at_" + exact, Name: "p50 at\n" + text, Unit: unit.Nanoseconds},
			document.Column{Key: "e2e_p99_ns_at_" + exact, Name: "p99 at\n" + text, Unit: unit.Nanoseconds})
	}
	return append(columns,
		document.Column{Key: "broker_cpu_s_per_million", Name: "CPU\nbroker", Unit: unit.CPUSeconds},
		document.Column{Key: "generator_cpu_s_per_million", Name: "CPU\nclient", Unit: unit.CPUSeconds},
		document.Column{Key: "broker_rss_bytes", Name: "memory\nbroker", Unit: unit.Bytes},
		document.Column{Key: "doubts", Name: "doubts", Unit: unit.Count},
		document.Column{Key: "n", Name: "n", Unit: unit.Count})
}

func (s side) row(rates []float64, notes *document.Footnotes) []document.Cell {
	var shown, sound []store.Record
	var marks []int
	for _, p := range s.points {
		shown = append(shown, p.Shown()...)
		sound = append(sound, p.Ok()...)
		marks = append(marks, reasons(p, notes)...)
	}
	slices.Sort(marks)
	row := []document.Cell{
		document.Number(s.points[0].Spec.MessageSize.Mean()),
		document.Text(s.points[0].Spec.Delivery),
		document.Text(s.name),
		document.Text(s.status()).Marked(slices.Compact(marks)...),
		s.sustained(),
		s.peak(),
	}
	fixed := s.fixed()
	for _, rate := range rates {
		var p50, p99 []float64
		for _, f := range fixed {
			if f.rate == rate {
				for _, l := range f.latency {
					p50 = append(p50, results.Quantile(l.EndToEnd, 0.5))
					p99 = append(p99, results.Quantile(l.EndToEnd, 0.99))
				}
			}
		}
		row = append(row, results.Summarize(p50).Cell(), results.Summarize(p99).Cell())
	}
	costs := s.costs(fixed)
	repetitions := map[int]bool{}
	for _, r := range sound {
		repetitions[r.Repetition] = true
	}
	return append(row, costs[0], costs[1], costs[2], doubts(s.points[0], withLevels(shown), nil, notes), document.Number(len(repetitions)))
}

// peak is what was confirmed per second as fast as the window allowed.
func (s side) peak() document.Cell {
	var rates []float64
	for _, r := range s.of("peak") {
		if r.Result != nil {
			rates = append(rates, r.Result.PublishRate)
		}
	}
	return results.Summarize(rates).Cell()
}

// status is that of all points, or what went wrong where.
func (s side) status() string {
	same := true
	var words []string
	for _, p := range s.points {
		same = same && p.Status() == s.points[0].Status()
		if worst, _, _ := strings.Cut(p.Status(), ","); worst != string(store.OK) {
			words = append(words, worst+" at "+p.Load())
		}
	}
	if same {
		return s.points[0].Status()
	}
	return strings.Join(words, ", ")
}

// fixed lists what was measured at fixed rates, lowest first: of each rate, the repetitions of one point. A point made
// for that rate comes before a curve through it.
func (s side) fixed() []fixedRate {
	var found []fixedRate
	add := func(p results.Point, rate float64, l store.Latency, c store.Cost) {
		i := slices.IndexFunc(found, func(f fixedRate) bool { return f.rate == rate })
		if i < 0 {
			i = len(found)
			found = append(found, fixedRate{point: p.ID, rate: rate})
		}
		if found[i].point == p.ID {
			found[i].latency = append(found[i].latency, l)
			found[i].cost = append(found[i].cost, c)
		}
	}
	for _, p := range s.points {
		for _, r := range p.Ok() {
			shape := p.Spec.Load.Shape
			if r.Result != nil && p.Spec.Measure == "rate" && (shape == "constant" || shape == "poisson" || shape == "") {
				add(p, p.Spec.Load.Rate, r.Result.Latency, r.Result.Cost)
			}
		}
	}
	for _, p := range s.points {
		for _, r := range p.Ok() {
			if r.Result == nil {
				continue
			}
			for _, c := range r.Result.Curve {
				// Fractions of different sustainable rates are different rates: no column for them.
				if c.Status == store.OK && c.Fraction == 0 {
					add(p, c.Rate, c.Latency, c.Cost)
				}
			}
		}
	}
	slices.SortFunc(found, func(a, b fixedRate) int { return cmp.Compare(a.rate, b.rate) })
	return found
}

// of are the records that ended ok of the point that was made for a measure, at the highest load where there are
// several: other loads cost something else.
func (s side) of(measure string) []store.Record {
	var records []store.Record
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

// costs are broker CPU, generator CPU and broker memory: of the search for the sustainable rate, else of the peak, a
// count or a backlog, else at the highest fixed rate.
func (s side) costs(fixed []fixedRate) [3]document.Cell {
	var of []store.Cost
	for _, measure := range []string{"sustainable", "curve", "peak", "count", "backlog"} {
		if of != nil {
			break
		}
		for _, r := range s.of(measure) {
			if r.Result != nil && r.Result.Cost.Messages > 0 {
				of = append(of, r.Result.Cost)
			}
		}
	}
	if of == nil && len(fixed) > 0 {
		of = fixed[len(fixed)-1].cost
	}
	var cpu, generator, memory []float64
	for _, c := range of {
		if v := results.BrokerCPU(c); !math.IsNaN(v) {
			cpu = append(cpu, v)
		}
		if v := results.GeneratorCPU(c); !math.IsNaN(v) {
			generator = append(generator, v)
		}
		if c.BrokerKnown {
			memory = append(memory, float64(c.BrokerRSSBytes))
		}
	}
	return [3]document.Cell{results.Summarize(cpu).Cell(), results.Summarize(generator).Cell(), results.Summarize(memory).Cell()}
}

func fixedRates(sides []side) []float64 {
	var rates []float64
	for _, s := range sides {
		for _, f := range s.fixed() {
			rates = append(rates, f.rate)
		}
	}
	slices.Sort(rates)
	return slices.Compact(rates)
}
