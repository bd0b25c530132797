// The study report: publications beside the records of their repetition.

package reports

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/claim"
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/published"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/studies"
)

func init() {
	Register(Report{
		Name:  "study",
		Doc:   "a published study beside its repetition: its claims, its tables, what differs, what its method hid",
		Build: studyReport,
	})
}

// Paper is the content of a study's folder. A study need not repeat a publication; then it has neither claims nor figures.
type Paper struct {
	Study   *study.Study
	Grid    []study.Point    // at full scale, as a publication ran it
	Claims  []claim.Claim    // conclusions of the publication
	Figures []results.Record // that the publication printed
}

// ReadPaper reads the folder of a study, embedded or on disk. The file of claims may be missing.
func ReadPaper(name string) (Paper, error) {
	var p Paper
	folder, err := studies.FS(name)
	if err != nil {
		return p, err
	}
	data, err := fs.ReadFile(folder, studies.Document)
	if err != nil {
		return p, err
	}
	if p.Study, err = study.Parse(path.Join(name, studies.Document), data); err != nil {
		return p, err
	}
	p.Study.Files = folder
	if p.Grid, err = p.Study.Points(); err != nil {
		return p, err
	}
	data, err = fs.ReadFile(folder, claim.File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return p, err
	}
	if p.Claims, err = claim.Parse(path.Join(name, claim.File), data); err != nil {
		return p, err
	}
	p.Figures, err = published.Records(folder, p.Study)
	return p, err
}

// studyReport covers the studies of the records that come with the program and have claims, tables or figures.
func studyReport(set *results.Set) (document.Document, error) {
	var papers []Paper
	for _, name := range studiesOf(set) {
		if !slices.Contains(studies.Names(), name) {
			continue
		}
		p, err := ReadPaper(name)
		if err != nil {
			return document.Document{}, fmt.Errorf("study %s: %w", name, err)
		}
		if len(p.Claims)+len(p.Figures)+len(p.Study.Exhibits) > 0 {
			papers = append(papers, p)
		}
	}
	return Study(set, papers...), nil
}

