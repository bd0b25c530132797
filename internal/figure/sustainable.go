package figure

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

const maxBars = 30

// sustainable draws a bar to the highest passing rate of each point and over it the bracket of all repetitions.
func sustainable(points []results.Point, _ Options) (Figure, error) {
	points = slices.DeleteFunc(slices.Clone(points), func(p results.Point) bool {
		searching := p.Spec.Measure == "sustainable" || p.Spec.Measure == "curve" && len(p.Spec.Curve.Rates) == 0
		return !searching && results.Sustained(p.Shown()).N == 0
	})
	if len(points) == 0 {
		return Figure{}, nothing("none of the records is of a search (measure sustainable)")
	}
	names := results.Names(points)
	f := Figure{Title: "Sustainable throughput", Width: 18 * vg.Centimeter}
	rows := 0
	for _, group := range results.BySetting(points) {
		list := sustainableBars(group.Members, names)
		rows += len(list)
		f.Panels = append(f.Panels, []*Panel{barsPanel(group.Name, "messages/s", list, unit.PerSecond)})
	}
	if err := tooMany(rows, maxBars, "bars"); err != nil {
		return Figure{}, err
	}
	f.Height = 2.8*vg.Centimeter + vg.Length(len(f.Panels))*2*vg.Centimeter + vg.Length(rows)*0.7*vg.Centimeter
	f.Notes = []string{"Bars: highest rate that passed long trials, median over repetitions. Brackets: from the lowest passing to the " +
		"highest failing rate of any repetition; an arrow where none failed. In parentheses: void or failed, not used."}
	return f, nil
}

// sustainableBars are the rows of one panel, the highest first, those without a usable figure last.
func sustainableBars(points []results.Point, names []string) []bar {
	var rows []bar
	for _, p := range points {
		b := bar{name: p.Name, low: math.NaN(), high: math.NaN(), used: len(p.Ok()) > 0, colour: colourOf(slices.Index(names, p.Name))}
		bracket := results.Sustained(p.Shown())
		if found := bracket.N > 0 && (b.used || bracket.Median > 0); found { // a failed search in which no rate passed has no figure
			b.parts, b.low, b.high = []float64{bracket.Median}, bracket.Low, bracket.High
		} else {
			b.word = word(p)
		}
		rows = append(rows, b)
	}
	sortBars(rows)
	return rows
}

// word says why there is no figure.
func word(p results.Point) string {
	if status := p.Status(); status != string(store.OK) {
		return status
	}
	return "not known"
}

// sortBars puts the longest bar first. Those that aren't used come after those that are, and those without a figure last.
func sortBars(rows []bar) {
	order := func(b bar) int {
		switch {
		case b.word != "" || math.IsNaN(b.sum()):
			return 2
		case !b.used:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(rows, func(a, b bar) int {
		return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(b.sum(), a.sum()))
	})
}
