// How much our tables are like a publication's, over all rows that both have. Absolute figures of another machine differ; what can be
// compared is the order of the rows, and by what factor their figures differ:
//
//	figure         of     rows   rank correlation   measured ÷ published
//	publish rate   then   50     0.93               4.1× [3.8× to 4.4×]

package reports

import (
	"cmp"

	"gonum.org/v1/gonum/stat"

	"github.com/brokermark/brokermark/internal/claim"
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// similarity compares one column of an exhibit on one side with the publication's.
type similarity struct {
	metric, side string
	rows         int
	ranks        float64         // Spearman's rank correlation
	ratio        results.Summary // of the ratios of the rows
}

// fewestAlike is how many rows have an order that says anything: two have the same order by chance half of the time.
const fewestAlike = 4

// similarities compare each column of the exhibit on each side that was measured, where enough rows have both figures.
func (x exhibit) similarities() []similarity {
	var found []similarity
	for _, c := range x.columns {
		for _, side := range x.sides {
			if side == claim.Published {
				continue
			}
			var published, measured, ratios []float64
			for _, r := range x.rows {
				theirs, ours := c.cell(r, claim.Published), c.cell(r, side)
				if !theirs.IsNumber() || !ours.IsNumber() {
					continue
				}
				published, measured = append(published, theirs.Number), append(measured, ours.Number)
				if theirs.Number > 0 {
					ratios = append(ratios, ours.Number/theirs.Number)
				}
			}
			if len(published) >= fewestAlike {
				found = append(found, similarity{
					metric: metricWords(c.metric.Key), side: side, rows: len(published), ranks: spearman(published, measured), ratio: results.Summarize(ratios),
				})
			}
		}
	}
	return found
}

var similarityColumns = []columnOf[similarity]{
	textColumn(document.Column{Key: "figure", Name: "figure", Identifies: true}, func(s similarity) string { return s.metric }),
	textColumn(document.Column{Key: "of", Name: "of", Identifies: true}, func(s similarity) string { return s.side }),
	numberColumn(document.Column{Key: "rows", Name: "rows", Unit: unit.Count}, func(s similarity) int { return s.rows }),
	numberColumn(document.Column{Key: "rank_correlation", Name: "rank\ncorrelation", Unit: unit.None}, func(s similarity) float64 { return s.ranks }),
	cellColumn(document.Column{Key: "ratio", Name: "measured ÷\npublished", Unit: unit.Factor, Spread: true},
		func(s similarity) document.Cell { return s.ratio.Cell() }),
}

// spearman is Spearman's rank correlation of pairs: 1 if y rises wherever x does, −1 if it falls. It is NaN if all x or all y are equal.
func spearman(x, y []float64) float64 { return stat.Correlation(ranks(x), ranks(y), nil) }

// ranks are the places of values in their order, from 1. Equal values share the mean of their places: 1, 2.5, 2.5 and 4 of 3, 7, 7 and 9.
func ranks(values []float64) []float64 {
	ranks := make([]float64, len(values))
	for i, v := range values {
		below, equal := 0, 0
		for _, other := range values {
			switch cmp.Compare(other, v) {
			case -1:
				below++
			case 0:
				equal++
			}
		}
		ranks[i] = float64(below) + float64(equal+1)/2
	}
	return ranks
}