func studiesOf(set *results.Set) []string {
	names := map[string]bool{}
	for _, r := range set.Records {
		names[r.Study] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// Study sets publications beside the records of their repetition.
func Study(set *results.Set, papers ...Paper) document.Document {
	d := document.Document{Title: "Published studies, repeated"}
	if len(papers) > 0 && !slices.ContainsFunc(papers, Paper.isPublished) {
		d.Title = "Studies"
	}
	if len(papers) == 0 {
		d.Say("No record is of a study that stands for a publication: " + cmp.Or(strings.Join(studiesOf(set), ", "), "the store holds none") +
			". brokermark list studies names those there are.")
		return d
	}
	var notes document.Footnotes
	for _, p := range papers {
		p.add(&d, set, &notes)
	}
	d.Add(notes.Blocks()...)
	return d
}

// isPublished tells whether the study repeats a publication.
func (p Paper) isPublished() bool { return p.Study.Source != "" || len(p.Claims)+len(p.Figures) > 0 }

// words are the headings and phrases that depend on whether the study repeats a publication.
type words struct {
	exhibits   string // heading over tables and figures
	unmeasured string // below an exhibit without a row
	setup      string // heading over machines and settings
	differs    string // before the settings that differ from the full grid
	fullGrid   string // heading of the full grid's values
	method     string // heading over older ways of computing
	closedLoop string // how the latency of closed loops was computed
}

var (
	ofPublication = words{
		exhibits: "The paper's tables and figures", unmeasured: "Nothing of it was measured, and the paper gives no figures of it.",
		setup: "What differs", differs: "Where the work differs from the paper's own grid (as --scale full runs it):", fullGrid: "in the paper",
		method: "What the older method hid", closedLoop: ", computed as the paper did",
	}
	ofOwnStudy = words{
		exhibits: "Tables and figures", unmeasured: "Nothing of it was measured.",
		setup: "What was run", differs: "Where the work differs from the study's grid as --scale full runs it:", fullGrid: "at scale full",
		method: "What older ways of computing would hide",
	}
)

func (p Paper) words() words {
	if p.isPublished() {
		return ofPublication
	}
	return ofOwnStudy
}

// add writes the part about one study.
func (p Paper) add(d *document.Document, set *results.Set, notes *document.Footnotes) {
	beside := p.beside(set)
	d.Add(document.Heading{Level: 1, Text: p.Study.Name})
	d.Say(strings.TrimSpace(p.Study.Question + " " + p.Study.Source))
	if len(p.Claims) > 0 {
		d.Add(document.Heading{Level: 2, Text: "Claims"})
		p.claims(d, beside, notes)
	}
	p.exhibits(d, beside)
	p.setup(d, beside)
	p.olderMethods(d, beside)
}

// beside is the study's own records, with the publication's figures among them, also if they were never imported.
func (p Paper) beside(set *results.Set) *results.Set {
	var records []results.Record
	for _, r := range set.Records {
		if r.Study == p.Study.Name && r.Status != results.PublishedFigures {
			records = append(records, r)
		}
	}
	return results.Of(slices.Concat(records, p.Figures))
}

// sides are the columns of a study report that have content.
func (p Paper) sides(beside *results.Set) []string {
	sides := claim.Sides(beside, p.Study.Name)
	if len(p.Figures) > 0 {
		sides = append([]string{claim.Published}, sides...)
	}
	return sides
}

// judgedClaim is a claim with the answer of each side.
type judgedClaim struct {
	claim.Claim
	answers map[string]claim.Answer // by side
}

// claims counts the answers of each side and writes the table of claims.
func (p Paper) claims(d *document.Document, beside *results.Set, notes *document.Footnotes) {
	sides := claim.Sides(beside, p.Study.Name)
	var judged []judgedClaim
	for _, c := range p.Claims {
		j := judgedClaim{Claim: c, answers: map[string]claim.Answer{}}
		for _, side := range sides {
			j.answers[side] = claim.Evaluate(c, beside, p.Study.Name, side)
		}
		judged = append(judged, j)
	}
	for _, side := range sides {
		d.Add(document.Verdict{About: sideNames[side], Finding: countAnswers(judged, side)})
	}
	if len(sides) == 0 {
		d.Say("Nothing of this study was measured yet.")
	}
	d.Add(tableOf(p.claimColumns(sides, beside, notes), judged))
	d.Say("A claim holds, or does not, where it would whichever repetition of each point had been the only one; where the repetitions lie on " +
		"both sides it cannot be told. Where a point was measured once there is no spread: the answer is that of this one run, another run may " +
		"answer otherwise, and nothing is tested.")
}

// claimColumns has the verdicts of all sides beside each other, and the figures that each rests on.
func (p Paper) claimColumns(sides []string, beside *results.Set, notes *document.Footnotes) []columnOf[judgedClaim] {
	columns := []columnOf[judgedClaim]{
		textColumn(document.Column{Key: "claim", Name: "no.", Row: true}, func(j judgedClaim) string { return j.ID }),
		cellColumn(document.Column{Key: "says", Name: "claim", Wide: true}, func(j judgedClaim) document.Cell { return p.claimCell(j.Claim, beside, notes) }),
	}
	for _, side := range sides {
		columns = append(columns, cellColumn(document.Column{Key: "verdict_" + side, Name: "verdict\n" + side},
			func(j judgedClaim) document.Cell { return verdictCell(j.answers[side], notes) }))
	}
	columns = append(columns, []columnOf[judgedClaim]{
		textColumn(document.Column{Key: "where", Name: "where", Data: true}, func(j judgedClaim) string { return j.Where }),
		textColumn(document.Column{Key: "published", Name: "published", Wide: true}, func(j judgedClaim) string { return j.Published }),
	}...)
	for _, side := range sides {
		columns = append(columns, textColumn(document.Column{Key: "measured_" + side, Name: "measured\n" + side, Wide: true},
			func(j judgedClaim) string { return measuredText(j.Claim, j.answers[side]) }))
	}
	return columns
}

// countAnswers counts the answers of a side, and warns of those that rest on one repetition of a point.
func countAnswers(judged []judgedClaim, side string) string {
	counts, single := map[claim.Verdict]int{}, 0
	for _, j := range judged {
		a := j.answers[side]
		counts[a.Verdict]++
		if a.Verdict != claim.CannotBeTold && a.Repetitions() == 1 {
			single++
		}
	}
	return fmt.Sprintf("of %s, %d hold, %d do not, and of %d it cannot be told%s.", plural(len(judged), "claim"),
		counts[claim.Holds], counts[claim.DoesNotHold], counts[claim.CannotBeTold], withoutSpread(single, counts[claim.Holds]+counts[claim.DoesNotHold]))
}

// withoutSpread warns of answers that rest on one repetition of a point. It is empty if there are none.
func withoutSpread(single, decided int) string {
	switch {
	case single == 0:
		return ""
	case single == decided:
		return "; every answer rests on one repetition, without a spread"
	}
	return fmt.Sprintf("; %d of the answers rest on one repetition, without a spread", single)
}

// sideNames are the sides of a study in words.
var sideNames = map[string]string{claim.Then: "Then (the paper's versions)", claim.Now: "Now (today's versions)", claim.Published: "Published"}

// claimCell is the sentence of a claim. Footnotes hold its note, and say if the paper's own tables contradict it.
func (p Paper) claimCell(c claim.Claim, beside *results.Set, notes *document.Footnotes) document.Cell {
	cell := document.Text(c.Says)
	if c.Note != "" {
		cell = cell.Marked(notes.Mark(p.Study.Name+" "+c.ID, remark.Of("%s", c.Note)))
	}
	if a := claim.Evaluate(c, beside, p.Study.Name, claim.Published); a.Verdict == claim.DoesNotHold {
		cell = cell.Marked(notes.Mark(p.Study.Name+" "+c.ID+" tables", remark.Of("by the paper's own tables it does not hold: %s", measuredText(c, a))))
	}
	return cell
}

func verdictCell(a claim.Answer, notes *document.Footnotes) document.Cell {
	cell := document.Text(string(a.Verdict))
	switch {
	case a.Why != "":
		cell = cell.Marked(notes.Mark(string(a.Reason), remark.Of("%s", a.Why)))
	case a.Repetitions() == 1:
		cell = cell.Marked(notes.Mark("one run", remark.Of("one repetition, so there is no spread to hold it against: another run may answer otherwise")))
	}
	if a.Closed && len(a.Parts) > 0 {
		cell = cell.Marked(notes.Mark("closed", remark.Of("the latency of a closed loop: it says how full the client's window was, as the paper's does")))
	}
	return cell
}
