// The verdict on a table of points: which broker is best at each workload, in sentences. A workload is
// the work that several points were given, such as 1,000 messages/s. Package results ranks the points of
// a workload and words the ranking. Here the sentences on all workloads become verdicts:
//
//	Sustainable, not tested: kafka 828k/s (bracket 812–887k/s, n=2), then jetstream 97.9k/s (bracket
//	96–105k/s, n=2, 8.5 times lower). Lowest e2e p99: jetstream 3.78 ms at 1k/s (not tested: rabbitmq is
//	1.5 times higher); jetstream 4.61 ms at 20k/s. Refused by nats.

package reports

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
)

// maxFullRankings is how many rankings at fixed rates a verdict words in full; with more it would be
// too long to read.
const maxFullRankings = 2

// rankingVerdicts says which contender did best among points. Workloads of one kind that differ in a
// setting have a verdict each; one more is about all others.
func rankingVerdicts(about string, points []results.Point) []document.Verdict {
	workloads := byWorkload(points)
	onlyFixedRates := !slices.ContainsFunc(workloads, func(w group) bool { return !isFixedRate(w) })
	c := conclusions{fullRankings: onlyFixedRates && len(workloads) <= maxFullRankings}
	for _, kind := range results.GroupBy(workloads, measureOf) {
		values := settingValues(kind.Members)
		for _, w := range kind.Members {
			c.add(w, varyingSettings(w.Members[0], values))
		}
	}
	return c.verdicts(about)
}

// group is points that belong together, under a name that says what they share.
type group = results.Group[results.Point]

// byWorkload groups the points that may be ranked against each other: those that were given the
// same work. They differ in the broker and in the settings that their names show.
func byWorkload(points []results.Point) []group {
	mayDiffer := map[string]bool{"broker": true} // spec paths
	for _, p := range points {
		for axis := range p.Records[0].Axes { // all records of a point have the same axes
			isLoad := axis == "load" || strings.HasPrefix(axis, "load.") // another load is other work
			if results.InNames(axis) && !isLoad {
				mayDiffer[axis] = true
			}
		}
	}
	paths := slices.Sorted(maps.Keys(mayDiffer))
	return results.GroupBy(points, func(p results.Point) string { return p.Workload(paths...) })
}

// rankable leaves out points with planned faults, which the promise report covers, and the figures of
// publications, which are only shown beside measured ones.
func rankable(points []results.Point) []results.Point {
	return slices.DeleteFunc(slices.Clone(points), func(p results.Point) bool {
		return len(p.Spec.Faults) > 0 || p.Published()
	})
}

// measureOf is the kind of measurement of a workload. All its points were given the same work.
func measureOf(workload group) string { return workload.Members[0].Spec.Measure }

func isFixedRate(workload group) bool { return measureOf(workload) == "rate" }

// settingValues gathers the values that workloads have of the settings by which sentences tell them apart.
// Without these settings "kafka is best" and "nats is best" would contradict each other.
func settingValues(workloads []group) results.Values {
	values := results.Values{}
	for _, w := range workloads {
		p := w.Members[0]
		facts := p.Facts()
		values.Add("load", p.Load())
		for _, path := range results.FirstInNames {
			values.Add(path, facts[path])
		}
	}
	return values
}

// maxSettingsNamed is how many varying settings a sentence names. The warning below the table names
// the others.
const maxSettingsNamed = 2

// varyingSettings names the settings of p that have several values: "persistence log". It is empty if
// none has.
func varyingSettings(p results.Point, values results.Values) string {
	var words []string
	if values.Vary("load") {
		words = append(words, p.Load())
	}
	facts := p.Facts()
	for _, path := range results.FirstInNames {
		if values.Vary(path) && len(words) < maxSettingsNamed {
			words = append(words, path+" "+facts[path])
		}
	}
	return strings.Join(words, ", ")
}

// conclusions collects the parts of verdicts before they become sentences.
type conclusions struct {
	fullRankings  bool          // whether common has rankings at fixed rates in full, or shortRankings has them
	separate      []sentences   // one for each workload that has a verdict of its own
	common        sentences     // of the verdict on all other workloads
	shortRankings []string      // the best at a fixed rate: "nats 1.31 ms at 1k/s"
	alone         []aloneFigure // at fixed rates at which one contender was measured
	unusable      []string      // points that were measured and have no usable figure: "kafka at rate 1k/s (void)"
	refused       []string      // names of points
}

// aloneFigure is a figure that has nothing to be compared with.
type aloneFigure struct {
	of     string // "e2e p99 of kafka"
	figure string // "1.3 ms at 1k/s"
}

// sentences are those of one verdict in the order in which they are read. The first is the finding.
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

