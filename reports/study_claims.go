// The claims of a publication, with the answer that each side's records give. A claim is one or more
// statements, such as "the p99 of kafka grows by at least 10 % along the rate"; each is judged at one or
// more places, such as message sizes. Here it holds at three of four sizes, with five repetitions of each:
//
//	claim                           verdict now   measured now
//	The latency of kafka grows ...  holds         12 to 15 % along rate, R² 0.98 (holds at 3 of 4, n=5)

package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/claim"
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// judgedClaim is a claim with the answers of the sides.
type judgedClaim struct {
	claim.Claim
	answers map[string]claim.Answer // by side: of those that were measured, and of the paper's own tables (claim.Published)
}

// addClaims counts the answers of each side and adds the table of claims. It adds nothing if the study
// has no claims.
func (p Paper) addClaims(d *document.Document, own *results.Set, notes *document.Footnotes) {
	if len(p.Claims) == 0 {
		return
	}
	sides := p.measuredSides(own)
	var judged []judgedClaim
	for _, c := range p.Claims {
		j := judgedClaim{Claim: c, answers: map[string]claim.Answer{}}
		for _, side := range slices.Concat(sides, []string{claim.Published}) {
			j.answers[side] = claim.Evaluate(c, own, p.Study.Name, side)
		}
		judged = append(judged, j)
	}
	for _, side := range sides {
		d.Add(document.Verdict{About: sideNames[side], Finding: countAnswers(judged, side)})
	}
	d.Say(doubtsSentence(own.Points))
	if len(sides) == 0 {
		d.Say("Nothing of this study was measured yet.")
	}
	d.Add(tableOf("", p.claimColumns(sides, notes), judged))
	d.Say("A claim holds, or does not, where 95 % confidence intervals of its figures leave no other answer. " +
		"Otherwise it cannot be told, and a footnote says what the repetitions point to; one run decides nothing. " +
		"Messages are counted over all repetitions, those that failed included.")
}

// sideNames are the sides of a study in words.
var sideNames = map[string]string{
	claim.Then:      "Then (old versions)",
	claim.Now:       "Now (today's versions)",
	claim.Published: "Published",
}

// countAnswers counts the answers of a side: "5 of 20 hold, 1 does not, 14 are undecided, of which 9 point to holds and 5 to does not hold."
func countAnswers(judged []judgedClaim, side string) string {
	counts, open := map[claim.Verdict]int{}, map[claim.Verdict]int{}
	for _, j := range judged {
		a := j.answers[side]
		counts[a.Verdict]++
		if a.Verdict == claim.CannotBeTold {
			open[a.PointsTo]++
		}
	}
	text := fmt.Sprintf("of %s, %d hold, %d do not, and of %d it cannot be told",
		plural(len(judged), "claim"), counts[claim.Holds], counts[claim.DoesNotHold], counts[claim.CannotBeTold])
	if hold, doNot := open[claim.Holds], open[claim.DoesNotHold]; hold+doNot > 0 {
		text += fmt.Sprintf(": of these %d point to holds, %d to does not hold", hold, doNot)
	}
	return text + "."
}

// claimColumns have the verdicts of all sides beside each other, then the figures that each rests on.
func (p Paper) claimColumns(sides []string, notes *document.Footnotes) []columnOf[judgedClaim] {
	columns := []columnOf[judgedClaim]{
		textColumn(document.Column{Key: "claim", Name: "no.", Identifies: true}, func(j judgedClaim) string { return j.ID }),
		cellColumn(document.Column{Key: "says", Name: "claim", Wide: true},
			func(j judgedClaim) document.Cell { return p.claimCell(j, notes) }),
	}
	for _, side := range sides {
		columns = append(columns, cellColumn(document.Column{Key: "verdict_" + side, Name: "verdict\n" + side},
			func(j judgedClaim) document.Cell { return answerCell(j.answers[side], notes) }))
	}
	columns = append(columns,
		textColumn(document.Column{Key: "where", Name: "where", MachinesOnly: true}, func(j judgedClaim) string { return j.Where }),
		textColumn(document.Column{Key: "published", Name: "published", Wide: true}, func(j judgedClaim) string { return j.Published }),
	)
	for _, side := range sides {
		columns = append(columns, textColumn(document.Column{Key: "measured_" + side, Name: "measured\n" + side, Wide: true},
			func(j judgedClaim) string { return measuredText(j.Claim, j.answers[side]) }))
	}
	return columns
}

