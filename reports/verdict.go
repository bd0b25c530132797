package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
)

// maxFullRankings is how many rankings at fixed rates a verdict words in full; with more it would be too long to read.
const maxFullRankings = 2

// verdict says who did best in g, workload by workload.
func verdict(g group) document.Verdict {
	var c conclusions
	workloads := byWorkload(g.points)
	style := styleFor(workloads)
	apart := tellApart(workloads)
	for _, w := range workloads {
		c.add(w, style, apart.differences(w))
	}
	return c.verdict(g.name)
}

// rankingStyle is how rankings at fixed rates are worded.
type rankingStyle int

const (
	inFull  rankingStyle = iota // a sentence with every contender and the test
	inShort                     // the best only, all rates in one sentence
)

// styleFor words rankings at fixed rates in full if they are few and all there is.
func styleFor(workloads []group) rankingStyle {
	rates := 0
	for _, w := range workloads {
		if w.points[0].Spec.Measure == "rate" {
			rates++
		}
	}
	if rates == len(workloads) && rates <= maxFullRankings {
		return inFull
	}
	return inShort
}

// maxDifferences is the number of settings by which a sentence tells a workload from others. The warning below the table names the
// others.
const maxDifferences = 2

// apart tells workloads of the same kind of measurement apart by the settings in which they differ. Without that, sentences about them
// would contradict each other.
type apart map[string]results.Values // the values of settings that workloads have, by kind of measurement

func tellApart(workloads []group) apart {
	a := apart{}
	for _, w := range workloads {
		p := w.points[0] // all points of a workload were given the same work
		if a[p.Spec.Measure] == nil {
			a[p.Spec.Measure] = results.Values{}
		}
		values, facts := a[p.Spec.Measure], p.Facts()
		values.Add("load", p.Load())
		for _, path := range results.TellingSettings {
			values.Add(path, facts[path])
		}
	}
	return a
}

// differences names the settings in which w differs from others: "persistence log". It is empty for a fixed rate, which every sentence
// names.
func (a apart) differences(w group) string {
	p := w.points[0]
	if p.Spec.Measure == "rate" {
		return ""
	}
	values, facts := a[p.Spec.Measure], p.Facts()
	var words []string
	if values.Vary("load") {
		words = append(words, p.Load())
	}
	for _, path := range results.TellingSettings {
		if values.Vary(path) && len(words) < maxDifferences {
			words = append(words, path+" "+facts[path])
		}
	}
	return strings.Join(words, ", ")
}

// conclusions collects the parts of a verdict before they become sentences.
type conclusions struct {
	sentences []string        // in full, in order
	rankings  []rankingAtRate // at fixed rates, for one short sentence
	lone      []loneFigures   // of contenders that nobody can be compared with
	unusable  []string        // points that were measured and have no usable figure: "kafka at rate 1k/s (void)"
	refused   []string        // names of points
}

// rankingAtRate is who is best at a fixed rate.
type rankingAtRate struct {
	ranking results.Ranking
	rate    string
}

// loneFigures are the figures of one contender at several rates.
type loneFigures struct {
	metric    results.Metric
	contender string
	figures   []string // "1.3 ms at 1k/s"
}

// add draws the conclusions from a workload. differences names the settings that tell it from others of its kind; it may be empty.
func (c *conclusions) add(w group, style rankingStyle, differences string) {
	p := w.points[0]
	m, ok := results.Headline(p.Spec.Measure)
	if !ok {
		return
	}
	r := results.Rank(m, c.contenders(w, m))
	if r.Best == nil {
		return
	}
	fixedRate := p.Spec.Measure == "rate"
	switch {
	case fixedRate && len(r.Rest) == 0:
		c.addLone(m, *r.Best, p.Rate())
	case fixedRate && style == inShort:
		c.rankings = append(c.rankings, rankingAtRate{r, p.Rate()})
	case fixedRate:
		c.say("At "+p.Load()+": "+r.Claim(), r.Basis())
	case differences != "":
		claim := r.Claim()
		c.say("With "+differences+", "+strings.ToLower(claim[:1])+claim[1:], r.Basis(), costs(r.TiedWithBest(), w.points))
	default:
		c.say(r.Claim(), r.Basis(), costs(r.TiedWithBest(), w.points))
	}
}

