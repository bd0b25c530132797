// The recommendation of a sweep in words: "Of 8 points client.batch.size=16KiB client.linger.ms=0 is the
// best by e2e p99: 12.9 ms, 0.80× the median of all. No difference to it is shown for 2 of the next best
// 4. Most was changed by client.linger.ms: 20 instead of 0 made it 1.50× [1.40×–1.60×]."

package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// verdict names the best settings, how much they gain, and how sure that is.
func (s sweep) verdict() document.Verdict {
	v := document.Verdict{About: "Recommendation, " + s.title}
	if len(s.best) == 0 {
		v.Finding = fmt.Sprintf("None of the %d points that were measured keeps its objectives.", s.missed)
		return v
	}
	var medians []float64
	for _, p := range s.best {
		medians = append(medians, s.metric.Over(p.Ok()).Median)
	}
	best, middle := medians[0], results.Summarize(medians).Median
	v.Finding = fmt.Sprintf("Of %d points %s is the best by %s: %s", len(s.points), s.settings(s.best[0]), s.metric.Name, s.metric.Unit.Format(best))
	if len(s.best) > 2 && middle > 0 && best > 0 {
		v.Finding += fmt.Sprintf(", %s the median of all", unit.Factor.Format(best/middle))
	}
	v.Finding = strings.TrimSpace(v.Finding + ". " + s.closeRivals())
	v.Detail = strings.TrimSpace(s.leftOut() + " " + s.largestEffect())
	return v
}

// closeRivals counts the next best points that may be as good as the best. It is empty if all are shown
// to be behind.
func (s sweep) closeRivals() string {
	if len(s.best) < 2 {
		return ""
	}
	var contenders []results.Contender
	for _, p := range s.best[:min(maxBest, len(s.best))] {
		contenders = append(contenders, results.NewContender(s.settings(p), s.metric, p.Ok()))
	}
	ranking := results.Rank(s.metric, contenders)
	if rivals := ranking.BehindBest(results.NoDifferenceShown); len(rivals) > 0 {
		return fmt.Sprintf("No difference to it is shown for %d of the next best %d.", len(rivals), len(contenders)-1)
	}
	if len(ranking.BehindBest(results.NotTested)) > 0 {
		return "With so few repetitions the order of the best is not tested."
	}
	return ""
}

// leftOut counts the points that the verdict leaves out: "Not considered: 2 that miss an objective, 3
// without a usable figure (1 failed, 2 void)." It is empty if there are none.
func (s sweep) leftOut() string {
	var parts []string
	if s.missed > 0 {
		parts = append(parts, fmt.Sprintf("%d that miss an objective", s.missed))
	}
	count, withoutFigure := map[results.Status]int{}, 0
	for _, p := range s.points {
		if len(s.metric.Values(p.Ok())) == 0 {
			count[worstStatus(p)]++
			withoutFigure++
		}
	}
	if withoutFigure > 0 {
		parts = append(parts, fmt.Sprintf("%d without a usable figure (%s)", withoutFigure, statusCounts(count)))
	}
	if len(parts) == 0 {
		return ""
	}
	return "Not considered: " + strings.Join(parts, ", ") + "."
}

// worstStatus is the worst ending of a point's repetitions.
func worstStatus(p results.Point) results.Status {
	for _, status := range []results.Status{results.Failed, results.Void, results.Aborted, results.Refused} {
		if slices.ContainsFunc(p.Records, func(r results.Record) bool { return r.Status == status }) {
			return status
		}
	}
	return results.OK
}

// largestEffect says which axis changed the metric most. It is empty if no values of an axis can be
// compared.
func (s sweep) largestEffect() string {
	const littleChange = 0.01 // natural logarithm of a ratio: about 1 %
	effects := results.Effects(s.points, s.metric)
	if len(effects) == 0 {
		return ""
	}
	largest := effects[0] // they are sorted by size
	value, change := largest.Largest()
	switch {
	case change.N == 0 || math.IsNaN(change.Median):
		return ""
	case math.Abs(math.Log(change.Median)) < littleChange:
		return "No axis changed it by more than 1 %."
	}
	return fmt.Sprintf("Most was changed by %s: %s instead of %s made it %s.", largest.Axis, largest.Values[value], largest.Values[0], ratioText(change))
}

// ratioText is a ratio with its interval: "1.50× [1.40×–1.60×]".
func ratioText(ratio results.Summary) string {
	text := unit.Factor.Format(ratio.Median)
	if ratio.N > 1 {
		text += fmt.Sprintf(" [%s–%s]", unit.Factor.Format(ratio.Low), unit.Factor.Format(ratio.High))
	}
	return text
}
