// The head-to-head report compares brokers: a table for each message size and guarantee, with a row for
// each broker. A sustainable rate is one that the broker keeps up with; latency is shown at each fixed
// rate that was measured, and CPU in seconds per million messages.
//
//	broker     status     sustainable          p50 at 1k/s  p99 at 1k/s  CPU broker  CPU client
//	jetstream  ok         97.9k/s [96–105k/s]       618 µs      3.78 ms      8.57 s      4.10 s
//	kafka      ok         828k/s [812–887k/s]      2.15 ms      13.1 ms      1.94 s     0.610 s
//	nats       refused¹                     –            –            –           –           –

package reports

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

func init() {
	Register(Report{
		Name:  "headtohead",
		Doc:   "one row per broker for each message size and guarantee: sustainable rate, latency at fixed rates, cost",
		Build: func(set *results.Set) (document.Document, error) { return HeadToHead(set).Document(), nil },
	})
}

// HeadToHead compares brokers, in a section for each message size and guarantee.
func HeadToHead(set *results.Set) Sections {
	var opening, closing document.Document
	addStatus(&opening, set)
	var notes footnotes
	s := Sections{Title: "Head to head", Opening: opening.Blocks}
	s.Groups = lists.Map(results.BySetting(set.Points), func(g results.Group[results.Point]) Section { return comparisonSection(g, &notes) })
	if len(set.Points) > 0 {
		closing.Say("Latency is end to end, from the intended time of sending. A sustainable rate is followed by " + bracketWords +
			". CPU is in seconds per million messages, at the sustainable rate where there is one, else of the peak, count or backlog, " +
			"else at the highest fixed rate. Figures are medians over at most n repetitions that ended ok.")
	}
	closing.Add(notes.blocks()...)
	s.Closing = closing.Blocks
	return s
}

// bracketWords explain the brackets behind a sustainable rate.
const bracketWords = "[passed–failed], the widest bounds that its searches found, and by how long it was held in one trial"

// heldColumn says for how long a sustainable rate was held.
var heldColumn = document.Column{Key: results.KeySustainableHeld, Name: "held", Unit: unit.Seconds}

// comparisonSection has a table with a row for every contender, the verdicts on them, and sentences on how
// they differ.
func comparisonSection(g group, notes *footnotes) Section {
	var d document.Document
	l := layoutOf(g.Members)
	d.Say(l.sentence())
	contenders := contendersOf(g.Members)
	d.Add(comparisonTable(contenders, l, notes))
	if further := len(contendersByRate(contenders)) - maxRateColumns; further > 0 {
		d.Say(fmt.Sprintf("Latencies at %d further rates are left out.", further))
	}
	for _, p := range g.Members {
		notes.say(p)
	}
	ranked := rankable(g.Members)
	flushes := unequalFlushes(ranked)
	d.Say(flushes)
	d.Say(clientModes(ranked))
	compared := g.Members // without a ranking the rows only say how repetitions ended
	if len(ranked) > 0 {
		compared = ranked
		for _, v := range rankingVerdicts(results.Title(g.Members), ranked) {
			v.Headed = true
			d.Add(v)
		}
	}
	d.Warn("these records", unnamedDifferences(compared))
	return Section{Name: results.Title(g.Members), Points: g.Members, Blocks: d.Blocks, Caution: flushes}
}

// comparisonTable has a row for each contender: its name, how it ended, what it sustains, its latencies
// and its costs.
func comparisonTable(contenders []contender, l layout, notes *footnotes) document.Table {
	return tableOf("", slices.Concat(
		identityColumns(contenders, l),
		capacityColumns(notes),
		latencyColumns(contenders, notes),
		costColumns(contenders, notes),
		trustColumns(),
	), contenders)
}

// identityColumns say which broker a row is about, and for programs how its client was used if that is
// known of any contender.
func identityColumns(contenders []contender, l layout) []columnOf[contender] {
	columns := convertColumns(settingColumns, contender.first)
	mode := func(c contender) string { return clientMode(c.points...) }
	if slices.ContainsFunc(contenders, func(c contender) bool { return mode(c) != "" }) {
		columns = append(columns, textColumn(forPrograms("client_mode"), mode))
	}
	return append(columns, convertColumns(l.columns(), contender.first)...)
}

// capacityColumns say how a contender ended, and how much it can take. The peak is the rate of what came
// through: a closed loop may hand over more than that.
func capacityColumns(notes *footnotes) []columnOf[contender] {
	status := document.Column{Key: "status", Name: "status", Attribute: true}
	sustainable := document.Column{
		Key: "sustainable", Name: "sustainable", Unit: unit.PerSecond, Spread: true,
		Chart: document.Chart{Title: "Sustainable rate", Better: document.MoreIsBetter},
	}
	peak := document.Column{
		Key: "peak_rate", Name: "peak", Unit: unit.PerSecond,
		Chart: document.Chart{Title: "Peak throughput", Better: document.MoreIsBetter},
	}
	return []columnOf[contender]{
		cellColumn(status, func(c contender) document.Cell { return c.statusCell(notes) }),
		cellColumn(sustainable, func(c contender) document.Cell {
			return c.doubted(notes, results.Sustained(c.searchRecords()).Cell(), doubt.Rate, c.searchRecords())
		}),
		cellColumn(heldColumn, func(c contender) document.Cell {
			return results.MustMetric(results.KeySustainableHeld).Over(c.searchRecords()).Cell()
		}),
		cellColumn(peak, func(c contender) document.Cell {
			peaks := c.recordsOfMeasure(study.MeasurePeak)
			return c.doubted(notes, results.MustMetric(results.KeyThroughput).Over(peaks).Cell(), doubt.Rate, peaks)
		}),
	}
}

