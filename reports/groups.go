package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
)

// group is the points that stand in one table: equal message size and delivery guarantee.
type group struct {
	name   string
	points []results.Point
}

func bySetting(points []results.Point) []group {
	return groupBy(points, results.Point.Setting)
}

// comparable groups points that were given the same work. They differ in the broker and in the settings that their names show.
func comparable(points []results.Point) []group {
	named := []string{"broker"}
	for _, p := range points {
		for axis := range p.Records[0].Axes {
			load := axis == "load" || strings.HasPrefix(axis, "load.") // another load is other work
			if results.InNames(axis) && !load && !slices.Contains(named, axis) {
				named = append(named, axis)
			}
		}
	}
	return groupBy(points, func(p results.Point) string { return p.Workload(named...) })
}

// groupBy keeps the order in which the groups first appear.
func groupBy(points []results.Point, key func(results.Point) string) []group {
	var groups []group
	for _, p := range points {
		k := key(p)
		i := slices.IndexFunc(groups, func(g group) bool { return g.name == k })
		if i < 0 {
			i = len(groups)
			groups = append(groups, group{name: k})
		}
		groups[i].points = append(groups[i].points, p)
	}
	return groups
}

// conclusive leaves out points with planned faults, which the promise report covers, and published figures, which only stand
// beside measured ones.
func conclusive(points []results.Point) []results.Point {
	return slices.DeleteFunc(slices.Clone(points), func(p results.Point) bool { return len(p.Spec.Faults) > 0 || p.Published() })
}

// mostRates is how many fixed rates may each have a full ranking: a verdict with more is too long to read.
const mostRates = 2

// verdict says who did best in g, workload by workload. Rankings at fixed rates are short if there are more than mostRates
// of them, or other workloads.
func verdict(g group) document.Verdict {
	var c conclusions
	workloads := comparable(g.points)
	rates := 0
	for _, w := range workloads {
		if w.points[0].Spec.Measure == "rate" {
			rates++
		}
	}
	style := inFull
	if rates < len(workloads) || rates > mostRates {
		style = inShort
	}
	differ := varietyOf(workloads)
	for _, w := range workloads {
		c.add(w, style, differ.apart(w))
	}
	return c.verdict(g.name)
}

// mostApart is the number of settings that a sentence names. The warning below the table names the others.
const mostApart = 2

// setApart are the settings that set workloads of the same kind apart.
var setApart = []string{"persistence", "replicas", "acks", "ordering", "nodes", "tls"}

// variety holds the values of settings that the workloads of each measure have.
type variety map[string]results.Values

func varietyOf(workloads []group) variety {
	v := variety{}
	for _, w := range workloads {
		p := w.points[0]
		if v[p.Spec.Measure] == nil {
			v[p.Spec.Measure] = results.Values{}
		}
		values, facts := v[p.Spec.Measure], p.Facts()
		values.Add("load", p.Load())
		for _, path := range setApart {
			values.Add(path, facts[path])
		}
	}
	return v
}

// apart names the settings in which w differs from the other workloads of its measure: "persistence log". Without that, sentences about
// them would contradict each other.
func (v variety) apart(w group) string {
	p := w.points[0]
	if p.Spec.Measure == "rate" {
		return "" // its rate tells it apart
	}
	values, facts := v[p.Spec.Measure], p.Facts()
	var words []string
	if values.Vary("load") {
		words = append(words, p.Load())
	}
	for _, path := range setApart {
		if values.Vary(path) && len(words) < mostApart {
			words = append(words, path+" "+facts[path])
		}
	}
	return strings.Join(words, ", ")
}

// conclusions collects the parts of a verdict before they become sentences.
type conclusions struct {
	sentences []string        // in full, in order
	rankings  []rankingAtRate // at fixed rates, for one short sentence
	alone     []loneFigures   // measured, with nothing to compare with
	unusable  []string        // measured, without a usable figure
	refused   []string
}

// rankingAtRate is who is best at a fixed rate.
type rankingAtRate struct {
	ranking results.Ranking
	rate    string
}

// loneFigures are the figures of one contender at several rates.
type loneFigures struct {
	metric results.Metric
	name   string
	at     []string // "1.3 ms at 1k/s"
}

// rankingStyle is how rankings at fixed rates are worded.
type rankingStyle int

const (
	inFull  rankingStyle = iota // a sentence with every contender and the test
	inShort                     // the best only, all rates in one sentence
)

