// What a study's folder holds of a publication, and which results belong to it. The folder studies/example has
//
//	study.yaml        what to measure, and the tables and figures of the publication that the report fills
//	claims.yaml       conclusions of the publication, as statements that records can be tested by
//	published/*.csv   the numbers that it printed

package reports

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/brokermark/brokermark/internal/bounded"
	"github.com/brokermark/brokermark/internal/claim"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/published"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/studies"
)

// Paper is the content of a study's folder. A study that repeats no publication has neither claims nor
// figures.
type Paper struct {
	Study   *study.Study
	Grid    []study.Point    // all points of the study at full scale
	Claims  []claim.Claim    // conclusions of the publication
	Figures []results.Record // that the publication printed
}

// maxStudyFile bounds the files of a study's folder, in bytes.
const maxStudyFile = 8 << 20

// ReadPaper reads the folder of a study, embedded or on disk. The file of claims may be missing.
func ReadPaper(name string) (Paper, error) {
	folder, err := studies.FS(name)
	if err != nil {
		return Paper{}, err
	}
	data, err := bounded.FileIn(folder, studies.Document, maxStudyFile)
	if err != nil {
		return Paper{}, err
	}
	parsed, err := study.Parse(path.Join(name, studies.Document), data)
	if err != nil {
		return Paper{}, err
	}
	if err := published.Check(parsed); err != nil {
		return Paper{}, err
	}
	parsed.Files = folder
	grid, err := parsed.Points()
	if err != nil {
		return Paper{}, err
	}
	claimsData, err := bounded.FileIn(folder, claim.File, maxStudyFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Paper{}, err
	}
	claims, err := claim.Parse(path.Join(name, claim.File), claimsData) // none of a missing file, as of an empty one
	if err != nil {
		return Paper{}, err
	}
	figures, err := published.Records(folder, parsed)
	if err != nil {
		return Paper{}, err
	}
	return Paper{Study: parsed, Grid: grid, Claims: claims, Figures: figures}, nil
}

// isPublished reports whether the study repeats a publication.
func (p Paper) isPublished() bool { return p.Study.Source != "" || len(p.Claims)+len(p.Figures) > 0 }

// choose returns the words for a study that repeats a publication, or else those for another study.
func (p Paper) choose(ofPublication, ofOther string) string {
	if p.isPublished() {
		return ofPublication
	}
	return ofOther
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

// studiesOf lists the names of the studies that records are of, sorted.
func studiesOf(set *results.Set) []string {
	names := lists.Map(set.Records, func(r results.Record) string { return r.Study })
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

// ownPoints are the points of this study that were measured.
func (p Paper) ownPoints(set *results.Set) []results.Point {
	return slices.DeleteFunc(slices.Clone(set.Points), func(o results.Point) bool {
		return o.Records[0].Study != p.Study.Name || o.Published()
	})
}

// ownResults are the results of this study: the records of its repetition, and the figures of the
// publication, which come from its folder and not from the store, into which they may have been imported.
func (p Paper) ownResults(set *results.Set) *results.Set {
	records := lists.Filter(set.Records, func(r results.Record) bool {
		return r.Study == p.Study.Name && r.Status != results.PublishedFigures
	})
	return results.Of(slices.Concat(records, p.Figures))
}

// measuredSides are the sides that were measured: claim.Then, claim.Now, or both.
func (p Paper) measuredSides(own *results.Set) []string { return claim.Sides(own, p.Study.Name) }

// AnswersClaims reports whether all studies of the results come with the program, and the results decide
// at least one claim of each. Then the report "claims" is the one to show. That report, and not this
// function, says why a study can't be read.
func AnswersClaims(set *results.Set) bool {
	papers, err := papersOf(set)
	if err != nil || len(papers) == 0 || len(papers) < len(studiesOf(set)) {
		return false
	}
	return !slices.ContainsFunc(papers, func(p Paper) bool { return !p.decidesClaim(set) })
}

// decidesClaim reports whether the results of a side answer a claim, or point to an answer.
func (p Paper) decidesClaim(set *results.Set) bool {
	own := p.ownResults(set)
	isAnswer := func(a claim.Answer) bool { return a.PointsTo != claim.Undecided }
	return slices.ContainsFunc(p.measuredSides(own), func(side string) bool {
		return slices.ContainsFunc(claim.Answers(p.Claims, own, p.Study.Name, side), isAnswer)
	})
}