// latencyColumns show the median and the p99 at each fixed rate at which any contender was measured. A
// chart draws the p99 at some of the rates.
func latencyColumns(contenders []contender, notes *footnotes) []columnOf[contender] {
	contendersAt := contendersByRate(contenders)
	charted := chartedRates(contendersAt)
	var columns []columnOf[contender]
	for _, rate := range ratesWithColumns(contendersAt) {
		p50, p99 := latencyColumn(results.KeyEndToEndP50, rate, notes), latencyColumn(results.KeyEndToEndP99, rate, notes)
		if slices.Contains(charted, rate) {
			p99.Chart = document.Chart{Title: "End-to-end p99 at fixed rates", Better: document.LessIsBetter}
		}
		columns = append(columns, p50, p99)
	}
	return columns
}

// maxRateColumns is how many fixed rates have columns: a table has a cell for each contender and rate.
const maxRateColumns = 100

// ratesWithColumns are the fixed rates at which most contenders were measured, rising.
func ratesWithColumns(contendersAt map[float64]int) []float64 {
	rates := slices.Sorted(maps.Keys(contendersAt))
	slices.SortStableFunc(rates, func(a, b float64) int { return contendersAt[b] - contendersAt[a] })
	return slices.Sorted(slices.Values(rates[:min(len(rates), maxRateColumns)]))
}

// latencyColumn shows a latency at a fixed rate, blank where a contender wasn't measured at it. Its key is
// "e2e_p99_ns_at_1000", its head "p99 at 1k/s".
func latencyColumn(key string, rate float64, notes *footnotes) columnOf[contender] {
	m := results.MustMetric(key)
	column := document.Column{
		Key:  key + "_at_" + strconv.FormatFloat(rate, 'f', -1, 64),
		Name: strings.TrimPrefix(m.Name, "e2e ") + " at\n" + results.RateText(rate), Unit: unit.Nanoseconds,
	}
	return cellColumn(column, func(c contender) document.Cell {
		records := c.recordsAtRate(rate)
		return notes.doubtedMetric(m.Over(records).Cell(), m, records, loadOf(c.first(), results.RateText(rate)))
	})
}

// contendersByRate counts the contenders that were measured at each fixed rate: {1000: 2, 9000: 1}.
func contendersByRate(contenders []contender) map[float64]int {
	count := map[float64]int{}
	for _, c := range contenders {
		for _, l := range c.fixed { // one load point for each rate
			count[l.Rate]++
		}
	}
	return count
}

// maxCharted is how many fixed rates a chart has room for.
const maxCharted = 3

// chartedRates picks the rates for the chart of latencies from those at which most contenders were measured:
// of {1000: 2, 2000: 2, 9000: 1} the first two. If they are many, it picks the lowest, the middle one and the
// highest.
func chartedRates(contendersAt map[float64]int) []float64 {
	most := 0
	for _, n := range contendersAt {
		most = max(most, n)
	}
	shared := slices.Sorted(maps.Keys(contendersAt))
	shared = slices.DeleteFunc(shared, func(rate float64) bool { return contendersAt[rate] < most })
	if n := len(shared); n > maxCharted {
		return []float64{shared[0], shared[n/2], shared[n-1]}
	}
	return shared
}

// costColumns show what a message costs. Costs at different loads are not comparable: then a column
// says which load each is of, and no chart draws them.
func costColumns(contenders []contender, notes *footnotes) []columnOf[contender] {
	loads := map[string]bool{}
	var points []results.Point
	for _, c := range contenders {
		points = append(points, c.points...)
		if load := c.costs().load; load != "" {
			loads[load] = true
		}
	}
	sameLoad := len(loads) < 2
	costs := metricColumns(
		[]string{results.KeyBrokerCPU, results.KeyGeneratorCPU, results.KeyBrokerRSS, results.KeyBrokerFlushes},
		hiddenColumns{results.KeyBrokerFlushes: !anyLoad(points, flushedFiles)},
		func(c contender, key string) document.Cell {
			m, basis := results.MustMetric(key), c.costs()
			return notes.doubtedMetric(m.Over(basis.records).Cell(), m, basis.records, loadOf(c.first(), basis.load))
		},
	)
	for i := range costs {
		if costs[i].Unit == unit.CPUSeconds && sameLoad {
			costs[i].Chart = document.Chart{Title: "CPU-seconds per million", Better: document.LessIsBetter}
		}
	}
	costLoad := document.Column{Key: "cost_load", Name: "cost at", MachinesOnly: sameLoad}
	return append([]columnOf[contender]{textColumn(costLoad, func(c contender) string { return c.costs().load })}, costs...)
}

// trustColumns say how far the figures of a row can be trusted.
func trustColumns() []columnOf[contender] {
	return []columnOf[contender]{
		doubtsColumn(func(c contender) []results.Record { return withRates(c.shownRecords()) }),
		repetitionsColumn(contender.repetitions),
	}
}
