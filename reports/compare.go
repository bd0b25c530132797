package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// Side is one side of a comparison: a name for people and its results.
type Side struct {
	Name string
	Set  *results.Set
}

// compared are the metrics that a comparison shows if both sides have them.
var compared = append([]string{
	"sustainable_low", "publish_rate", "e2e_p50_ns", "e2e_p99_ns", "publish_p99_ns", "total_s", "drain_rate",
	"broker_cpu_s_per_million", "generator_cpu_s_per_million", "broker_rss_bytes", "lost_acked",
}, pipelineFigures...)

// Compare sets b against a, workload by workload: medians with intervals, a non-parametric test, the size of the
// effect, and a sentence. All metrics of all workloads are one family of tests. named are the spec paths in which the
// sides are meant to differ (see results.Named); any other difference raises a warning.
func Compare(a, b Side, named ...string) document.Document {
	d := document.Document{Title: fmt.Sprintf("%s against %s", b.Name, a.Name)}
	pairs, alone := matched(a, b, named)
	if why := NothingToCompare(a, b, named...); why != "" {
		d.Say(why + ".")
		return d
	}
	tests := contrasts(pairs)
	if slices.ContainsFunc(pairs, pair.published) {
		d.Say(results.PublishedNote)
	}
	for i, p := range pairs {
		if p.published() {
			d.Add(p.besidePublished()...)
			continue
		}
		d.Add(p.blocks(named, tests[i])...)
	}
	if alone > 0 {
		d.Say(fmt.Sprintf("Left out: %s that only one side was given.", plural(alone, "workload")))
	}
	if slices.ContainsFunc(pairs, func(p pair) bool { return results.AnyClosedLoop(p.points[0]) || results.AnyClosedLoop(p.points[1]) }) {
		d.Say(results.ClosedLoopNote)
	}
	d.Say("Medians over repetitions that ended ok [95 % interval, or smallest–largest below 6 values]. Ratio: Hodges–Lehmann estimate [95 % interval]. " +
		"Delta: Cliff's, how much more often the second side is the larger one, −1 to 1. p: Mann–Whitney U, two-sided, corrected for all tests of this comparison together (Holm); " +
		"below 5 % a difference is shown.")
	return d
}

// NothingToCompare says why two sides can't be compared. It is empty if they can. Either one side is part of the other, or no point of
// one was given the work of a point of the other; then it names the settings that differ everywhere.
func NothingToCompare(a, b Side, named ...string) string {
	for _, s := range [][2]Side{{a, b}, {b, a}} {
		if part, whole := s[0], s[1]; part.within(whole) {
			return fmt.Sprintf("Nothing to compare: every repetition of %s (%s) is one of %s (%s), too", part.Name, plural(len(part.Set.Records), "record"),
				whole.Name, plural(len(whole.Set.Records), "record"))
		}
	}
	if pairs, _ := matched(a, b, named); len(pairs) > 0 {
		return ""
	}
	text := fmt.Sprintf("Nothing to compare: no point of %s (%s) has the message size, guarantee and load of a point of %s (%s)",
		a.Name, plural(len(a.Set.Records), "record"), b.Name, plural(len(b.Set.Records), "record"))
	var differ []string
	for _, path := range []string{"messageSize", "delivery", "measure", "load.rate", "load.shape"} {
		as, bs := values(a, path), values(b, path)
		shared := slices.ContainsFunc(as, func(v string) bool { return slices.Contains(bs, v) })
		if len(as) > 0 && len(bs) > 0 && !shared {
			differ = append(differ, fmt.Sprintf("%s: %s and %s", path, strings.Join(results.Abridged(as), ", "), strings.Join(results.Abridged(bs), ", ")))
		}
	}
	if differ == nil {
		return text
	}
	return text + "; they differ in " + strings.Join(differ, "; ")
}

