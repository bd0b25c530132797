// Package reports holds the reports, one per file: each turns results into a document. It reads results and nothing
// else. Importing the package registers all of them.
//
//	report, err := reports.Lookup("headtohead")
//	if err != nil { // names the reports that exist
//		return err
//	}
//	d, err := report.Build(results.Of(records)) // render.Render writes d as text
package reports

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/remark"
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

func summary(set *results.Set) (document.Document, error) { return Summary(set).Document(), nil }

// Summary is the verdict in words, and every point below it.
func Summary(set *results.Set) Sections {
	points := set.Points
	s := Sections{Title: "Summary", Opening: verdicts(set)}
	var notes document.Footnotes
	for _, g := range bySetting(points) {
		s.Groups = append(s.Groups, summarySection(g, &notes))
	}
	if slices.ContainsFunc(points, measured) {
		s.Closing = append(s.Closing, howToRead(points)...)
	}
	s.Closing = append(s.Closing, notes.Blocks()...)
	return s
}

// verdicts say how the repetitions ended, which targets were missed, and who is best.
func verdicts(set *results.Set) []document.Block {
	var d document.Document
	points := set.Points
	d.Say(statusSentence(points))
	if len(points) == 0 {
		return d.Blocks
	}
	for _, v := range append(results.MissedRates(points), objectives(set)...) {
		d.Add(v)
	}
	d.Add(document.Heading{Level: 1, Text: "Verdict"})
	sweeps, compared := sweepsOf(points), conclusive(points)
	for _, g := range bySetting(compared) {
		if !recommended(g, sweeps) {
			d.Add(verdict(g))
		}
	}
	d.Say(unequalGuarantees(compared))
	d.Say(clientModes(compared))
	for _, s := range sweeps {
		v := s.verdict()
		v.Detail = strings.TrimSpace(v.Detail + " More: brokermark report recommend.")
		d.Add(v)
	}
	if trials, _ := faultTrials(points); len(trials) > 0 {
		d.Add(document.Verdict{About: "Through faults", Finding: countVerdicts(trials), Detail: "More: brokermark report promise."})
	}
	return d.Blocks
}

// summarySection has a row for every point of a group and for every rate of a curve.
func summarySection(g group, notes *document.Footnotes) Section {
	var d document.Document
	l := layoutOf(g.points, statable{loads: loadsOf(g), facts: saidOnce})
	d.Say(l.sentence)
	d.Add(summaryTable(g, l, notes))
	for _, t := range []document.Table{pipelineTable(g, l), goalsTable(g, l, notes)} {
		if len(t.Rows) > 0 {
			d.Add(t)
		}
	}
	d.Warn("these records", unnamed(g.points))
	return Section{Name: g.name, Points: g.points, Blocks: d.Blocks}
}

// howToRead explains the figures of the tables.
func howToRead(points []results.Point) []document.Block {
	var d document.Document
	if results.AnyClosedLoop(points) {
		d.Say(results.ClosedLoopNote)
	}
	if slices.ContainsFunc(points, func(p results.Point) bool { return len(results.Goals(p.Shown())) > 0 }) {
		d.Say("Conditional throughput is what at least came through per second at the sustainable rate, but for the share of the time " +
			"that may exceed the bounds. A goal is undecided where the trials left a bound open or too wide.")
	}
	if anyLoad(points, results.OnlyFromSend) {
		d.Say("Latencies of imported results are known from the actual send only: they hide every wait before it, and stand in columns of their own.")
	}
	curves := ""
	if slices.ContainsFunc(points, func(p results.Point) bool { return p.Spec.Measure == "curve" }) {
		curves = "Each rate of a curve is a measurement of its own. "
	}
	d.Say("Rates and latencies are medians over the n repetitions that ended ok; a sustainable rate is followed by " +
		bracketWords + ". " + curves + "CPU is in seconds per million messages. Figures in parentheses are of void or failed points and never used.")
	return d.Blocks
}

// unequalGuarantees names brokers that were given the same messages and load and are not compared, because each was asked for
// the guarantee that is usual for it. It is empty if brokers are compared.
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

// measured tells whether any repetition of p has figures.
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
	for _, l := range results.LoadPointsOf(g.points) {
		loads = append(loads, l.RowTitle)
	}
	return loads
}

