// Repetitions of a point are samples of one distribution only if nothing changed meanwhile. A broker that is still warming up
// gets faster from one to the next, one that fills up gets slower, and so do all brokers on a machine when other programs begin
// to use it. A median over them then describes no steady state.

package results

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/verdict"
)

// trend is how the headline metric of one product's points changed over their repetitions, in the order in which these were made.
// For example, two points reached 10, 20, 30 and 5, 6, 7 messages a second in their repetitions. The later halves are 30/10 = 3
// and 7/5 = 1.4 times the earlier ones, so the estimate is 2.2.
type trend struct {
	name          string // of the product: "kafka"
	metric        Metric
	points        int    // that have two repetitions or more
	cause         string // the likely cause, in a sentence
	verdict.Ratio        // of the later half of a point's repetitions to the earlier
}

// Trends is a verdict on each product whose figures rose or fell from repetition to repetition, over all its points of one kind
// of measurement and one likely cause. The list is empty if no trend is shown. All trends are tested together.
func Trends(points []Point) []document.Verdict {
	var trends []trend
	trendKey := func(p Point) string { return strings.Join([]string{p.Product, p.Spec.Measure, likelyCause(p)}, "\n") }
	for _, g := range GroupBy(points, trendKey) {
		if t, ok := trendOf(g.Members); ok {
			trends = append(trends, t)
		}
	}
	var ratios []*verdict.Ratio
	for i := range trends {
		ratios = append(ratios, &trends[i].Ratio)
	}
	verdict.Judge(ratios, 0)
	var verdicts []document.Verdict
	for _, t := range trends {
		isLarge := max(t.Estimate, 1/t.Estimate) >= 1+verdict.Small
		if t.Answer == verdict.Differs && isLarge {
			verdicts = append(verdicts, t.verdict())
		}
	}
	return verdicts
}

// likelyCause names what may have changed from one repetition of a point to the next: a part that was not started anew for each.
func likelyCause(p Point) string {
	if len(p.Spec.Attach) > 0 {
		return "The broker or a machine changed meanwhile"
	}
	return "Each had a broker of its own, so the machine, or what else ran on it, changed meanwhile"
}

// trendOf is the trend of points with the same product, measure and likely cause. The halves of several points are pairs, since
// each point has its own conditions; those of a single point are two samples. Points with a figure of 0 are left out, since a
// change from 0 has no factor. ok is false if no point with two repetitions remains.
func trendOf(points []Point) (t trend, ok bool) {
	metric, ok := HeadlineOf(points)
	if !ok {
		return trend{}, false
	}
	t = trend{name: points[0].Product, metric: metric, cause: likelyCause(points[0])}
	var pairs verdict.Sample
	var earlier, later verdict.Sample
	for _, p := range points {
		byBegin := slices.SortedStableFunc(slices.Values(p.Ok()), func(a, b store.Record) int { return a.Began.Compare(b.Began) })
		values := metric.Sample(byBegin)
		hasZero := slices.ContainsFunc(values, func(v verdict.Value) bool { return v.At <= 0 })
		if len(values) < 2 || hasZero {
			continue
		}
		half := len(values) / 2 // an odd one in the middle is in neither half
		earlier, later = values[:half], values[len(values)-half:]
		pairs = append(pairs, verdict.RatioOf(earlier, later))
	}
	t.points = len(pairs)
	if t.points == 1 {
		t.Ratio = verdict.Compare(earlier, later, verdict.Pool(earlier, later))
	} else {
		t.Ratio = verdict.Paired(pairs)
	}
	return t, t.points > 0
}

func (t trend) verdict() document.Verdict {
	direction := "rose"
	if t.Estimate < 1 {
		direction = "fell"
	}
	whose := "the later half"
	if t.points > 1 {
		whose = fmt.Sprintf("in the median of %d points the later half", t.points)
	}
	return document.Verdict{
		About: "Trend",
		Finding: fmt.Sprintf("%s of %s %s from repetition to repetition: %s had %.2f times that of the earlier.",
			Capital(t.metric.Name), t.name, direction, whose, t.Estimate),
		Detail: fmt.Sprintf("%s. %s. A median over such repetitions is of no steady state.",
			significance("=", t.P), t.cause),
	}
}