// add draws the conclusions from a workload. settings name what sets it apart from others of its kind;
// they are empty if nothing does.
func (c *conclusions) add(w group, settings string) {
	metric, ok := results.Headline(measureOf(w))
	if !ok {
		return
	}
	var contenders []results.Contender
	for _, p := range w.Members {
		contender := results.NewContender(p.Name, metric, p.Ok())
		contenders = append(contenders, contender)
		if len(contender.Values) == 0 {
			c.noteUnranked(p, metric)
		}
	}
	ranking := results.Rank(metric, contenders) // without those that have no value
	switch {
	case ranking.Best == nil: // nobody has a value
	case isFixedRate(w):
		c.addAtRate(ranking, w.Members[0])
	default:
		c.addWithCosts(ranking, w, settings)
	}
}

// noteUnranked notes a point that has no value of the metric by which its workload is ranked. A curve at given rates searches for no
// sustainable rate: its figures are those at its rates.
func (c *conclusions) noteUnranked(p results.Point, metric results.Metric) {
	why := p.Status()
	switch {
	case p.All(results.Refused):
		c.refused = append(c.refused, p.Name)
		return
	case len(p.Ok()) > 0 && p.Spec.Measure == study.MeasureCurve:
		return
	case len(p.Ok()) > 0:
		why = "no " + metric.Name
	}
	c.unusable = append(c.unusable, fmt.Sprintf("%s at %s (%s)", p.Name, p.Load(), why))
}

// addAtRate adds the ranking at the fixed rate of a point.
func (c *conclusions) addAtRate(ranking results.Ranking, p results.Point) {
	switch {
	case len(ranking.Rest) == 0:
		median := results.Summarize(ranking.Best.Values).Median
		c.alone = append(c.alone, aloneFigure{
			of:     ranking.Metric.Name + " of " + ranking.Best.Name,
			figure: ranking.Metric.Unit.Format(median) + " at " + p.Rate(),
		})
	case c.fullRankings:
		c.common.add("At "+p.Load()+": "+ranking.Claim(), ranking.Basis())
	default:
		c.shortRankings = append(c.shortRankings, ranking.Short(p.Rate()))
	}
}

// addWithCosts adds the ranking of a workload and what the best had to pay for their places. With
// settings it becomes a verdict of its own: "With persistence log, highest sustainable: kafka ..."
func (c *conclusions) addWithCosts(ranking results.Ranking, w group, settings string) {
	claim, costs := ranking.Claim(), costsOf(ranking.TiedWithBest(), w.Members)
	if settings == "" {
		c.common.add(claim, ranking.Basis(), costs)
		return
	}
	var own sentences
	own.add("With "+settings+", "+strings.ToLower(claim[:1])+claim[1:], ranking.Basis(), costs)
	c.separate = append(c.separate, own)
}

// verdicts words the conclusions. The last verdict ends with those who have no figure.
func (c *conclusions) verdicts(about string) []document.Verdict {
	c.common.addList("Lowest e2e p99: ", c.shortRankings, "; ") // the headline of fixed rates
	c.common.addList("Measured alone: ", aloneTexts(c.alone), "; ")
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
		verdicts = append(verdicts, document.Verdict{About: about, Finding: s[0], Detail: strings.Join(s[1:], " ")})
	}
	return verdicts
}

// aloneTexts joins the figures that are of the same: "e2e p99 of kafka: 13.1 ms at 1k/s, 13.4 ms at 20k/s".
func aloneTexts(alone []aloneFigure) []string {
	var texts []string
	for _, g := range results.GroupBy(alone, func(a aloneFigure) string { return a.of }) {
		var figures []string
		for _, a := range g.Members {
			figures = append(figures, a.figure)
		}
		texts = append(texts, g.Name+": "+strings.Join(figures, ", "))
	}
	return texts
}

// maxCosts is how many contenders may share the best place if the verdict is to state the cost of each.
const maxCosts = 2

// costsOf states the latency and the cost of the best contenders, a sentence each. It is empty if there
// are too many of them, or if neither is known.
func costsOf(best []results.Contender, points []results.Point) string {
	if len(best) > maxCosts {
		return ""
	}
	var costs []string
	for _, p := range points {
		isBest := slices.ContainsFunc(best, func(c results.Contender) bool { return c.Name == p.Name })
		figures := costFiguresOf(p)
		if !isBest || len(figures) == 0 {
			continue
		}
		when := "At that rate "
		if p.Spec.Measure == "count" || p.Spec.Measure == "backlog" {
			when = "In that, "
		}
		costs = append(costs, when+p.Name+" had "+strings.Join(figures, ", ")+".")
	}
	return strings.Join(costs, " ")
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
		metric := results.MustMetric(shown.key)
		if over := metric.Over(p.Ok()); over.N > 0 {
			figures = append(figures, metric.Unit.Format(over.Median)+" "+shown.words)
		}
	}
	return figures
}
