package results

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/store"
)

// Missed lists the loads of a repetition at which less came through than was offered: at most two, and the number of others. It
// is empty if there are none. It leaves out a curve's rates above the sustainable rate, which are expected to be missed.
func Missed(r store.Record) string {
	var texts []string
	for _, l := range Loads(r) {
		isAboveSustainable := l.fraction > 1
		if isAboveSustainable {
			continue
		}
		for _, d := range l.Record.Doubts {
			if !isRateMissed(d) {
				continue
			}
			text := d.Text
			if isOfCurve := l.Rate > 0; isOfCurve {
				text = l.Name + ": " + text
			}
			texts = append(texts, text)
		}
	}
	const most = 2
	text := strings.Join(texts[:min(most, len(texts))], "; ")
	switch more := len(texts) - most; {
	case more == 1:
		text += "; and 1 more rate"
	case more > 1:
		text += fmt.Sprintf("; and %d more rates", more)
	}
	return text
}

// MissedRates is one verdict on all points that missed a rate: it names at most five, and the number of others. The list is empty
// if no point did.
func MissedRates(points []Point) []document.Verdict {
	var missed []string
	for _, p := range points {
		if text := missedAtPoint(p); text != "" {
			missed = append(missed, fmt.Sprintf("%s, %s, %s: %s", p.Name, p.Title(), p.Load(), text))
		}
	}
	if len(missed) == 0 {
		return nil
	}
	verdict := document.Verdict{
		About:   "Rate missed",
		Finding: "Not everything that was offered came through",
		Detail:  "What was never sent, or never came, counts in the latencies as late as the end of the run.",
	}
	if len(missed) == 1 {
		verdict.Finding += ". " + missed[0] + "."
	} else {
		const most = 5
		first, further := FirstSentences(missed, most)
		verdict.Finding += fmt.Sprintf(" at %d points.", len(missed))
		verdict.Detail = strings.TrimSpace(first+" "+further) + " " + verdict.Detail
	}
	return []document.Verdict{verdict}
}

// missedAtPoint is Missed for the first repetition of a point that missed its rate, with the number of such repetitions. It is
// empty if there is none.
func missedAtPoint(p Point) string {
	repetitions := p.Ok()
	missed := lists.Filter(lists.Map(repetitions, Missed), func(text string) bool { return text != "" })
	switch {
	case len(missed) == 0:
		return ""
	case len(repetitions) == 1:
		return missed[0]
	}
	return fmt.Sprintf("%s (%d of %d repetitions missed it)", missed[0], len(missed), len(repetitions))
}

// Ending is the status of records with a remark if the rate was missed in any of them: "ok, rate missed".
func Ending(status string, records []store.Record) string {
	if RateMissed(records) {
		return status + ", rate missed"
	}
	return status
}

// RateMissed reports whether less came through than was offered in any of the records.
func RateMissed(records []store.Record) bool {
	return slices.ContainsFunc(records, func(r store.Record) bool { return slices.ContainsFunc(r.Doubts, isRateMissed) })
}

func isRateMissed(d store.Doubt) bool { return d.Is(doubt.RateMissed) }
