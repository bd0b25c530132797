// The verdict on a table of points: which broker is best at each workload, in sentences. A workload is
// the work that several points were given, such as 1,000 messages/s. Package results ranks the points of
// a workload and words the ranking. Here the sentences on all workloads become verdicts:
//
//	Highest sustainable: kafka 828k/s (bracket 812–887k/s, n=3), before jetstream 97.9k/s (bracket
//	96–105k/s, n=3, 8.5 times lower). p < 0.001 (Student's t of logarithms). Lowest e2e p99: jetstream 3.78 ms at 1k/s; undecided
//	between jetstream 4.61 ms and rabbitmq 4.70 ms at 20k/s. Refused by nats.

package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
)

// rankedWorkload ranks the points that were given the same work, by the metric that the work was measured for.
type rankedWorkload struct {
	results.Ranking // without a Best if no point has a value of the metric
	points          []results.Point
	apart           string // what sets it apart from others of its kind: "persistence log"; empty if nothing does
}

// rankingVerdicts says which contender did best among points. Workloads of one kind that differ in a setting, at other than fixed rates,
// have a verdict each; one more is about all others. The last verdict ends with the points that have no figure.
func rankingVerdicts(about string, points []results.Point) []document.Verdict {
	workloads := rankWorkloads(points)
	var verdicts []document.Verdict
	var common []string // the sentences of the verdict on all other workloads
	var fixedRates []rankedWorkload
	for _, w := range workloads {
		switch {
		case isFixedRate(w.points[0]):
			fixedRates = append(fixedRates, w)
		case w.Best == nil: // no sentence ranks it; withoutFigure names its points
		case w.apart == "":
			common = append(common, w.Claim(), w.Basis(), w.costs())
		default:
			verdicts = append(verdicts, w.verdict(about))
		}
	}
	inFull := len(fixedRates) == len(workloads) && len(fixedRates) <= maxFullRankings
	common = append(common, fixedRateSentences(fixedRates, inFull)...)
	common = slices.DeleteFunc(common, func(sentence string) bool { return sentence == "" })
	if len(common) > 0 {
		verdicts = append(verdicts, document.Verdict{About: about, Finding: common[0], Detail: strings.Join(common[1:], " ")})
	}
	if len(verdicts) == 0 {
		verdicts = []document.Verdict{{About: about, Finding: "No conclusion."}}
	}
	last := &verdicts[len(verdicts)-1]
	last.Detail = lists.Join(" ", last.Detail, withoutFigure(workloads))
	return verdicts
}

// rankWorkloads ranks the points of each workload. It leaves out kinds of measurements that this version doesn't know.
func rankWorkloads(points []results.Point) []rankedWorkload {
	var ranked []rankedWorkload
	for _, kind := range results.GroupBy(byWorkload(points), measureOf) {
		if _, known := results.Headline(kind.Name); !known {
			continue
		}
		apart := distinctions(kind.Members)
		for i, w := range kind.Members {
			metric, _ := results.HeadlineOf(w.Members)
			contenders := lists.Map(w.Members, func(p results.Point) results.Contender {
				return results.NewContender(p.Name, metric, p.Ok())
			})
			ranked = append(ranked, rankedWorkload{Ranking: results.Rank(metric, contenders), points: w.Members, apart: apart[i]})
		}
	}
	return ranked
}

// verdict is about this workload alone: "With persistence memory, throughput, known only of nats: 1M/s (n=2)."
func (w rankedWorkload) verdict(about string) document.Verdict {
	finding := "With " + w.apart + ", " + inSentence(w.Claim())
	return document.Verdict{About: about, Finding: finding, Detail: lists.Join(" ", w.Basis(), w.costs())}
}

// inSentence is a claim that goes on a sentence: it begins with no capital letter.
func inSentence(claim string) string { return strings.ToLower(claim[:1]) + claim[1:] }

func isFixedRate(p results.Point) bool { return p.Spec.Measure == study.MeasureRate }

// maxFullRankings is how many rankings at fixed rates a verdict words in full, if it has no others. More would be too long to read.
const maxFullRankings = 2

// fixedRateSentences rank the contenders of each workload at a fixed rate: in full a few sentences for each workload, otherwise one sentence
// for all. The last sentence has the figures that only one contender was measured for.
func fixedRateSentences(workloads []rankedWorkload, inFull bool) []string {
	var sentences, short []string
	var alone []rankedWorkload
	metricName := ""
	for _, w := range workloads {
		switch {
		case w.Best == nil: // withoutFigure names its points
		case len(w.Rest) == 0:
			alone = append(alone, w)
		case inFull:
			sentences = append(sentences, "At rate "+w.rate()+", "+inSentence(w.Claim()), w.Basis())
		default:
			metricName = w.Metric.Name // the same of all, "e2e p99"; lower is better
			short = append(short, w.Short(w.rate()))
		}
	}
	return append(sentences,
		listSentence("Lowest "+metricName+": ", short, "; "),
		listSentence("Measured alone: ", aloneTexts(alone), "; "))
}

