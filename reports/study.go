// The study report sets a publication beside its repetition. A study is a list of measurements. One that
// repeats a paper also holds the paper's conclusions (claims, as statements that records can be tested
// by), its tables and figures (exhibits), and the numbers that it printed. Up to three sides stand beside
// each other:
//
//	published   what the paper printed: e2e mean 12.1 ms
//	then        measured here with the software versions of the paper: 11.8 ms
//	now         measured here with today's versions: 4.2 ms

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
	Register(Report{
		Name:  "claims",
		Doc:   "the claims of published studies alone: which hold here, with their figures beside ours",
		Build: claimsReport,
	})
}

func studyReport(set *results.Set) (document.Document, error) {
	papers, err := papersOf(set)
	if err != nil {
		return document.Document{}, err
	}
	return Study(set, papers...), nil
}

// papersOf reads the studies of the records that come with the program and have claims, tables or figures.
func papersOf(set *results.Set) ([]Paper, error) {
	var papers []Paper
	known := studies.Names()
	for _, name := range studiesOf(set) {
		if !slices.Contains(known, name) {
			continue
		}
		p, err := ReadPaper(name)
		if err != nil {
			return nil, fmt.Errorf("study %s: %w", name, err)
		}
		if len(p.Claims)+len(p.Figures)+len(p.Study.Exhibits) > 0 {
			papers = append(papers, p)
		}
	}
	return papers, nil
}

// AnswersClaims tells whether all studies of the results come with the program, and the results decide
// at least one claim of each.
func AnswersClaims(set *results.Set) bool {
	papers, err := papersOf(set)
	if err != nil || len(papers) == 0 || len(papers) < len(studiesOf(set)) {
		return false
	}
	undecided := func(p Paper) bool { return !p.decidesClaim(set) }
	return !slices.ContainsFunc(papers, undecided)
}

// decidesClaim tells whether the results of a side show that a claim holds, or that it does not.
func (p Paper) decidesClaim(set *results.Set) bool {
	own := p.ownResults(set)
	for _, side := range p.measuredSides(own) {
		for _, c := range p.Claims {
			if claim.Evaluate(c, own, p.Study.Name, side).Verdict != claim.CannotBeTold {
				return true
			}
		}
	}
	return false
}

// claimsReport answers the claims of publications, and says how the repetitions ended that the answers
// rest on.
func claimsReport(set *results.Set) (document.Document, error) {
	papers, err := papersOf(set)
	if err != nil {
		return document.Document{}, err
	}
	d := document.Document{Title: "Claims of published studies"}
	papers = slices.DeleteFunc(papers, func(p Paper) bool { return len(p.Claims) == 0 })
	if len(papers) == 0 {
		d.Say(withoutPapers(set))
		return d, nil
	}
	var notes document.Footnotes
	for _, p := range papers {
		p.addHeading(&d)
		if measured := p.ownPoints(set); len(measured) > 0 { // if none is, the claims say so, and the store may hold others
			d.Say(statusSentence(measured))
		}
		p.addClaims(&d, p.ownResults(set), &notes)
	}
	d.Add(notes.Blocks()...)
	return d, nil
}

// studiesOf lists the names of the studies that records are of, sorted.
func studiesOf(set *results.Set) []string {
	names := map[string]bool{}
	for _, r := range set.Records {
		names[r.Study] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// Paper is the content of a study's folder. A study that repeats no publication has neither claims nor
// figures.
type Paper struct {
	Study   *study.Study
	Grid    []study.Point    // all points of the study at full scale
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
	if err := published.Check(p.Study); err != nil {
		return p, err
	}
	p.Study.Files = folder
	if p.Grid, err = p.Study.Points(); err != nil {
		return p, err
	}
	claims, err := fs.ReadFile(folder, claim.File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return p, err
	}
	if p.Claims, err = claim.Parse(path.Join(name, claim.File), claims); err != nil {
		return p, err
	}
	p.Figures, err = published.Records(folder, p.Study)
	return p, err
}

// Study sets publications beside the records of their repetition.
func Study(set *results.Set, papers ...Paper) document.Document {
	d := document.Document{Title: "Published studies, repeated"}
	if len(papers) == 0 {
		d.Say(withoutPapers(set))
		return d
	}
	if !slices.ContainsFunc(papers, Paper.isPublished) {
		d.Title = "Studies"
	}
	var notes document.Footnotes
	for _, p := range papers {
		p.addTo(&d, set, &notes)
	}
	d.Add(notes.Blocks()...)
	return d
}

// addTo adds the part about one study.
func (p Paper) addTo(d *document.Document, set *results.Set, notes *document.Footnotes) {
	own := p.ownResults(set)
	p.addHeading(d)
	if len(p.Claims) > 0 {
		d.Add(document.Heading{Level: 2, Text: "Claims"})
	}
	p.addClaims(d, own, notes)
	p.addExhibits(d, own)
	p.addSetup(d, own)
	p.addOlderMethods(d, own)
}

// addHeading names a study, its question and its source.
func (p Paper) addHeading(d *document.Document) {
	d.Add(document.Heading{Level: 1, Text: p.Study.Name})
	d.Say(strings.TrimSpace(p.Study.Question + " " + p.Study.Source))
}

// withoutPapers says that there is nothing to set beside a publication.
func withoutPapers(set *results.Set) string {
	return "The records belong to no study with claims, tables or figures. Their studies: " +
		cmp.Or(strings.Join(studiesOf(set), ", "), "none") +
		". brokermark list studies lists those that come with the program."
}

// ownPoints are the points of this study that were measured.
func (p Paper) ownPoints(set *results.Set) []results.Point {
	return slices.DeleteFunc(slices.Clone(set.Points), func(o results.Point) bool {
		return o.Records[0].Study != p.Study.Name || o.Published()
	})
}

// ownResults are the results of this study: the records of its repetition, and the figures of the
// publication, whether or not they were imported into the store.
func (p Paper) ownResults(set *results.Set) *results.Set {
	var records []results.Record
	for _, r := range set.Records {
		if r.Study == p.Study.Name && r.Status != results.PublishedFigures {
			records = append(records, r)
		}
	}
	return results.Of(slices.Concat(records, p.Figures))
}

// measuredSides are the sides that were measured: claim.Then, claim.Now, or both.
func (p Paper) measuredSides(own *results.Set) []string { return claim.Sides(own, p.Study.Name) }

// sideOf is the side that a point belongs to. A study that doesn't tell then from now was run with
// today's versions.
func sideOf(p results.Point) string {
	if p.Published() {
		return claim.Published
	}
	return cmp.Or(p.Records[0].Axes["when"], claim.Now)
}

// isPublished tells whether the study repeats a publication.
func (p Paper) isPublished() bool { return p.Study.Source != "" || len(p.Claims)+len(p.Figures) > 0 }

// choose returns the words for a study that repeats a publication, or else those for another study.
func (p Paper) choose(ofPublication, ofOther string) string {
	if p.isPublished() {
		return ofPublication
	}
	return ofOther
}