// within tells whether the other side has all repetitions of this one, whichever store they were read from.
func (s Side) within(other Side) bool {
	type run struct {
		point      string
		repetition int
		began      int64
	}
	of := func(r results.Record) run { return run{r.PointID, r.Repetition, r.Began.UnixNano()} }
	there := map[run]bool{}
	for _, r := range other.Set.Records {
		there[of(r)] = true
	}
	return len(s.Set.Records) > 0 && !slices.ContainsFunc(s.Set.Records, func(r results.Record) bool { return !there[of(r)] })
}

// values are the values of a setting among the points of a side, each once.
func values(s Side, path string) []string {
	var out []string
	for _, p := range s.Set.Points {
		if v := p.Facts()[path]; v != "" && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// pair holds the points of both sides that were given the same work.
type pair struct {
	title  string
	names  [2]string
	points [2][]results.Point
}

// matched pairs the points that were given exactly the same work or, if there are none, those with the same message
// size, guarantee and load; figures of a publication go by the place in their study.
func matched(a, b Side, named []string) (pairs []pair, alone int) {
	if a.anyPublished() || b.anyPublished() {
		return match(a, b, place)
	}
	pairs, alone = match(a, b, func(p results.Point) string { return p.Workload(named...) })
	if pairs == nil {
		pairs, alone = match(a, b, func(p results.Point) string { return p.Setting() + ", " + results.LoadID(p.Spec) })
	}
	return pairs, alone
}

// match pairs the groups of equal key, and counts those without a partner. The two sides of a pair may have been given
// different loads, if loads are compared; the points of one side never were.
func match(a, b Side, key func(results.Point) string) (pairs []pair, alone int) {
	as, bs := groupBy(a.Set.Points, key), groupBy(b.Set.Points, key)
	alone = len(as) + len(bs)
	for _, ga := range as {
		for _, gb := range bs {
			if ga.name != gb.name {
				continue
			}
			alone -= 2
			for _, first := range byLoad(ga.points) {
				for _, second := range byLoad(gb.points) {
					pairs = append(pairs, pair{titleOf(first[0], second[0]), [2]string{a.Name, b.Name}, [2][]results.Point{first, second}})
				}
			}
		}
	}
	return pairs, alone
}

// titleOf names the work of a pair: size, guarantee, load, and the values of further axes.
func titleOf(first, second results.Point) string {
	title := first.Setting()
	if other := second.Setting(); other != title {
		title += " against " + other
	}
	title += ", " + first.Load()
	if other := second.Load(); other != first.Load() {
		title += " against " + other
	}
	switch {
	case first.Variant == second.Variant && first.Variant != "":
		title += ", " + first.Variant
	case first.Variant != second.Variant:
		title += fmt.Sprintf(", %s against %s", cmp.Or(first.Variant, first.Product), cmp.Or(second.Variant, second.Product))
	}
	return title
}

func byLoad(points []results.Point) [][]results.Point {
	var out [][]results.Point
	for _, g := range groupBy(points, func(p results.Point) string { return results.LoadID(p.Spec) }) {
		out = append(out, g.points)
	}
	return out
}

func (p pair) sound(side int) []results.Record {
	var records []results.Record
	for _, point := range p.points[side] {
		records = append(records, point.Ok()...)
	}
	return records
}

// tested is a metric of a pair and how its sides differ in it.
type tested struct {
	metric results.Metric
	results.Difference
}

// contrasts are the tests of every pair, corrected as one family.
func contrasts(pairs []pair) [][]tested {
	out := make([][]tested, len(pairs))
	var family []*results.Difference
	for i, p := range pairs {
		if p.published() {
			continue
		}
		a, b := p.sound(0), p.sound(1)
		for _, m := range p.metrics(a, b) {
			out[i] = append(out[i], tested{m, results.Contrast(m.Values(a), m.Values(b))})
		}
		for k := range out[i] {
			family = append(family, &out[i][k].Difference)
		}
	}
	results.Correct(family)
	return out
}

// metrics are the metrics that both sides have. Where one side has latencies from the actual send only, these are compared too.
func (p pair) metrics(a, b []results.Record) []results.Metric {
	keys := slices.Clone(compared)
	if !(latencyOf(a) && latencyOf(b)) {
		keys = append(keys, results.FromSend...)
	}
	var out []results.Metric
	for _, key := range keys {
		m := results.MustMetric(key)
		first, second := m.Values(a), m.Values(b)
		// Nothing but zeros says nothing.
		if len(first) > 0 && len(second) > 0 && (slices.Max(first) != 0 || slices.Max(second) != 0) {
			out = append(out, m)
		}
	}
	return out
}

func (p pair) blocks(named []string, tests []tested) []document.Block {
	blocks := []document.Block{document.Heading{Level: 1, Text: p.title}}
	say := func(finding string) {
		blocks = append(blocks, document.Verdict{About: p.title, Finding: finding, Headed: true})
	}
	a, b := p.sound(0), p.sound(1)
	for side, records := range [][]results.Record{a, b} {
		if len(records) == 0 {
			say(fmt.Sprintf("No repetition of %s ended ok (%s): no conclusion.", p.names[side], p.points[side][0].Status()))
			return blocks
		}
	}
	for side, points := range p.points {
		for _, v := range results.MissedRates(points) {
			say(p.names[side] + ": " + v.Finding)
		}
		for _, v := range objectives(&results.Set{Points: points}) {
			say(strings.TrimSpace(fmt.Sprintf("%s: %s: %s %s", p.names[side], v.About, v.Finding, v.Detail)))
		}
	}
	if m, ok := p.headline(a, b); ok {
		say(p.finding(m, a, b, tests))
	}
	if slices.ContainsFunc(tests, func(t tested) bool { return slices.Contains(results.FromSend, t.metric.Key) }) {
		whose := "The latency of both sides"
		for side, records := range [2][]results.Record{a, b} {
			if latencyOf(records) {
				whose = "The latency of " + p.names[1-side]
			}
		}
		blocks = append(blocks, document.Paragraph{Text: whose + " is only known from the actual send, so that is what is compared: " +
			"it hides every wait before the send."})
	}
	blocks = append(blocks, tableOf(p.columns(), tests))
	if differ := results.Residue(append(a, b...), named...); len(differ) > 0 {
		blocks = append(blocks, document.Warning{About: "the compared records", Differ: differ})
	}
	return blocks
}

// headline is the metric that the workload was measured for. A curve of given rates has no sustainable rate, so its last rate is
// compared.
func (p pair) headline(a, b []results.Record) (results.Metric, bool) {
	m, ok := results.Headline(p.points[0][0].Spec.Measure)
	if m.Key == "sustainable_low" && len(m.Values(a))+len(m.Values(b)) == 0 {
		m, _ = results.Headline("rate")
		m.Name += " at the last rate"
	}
	return m, ok
}

// columns show the tests of a pair. The heading names the workload.
func (p pair) columns() []columnOf[tested] {
	ifTested := func(figure func(tested) float64) func(tested) document.Cell {
		return func(t tested) document.Cell {
			if t.Answer() == results.NotTested {
				return document.Cell{}
			}
			return document.Number(figure(t))
		}
	}
	return []columnOf[tested]{
		{document.Column{Key: "workload", Data: true}, func(tested) document.Cell { return document.Text(p.title) }},
		{document.Column{Key: "metric", Name: "metric", Row: true}, func(t tested) document.Cell { return document.Text(t.metric.Name) }},
		{document.Column{Key: "first", Name: p.names[0], Spread: true}, func(t tested) document.Cell { return t.A.Cell().In(t.metric.Unit) }},
		{document.Column{Key: "second", Name: p.names[1], Spread: true}, func(t tested) document.Cell { return t.B.Cell().In(t.metric.Unit) }},
		{document.Column{Key: "finding", Name: "finding"}, func(t tested) document.Cell { return document.Text(p.better(t)) }},
		{document.Column{Key: "ratio", Name: "ratio", Unit: unit.Factor, Spread: true}, tested.ratio},
		{document.Column{Key: "delta", Name: "delta"}, func(t tested) document.Cell { return document.Number(t.Delta) }},
		{document.Column{Key: "p", Name: "p"}, ifTested(func(t tested) float64 { return t.Adjusted })},
		{document.Column{Key: "n", Name: "n"}, func(t tested) document.Cell { return document.Text(fmt.Sprintf("%d, %d", t.A.N, t.B.N)) }},
		{document.Column{Key: "first_n", Unit: unit.Count, Data: true}, func(t tested) document.Cell { return document.Number(t.A.N) }},
		{document.Column{Key: "second_n", Unit: unit.Count, Data: true}, func(t tested) document.Cell { return document.Number(t.B.N) }},
		{document.Column{Key: "p_alone", Data: true}, ifTested(func(t tested) float64 { return t.P })}, // of this test by itself
		{document.Column{Key: "tests", Unit: unit.Count, Data: true}, func(t tested) document.Cell { return document.Number(t.Family) }},
	}
}

// ratio has an interval if there are enough values for one.
func (t tested) ratio() document.Cell {
	if math.IsInf(t.RatioHigh, 0) {
		return document.Number(t.Ratio)
	}
	return document.Cell{Kind: document.Interval, Number: t.Ratio, Low: t.RatioLow, High: t.RatioHigh}
}

// better names the better side. Every metric that is compared has a better direction.
func (p pair) better(t tested) string {
	switch t.Answer() {
	case results.NotTested:
		return "not tested"
	case results.NoDifferenceShown:
		return "no difference shown"
	}
	if t.Delta > 0 == (t.metric.Better == results.Higher) {
		return p.names[1] + " better"
	}
	return p.names[0] + " better"
}

// latencyOf tells that records hold latency from the intended time.
func latencyOf(records []results.Record) bool {
	return slices.ContainsFunc(records, func(r results.Record) bool { return r.Result != nil && r.Result.Latency.EndToEnd.Count() > 0 })
}

// finding is the plain sentence: who is better at m, that no difference was shown, or that nothing was tested.
func (p pair) finding(m results.Metric, a, b []results.Record, tests []tested) string {
	for side, records := range [2][]results.Record{a, b} {
		if len(m.Values(records)) == 0 {
			return fmt.Sprintf("%s: not known of %s, so there is no comparison of it.", m.Name, p.names[side])
		}
	}
	i := slices.IndexFunc(tests, func(t tested) bool { return t.metric.Key == m.Key })
	if i < 0 {
		return fmt.Sprintf("%s: nothing but zeros on both sides.", m.Name)
	}
	d := tests[i]
	switch d.Answer() {
	case results.NotTested:
		change := d.Change()
		if change != "equal" {
			change += " than"
		}
		return fmt.Sprintf("%s: %s is %s %s; %s.", m.Name, p.names[1], strings.Replace(change, "equal", "equal to", 1), p.names[0], d.Why())
	case results.NoDifferenceShown:
		return fmt.Sprintf("%s: no difference shown (%s).", m.Name, d.Why())
	}
	change, better := "higher", m.Better == results.Higher
	if d.Delta < 0 {
		change, better = "lower", m.Better == results.Lower
	}
	text := fmt.Sprintf("%s: %s is %s than %s", m.Name, p.names[1], change, p.names[0])
	if !math.IsNaN(d.Ratio) {
		text += ", " + unit.Factor.Format(d.Ratio)
		if !math.IsInf(d.RatioHigh, 0) {
			text += " [" + unit.Factor.Range(d.RatioLow, d.RatioHigh) + "]"
		}
	}
	text += map[bool]string{true: ", which is better", false: ", which is worse"}[better]
	return text + " (" + d.Why() + ")."
}