// rate names the fixed rate of the workload, and what sets it apart: "1k/s with persistence log".
func (w rankedWorkload) rate() string {
	rate := w.points[0].Rate()
	if w.apart != "" {
		rate += " with " + w.apart
	}
	return rate
}

// listSentence makes a sentence of items. It is empty if there are none.
func listSentence(before string, items []string, separator string) string {
	if len(items) == 0 {
		return ""
	}
	return before + strings.Join(results.Shorten(items), separator) + "."
}

// aloneTexts words figures that have nothing to be compared with, those of one contender together: "e2e p99 of kafka 13.1 ms at 1k/s, 13.4
// ms at 20k/s".
func aloneTexts(alone []rankedWorkload) []string {
	var texts []string
	for _, g := range results.GroupBy(alone, func(w rankedWorkload) string { return w.Metric.Name + " of " + w.Best.Name }) {
		figures := lists.Map(g.Members, func(w rankedWorkload) string { return w.Best.Summary.Format(w.Metric.Unit) + " at " + w.rate() })
		texts = append(texts, g.Name+" "+strings.Join(figures, ", "))
	}
	return texts
}

// withoutFigure names the points that have no value of the metric by which their workload is ranked, and before them those that have
// one although repetitions of them failed: "Failed in part: redis at rate 1k/s (failed 1 of 3). Without a usable figure: kafka at rate
// 1k/s (void). Refused by nats." It is empty if there are none.
func withoutFigure(workloads []rankedWorkload) string {
	var inPart, unusable, refused []string
	for _, w := range workloads {
		for _, p := range w.points {
			isRanked := len(w.Metric.Values(p.Ok())) > 0
			switch {
			case isRanked && failedInPart(p):
				inPart = append(inPart, fmt.Sprintf("%s at %s (%s)", p.Name, p.Load(), p.Endings()[0]))
			case isRanked: // the verdict says all
			case p.All(results.Refused):
				refused = append(refused, p.Name)
			case len(p.Ok()) == 0:
				unusable = append(unusable, fmt.Sprintf("%s at %s (%s)", p.Name, p.Load(), p.Status()))
			case p.Spec.Measure != study.MeasureCurve: // a curve of given rates searches for no sustainable rate, so it misses none
				unusable = append(unusable, fmt.Sprintf("%s at %s (no %s)", p.Name, p.Load(), w.Metric.Name))
			}
		}
	}
	slices.Sort(refused)
	return lists.Join(" ",
		listSentence("Failed in part: ", inPart, ", "),
		listSentence("Without a usable figure: ", unusable, ", "),
		listSentence("Refused by ", slices.Compact(refused), ", "))
}

// failedInPart reports whether some repetitions of a point failed and others ended ok. Its figures are those of the latter, and
// don't show the losses of the others.
func failedInPart(p results.Point) bool {
	_, failed := firstFailure(p)
	return failed && len(p.Ok()) > 0
}

// maxCosts is how many contenders may share the best place if the verdict is to state the cost of each.
const maxCosts = 2

// costs states the latency and the cost of the best contenders: "At that rate kafka had 1.31 ms e2e p50." It is empty if there are too many
// of them, or if neither is known. Each had its own rate: "At its own rate kafka had 1.31 ms e2e p50; nats had 1.45 ms e2e p50."
func (w rankedWorkload) costs() string {
	best := lists.Map(w.TiedWithBest(), func(c results.Contender) string { return c.Name })
	if len(best) > maxCosts {
		return ""
	}
	var clauses []string
	when := "At that rate "
	for _, p := range w.points {
		figures := costFiguresOf(p)
		if !slices.Contains(best, p.Name) || len(figures) == 0 {
			continue
		}
		if p.Spec.Measure == study.MeasureCount || p.Spec.Measure == study.MeasureBacklog || p.Spec.Measure == study.MeasureRead { // ranked by a time, by a drain, and by what was read
			when = "In that, "
		}
		clauses = append(clauses, p.Name+" had "+strings.Join(figures, ", "))
	}
	if len(clauses) > 1 && when == "At that rate " {
		when = "At its own rate "
	}
	return listSentence(when, clauses, "; ")
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
			figures = append(figures, over.Format(metric.Unit)+" "+shown.words)
		}
	}
	return figures
}
