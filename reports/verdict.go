// The verdict on a table of points: which broker is best at each workload, in sentences. Points that were given the same work are ranked
// against each other; each of them is a contender. The sentences on one ranking, with their tests, come from package results. Here the
// rankings are chosen, and joined where they are many:
//
//	Sustainable, not tested: kafka 828k/s (bracket 812–887k/s, n=2), then jetstream 97.9k/s (bracket 96–105k/s, n=2, 8.5 times lower). ...
//	Lowest e2e p99: jetstream 3.78 ms at 1k/s (not tested: rabbitmq is 1.5 times higher); jetstream 4.61 ms at 20k/s. Refused by nats.

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

// rankingVerdicts says which contender did best in g: a verdict for each workload that settings tell from the others, and one for all else.
func rankingVerdicts(g group) []document.Verdict {
	workloads := byWorkload(g.points)
	c := conclusions{style: styleFor(workloads)}
	varying := varyingSettings(workloads)
	for _, w := range workloads {
		c.add(w, varying.valuesOf(w))
	}
	return c.verdicts(g.name)
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

// maxDifferences is how many settings a sentence names to tell a workload from others. The warning below the table names the rest.
const maxDifferences = 2

// settingValues are the values of settings that workloads have, by kind of measurement. Sentences about several workloads of one kind have
// to name the settings that vary: "kafka is best" and "nats is best" would contradict each other.
type settingValues map[string]results.Values

func varyingSettings(workloads []group) settingValues {
	byMeasure := settingValues{}
	for _, w := range workloads {
		p := w.points[0] // all points of a workload were given the same work
		if byMeasure[p.Spec.Measure] == nil {
			byMeasure[p.Spec.Measure] = results.Values{}
		}
		values, facts := byMeasure[p.Spec.Measure], p.Facts()
		values.Add("load", p.Load())
		for _, path := range results.FirstInNames {
			values.Add(path, facts[path])
		}
	}
	return byMeasure
}

// valuesOf names the values of w in settings that vary: "persistence log". It is empty for a fixed rate, which every sentence names.
func (v settingValues) valuesOf(w group) string {
	p := w.points[0]
	if p.Spec.Measure == "rate" {
		return ""
	}
	values, facts := v[p.Spec.Measure], p.Facts()
	var words []string
	if values.Vary("load") {
		words = append(words, p.Load())
	}
	for _, path := range results.FirstInNames {
		if values.Vary(path) && len(words) < maxDifferences {
			words = append(words, path+" "+facts[path])
		}
	}
	return strings.Join(words, ", ")
}

// conclusions collects the parts of a verdict before they become sentences.
type conclusions struct {
	style      rankingStyle
	separate   []sentences   // about a workload each, which the first sentence tells from the others
	common     sentences     // about all else
	rankings   []string      // at fixed rates, for one short sentence: "nats 1.31 ms at 1k/s"
	uncompared []rateFigures // of contenders that had no other one beside them
	unusable   []string      // points that were measured and have no usable figure: "kafka at rate 1k/s (void)"
	refused    []string      // names of points
}

// sentences are finished sentences in the order in which they are read. The first one is the finding.
type sentences []string

// add appends sentences, leaving out empty ones.
func (s *sentences) add(more ...string) {
	*s = append(*s, slices.DeleteFunc(more, func(text string) bool { return text == "" })...)
}

// addList makes a sentence of items, unless there are none.
func (s *sentences) addList(before string, items []string, separator string) {
	if len(items) > 0 {
		s.add(before + strings.Join(results.Shorten(items), separator) + ".")
	}
}

func (s sentences) verdict(about string) document.Verdict {
	return document.Verdict{About: about, Finding: s[0], Detail: strings.Join(s[1:], " ")}
}

// rateFigures are the figures of one contender at several rates.
type rateFigures struct {
	metric    results.Metric
	contender string
	figures   []string // "1.3 ms at 1k/s"
}

// add draws the conclusions from a workload. settings tells it from other workloads of its kind; it may be empty.
func (c *conclusions) add(w group, settings string) {
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
		c.addUncompared(m, *r.Best, p.Rate())
	case fixedRate && c.style == inShort:
		c.rankings = append(c.rankings, r.Short(p.Rate()))
	case fixedRate:
		c.common.add("At "+p.Load()+": "+r.Claim(), r.Basis())
	case settings != "":
		var own sentences
		claim := r.Claim()
		own.add("With "+settings+", "+strings.ToLower(claim[:1])+claim[1:], r.Basis(), costs(r.TiedWithBest(), w.points))
		c.separate = append(c.separate, own)
	default:
		c.common.add(r.Claim(), r.Basis(), costs(r.TiedWithBest(), w.points))
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

// addUncompared notes a figure beside others of the same metric and contender.
func (c *conclusions) addUncompared(m results.Metric, contender results.Contender, rate string) {
	same := func(f rateFigures) bool { return f.metric.Key == m.Key && f.contender == contender.Name }
	entry := findOrAdd(&c.uncompared, same, rateFigures{metric: m, contender: contender.Name})
	entry.figures = append(entry.figures, m.Unit.Format(results.Summarize(contender.Values).Median)+" at "+rate)
}

// verdicts words the conclusions. Who has no figure is said last.
func (c *conclusions) verdicts(about string) []document.Verdict {
	var uncompared []string
	for _, f := range c.uncompared {
		uncompared = append(uncompared, fmt.Sprintf("%s of %s %s", f.metric.Name, f.contender, strings.Join(f.figures, ", ")))
	}
	c.common.addList("Lowest e2e p99: ", c.rankings, "; ") // the headline of fixed rates
	c.common.addList("With nothing to compare it with: ", uncompared, "; ")
	all := c.separate
	if len(c.common) > 0 {
		all = append(all, c.common)
	}
	if len(all) == 0 {
		all = []sentences{{"No conclusion."}}
	}
	slices.Sort(c.refused)
	last := &all[len(all)-1]
	last.addList("Without a usable figure: ", c.unusable, ", ")
	last.addList("Refused by ", slices.Compact(c.refused), ", ")
	var verdicts []document.Verdict
	for _, s := range all {
		verdicts = append(verdicts, s.verdict(about))
	}
	return verdicts
}

// maxCosts is how many contenders may share the best place if the verdict is to state the cost of each.
const maxCosts = 2

// costs states the latency and the cost of the best contenders, a sentence each. It is empty if there are too many of them, or if
// neither is known.
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
	for _, shown := range []struct{ key, words string }{
		{key: results.KeyEndToEndP50, words: "e2e p50"},
		{key: results.KeyEndToEndP99, words: "p99"},
		{key: results.KeyBrokerCPU, words: "of broker CPU per million"},
		{key: results.KeyGeneratorCPU, words: "of client CPU per million"},
	} {
		if s := summaryOf(shown.key, p.Ok()); s.N > 0 {
			figures = append(figures, results.MustMetric(shown.key).Unit.Format(s.Median)+" "+shown.words)
		}
	}
	return figures
}
