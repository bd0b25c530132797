// How points and loads ended, in cells, footnotes and sentences.

package reports

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/results"
)

// rateOfCurve tells whether a load point is one rate of a curve. Each rate of a repetition has a status of its own.
func rateOfCurve(l results.LoadPoint) bool { return l.Point.Spec.Measure == "curve" && l.Rate > 0 }

// statusCell says how a load point ended, with footnotes that say why.
func statusCell(l results.LoadPoint, notes *document.Footnotes) document.Cell {
	p := l.Point
	if !rateOfCurve(l) {
		return document.Text(statusWords(p.Status(), p, l.Records)).Toned(toneOfPoints(p)).Marked(reasons(p, notes)...)
	}
	cell := document.Text(statusWords(string(l.Status), p, l.Records)).Toned(toneOf(l.Status))
	if l.Why.Text == "" {
		return cell
	}
	return cell.Marked(notes.Mark(aboutRate(p.Spec.Broker, l.RowTitle), remark.Of("%s, %s: %s", l.RowTitle, l.Status, l.Why)))
}

// tones are the tones of repetitions that didn't end ok; others are plain.
var tones = map[results.Status]document.Tone{results.Failed: document.Alarm, results.Void: document.Caution}

// toneOf is the tone of the worst status.
func toneOf(statuses ...results.Status) document.Tone {
	worst := document.Plain
	for _, s := range statuses {
		worst = max(worst, tones[s])
	}
	return worst
}

// toneOfPoints is the tone of the worst repetition of points.
func toneOfPoints(points ...results.Point) document.Tone {
	var statuses []results.Status
	for _, p := range points {
		for _, r := range p.Records {
			statuses = append(statuses, r.Status)
		}
	}
	return toneOf(statuses...)
}

// reasons are the footnotes that say why repetitions of p didn't end ok.
func reasons(p results.Point, notes *document.Footnotes) []int {
	var marks []int
	for _, r := range p.Records {
		if r.Status == results.OK || r.Reason == "" {
			continue
		}
		about := p.Spec.Broker
		if r.Status == results.Refused {
			about = "" // the reason names the broker and the setting, so points may share the footnote
		}
		if mark := notes.Mark(about, remark.Of("%s: %s", r.Status, r.Why())); !slices.Contains(marks, mark) {
			marks = append(marks, mark)
		}
	}
	return marks
}

// aboutRate is the subject of a footnote about one rate of a broker.
func aboutRate(broker, title string) string { return broker + "\x00" + title }

// doubtKey tells doubts of one point apart.
type doubtKey struct{ code, text string }

// doubtsOfOneRate maps the doubts that only l has, among the load points of its point, to its title. Their footnotes name the
// rate; other doubts concern all rates of a curve, and have one footnote for them.
func doubtsOfOneRate(l results.LoadPoint, ofPoint []results.LoadPoint) map[doubtKey]string {
	titles := map[doubtKey]string{}
	if l.Rate == 0 || len(ofPoint) < 2 {
		return titles
	}
	for _, r := range l.Records {
		for _, d := range r.Doubts {
			hasIt := func(r results.Record) bool { return slices.ContainsFunc(r.Doubts, d.Same) }
			elsewhere := func(o results.LoadPoint) bool {
				return o.RowTitle != l.RowTitle && slices.ContainsFunc(o.Records, hasIt)
			}
			if !slices.ContainsFunc(ofPoint, elsewhere) {
				titles[doubtKey{d.Code, d.Text}] = l.RowTitle
			}
		}
	}
	return titles
}

// doubts counts the kinds of doubts about records of p, with a footnote for each doubt. Brokers share no footnote. titles are those of
// doubtsOfOneRate; it may be nil.
func doubts(p results.Point, records []results.Record, titles map[doubtKey]string, notes *document.Footnotes) document.Cell {
	codes := map[string]bool{}
	var marks []int
	for _, r := range records {
		for _, doubt := range r.Doubts {
			codes[doubt.Code] = true
			about, text := p.Spec.Broker, remark.Of("%s: %s", doubt.Code, doubt)
			if title := titles[doubtKey{doubt.Code, doubt.Text}]; title != "" {
				about, text = aboutRate(about, title), remark.Of("%s, %s", title, text)
			}
			if mark := notes.Mark(about, text); !slices.Contains(marks, mark) {
				marks = append(marks, mark)
			}
		}
	}
	if marks == nil {
		return document.Cell{}
	}
	return document.Number(len(codes)).Marked(marks...)
}

// statusSentence counts the repetitions by status, and warns if they allow no conclusion: "6 repetitions of 2 points: 1 failed, 5 ok."
func statusSentence(points []results.Point) string {
	count := map[results.Status]int{}
	repetitions, repeated := 0, 0
	for _, p := range points {
		repeated += p.Repeated
		for _, r := range p.Records {
			count[r.Status]++
			repetitions++
		}
	}
	if repetitions == 0 {
		return "The store holds no record yet: nothing was measured."
	}
	var words []string
	for _, status := range slices.Sorted(maps.Keys(count)) {
		words = append(words, fmt.Sprintf("%d %s", count[status], status))
	}
	text := fmt.Sprintf("%s of %s: %s.", plural(repetitions, "repetition"), plural(len(points), "point"), strings.Join(words, ", "))
	switch {
	case count[results.OK] == 0 && count[results.Void] == repetitions:
		text += " Every one is void: no conclusion can be drawn."
	case count[results.OK] == 0:
		text += " None ended ok: no conclusion can be drawn."
	case len(points) == 1:
		text += " A single point: there is nothing to compare it with."
	}
	if repeated > 0 {
		text += fmt.Sprintf(" Measured again: %s, of which the latest that ended ok counts.", plural(repeated, "repetition"))
	}
	return text
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
