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
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
)

func init() {
	Register(Report{
		Name:  "study",
		Doc:   "a published study beside its repetition: its claims, its tables, what differs, what its method hid",
		Build: studyReport,
	})
	Register(Report{
		Name:  "claims",
		Doc:   "the claims of published studies alone: which are reproduced here, with their figures beside ours",
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

// withoutPapers says that there is no publication to compare with.
func withoutPapers(set *results.Set) string {
	return "The records belong to no study with claims, tables or figures. Their studies: " +
		cmp.Or(strings.Join(studiesOf(set), ", "), "none") +
		". brokermark list studies lists those that come with the program."
}
