// The head-to-head report: a row for each broker.

package reports

import (
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
		s.Groups = append(s.Groups, comparisonSection(g, &notes))
	}
	if len(points) > 0 {
		closing.Say("Latency is end to end, from the intended time of sending. A sustainable rate is followed by " + bracketWords + ". " +
			costWords + " Figures are medians over at most n repetitions that ended ok.")
	}
	closing.Add(notes.Blocks()...)
	s.Closing = closing.Blocks
	return s
}

// comparisonSection has a table with a row for every broker, and says how they differ.
func comparisonSection(g group, notes *document.Footnotes) Section {
	var d document.Document
	l := layoutOf(g.points, statable{})
	d.Say(l.sentence)
	d.Add(comparisonTable(sidesOf(g.points), l, notes))
	ranked := rankable(g.points)
	unlike := unequalFlushes(ranked)
	d.Say(unlike)
	d.Say(clientModes(ranked))
	if len(ranked) > 0 {
		v := verdict(group{name: g.name, points: ranked})
		v.Headed = true
		d.Add(v)
	}
	d.Warn("these records", unnamedDifferences(g.points))
	return Section{Name: g.name, Points: g.points, Blocks: d.Blocks, Unlike: unlike}
}

// bracketWords explain the brackets behind a sustainable rate.
const bracketWords = "[passed–failed], the widest bounds that its searches found"

var (
	// comparedLatencies are shown at every fixed rate.
	comparedLatencies = []string{results.KeyEndToEndP50, results.KeyEndToEndP99}
	// comparedCosts are shown at one load of each side.
	comparedCosts = []string{results.KeyBrokerCPU, results.KeyGeneratorCPU, results.KeyBrokerRSS, results.KeyBrokerFlushes}
)

// comparisonTable has a row for each side: its name, how it ended, what it sustains, its latencies and its costs.
func comparisonTable(sides []side, l layout, notes *document.Footnotes) document.Table {
	columns := slices.Concat(identityColumns(sides, l), capacityColumns(notes), latencyColumns(sides), costColumns(sides), trustColumns(notes))
	return tableOf(columns, sides)
}

// identityColumns say which broker a row is about, with which messages and guarantee.
func identityColumns(sides []side, l layout) []columnOf[side] {
	columns := []columnOf[side]{
		numberColumn(document.Column{Key: "message_bytes", Unit: unit.Bytes, Data: true}, func(s side) float64 { return s.first().Spec.MessageSize.Mean() }),
		textColumn(document.Column{Key: "delivery", Data: true}, func(s side) string { return s.first().Spec.Delivery }),
	}
	if slices.ContainsFunc(sides, func(s side) bool { return s.clientMode() != "" }) {
		columns = append(columns, textColumn(document.Column{Key: "client_mode", Data: true}, side.clientMode))
	}
	return append(columns, columnsOf(l.columns(), side.first)...)
}

// capacityColumns say how a side ended, and how much it can take.
func capacityColumns(notes *document.Footnotes) []columnOf[side] {
	return []columnOf[side]{
		cellColumn(document.Column{Key: "status", Name: "status", Attribute: true}, func(s side) document.Cell { return s.statusCell(notes) }),
		cellColumn(document.Column{
			Key: "sustainable", Name: "sustainable", Unit: unit.PerSecond, Spread: true,
			Chart: document.Chart{Title: "Sustainable rate", Better: document.MoreIsBetter},
		}, side.sustained),
		cellColumn(document.Column{Key: "peak_rate", Name: "peak", Unit: unit.PerSecond}, func(s side) document.Cell {
			return summaryOf(results.KeyPublishRate, s.recordsOf("peak")).Cell()
		}),
	}
}

// trustColumns say how far the figures of a row can be trusted.
func trustColumns(notes *document.Footnotes) []columnOf[side] {
	return []columnOf[side]{
		cellColumn(document.Column{Key: "doubts", Name: "doubts", Unit: unit.Count}, func(s side) document.Cell {
			var shown []results.Record
			for _, p := range s.points {
				shown = append(shown, p.Shown()...)
			}
			return doubts(s.first(), withRates(shown), nil, notes)
		}),
		cellColumn(document.Column{Key: "n", Name: "n", Unit: unit.Count}, side.repetitions),
	}
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
			if key == results.KeyEndToEndP99 && slices.Contains(charted, rate) {
				c.Chart = document.Chart{Title: "End-to-end p99 at fixed rates", Better: document.LessIsBetter}
			}
			columns = append(columns, cellColumn(c, func(s side) document.Cell { return summaryOf(key, s.recordsAt(rate)).Cell() }))
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
	sameLoad := alike(loads)
	costLoad := document.Column{Key: "cost_load", Name: "cost at", Data: sameLoad}
	columns := []columnOf[side]{textColumn(costLoad, func(s side) string { return s.cost.load })}
	for _, c := range metricColumns(comparedCosts, hiddenColumns{results.KeyBrokerFlushes: !anyLoad(points, flushing)}) {
		if c.Unit == unit.CPUSeconds && sameLoad {
			c.Chart = document.Chart{Title: "CPU-seconds per million", Better: document.LessIsBetter}
		}
		columns = append(columns, cellColumn(c, func(s side) document.Cell { return summaryOf(c.Key, s.cost.records).Cell() }))
	}
	return columns
}

// maxCharted is how many fixed rates a chart has room for.
const maxCharted = 3

// chartedRates picks the rates for the chart of latencies, among those at which most sides were measured: all, or the lowest, the middle
// one and the highest. rates are sorted.
func chartedRates(rates []float64, sides []side) []float64 {
	measured := map[float64]int{} // sides, by rate
	most := 0
	for _, s := range sides {
		for _, l := range s.fixed {
			measured[l.Rate]++
			most = max(most, measured[l.Rate])
		}
	}
	shared := slices.DeleteFunc(slices.Clone(rates), func(rate float64) bool { return measured[rate] < most })
	if n := len(shared); n > maxCharted {
		return []float64{shared[0], shared[n/2], shared[n-1]}
	}
	return shared
}

// summaryOf sums up a metric over records. Unlike Metric.Over it takes the median of counts, too.
func summaryOf(key string, records []results.Record) results.Summary {
	m := results.MustMetric(key)
	s := results.Summarize(m.Values(records))
	s.Bound = m.Bound(records)
	return s
}

// costWords explain the columns of costs: the unit, and costLoads in their order.
const costWords = "CPU is in seconds per million messages, at the sustainable rate where there is one, else of the peak, count or backlog, " +
	"else at the highest fixed rate."
