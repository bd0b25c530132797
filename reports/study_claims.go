// The claims of a publication, with the answer that each side's records give. A claim is one or more
// statements, such as "the p99 of kafka grows by at least 10 % along the rate"; each is judged at one or
// more places, such as message sizes. Here it was measured at four of six sizes and so at three, with five repetitions of each:
//
//	claim                           answer now   measured now
//	The latency of kafka grows ...  undecided    12 to 15 % along rate, R² 0.98 (at 4 of 6 places, reproduced at 3, n=5)

package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/claim"
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
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
	judged := lists.Map(p.Claims, func(c claim.Claim) judgedClaim { return judgedClaim{Claim: c, answers: map[string]claim.Answer{}} })
	for _, side := range slices.Concat(sides, []string{claim.Published}) {
		for i, a := range claim.Answers(p.Claims, own, p.Study.Name, side) {
			judged[i].answers[side] = a
		}
	}
	for _, side := range sides {
		d.Add(document.Verdict{About: sideNames[side], Finding: countAnswers(judged, side)})
	}
	d.Say(doubtsSentence(own.Points))
	if len(sides) == 0 {
		d.Say("Nothing of this study was measured yet.")
	}
	d.Add(tableOf("", p.claimColumns(sides, notes), judged))
	var once footnotes
	for _, point := range own.Points {
		once.say(point)
	}
	d.Add(once.blocks()...)
	d.Say("A claim is reproduced, or not, where confidence intervals of its figures, corrected for the claims of the study that are answered " +
		"together, leave no other answer. Otherwise it is undecided, and a footnote says what the repetitions point to; one run decides nothing. " +
		"Intervals are those of 95 %, or all repetitions where none is known; a bound is ours and stands with the value beyond which the answer would be another. " +
		"Messages are counted over all repetitions, those that failed included.")
}

// sideNames are the sides of a study in words.
var sideNames = map[string]string{
	claim.Then:      "Then (old versions)",
	claim.Now:       "Now (today's versions)",
	claim.Published: "Published",
}

// notRun reports whether a claim has no answer because nothing that it is about was run, as with run --only.
func notRun(a claim.Answer) bool {
	return a.Verdict == claim.Undecided && a.Reason == claim.NothingMeasured
}

// countAnswers counts the answers of a side: "5 of 20 claims are reproduced, 1 is not, 2 are not comparable, 12 are undecided, with 9 pointing
// to reproduced and 3 to not reproduced; 3 more were not run." A smoke test has no answers.
func countAnswers(judged []judgedClaim, side string) string {
	counts, open := map[claim.Verdict]int{}, map[claim.Verdict]int{}
	isSmokeTest, unrun := false, 0
	for _, j := range judged {
		a := j.answers[side]
		if notRun(a) {
			unrun++
			continue
		}
		counts[a.Verdict]++
		if a.Verdict == claim.Undecided {
			open[a.PointsTo]++
		}
		isSmokeTest = isSmokeTest || a.Reason == claim.SmokeTest
	}
	text := fmt.Sprintf("%d of %s %s reproduced, %s not", counts[claim.Reproduced], unit.Counted(len(judged)-unrun, "claim"),
		verb(counts[claim.Reproduced], "is", "are"), countAre(counts[claim.NotReproduced]))
	if n := counts[claim.NotComparable]; n > 0 {
		text += fmt.Sprintf(", %s not comparable", countAre(n))
	}
	text += fmt.Sprintf(", %s undecided", countAre(counts[claim.Undecided]))
	if isSmokeTest && counts[claim.Reproduced]+counts[claim.NotReproduced] == 0 {
		text = fmt.Sprintf("no verdict on %s, as scale %s is a smoke test", unit.Counted(len(judged)-unrun, "claim"), study.SmokeTest)
	}
	if yes, no := open[claim.Reproduced], open[claim.NotReproduced]; yes+no > 0 {
		text += fmt.Sprintf(", with %d pointing to reproduced and %d to not reproduced", yes, no)
	}
	if unrun > 0 {
		text += fmt.Sprintf("; %d more %s not run", unrun, verb(unrun, "was", "were"))
	}
	return text + "."
}

// countAre is a number of things with its verb: "1 is", "2 are".
func countAre(n int) string { return fmt.Sprintf("%d %s", n, verb(n, "is", "are")) }

// verb is the verb of a number of things.
func verb(n int, ofOne, ofSeveral string) string {
	if n == 1 {
		return ofOne
	}
	return ofSeveral
}

