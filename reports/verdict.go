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

// rankedWorkload is the points that were given the same work, ranked by the metric that the work was measured for. Best is nil if no point
// has a value of it.
type rankedWorkload struct {
	results.Ranking
	points   []results.Point
	settings string // what sets it apart from others of its kind: "persistence log"; empty if nothing does
}

func (w rankedWorkload) isFixedRate() bool { return w.points[0].Spec.Measure == study.MeasureRate }

// rankingVerdicts says which contender did best among points. Workloads of one kind that differ in a setting have a verdict each; one more
// is about all others. The last verdict ends with the points that have no figure.
func rankingVerdicts(about string, points []results.Point) []document.Verdict {
	workloads := rankWorkloads(points)
	onlyFixedRates := !slices.ContainsFunc(workloads, func(w rankedWorkload) bool { return !w.isFixedRate() })
	inFull := onlyFixedRates && len(workloads) <= maxFullRankings
	var verdicts []document.Verdict
	var common, shortRankings []string
	var alone []rankedWorkload // at fixed rates at which one contender was measured
	for _, w := range workloads {
		first := w.points[0]
		switch {
		case w.Best == nil: // nobody has a value
		case w.isFixedRate() && len(w.Rest) == 0:
			alone = append(alone, w)
		case w.isFixedRate() && inFull:
			common = append(common, "At "+first.Load()+": "+w.Claim(), w.Basis())
		case w.isFixedRate():
			shortRankings = append(shortRankings, w.Short(first.Rate()))
		case w.settings == "":
			common = append(common, w.Claim(), w.Basis(), w.costs())
		default:
			claim := w.Claim()
			finding := "With " + w.settings + ", " + strings.ToLower(claim[:1]) + claim[1:]
			verdicts = append(verdicts, document.Verdict{About: about, Finding: finding, Detail: joinNonEmpty(" ", w.Basis(), w.costs())})
		}
	}
	common = append(common,
		listSentence("Lowest e2e p99: ", shortRankings, "; "), // the headline of fixed rates
		listSentence("Measured alone: ", aloneTexts(alone), "; "))
	common = slices.DeleteFunc(common, func(sentence string) bool { return sentence == "" })
	if len(common) > 0 {
		verdicts = append(verdicts, document.Verdict{About: about, Finding: common[0], Detail: strings.Join(common[1:], " ")})
	}
	if len(verdicts) == 0 {
		verdicts = []document.Verdict{{About: about, Finding: "No conclusion."}}
	}
	last := &verdicts[len(verdicts)-1]
	last.Detail = joinNonEmpty(" ", last.Detail, withoutFigure(workloads))
	return verdicts
}

// listSentence makes a sentence of items. It is empty if there are none.
func listSentence(before string, items []string, separator string) string {
	if len(items) == 0 {
		return ""
	}
	return before + strings.Join(results.Shorten(items), separator) + "."
}

// rankWorkloads ranks the points of each workload. It leaves out kinds of measurements that this version doesn't know.
func rankWorkloads(points []results.Point) []rankedWorkload {
	var ranked []rankedWorkload
	for _, kind := range results.GroupBy(byWorkload(points), measureOf) {
		metric, known := results.Headline(kind.Name)
		if !known {
			continue
		}
		values := settingValues(kind.Members)
		for _, w := range kind.Members {
			var contenders []results.Contender
			for _, p := range w.Members {
				contenders = append(contenders, results.NewContender(p.Name, metric, p.Ok()))
			}
			ranked = append(ranked, rankedWorkload{
				Ranking:  results.Rank(metric, contenders),
				points:   w.Members,
				settings: varyingSettings(w.Members[0], values),
			})
		}
	}
	return ranked
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

// withoutFigure names the points that have no value of the metric by which their workload is ranked: "Without a usable figure: kafka at
// rate 1k/s (void). Refused by nats." It is empty if all have one.
func withoutFigure(workloads []rankedWorkload) string {
	var unusable, refused []string
	for _, w := range workloads {
		for _, p := range w.points {
			switch {
			case len(w.Metric.Values(p.Ok())) > 0: // it is ranked
			case p.All(results.Refused):
				refused = append(refused, p.Name)
			case len(p.Ok()) == 0:
				unusable = append(unusable, fmt.Sprintf("%s at %s (%s)", p.Name, p.Load(), p.Status()))
			case p.Spec.Measure == study.MeasureCurve: // at given rates, it searches for no sustainable rate
			default:
				unusable = append(unusable, fmt.Sprintf("%s at %s (no %s)", p.Name, p.Load(), w.Metric.Name))
			}
		}
	}
	slices.Sort(refused)
	return joinNonEmpty(" ",
		listSentence("Without a usable figure: ", unusable, ", "), listSentence("Refused by ", slices.Compact(refused), ", "))
}

// aloneTexts words figures that have nothing to be compared with, those of one contender together: "e2e p99 of kafka: 13.1 ms at 1k/s, 13.4
// ms at 20k/s".
func aloneTexts(alone []rankedWorkload) []string {
	var texts []string
	for _, g := range results.GroupBy(alone, func(w rankedWorkload) string { return w.Metric.Name + " of " + w.Best.Name }) {
		var figures []string
		for _, w := range g.Members {
			median := results.Summarize(w.Best.Values).Median
			figures = append(figures, w.Metric.Unit.Format(median)+" at "+w.points[0].Rate())
		}
		texts = append(texts, g.Name+": "+strings.Join(figures, ", "))
	}
	return texts
}

// maxCosts is how many contenders may share the best place if the verdict is to state the cost of each.
const maxCosts = 2

// costs states the latency and the cost of the best contenders, a sentence each. It is empty if there are too many of them, or if neither
// is known.
func (w rankedWorkload) costs() string {
	best := w.TiedWithBest()
	if len(best) > maxCosts {
		return ""
	}
	var sentences []string
	for _, p := range w.points {
		isBest := slices.ContainsFunc(best, func(c results.Contender) bool { return c.Name == p.Name })
		figures := costFiguresOf(p)
		if !isBest || len(figures) == 0 {
			continue
		}
		when := "At that rate "
		if p.Spec.Measure == study.MeasureCount || p.Spec.Measure == study.MeasureBacklog {
			when = "In that, "
		}
		sentences = append(sentences, when+p.Name+" had "+strings.Join(figures, ", ")+".")
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
		metric := results.MustMetric(shown.key)
		if over := metric.Over(p.Ok()); over.N > 0 {
			figures = append(figures, metric.Unit.Format(over.Median)+" "+shown.words)
		}
	}
	return figures
}