func summaryTable(g group, l layout, notes *document.Footnotes) document.Table {
	loadPoints, loadsOfPoint := results.LoadPointsOf(g.points), map[string][]results.LoadPoint{}
	for _, l := range loadPoints {
		loadsOfPoint[l.Point.ID] = append(loadsOfPoint[l.Point.ID], l)
	}
	columns := append(pointColumns(l), []columnOf[results.LoadPoint]{
		{document.Column{Key: "status", Name: "status"}, func(l results.LoadPoint) document.Cell { return statusCell(l, notes) }},
		{
			document.Column{Key: "sustainable", Name: "sustainable", Unit: unit.PerSecond, Spread: true},
			func(l results.LoadPoint) document.Cell { return l.Cell("sustainable_low") },
		},
	}...)
	for _, c := range metricColumns(summaryMetrics, hiddenInSummary(g.points)) {
		columns = append(columns, columnOf[results.LoadPoint]{c, func(l results.LoadPoint) document.Cell {
			if c.Unit == unit.Count && !rateOfCurve(l) {
				return total(l.Point)(c.Key)
			}
			return l.Cell(c.Key)
		}})
	}
	return tableOf(append(columns, columnOf[results.LoadPoint]{
		document.Column{Key: "doubts", Name: "doubts", Unit: unit.Count},
		func(l results.LoadPoint) document.Cell {
			return doubts(l.Point, l.Records, ownWords(l, loadsOfPoint[l.Point.ID]), notes)
		},
	}, repetitionsColumn), loadPoints)
}

// hiddenInSummary are the figures of summaryMetrics that tell a reader of points nothing.
func hiddenInSummary(points []results.Point) dataOnly {
	offered, fromSend := len(results.MissedRates(points)) > 0, anyLoad(points, results.OnlyFromSend)
	hidden := dataOnly{
		"offered_rate": !offered, "due": true, "unsent": !offered, "pause_p99_ns": !anyLoad(points, pausedTooLong), "pause_max_ns": true,
		flushesKey: !anyLoad(points, flushing),
	}
	for _, key := range results.FromSend {
		hidden[key] = !fromSend
	}
	return hidden
}

// pausedTooLong tells whether the generator's machine paused for long enough to be doubted.
func pausedTooLong(r results.Record) bool {
	return slices.ContainsFunc(r.Doubts, func(d results.Doubt) bool {
		return d.Code == results.DoubtPauses || d.Code == results.DoubtGeneratorLag
	})
}

// rateOfCurve tells that a load point is one rate of a curve, whose repetitions ended in a way of their own.
func rateOfCurve(l results.LoadPoint) bool { return l.Point.Spec.Measure == "curve" && l.Rate > 0 }

// statusCell says how a load point ended, with footnotes that say why.
func statusCell(l results.LoadPoint, notes *document.Footnotes) document.Cell {
	p := l.Point
	if !rateOfCurve(l) {
		return document.Text(statusWords(p.Status(), p, l.Records)).Toned(toneOfPoints(p)).Marked(reasons(p, notes)...)
	}
	cell := document.Text(statusWords(string(l.Status), p, l.Records)).Toned(toneOf(l.Status))
	if l.Why.Text == "" {
		return cell
	}
	return cell.Marked(notes.Mark(p.Spec.Broker+l.RowTitle, remark.Of("%s, %s: %s", l.RowTitle, l.Status, l.Why)))
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
	return func(key string) document.Cell { return results.LoadPoint{Status: results.OK, Records: ran}.Cell(key) }
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
		if mark := notes.Mark(about, remark.Of("%s: %s", r.Status, r.Why())); !slices.Contains(marks, mark) {
			marks = append(marks, mark)
		}
	}
	return marks
}

// withRates are records with each rate of their curves as one more.
func withRates(records []results.Record) []results.Record {
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

// ownWords finds the doubts that only this rate of a curve has, and maps their texts to its title: their footnotes name the rate.
// loads are all loads of the point.
func ownWords(l results.LoadPoint, loads []results.LoadPoint) map[string]string {
	own := map[string]string{}
	if l.Rate == 0 || len(loads) < 2 {
		return own
	}
	for _, r := range l.Records {
		for _, d := range r.Doubts {
			same := func(o results.Record) bool { return slices.ContainsFunc(o.Doubts, d.Same) }
			others := func(o results.LoadPoint) bool {
				return o.RowTitle != l.RowTitle && slices.ContainsFunc(o.Records, same)
			}
			if !slices.ContainsFunc(loads, others) {
				own[d.Text] = l.RowTitle
			}
		}
	}
	return own
}

// doubts counts the kinds of doubts about records of p. Each kind has a footnote for the broker, or for a rate of a curve that
// is the only one it speaks of.
func doubts(p results.Point, records []results.Record, own map[string]string, notes *document.Footnotes) document.Cell {
	kinds := map[string]bool{}
	var marks []int
	for _, r := range records {
		for _, doubt := range r.Doubts {
			kinds[doubt.Code] = true
			about, why := p.Spec.Broker, remark.Of("%s: %s", doubt.Code, doubt)
			if title := own[doubt.Text]; title != "" {
				about, why = about+title, remark.Of("%s, %s", title, why)
			}
			if mark := notes.Mark(about, why); !slices.Contains(marks, mark) {
				marks = append(marks, mark)
			}
		}
	}
	if marks == nil {
		return document.Cell{}
	}
	return document.Number(len(kinds)).Marked(marks...)
}

// statusSentence counts the repetitions by status, and warns if they allow no conclusion.
func statusSentence(points []results.Point) string {
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
