// Repetitions of a point are samples of one distribution only if nothing changed while they were made. A broker that is
// still warming up gets faster from one to the next, one that fills up gets slower, and so do all brokers on a machine that
// others begin to use. A median over them is then of no steady state.

package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/aclements/go-moremath/stats"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/store"
)

// trend is how the headline metric of one product's points changed over their repetitions, in the order in which these were
// made. Example: two points whose repetitions reached 10, 20, 30 and 5, 6, 7 messages a second. The later halves are 30/10 =
// 3 and 7/5 = 1.4 times the earlier ones, so change is 2.2. All six pairs of repetitions of a point rose, so p is 6 %.
type trend struct {
	name   string // of the product: "kafka"
	metric Metric
	points int     // that have two repetitions or more
	change float64 // median of the later half of a point's repetitions, divided by that of the earlier; the median over the points
	score  int     // Kendall's S, over all points: above 0 if figures rose
	p      float64 // of the seasonal Kendall test, not corrected for the trends of other products
	cause  string  // what may have changed, in a sentence
}

// smallestTrend is the change that is worth telling: a search leaves as much open.
const smallestTrend = 0.10

// Trends is a verdict on each product whose figures rose or fell from repetition to repetition, over all its points of one
// kind of measurement and one likely cause. The list is empty if no trend is shown. The p values are corrected for all
// trends that are looked at (see holm).
func Trends(points []Point) []document.Verdict {
	var trends []trend
	trendKey := func(p Point) string { return strings.Join([]string{p.Product, p.Spec.Measure, likelyCause(p)}, "\n") }
	for _, g := range GroupBy(points, trendKey) {
		if t, ok := trendOf(g.Members); ok {
			trends = append(trends, t)
		}
	}
	var ps []float64
	for _, t := range trends {
		ps = append(ps, t.p)
	}
	var verdicts []document.Verdict
	for i, adjusted := range holm(ps, len(ps)) {
		if t := trends[i]; adjusted < alpha && t.isLarge() && t.agrees() {
			verdicts = append(verdicts, t.verdict(adjusted))
		}
	}
	return verdicts
}

// isLarge tells whether figures rose by smallestTrend or more, or fell by as large a factor: to 1.1 or to 1/1.1 of what they
// were.
func (t trend) isLarge() bool { return max(t.change, 1/t.change) >= 1+smallestTrend }

// agrees tells whether figures changed in the direction that the test shows. They need not, because a point of many repetitions counts
// for more in the test, and for as much as any other in the change.
func (t trend) agrees() bool { return (t.score > 0) == (t.change > 1) }

// likelyCause names what may have changed from one repetition of a point to the next: whatever was not started anew for each.
func likelyCause(p Point) string {
	if len(p.Spec.Attach) > 0 {
		return "The broker or a machine changed meanwhile"
	}
	return "Each had a broker of its own, so the machine, or what else ran on it, changed meanwhile"
}

// trendOf is the trend of points that have product, measure and likely cause in common. Points with a figure of 0 are left
// out, since a change from 0 has no factor, and those with one that is a lower bound. ok is false if no point with two repetitions is left, so that there is nothing to
// test.
func trendOf(points []Point) (t trend, ok bool) {
	metric, ok := Headline(points[0].Spec.Measure)
	if !ok {
		return trend{}, false
	}
	t = trend{name: points[0].Product, metric: metric, cause: likelyCause(points[0])}
	var variance float64
	var changes []float64
	for _, p := range points {
		byBegin := slices.SortedStableFunc(slices.Values(p.Ok()), func(a, b store.Record) int { return a.Began.Compare(b.Began) })
		values := metric.Values(byBegin)
		if len(values) < 2 || slices.Min(values) <= 0 || !slices.Equal(values, metric.mosts(byBegin)) {
			continue
		}
		t.score += kendallScore(values)
		variance += kendallVariance(values)
		half := len(values) / 2 // an odd one in the middle is in neither half
		changes = append(changes, Summarize(values[len(values)-half:]).Median/Summarize(values[:half]).Median)
	}
	t.points, t.change, t.p = len(changes), Summarize(changes).Median, seasonalKendall(t.score, variance)
	return t, t.points > 0
}

// kendallScore is Kendall's S: the number of pairs whose later value is larger, less the number of those whose later value
// is smaller.
func kendallScore(values []float64) int {
	score := 0
	for i, earlier := range values {
		for _, later := range values[i+1:] {
			score += cmp.Compare(later, earlier)
		}
	}
	return score
}

// kendallVariance is the variance of Kendall's S if every order of the values is equally likely (Kendall, Rank Correlation
// Methods, 4.9). t runs over the sizes of the groups of equal values:
//
//	(n(n−1)(2n+5) − Σ t(t−1)(2t+5)) / 18
func kendallVariance(values []float64) float64 {
	sum := func(n int) float64 { return float64(n * (n - 1) * (2*n + 5)) }
	v := sum(len(values))
	for _, equal := range GroupBy(values, func(x float64) string { return fmt.Sprint(x) }) {
		v -= sum(len(equal.Members))
	}
	return v / 18
}

// seasonalKendall is the two-sided p value of a trend over several series that have nothing but its direction in common
// (Hirsch, Slack and Smith, Water Resources Research 18, 1982). The score and the variance are the sums of those of the
// series. Their sum is close to normal even for two series of two values, with the correction for continuity, which is 1.
// Without variance there is no trend, and p is 1. The series are taken for independent: what disturbs several points that
// are measured in turns makes p too small.
func seasonalKendall(score int, variance float64) float64 {
	distance := math.Abs(float64(score)) - 1
	if distance <= 0 || variance == 0 {
		return 1
	}
	return 2 * stats.StdNormal.CDF(-distance/math.Sqrt(variance))
}

func (t trend) verdict(adjusted float64) document.Verdict {
	direction := "rose"
	if t.change < 1 {
		direction = "fell"
	}
	whose := "the later half"
	if t.points > 1 {
		whose = fmt.Sprintf("in the median of %d points the later half", t.points)
	}
	return document.Verdict{
		About: "Trend",
		Finding: fmt.Sprintf("%s of %s %s from repetition to repetition: %s had %.2f times that of the earlier.",
			capital(t.metric.Name), t.name, direction, whose, t.change),
		Detail: fmt.Sprintf("%s, seasonal Kendall test. %s. A median over such repetitions is of no steady state.",
			significance("=", adjusted), t.cause),
	}
}