// claimColumns have the answers of all sides beside each other, then the figures that each rests on.
func (p Paper) claimColumns(sides []string, notes *document.Footnotes) []columnOf[judgedClaim] {
	columns := []columnOf[judgedClaim]{
		textColumn(document.Column{Key: "claim", Name: "no.", Identifies: true}, func(j judgedClaim) string { return j.ID }),
		cellColumn(document.Column{Key: "says", Name: "claim", Wide: true},
			func(j judgedClaim) document.Cell { return p.claimCell(j, notes) }),
	}
	for _, side := range sides {
		columns = append(columns, cellColumn(document.Column{Key: "answer_" + side, Name: "answer\n" + side},
			func(j judgedClaim) document.Cell { return answerCell(j.answers[side], notes) }))
	}
	columns = append(columns,
		textColumn(document.Column{Key: "where", Name: "where", MachinesOnly: true}, func(j judgedClaim) string { return j.Where }),
		textColumn(document.Column{Key: "published", Name: "published", Wide: true}, func(j judgedClaim) string { return j.Published }),
	)
	for _, side := range sides {
		columns = append(columns, cellColumn(document.Column{Key: "measured_" + side, Name: "measured\n" + side, Wide: true},
			func(j judgedClaim) document.Cell { return measuredCell(j.Claim, j.answers[side], notes) }))
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
	if byTables := j.answers[claim.Published]; byTables.Verdict == claim.NotReproduced {
		contradiction := remark.Of("the paper's own tables contradict it: %s", measuredText(j.Claim, byTables))
		cell = cell.Marked(notes.Mark(subject+" tables", contradiction))
	}
	return cell
}

// answerCell is the answer of a side, with a footnote on why there is none. A smoke test only points to one.
func answerCell(a claim.Answer, notes *document.Footnotes) document.Cell {
	cell := document.Text(string(a.Verdict))
	if notRun(a) {
		cell = document.Text("not run")
	}
	if a.Reason == claim.SmokeTest {
		cell = document.Text("points to " + string(a.PointsTo))
	}
	switch {
	case a.Verdict == claim.NotComparable:
		cell = cell.Marked(notes.Mark(string(a.Verdict), remark.Of("a figure of the paper's own machine, which another neither confirms nor refutes")))
	case a.Why != "":
		cell = cell.Marked(notes.Mark(string(a.Reason), remark.Of("%s", a.Why)))
	}
	return cell
}

// measuredCell states the figures that were measured for a claim, with footnotes on what stands against them.
func measuredCell(c claim.Claim, a claim.Answer, notes *document.Footnotes) document.Cell {
	cell := document.Text(measuredText(c, a))
	if cell.Kind == document.Blank {
		return cell
	}
	if a.Closed {
		cell = cell.Marked(notes.Mark("closed",
			remark.Of("the latency of a closed loop: it says how full the client's window was, as the paper's does")))
	}
	for i, p := range a.Parts {
		for _, d := range p.Doubts {
			text := statementDoubt(c.Statements[i], d)
			cell = cell.Marked(notes.Mark("doubt "+text, remark.Of("%s", text)))
		}
	}
	return cell
}

// statementDoubt is what a doubt says of a statement's figures. By a standstill the rate of a closed loop is too low by its share.
func statementDoubt(s claim.Statement, d results.Doubt) string {
	sentence := d.Kind().Sentence()
	if d.Kind() == doubt.Pauses && (s.Metric.Rate() || s.Of.Metric.Rate()) {
		sentence = fmt.Sprintf("it stood still, by which the rate is up to %.0f %% too low", 100*d.Share)
	}
	return fmt.Sprintf("%s: %s", d.Kind().Class(), sentence)
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

// partText is the figure of a statement, with how many places and repetitions it is of, and what would turn the answer: "12 to 15 % along
// rate, R² 0.98 (at 4 of 6 places, reproduced at 3, n=5; bound 10 %, would turn at 12 %)". A trend that was judged without a value of its axis
// says so. It is empty if nothing was measured for it.
func partText(s claim.Statement, p claim.Part) string {
	if p.Figure.N == 0 {
		return ""
	}
	text := figureText(s, p)
	if s.Kind == claim.Slope {
		text += fmt.Sprintf(" along %s, R² %s", s.Along, r2Text(p.R2.Value))
	}
	counts := placesText(s, p)
	if p.Figure.N > 1 {
		counts = append(counts, fmt.Sprintf("n=%d", p.Figure.N))
	}
	if len(p.Without) > 0 {
		counts = append(counts, "without "+strings.Join(results.Shorten(p.Without), ", "))
	}
	if t := p.Turn; t.Given() {
		counts = append(counts, fmt.Sprintf("bound %s, would turn at %s", t.Unit.Format(t.Bound), t.Unit.Format(t.At)))
	}
	if len(counts) > 0 {
		text += " (" + strings.Join(counts, ", ") + ")"
	}
	return text
}

// placesText says at how many places a statement was judged, of those that there should be, and at how many of them it holds.
func placesText(s claim.Statement, p claim.Part) (texts []string) {
	judged, all := len(p.Cells), len(p.Cells)+p.Missing
	if all <= 1 && s.Places == 0 {
		return nil
	}
	of := fmt.Sprintf("%d of %s", judged, unit.Counted(all, "place"))
	if !judgedByPlace(s) {
		return []string{s.Take + " of " + of}
	}
	texts = []string{"at " + of}
	if judged > 1 {
		texts = append(texts, fmt.Sprintf("reproduced at %d", p.Count(claim.Reproduced)))
	}
	return texts
}

// judgedByPlace reports whether the places that a statement is about are judged one by one.
func judgedByPlace(s claim.Statement) bool {
	return s.Take == claim.TakeEach || s.Take == claim.TakeShare
}

// figureText is the figure of a statement with its interval, "13 % [12 to 15 %]", or the range of the
// figures of all places. The figure of a rank is a lead over another contender: "1.20× the best other".
func figureText(s claim.Statement, p claim.Part) string {
	f := p.Figure
	if p.Sure.N > 0 {
		f = p.Sure
	}
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