// claimCell is the sentence of a claim. Footnotes hold its note, and say if the paper's own tables
// contradict it.
func (p Paper) claimCell(j judgedClaim, notes *document.Footnotes) document.Cell {
	cell := document.Text(j.Says)
	subject := p.Study.Name + " " + j.ID
	if j.Note != "" {
		cell = cell.Marked(notes.Mark(subject, remark.Of("%s", j.Note)))
	}
	if byTables := j.answers[claim.Published]; byTables.Verdict == claim.DoesNotHold {
		contradiction := remark.Of("by the paper's own tables it does not hold: %s", measuredText(j.Claim, byTables))
		cell = cell.Marked(notes.Mark(subject+" tables", contradiction))
	}
	return cell
}

// answerCell is the verdict of a side, with footnotes that say what it can't tell.
func answerCell(a claim.Answer, notes *document.Footnotes) document.Cell {
	cell := document.Text(string(a.Verdict))
	if a.Why != "" {
		cell = cell.Marked(notes.Mark(string(a.Reason), remark.Of("%s", a.Why)))
	}
	if a.Closed && len(a.Parts) > 0 {
		cell = cell.Marked(notes.Mark("closed",
			remark.Of("the latency of a closed loop: it says how full the client's window was, as the paper's does")))
	}
	return cell
}

// measuredText states the figures that were measured for a claim, a clause for each of its statements. It
// is empty if there are none.
func measuredText(c claim.Claim, a claim.Answer) string {
	var clauses []string
	for i, p := range a.Parts { // none, or one for each statement in their order
		if text := partText(c.Statements[i], p); text != "" {
			clauses = append(clauses, text)
		}
	}
	return strings.Join(clauses, "; ")
}

// partText is the figure of a statement, with how many places and repetitions it is of: "12 to 15 % along
// rate, R² 0.98 (holds at 3 of 4, n=5)". A trend that was judged without a value of its axis says so. It is empty if nothing was measured for it.
func partText(s claim.Statement, p claim.Part) string {
	if p.Figure.N == 0 {
		return ""
	}
	text := figureText(s, p)
	if s.Kind == claim.Slope {
		text += fmt.Sprintf(" along %s, R² %s", s.Along, r2Text(p.R2.Value))
	}
	var counts []string
	if places := len(p.Cells); places > 1 {
		if judgedByPlace(s) {
			counts = append(counts, fmt.Sprintf("holds at %d of %d", p.Count(claim.Holds), places))
		} else {
			counts = append(counts, fmt.Sprintf("%s of %d", s.Take, places))
		}
	}
	if p.Figure.N > 1 {
		counts = append(counts, fmt.Sprintf("n=%d", p.Figure.N))
	}
	if len(p.Without) > 0 {
		counts = append(counts, "without "+strings.Join(results.Shorten(p.Without), ", "))
	}
	if len(counts) > 0 {
		text += " (" + strings.Join(counts, ", ") + ")"
	}
	return text
}

// judgedByPlace tells whether the places that a statement is about are judged one by one.
func judgedByPlace(s claim.Statement) bool {
	return s.Take == claim.TakeEach || s.Take == claim.TakeShare
}

// figureText is the figure of a statement with its interval, "13 % [12 to 15 %]", or the range of the
// figures of all places. The figure of a rank is a lead over another contender: "1.20× the best other".
func figureText(s claim.Statement, p claim.Part) string {
	f := p.Figure
	text := f.Unit.Format(f.Value)
	switch {
	case judgedByPlace(s) && len(p.Cells) > 1:
		text = rangeText(f)
	case f.Low != f.High:
		text += " [" + rangeText(f) + "]"
	}
	switch {
	case s.Kind == claim.Threshold && s.Metric.Counts() && f.N > 1:
		return text + " per repetition"
	case s.Kind != claim.Rank:
		return text
	case s.Ranking.Place == claim.LastPlace:
		return text + " the worst other"
	}
	return text + " the best other"
}

// rangeText is the interval of a figure: "12 to 15 %". A ratio has no lower bound but 0 if what it is
// divided by has no upper one.
func rangeText(f claim.Figure) string {
	low, high := f.Unit.Format(f.Low), f.Unit.Format(f.High)
	openBelow, openAbove := f.Unit == unit.Factor && f.Low == 0, math.IsInf(f.High, 1)
	switch {
	case openBelow && openAbove:
		return "0× or more"
	case openBelow:
		return "at most " + high
	case openAbove:
		return "at least " + low
	case low == high:
		return low
	}
	return low + " to " + high
}

// r2Text writes the coefficient of determination. It is a dash if there is none (NaN), because all values
// are equal.
func r2Text(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%.2f", v)
}