// add draws the conclusions from a workload. differs names the settings in which it differs from others of its kind.
func (c *conclusions) add(w group, style rankingStyle, differs string) {
	first := w.points[0]
	m, ok := results.Headline(first.Spec.Measure)
	if !ok {
		return
	}
	var contenders []results.Contender
	for _, p := range w.points {
		switch {
		case len(p.Ok()) > 0:
			contenders = append(contenders, results.Contend(p.Name, m, p.Ok()))
		case p.All(results.Refused):
			c.refused = append(c.refused, p.Name)
		default:
			c.unusable = append(c.unusable, fmt.Sprintf("%s at %s (%s)", p.Name, p.Load(), p.Status()))
		}
	}
	r := results.Rank(m, contenders)
	fixed := first.Spec.Measure == "rate"
	switch {
	case r.Best == nil:
	case fixed && len(r.Rest) == 0:
		c.addAlone(m, *r.Best, first.Rate())
	case fixed && style == inShort:
		c.rankings = append(c.rankings, rankingAtRate{r, first.Rate()})
	case fixed:
		c.say("At "+first.Load()+": "+r.Claim(), r.Basis())
	default:
		claim := r.Claim()
		if differs != "" {
			claim = "With " + differs + ", " + strings.ToLower(claim[:1]) + claim[1:]
		}
		c.say(claim, r.Basis(), costs(r.TiedWithBest(), w.points))
	}
}

func (c *conclusions) say(sentences ...string) {
	c.sentences = append(c.sentences, slices.DeleteFunc(sentences, func(s string) bool { return s == "" })...)
}

// addAlone notes a figure beside others of the same metric and contender.
func (c *conclusions) addAlone(m results.Metric, contender results.Contender, rate string) {
	i := slices.IndexFunc(c.alone, func(f loneFigures) bool { return f.metric.Key == m.Key && f.name == contender.Name })
	if i < 0 {
		i = len(c.alone)
		c.alone = append(c.alone, loneFigures{metric: m, name: contender.Name})
	}
	c.alone[i].at = append(c.alone[i].at, m.Unit.Format(results.Summarize(contender.Values).Median)+" at "+rate)
}

func (c *conclusions) verdict(about string) document.Verdict {
	sentences := c.sentences
	if c.rankings != nil {
		var best []string
		for _, r := range c.rankings {
			best = append(best, r.ranking.Short(r.rate))
		}
		sentences = append(sentences, "Lowest e2e p99: "+strings.Join(results.Abridged(best), "; ")+".")
	}
	if c.alone != nil {
		var figures []string
		for _, f := range c.alone {
			figures = append(figures, fmt.Sprintf("%s of %s %s", f.metric.Name, f.name, strings.Join(f.at, ", ")))
		}
		sentences = append(sentences, "With nothing to compare it with: "+strings.Join(results.Abridged(figures), "; ")+".")
	}
	if sentences == nil {
		sentences = []string{"No conclusion."}
	}
	if c.unusable != nil {
		sentences = append(sentences, "Without a usable figure: "+strings.Join(results.Abridged(c.unusable), ", ")+".")
	}
	if c.refused != nil {
		slices.Sort(c.refused)
		sentences = append(sentences, "Refused by "+strings.Join(results.Abridged(slices.Compact(c.refused)), ", ")+".")
	}
	return document.Verdict{About: about, Finding: sentences[0], Detail: strings.Join(sentences[1:], " ")}
}

// mostCosts is how many contenders may share the best place for each to have its cost told.
const mostCosts = 2

// costs states the latency and the cost of the best contenders.
func costs(best []results.Contender, points []results.Point) string {
	if len(best) > mostCosts {
		return ""
	}
	var text strings.Builder
	for _, p := range points {
		if !slices.ContainsFunc(best, func(c results.Contender) bool { return c.Name == p.Name }) {
			continue
		}
		var parts []string
		for _, part := range []struct{ key, after string }{
			{"e2e_p50_ns", " e2e p50"},
			{"e2e_p99_ns", " p99"},
			{"broker_cpu_s_per_million", " of broker CPU per million"},
			{"generator_cpu_s_per_million", " of client CPU per million"},
		} {
			m := results.MustMetric(part.key)
			if s := results.Summarize(m.Values(p.Ok())); s.N > 0 {
				parts = append(parts, m.Unit.Format(s.Median)+part.after)
			}
		}
		if parts != nil {
			when := " At that rate "
			if p.Spec.Measure == "count" || p.Spec.Measure == "backlog" {
				when = " In that, "
			}
			text.WriteString(when + p.Name + " had " + strings.Join(parts, ", ") + ".")
		}
	}
	return strings.TrimSpace(text.String())
}

// unnamed are the facts in which repetitions of one point, or the points that a verdict compares, differ without having
// to.
func unnamed(points []results.Point) []string {
	var records []results.Record
	named := []string{"broker", "measure", "nodes"}
	for _, p := range points {
		for _, r := range p.Ok() {
			records = append(records, r)
			for axis := range r.Axes {
				named = append(named, axis)
			}
		}
	}
	return results.Residue(records, named...)
}
