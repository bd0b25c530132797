// How repetitions ended, and how far their figures can be trusted: in cells, in footnotes, and in the
// first sentence of a report. A repetition that ended "ok" counts. One that failed, is void (limited by
// the load generator, not by the broker), was aborted or refused is shown and never used. A doubt is a
// reason why a figure that counts deserves less trust, such as "the generator stood still for 120 ms".

package reports

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

// addStatus says how the repetitions of a set ended, which rates and objectives were missed, and which
// figures rose or fell from repetition to repetition.
func addStatus(d *document.Document, set *results.Set) {
	d.Say(statusSentence(set.Points))
	for _, v := range slices.Concat(results.MissedRates(set.Points), objectiveVerdicts(set), results.Trends(set.Points)) {
		d.Add(v)
	}
}

// statusSentence counts the repetitions by status, and warns if they allow no conclusion: "6 repetitions
// of 2 points: 1 failed, 5 ok."
func statusSentence(points []results.Point) string {
	count := map[results.Status]int{}
	measuredAgain := 0
	for _, p := range points {
		measuredAgain += p.Repeated
	}
	records := recordsOf(points)
	for _, r := range records {
		count[r.Status]++
	}
	repetitions := len(records)
	if repetitions == 0 {
		return "The store holds no record yet: nothing was measured."
	}
	text := fmt.Sprintf("%s of %s: %s.", unit.Counted(repetitions, "repetition"), unit.Counted(len(points), "point"), statusCounts(count))
	switch {
	case count[results.Void] == repetitions:
		text += " Every one is void: no conclusion can be drawn."
	case count[results.OK] == 0:
		text += " None ended ok: no conclusion can be drawn."
	case len(points) == 1:
		text += " A single point: there is nothing to compare it with."
	}
	if measuredAgain > 0 {
		text += fmt.Sprintf(" Measured again: %s, of which the latest that ended ok counts.", unit.Counted(measuredAgain, "repetition"))
	}
	return text
}

// statusCounts lists counts by status: "1 failed, 5 ok".
func statusCounts(count map[results.Status]int) string {
	words := lists.Map(slices.Sorted(maps.Keys(count)), func(status results.Status) string {
		return fmt.Sprintf("%d %s", count[status], status)
	})
	return strings.Join(words, ", ")
}

// isCurveRate reports whether a load point is one rate of a curve. Unlike other load points it has a
// status of its own.
func isCurveRate(l results.LoadPoint) bool {
	return l.Point.Spec.Measure == study.MeasureCurve && l.Rate > 0
}

// statusCell shows how a load point ended and which targets it missed: "void, rate missed". Footnotes say
// why it didn't end ok.
func statusCell(l results.LoadPoint, notes *footnotes) document.Cell {
	var ending string
	var tone document.Tone
	var marks []int
	if isCurveRate(l) {
		ending, tone = string(l.Status), statusTones[l.Status]
		if l.Why.Text != "" {
			marks = []int{notes.ended(l.Status, l.Why, loadOf(l.Point, l.RowTitle))}
		}
	} else {
		ending, tone, marks = l.Point.Status(), worstTone(l.Point), reasonMarks(l.Point, notes)
	}
	words := append([]string{ending}, missedTargets(l.Point, l.Records)...)
	return document.Text(strings.Join(words, ", ")).Toned(tone).Marked(marks...)
}

// missedTargets names the targets that a load of a point missed: its rate, an objective of its spec. records are those of the load. What
// failed or is void misses no objective: it can't be judged by one.
func missedTargets(p results.Point, records []results.Record) []string {
	var missed []string
	if results.RateMissed(records) {
		missed = append(missed, rateMissed)
	}
	if gate.JudgesFigures(p, records) && missesObjective(p, records) {
		missed = append(missed, objectiveMissed)
	}
	return missed
}

// missedByAny names the targets that any load of a point missed. A rate of a curve above the sustainable one is meant to be missed.
func missedByAny(p results.Point) []string {
	var missed []string
	if slices.ContainsFunc(p.Ok(), func(r results.Record) bool { return results.Missed(r) != "" }) {
		missed = append(missed, rateMissed)
	}
	missesAny := func(l results.LoadPoint) bool { return slices.Contains(missedTargets(p, l.Records), objectiveMissed) }
	if slices.ContainsFunc(p.LoadPoints(), missesAny) {
		missed = append(missed, objectiveMissed)
	}
	return missed
}

const (
	rateMissed      = "rate missed"
	objectiveMissed = "objective missed"
)

// statusTones are the tones of repetitions that didn't end ok. Statuses without a tone are plain.
var statusTones = map[results.Status]document.Tone{results.Failed: document.Alarm, results.Void: document.Caution}

// worstTone is the tone of the worst repetition of points. Tones are in the order of their alarm.
func worstTone(points ...results.Point) document.Tone {
	worst := document.Plain
	for _, r := range recordsOf(points) {
		worst = max(worst, statusTones[r.Status])
	}
	return worst
}

// reasonMarks are the footnotes that say why repetitions of p didn't end ok.
func reasonMarks(p results.Point, notes *footnotes) []int {
	explained := lists.Filter(p.Records, func(r results.Record) bool { return r.Status != results.OK && r.Reason != "" })
	return lists.Map(explained, func(r results.Record) int { return notes.ended(r.Status, r.Why(), loadOf(p, p.Load())) })
}

// ended is the mark of the footnote that says why a load did not end ok.
func (n *footnotes) ended(status results.Status, why remark.Remark, of load) int {
	title, text := "not ok", fmt.Sprintf("%s: %s", status, why)
	if status == results.Refused {
		title, text = "refused", why.Text
		of.name, _, _ = strings.Cut(of.name, ",") // of every load
	}
	return n.mark(title, statement{key: why.Form(), text: text}, of)
}

// doubtsSentence counts the repetitions that each class of doubts is about, including doubts about single
// rates of a curve, for reports without marks. It is empty if there are none.
func doubtsSentence(points []results.Point) string {
	ok := lists.Flat(points, results.Point.Ok)
	counts := results.CountClasses(ok)
	if counts == "" {
		return ""
	}
	return "Doubts that mark a figure, by the repetitions that ended ok and have them: " + counts +
		". Which, and all others: brokermark report doubts."
}

// doubtsColumn lists the classes of the doubts about a row's records. It is for programs: people see marks beside the figures.
func doubtsColumn[T any](records func(T) []results.Record) columnOf[T] {
	return textColumn(forPrograms("doubts"), func(row T) string { return results.ClassesText(results.MarkedDoubts(records(row))) })
}