// contenders are the points of a workload that ended ok. The others are noted as refused or unusable.
func (c *conclusions) contenders(w group, m results.Metric) []results.Contender {
	var contenders []results.Contender
	for _, p := range w.points {
		switch {
		case len(p.Ok()) > 0:
			contenders = append(contenders, results.NewContender(p.Name, m, p.Ok()))
		case p.All(results.Refused):
			c.refused = append(c.refused, p.Name)
		default:
			c.unusable = append(c.unusable, fmt.Sprintf("%s at %s (%s)", p.Name, p.Load(), p.Status()))
		}
	}
	return contenders
}

func (c *conclusions) say(sentences ...string) {
	c.sentences = append(c.sentences, slices.DeleteFunc(sentences, func(s string) bool { return s == "" })...)
}

// addLone notes a figure beside others of the same metric and contender.
func (c *conclusions) addLone(m results.Metric, contender results.Contender, rate string) {
	i := slices.IndexFunc(c.lone, func(f loneFigures) bool { return f.metric.Key == m.Key && f.contender == contender.Name })
	if i < 0 {
		i = len(c.lone)
		c.lone = append(c.lone, loneFigures{metric: m, contender: contender.Name})
	}
	c.lone[i].figures = append(c.lone[i].figures, m.Unit.Format(results.Summarize(contender.Values).Median)+" at "+rate)
}

// verdict words the conclusions: the finding is the first sentence, the details are the others.
func (c *conclusions) verdict(about string) document.Verdict {
	var best, lone []string
	for _, r := range c.rankings {
		best = append(best, r.ranking.Short(r.rate))
	}
	for _, f := range c.lone {
		lone = append(lone, fmt.Sprintf("%s of %s %s", f.metric.Name, f.contender, strings.Join(f.figures, ", ")))
	}
	slices.Sort(c.refused)
	sentences := slices.Clone(c.sentences)
	list := func(before string, items []string, separator string) {
		if len(items) > 0 {
			sentences = append(sentences, before+strings.Join(results.Shorten(items), separator)+".")
		}
	}
	list("Lowest e2e p99: ", best, "; ") // the headline of fixed rates
	list("With nothing to compare it with: ", lone, "; ")
	if len(sentences) == 0 {
		sentences = []string{"No conclusion."}
	}
	list("Without a usable figure: ", c.unusable, ", ")
	list("Refused by ", slices.Compact(c.refused), ", ")
	return document.Verdict{About: about, Finding: sentences[0], Detail: strings.Join(sentences[1:], " ")}
}

// maxCosts is how many contenders may share the best place for each to have its cost told.
const maxCosts = 2

// costs states the latency and the cost of the best contenders, a sentence each. It is empty if they are too many, or if nothing of it
// is known.
func costs(best []results.Contender, points []results.Point) string {
	if len(best) > maxCosts {
		return ""
	}
	var sentences []string
	for _, p := range points {
		isBest := slices.ContainsFunc(best, func(c results.Contender) bool { return c.Name == p.Name })
		if figures := costFiguresOf(p); isBest && figures != nil {
			when := "At that rate "
			if p.Spec.Measure == "count" || p.Spec.Measure == "backlog" {
				when = "In that, "
			}
			sentences = append(sentences, when+p.Name+" had "+strings.Join(figures, ", ")+".")
		}
	}
	return strings.Join(sentences, " ")
}

// costFiguresOf words the latency and the cost of a point, as far as they are known: "1.31 ms e2e p50".
func costFiguresOf(p results.Point) []string {
	var figures []string
	for _, of := range []struct{ key, words string }{
		{results.KeyEndToEndP50, "e2e p50"},
		{results.KeyEndToEndP99, "p99"},
		{results.KeyBrokerCPU, "of broker CPU per million"},
		{results.KeyGeneratorCPU, "of client CPU per million"},
	} {
		if s := summaryOf(of.key, p.Ok()); s.N > 0 {
			figures = append(figures, results.MustMetric(of.key).Unit.Format(s.Median)+" "+of.words)
		}
	}
	return figures
}
