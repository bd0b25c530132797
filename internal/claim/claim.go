// Package claim checks the conclusions of a published study against stored records. A conclusion such as "RabbitMQ
// loses a third of its rate from one queue to 50" is written in claims.yaml as statements with numeric bounds; Answers
// says of it reproduced, not reproduced, undecided, or, of a number of the publication's machine, not comparable.
//
// Repetitions of a measurement differ, so every figure is an interval. They point to an answer if it would be the same
// whichever repetition of each point had been the only one, and give it if confidence intervals of the figures
// (package verdict), corrected for all claims of the study, come to the same; one run of each point decides nothing. Example: "mode a
// has at most 0.45 times the rate of mode b". If a measured 38 and 40 messages/s and b 90 and 100, their ratio lies between 38/100 = 0.38
// and 40/90 = 0.44: they point to reproduced. If a measured 40 and 44, the ratio lies between 0.40 and 44/90 = 0.49: it is undecided.
//
// A statement is answered in four steps. Example: "at every size, 50 queues have at most 0.7 times the rate of one".
//
//  1. Choose the measurements that it is about, the samples: those with one queue and those with 50.
//  2. Group them into cells, one for each value of what the statement doesn't compare: size=1KiB, size=10KiB.
//  3. Judge each cell by a figure: its rate with 50 queues divided by its rate with one.
//  4. Conclude from the cells. Here each of them has to hold.
//
// Reports and claims.yaml call a cell a place. The package does not know how records were measured or how an answer is
// printed.
package claim

import (
	"slices"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
)

// Claim is one conclusion of a published study. It is reproduced if all of its statements are.
type Claim struct {
	ID          string
	Says        string // a sentence
	Where       string // page, table or figure of the publication
	Published   string // the figures in the publication's words
	Note        string // what else a reader needs to know
	Undecidable string // why our records can't decide it; such a claim has no statements
	Absolute    bool   // it is about a number of the publication's machine, which another machine neither confirms nor refutes
	Statements  []Statement
}

// Answer is the answer to a claim from the records of one side of its study.
type Answer struct {
	Verdict Verdict
	Reason  Reason // why it is undecided
	Why     string // the reason in a sentence
	Parts   []Part // one for each statement

	PointsTo Verdict // what the verdict would be if any choice of the repetitions decided it
	Closed   bool    // a figure is the latency of a closed loop, which says how full the client's window was
}

// Part is what the repetitions say of one statement. If it holds at size=1KiB, is undecided at size=10KiB, and every run at 1MiB
// failed, there are two Cells, and one is Missing.
type Part struct {
	PointsTo Verdict
	Reason   Reason // why it is undecided
	Why      string // the reason in a sentence
	Figure   Figure // of all cells: pooled as Statement.Take says, or else their median with the range of all
	R2       Figure // of a slope: the coefficient of determination, the median and range of all cells
	Cells    []Cell
	Missing  int             // places without a usable figure, those that were not measured included
	Without  []string        // of a slope or shape: values of the axis that it was judged without, since they have no figure in some cell
	Closed   bool            // a figure is the latency of a closed loop
	Doubts   []results.Doubt // that touch a figure, the worst of each kind

	Sure Figure // Figure with 95 % confidence intervals; none if some point was measured once
	Turn Turn   // of a claim that is reproduced or not

	unmeasured      int  // of Missing, those that the publication speaks of and no record is of
	missingThoughOK int  // of Missing, the cells of which every point was measured, but not the metric
	smokeTest       bool // a record is of a scale that gives no verdicts
}

// Cell is the answer at one combination of values of the axes that the statement doesn't compare.
type Cell struct {
	Name    string // "partitionsPerTopic=5 acks=all"; empty if there is only one cell
	Verdict Verdict
	Figure  Figure   // of a rank the lead, of a slope the change from end to end; none if that ratio is undefined
	R2      Figure   // of a slope
	N       int      // the fewest repetitions of any point that the verdict rests on
	Unknown []string // rank: contenders without a figure, if it is undecided because of them alone

	rest    Verdict // on what else the statement asks for than bounds on Figure; empty if nothing
	noRatio bool    // the verdict needs the figure, and there is none: it is a ratio to zero
}

// Sides of a study: the versions that the paper used, today's, and the figures that the paper published.
const (
	Then      = "then"
	Now       = "now"
	Published = "published"
)

// Sides lists the sides that a study has measured records of, Then first.
func Sides(set *results.Set, study string) []string {
	return lists.Filter([]string{Then, Now}, func(side string) bool { return len(samplesOf(set.Points, study, side)) > 0 })
}

// Repetitions returns the fewest repetitions that any figure of the answer rests on. It returns 0 without a figure.
func (a Answer) Repetitions() int {
	fewest := 0
	for _, p := range a.Parts {
		if n := p.Repetitions(); fewest == 0 || n > 0 && n < fewest {
			fewest = n
		}
	}
	return fewest
}

// Repetitions returns the fewest repetitions that any figure of the part rests on. It returns 0 without a figure.
func (p Part) Repetitions() int {
	if len(p.Cells) == 0 {
		return 0
	}
	return slices.Min(lists.Map(p.Cells, func(c Cell) int { return c.N }))
}

// Count returns the number of cells with the verdict v.
func (p Part) Count(v Verdict) int {
	return len(lists.Filter(p.Cells, func(c Cell) bool { return c.Verdict == v }))
}
