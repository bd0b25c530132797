package results

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/store"
)

// Missed says at which loads of a repetition less came through than was offered: of at most two, and how many others there
// are. It is empty if there are none. A curve's rates above the sustainable rate are left out: they are meant to be missed.
func Missed(r store.Record) string {
	var texts []string
	for _, l := range Loads(r) {
		if l.fraction > 1 {
			continue
		}
		for _, d := range l.Record.Doubts {
			if !isRateMissed(d) {
				continue
			}
			text := d.Text
			if l.Rate > 0 { // of a curve
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

// MissedRates is one verdict on all points that missed a rate: it names at most five, and how many others there are. The list
// is empty if no point did.
func MissedRates(points []Point) []document.Verdict {
	var texts []string
	for _, p := range points {
		if text := missedOf(p); text != "" {
			texts = append(texts, fmt.Sprintf("%s, %s, %s: %s", p.Name, p.Setting(), p.Load(), text))
		}
	}
	const (
		most        = 5
		about       = "Rate missed"
		finding     = "Not everything that was offered came through"
		consequence = "What was never sent counts in the latencies as late as the end of the run."
	)
	switch len(texts) {
	case 0:
		return nil
	case 1:
		return []document.Verdict{{About: about, Finding: finding + ". " + texts[0] + ".", Detail: consequence}}
	}
	first, further := FirstSentences(texts, most)
	return []document.Verdict{{
		About: about, Finding: fmt.Sprintf("%s at %d points.", finding, len(texts)),
		Detail: strings.TrimSpace(first+" "+further) + " " + consequence,
	}}
}

// missedOf is what the first repetition of a point that missed its rate says, with the number of those that did. It is empty
// if none did.
func missedOf(p Point) string {
	var missed []string
	for _, r := range p.Ok() {
		if text := Missed(r); text != "" {
			missed = append(missed, text)
		}
	}
	switch n := len(p.Ok()); {
	case len(missed) == 0:
		return ""
	case n == 1:
		return missed[0]
	default:
		return fmt.Sprintf("%s (%d of %d repetitions missed it)", missed[0], len(missed), n)
	}
}

// Ending is a status with a remark if the rate was missed: "ok, rate missed".
func Ending(status string, records []store.Record) string {
	if RateMissed(records) {
		return status + ", rate missed"
	}
	return status
}

// RateMissed tells whether less came through than was offered in any of the records.
func RateMissed(records []store.Record) bool {
	return slices.ContainsFunc(records, func(r store.Record) bool { return slices.ContainsFunc(r.Doubts, isRateMissed) })
}

func isRateMissed(d store.Doubt) bool { return d.Code == store.DoubtRateMissed }
