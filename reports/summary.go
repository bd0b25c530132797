// Package reports holds the reports, one per file: each turns records into a document. It reads records and nothing
// else. Importing the package registers all of them.
package reports

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

func init() {
	Register(Report{
		Name:  "summary",
		Doc:   "the verdict in words, then every point: rate, latency, losses, cost and doubts",
		Build: summary,
	})
}

func summary(set *results.Set) (document.Document, error) {
	d := document.Document{Title: "Summary"}
	points := set.Points
	d.Say(state(points))
	if len(points) == 0 {
		return d, nil
	}
	for _, v := range append(results.MissedRates(points), objectives(set)...) {
		d.Add(v)
	}
	var notes document.Footnotes
	groups := bySetting(points)
	d.Add(document.Heading{Level: 1, Text: "Verdict"})
	sweeps := sweepsOf(points)
	for _, g := range bySetting(conclusive(points)) {
		if !recommended(g, sweeps) {
			d.Add(verdict(g))
		}
	}
	d.Say(unequalGuarantees(conclusive(points)))
	d.Say(clientModes(conclusive(points)))
	for _, s := range sweeps {
		v := s.verdict()
		v.Detail = strings.TrimSpace(v.Detail + " More: brokermark report recommend.")
		d.Add(v)
	}
	if trials, _ := faultTrials(points); len(trials) > 0 {
		d.Add(document.Verdict{About: "Through faults", Finding: countVerdicts(trials), Detail: "More: brokermark report promise."})
	}
	for _, g := range groups {
		d.Add(document.Heading{Level: 1, Text: g.name})
		l := layoutOf(g.points, loadsOf(g), saidOnce)
		d.Say(l.above)
		d.Add(summaryTable(g, l, &notes))
		for _, t := range []document.Table{pipelineTable(g, l), goalsTable(g, l, &notes)} {
			if len(t.Rows) > 0 {
				d.Add(t)
			}
		}
		d.Warn("these records", unnamed(g.points))
	}
	if !slices.ContainsFunc(points, measured) {
		d.Add(notes.Blocks()...)
		return d, nil
	}
	if results.AnyClosedLoop(points) {
		d.Say(results.ClosedLoopNote)
	}
	curves := ""
	if slices.ContainsFunc(points, func(p results.Point) bool { return p.Spec.Measure == "curve" }) {
		curves = "Each rate of a curve is a measurement of its own. "
	}
	if slices.ContainsFunc(points, func(p results.Point) bool { return len(results.Goals(p.Shown())) > 0 }) {
		d.Say("Conditional throughput is what at least came through per second at the sustainable rate, but for the share of the time " +
			"that may exceed the bounds. A goal is undecided where the trials left a bound open or too wide.")
	}
	if anyLoad(points, results.OnlyFromSend) {
		d.Say("Latencies of imported results are known from the actual send only: they hide every wait before it, and stand in columns of their own.")
	}
	d.Say("Rates and latencies are medians over the n repetitions that ended ok; a sustainable rate is followed by " +
		bracketWords + ". " + curves + "CPU is in seconds per million messages. Figures in parentheses are of void or failed points and never used.")
	d.Add(notes.Blocks()...)
	return d, nil
}

// unequalGuarantees says why brokers that were given the same messages and load stand alone: each was asked for what is usual
// for it. "" where brokers are compared.
func unequalGuarantees(points []results.Point) string {
	var brokers, deliveries []string
	for _, g := range bySetting(points) {
		for _, p := range g.points {
			if p.Spec.Broker != g.points[0].Spec.Broker {
				return ""
			}
		}
		elsewhere := func(p results.Point) bool {
			return slices.ContainsFunc(points, func(o results.Point) bool {
				return o.Spec.Broker != p.Spec.Broker && o.Spec.Delivery != p.Spec.Delivery && o.Spec.MessageSize.String() == p.Spec.MessageSize.String() && o.Load() == p.Load()
			})
		}
		if !slices.ContainsFunc(g.points, elsewhere) {
			return ""
		}
		brokers, deliveries = append(brokers, g.points[0].Spec.Broker), append(deliveries, g.points[0].Spec.Delivery)
	}
	if brokers == nil {
		return ""
	}
	slices.Sort(brokers)
	slices.Sort(deliveries)
	brokers, deliveries = slices.Compact(brokers), slices.Compact(deliveries)
	return fmt.Sprintf("%s are not compared: they were asked for different guarantees (%s). With the same --delivery they are.",
		strings.Join(brokers, " and "), strings.Join(deliveries, ", "))
}

