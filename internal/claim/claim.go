// Package claim knows what a published study concludes, as statements over measured data, and says of each whether it holds
// for the records at hand. It knows nothing of how records were measured or of how an answer is shown.
package claim

import (
	"math"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// Claim is one conclusion of a published study.
type Claim struct {
	ID          string
	Says        string // a sentence
	Where       string // page, table or figure of the publication
	Published   string // the figures in the publication's words
	Note        string // what else a reader needs to know
	Undecidable string // why our records can't decide it; then there are no statements
	Statements  []Statement
}

// Kind is what a statement is about.
type Kind string

// Kinds of statements.
const (
	Ratio     Kind = "ratio"     // one selection against another
	Rank      Kind = "rank"      // who is first, last, or at another place
	Slope     Kind = "slope"     // how a metric goes along an axis, by a straight line
	Threshold Kind = "threshold" // a metric within bounds
	Shape     Kind = "shape"     // a metric along an axis is constant, rises, falls, or has an interior maximum
)

// Statement is what can be judged; a claim holds where all of its statements hold.
type Statement struct {
	Kind        Kind
	Experiments []string // names of sweeps
	Metric      results.Metric
	Select      Selector
	At          string   // which loads of a curve
	Over        []string // the axes whose values make the cells
	OverGiven   bool     // false: every axis that varies and that the statement doesn't name
	Pool        string   // how several points of one cell become one figure
	Take        string   // how the cells become one answer
	Share       float64  // of the cells in which it has to hold, where Take is share
	Expect      Range    // of the figure

	Of, To Side // ratio

	By     string   // rank: the axis of the contenders
	Order  []string // rank: who is before whom; with Place 0
	Who    string   // rank: whose place is meant
	Place  int      // rank: 1 is first, -1 is last
	Lowest bool     // rank: the lowest figure is the best

	Along  string  // slope and shape: the axis
	Sign   int     // slope: +1 rising, -1 falling, 0 not asked
	R2     float64 // slope: the least coefficient of determination, 0 not asked
	Change Range   // slope: of the last value against the first
	Form   string  // shape
	Within float64 // shape: what is tolerated
}

// Side is one side of a ratio: what it selects beyond the statement's own selection, and where it differs from it.
type Side struct {
	Experiments []string
	Metric      results.Metric
	Select      Selector
	At          string
}

// Verdict is the answer to a claim.
type Verdict string

// The three answers.
const (
	Holds        Verdict = "holds"
	DoesNotHold  Verdict = "does not hold"
	CannotBeTold Verdict = "cannot be told"
)

// Reason is why an answer can't be given.
type Reason string

// Reasons.
const (
	Decided         Reason = ""
	Undecidable     Reason = "undecidable"      // by any record of ours
	NothingMeasured Reason = "nothing measured" // no record of the points it is about
	NoneUsable      Reason = "none usable"      // they failed, are void, or were refused
	NoFigure        Reason = "no figure"        // they hold no figure of the metric
	WithinSpread    Reason = "within spread"    // repetitions lie on both sides
	TooFew          Reason = "too few"          // points for a line or a ranking
	Misfit          Reason = "misfit"           // the claim names an axis that the records don't have
)

// Figure is a number with the spread of the repetitions behind it.
type Figure struct {
	Value     float64
	Low, High float64 // equal to Value where there is one repetition
	N         int     // the fewest repetitions of any point behind it; 0: no figure
	Unit      unit.Unit
}

// Range is where a figure has to lie, both ends included.
type Range struct{ From, To float64 }

// anywhere is the range of a statement that bounds nothing.
var anywhere = Range{math.Inf(-1), math.Inf(1)}

// Given tells that r bounds anything.
func (r Range) Given() bool { return r != anywhere && r != Range{} }

// Answer is what a claim comes to for one side: then, now, or as published.
type Answer struct {
	Verdict Verdict
	Reason  Reason
	Why     string // in a sentence, where it cannot be told
	Parts   []Part // one for each statement
	Closed  bool   // a latency in it is of a closed loop
}

// Part is what a statement comes to.
type Part struct {
	Verdict Verdict
	Reason  Reason
	Why     string
	Figure  Figure // over all cells; of a rank how far ahead, of a slope the change from end to end
	R2      Figure // of a slope
	Cells   []Cell
	Missing int // cells without a usable figure
	Closed  bool
}

// Cell is the statement at one place of the grid.
type Cell struct {
	Name    string // "partitionsPerTopic=5"; "" where there is only one
	Verdict Verdict
	Figure  Figure
	R2      Figure
}

// Count is in how many cells the statement came to v.
func (p Part) Count(v Verdict) int {
	n := 0
	for _, c := range p.Cells {
		if c.Verdict == v {
			n++
		}
	}
	return n
}

// Repetitions are the fewest behind any figure of the answer; 0 where there is none.
func (a Answer) Repetitions() int {
	fewest := 0
	for _, p := range a.Parts {
		if n := p.Figure.N; n > 0 && (fewest == 0 || n < fewest) {
			fewest = n
		}
	}
	return fewest
}
