package results

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/store"
)

// Missed names the loads of a repetition at which less came through than was offered. It is empty if the schedule was
// kept.
func Missed(r store.Record) string {
	var texts []string
	for _, l := range Loads(r) {
		for _, d := range l.Record.Doubts {
			switch {
			case d.Code != store.DoubtRateMissed:
			case l.Rate > 0:
				texts = append(texts, fmt.Sprintf("%s: %s", l.Name, d.Text))
			default:
				texts = append(texts, d.Text)
			}
		}
	}
	return firstTwo(texts)
}

// MissedRates is a verdict on the points that missed a rate, each in the words of its first repetition that did. It is nil if all
// schedules were kept.
func MissedRates(points []Point) []document.Verdict {
	var texts []string
	for _, p := range points {
		missed, first := 0, ""
		for _, r := range p.Ok() {
			if text := Missed(r); text != "" {
				if missed++; first == "" {
					first = text
				}
			}
		}
		if first == "" {
			continue
		}
		if n := len(p.Ok()); n > 1 {
			first = fmt.Sprintf("%s (%d of %d repetitions missed it)", first, missed, n)
		}
		texts = append(texts, fmt.Sprintf("%s, %s, %s: %s", p.Name, p.Setting(), p.Load(), first))
	}
	if texts == nil {
		return nil
	}
	v := document.Verdict{About: "Rate missed", Finding: "Not everything that was offered came through"}
	const most = 5
	which := strings.Join(texts[:min(most, len(texts))], ". ") + "."
	switch more := len(texts) - most; {
	case len(texts) == 1:
		v.Finding += ". " + which
	case more > 0:
		v.Finding += fmt.Sprintf(" at %d points.", len(texts))
		v.Detail = fmt.Sprintf("%s The same holds for %d more. ", which, more)
	default:
		v.Finding += fmt.Sprintf(" at %d points.", len(texts))
		v.Detail = which + " "
	}
	v.Detail += "What was never sent counts in the latencies as late as the end of the run."
	return []document.Verdict{v}
}

// firstTwo joins the first two texts and counts the others.
func firstTwo(texts []string) string {
	const most = 2
	joined := strings.Join(texts[:min(most, len(texts))], "; ")
	switch more := len(texts) - most; {
	case more == 1:
		joined += "; and 1 more rate"
	case more > 1:
		joined += fmt.Sprintf("; and %d more rates", more)
	}
	return joined
}

// Ending is a status in words, with a remark if the rate was missed: a load may end ok and miss its rate.
func Ending(status string, records []store.Record) string {
	if RateMissed(records) {
		return status + ", rate missed"
	}
	return status
}

// RateMissed tells whether any of the records fell behind its rate.
func RateMissed(records []store.Record) bool {
	return slices.ContainsFunc(records, func(r store.Record) bool {
		return slices.ContainsFunc(r.Doubts, func(d store.Doubt) bool { return d.Code == store.DoubtRateMissed })
	})
}