// measured tells whether there is any figure of p.
func measured(p results.Point) bool {
	return slices.ContainsFunc(p.Shown(), func(r results.Record) bool { return r.Result != nil })
}

// summaryMetrics are the figures of a row. Counts are those of every repetition that ran, the others those of the
// repetitions shown.
var summaryMetrics = []string{
	"offered_rate", "due", "unsent", "publish_rate", "total_s", "drain_rate", "e2e_p50_ns", "e2e_p99_ns",
	"service_p50_ns", "service_p99_ns", "e2e_service_p50_ns", "e2e_service_p99_ns", "pause_p99_ns", "pause_max_ns",
	"lost", "duplicated", "broker_cpu_s_per_million", "generator_cpu_s_per_million", "broker_rss_bytes", flushesKey,
}

// loadsOf are the loads of a summary's rows.
func loadsOf(g group) []string {
	var loads []string
	for i, p := range g.points {
		for _, l := range results.Levels(i, p) {
			loads = append(loads, l.Title)
		}
	}
	return loads
}

func summaryTable(g group, l layout, notes *document.Footnotes) document.Table {
	offered := len(results.MissedRates(g.points)) > 0
	sent := anyLoad(g.points, results.OnlyFromSend)
	t := document.Table{Columns: slices.Concat(pointColumns(l), []document.Column{
		{Key: "status", Name: "status"},
		{Key: "sustainable", Name: "sustainable", Unit: unit.PerSecond, Spread: true},
	}, metricColumns(summaryMetrics, dataOnly{
		"offered_rate": !offered, "due": true, "unsent": !offered, "pause_p99_ns": !anyLoad(g.points, stood), "pause_max_ns": true, flushesKey: !anyLoad(g.points, flushing),
		"service_p50_ns": !sent, "service_p99_ns": !sent, "e2e_service_p50_ns": !sent, "e2e_service_p99_ns": !sent,
	}), []document.Column{
		{Key: "doubts", Name: "doubts", Unit: unit.Count},
		{Key: "n", Name: "n", Unit: unit.Count},
	})}
	for i, p := range g.points {
		levels := results.Levels(i, p)
		for _, level := range levels {
			row := summaryRow(p, level, ownWords(level, levels), notes)
			maps.Copy(row, pointCells(p, level.Title, l))
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// stood tells that the generator's machine stood still for too long beside what was measured.
func stood(r results.Record) bool {
	return slices.ContainsFunc(r.Doubts, func(d results.Doubt) bool { return d.Code == "pauses" || d.Code == "generator-lag" })
}

// summaryRow is what a row says of a point, or of one rate of its curve.
func summaryRow(p results.Point, l results.Level, own map[string]string, notes *document.Footnotes) document.Row {
	status, tone, marks, count := p.Status(), toneOfPoints(p), reasons(p, notes), total(p)
	if p.Spec.Measure == "curve" && l.Rate > 0 {
		status, tone, marks, count = string(l.Status), toneOf(l.Status), nil, l.Cell
		if l.Reason != "" {
			marks = append(marks, notes.Mark(p.Spec.Broker+l.Title, fmt.Sprintf("%s, %s: %s", l.Title, l.Status, l.Reason)))
		}
	}
	row := document.Row{}
	row["status"] = document.Text(fared(status, p, l.Records)).Toned(tone).Marked(marks...)
	row["sustainable"] = l.Cell("sustainable_low")
	row["doubts"] = doubts(p, l.Records, own, notes)
	row["n"] = document.Number(len(l.Records))
	for _, key := range summaryMetrics {
		if results.MustMetric(key).Unit == unit.Count {
			row[key] = count(key)
		} else {
			row[key] = l.Cell(key)
		}
	}
	return row
}

// tones are those of repetitions that didn't end ok.
var tones = map[results.Status]document.Tone{results.Failed: document.Alarm, results.Void: document.Caution}

// toneOf is the tone of the worst status.
func toneOf(statuses ...results.Status) document.Tone {
	worst := document.Plain
	for _, s := range statuses {
		worst = max(worst, tones[s])
	}
	return worst
}

func toneOfPoints(points ...results.Point) document.Tone {
	var statuses []results.Status
	for _, p := range points {
		for _, r := range p.Records {
			statuses = append(statuses, r.Status)
		}
	}
	return toneOf(statuses...)
}

// total adds a count over every repetition that ran, failed ones too: a loss isn't averaged away.
func total(p results.Point) func(key string) document.Cell {
	ran := slices.DeleteFunc(slices.Clone(p.Records), func(r results.Record) bool {
		return r.Status != results.OK && r.Status != results.Failed
	})
	return func(key string) document.Cell { return results.Level{Status: results.OK, Records: ran}.Cell(key) }
}

// reasons are the footnotes that say why repetitions of p didn't end ok.
func reasons(p results.Point, notes *document.Footnotes) []int {
	var marks []int
	for _, r := range p.Records {
		if r.Status == results.OK || r.Reason == "" {
			continue
		}
		about := p.Spec.Broker
		if r.Status == results.Refused {
			about = "" // names the setting and its reason
		}
		if mark := notes.Mark(about, fmt.Sprintf("%s: %s", r.Status, r.Reason)); !slices.Contains(marks, mark) {
			marks = append(marks, mark)
		}
	}
	return marks
}

// withLevels are records with each rate of their curves as one more.
func withLevels(records []results.Record) []results.Record {
	out := slices.Clone(records)
	for _, r := range records {
		for _, l := range results.Loads(r) {
			if l.Rate > 0 {
				out = append(out, l.Record)
			}
		}
	}
	return out
}

// ownWords are the doubts of a rate of a curve that no other rate has in the same words, by their text: a footnote that
// names the rate is theirs alone.
func ownWords(l results.Level, levels []results.Level) map[string]string {
	own := map[string]string{}
	if l.Rate == 0 || len(levels) < 2 {
		return own
	}
	for _, r := range l.Records {
		for _, d := range r.Doubts {
			same := func(o results.Record) bool { return slices.Contains(o.Doubts, d) }
			others := func(o results.Level) bool { return o.Title != l.Title && slices.ContainsFunc(o.Records, same) }
			if !slices.ContainsFunc(levels, others) {
				own[d.Text] = l.Title
			}
		}
	}
	return own
}

// doubts counts the kinds of doubts about records of p, with a footnote for each kind and broker, and for each rate of
// a curve where it speaks of that rate alone.
func doubts(p results.Point, records []results.Record, own map[string]string, notes *document.Footnotes) document.Cell {
	var marks []int
	for _, r := range records {
		for _, doubt := range r.Doubts {
			about, text := p.Spec.Broker, fmt.Sprintf("%s: %s", doubt.Code, doubt.Text)
			if title := own[doubt.Text]; title != "" {
				about, text = about+title, title+", "+text
			}
			mark := notes.Mark(about, text)
			if !slices.Contains(marks, mark) {
				marks = append(marks, mark)
			}
		}
	}
	if marks == nil {
		return document.Cell{}
	}
	return document.Number(len(marks)).Marked(marks...)
}

// state says in a sentence what there is to report on, above all when that is little.
func state(points []results.Point) string {
	count := map[results.Status]int{}
	repetitions, repeated := 0, 0
	for _, p := range points {
		repeated += p.Repeated
		for _, r := range p.Records {
			count[r.Status]++
			repetitions++
		}
	}
	if repetitions == 0 {
		return "The store holds no record yet: nothing was measured."
	}
	var words []string
	for _, status := range slices.Sorted(maps.Keys(count)) {
		words = append(words, fmt.Sprintf("%d %s", count[status], status))
	}
	text := fmt.Sprintf("%s of %s: %s.", plural(repetitions, "repetition"), plural(len(points), "point"), strings.Join(words, ", "))
	switch {
	case count[results.OK] == 0 && count[results.Void] == repetitions:
		text += " Every one is void: no conclusion can be drawn."
	case count[results.OK] == 0:
		text += " None ended ok: no conclusion can be drawn."
	case len(points) == 1:
		text += " A single point: there is nothing to compare it with."
	}
	if repeated > 0 {
		text += fmt.Sprintf(" Measured again: %s, of which the latest that ended ok counts.", plural(repeated, "repetition"))
	}
	return text
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
