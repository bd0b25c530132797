// The figure "sustainable": the highest rate that each broker sustains. A search offers one rate after the other until one
// fails; the bracket is the result.
//
//	kafka   ▇▇▇▇▇▇▇├──┤  188k/s    passed at 188k/s, failed at 207k/s
//	nats    ▇▇▇▇▇├──▸    140k/s    passed at 140k/s, and no rate failed

package figure

import (
	"math"
	"slices"

	"gonum.org/v1/plot/vg"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

// sustainable draws the highest rate that passed for each point, and over it the bracket of all repetitions: from the
// lowest rate that passed to the highest that failed.
func sustainable(points []results.Point, _ Options) (Figure, error) {
	points = lists.Filter(points, isSearch)
	if len(points) == 0 {
		return Figure{}, nothing("none of the records is of a search (measure sustainable)")
	}
	names := results.Names(points)
	panels := lists.Map(results.BySetting(points), func(g results.Group[results.Point]) []*Panel {
		return []*Panel{barsPanel(g.Name, "messages/s", sustainableBars(g.Members, names), unit.PerSecond)}
	})
	f, err := ofBars("Sustainable throughput", panels, len(points), 0.7*vg.Centimeter)
	if err != nil {
		return Figure{}, err
	}
	f.Notes = []string{"Bars: highest rate that passed a trial of " + heldWords(points) + ", median over repetitions. Brackets: " + bracketWords +
		". In parentheses: void or failed, not used."}
	return f, nil
}

const bracketWords = "from the lowest passing to the highest failing rate of any repetition; an arrow where none failed"

// heldWords returns the lengths for which the rates of points were held: "20 s", "2 s to 20 s".
func heldWords(points []results.Point) string {
	least, most := math.Inf(1), 0.0
	for _, p := range points {
		if b := results.Sustained(p.Shown()); b.N > 0 && b.Held > 0 {
			least, most = min(least, b.Held), max(most, b.Held)
		}
	}
	switch {
	case most == 0:
		return "full length"
	case least == most:
		return unit.Seconds.Format(most)
	}
	return unit.Seconds.Format(least) + " to " + unit.Seconds.Format(most)
}

// isSearch reports whether a point has a sustainable rate or should have one. A curve whose rates follow from a search
// should, unless it ended ok: then its records just don't hold the search.
func isSearch(p results.Point) bool {
	if p.Spec.Measure == study.MeasureSustainable || results.Sustained(p.Shown()).N > 0 {
		return true
	}
	isSearchedCurve := p.Spec.Measure == study.MeasureCurve && len(p.Spec.Curve.Rates) == 0
	return isSearchedCurve && len(p.Ok()) == 0
}

// sustainableBars returns the bars of one panel, the highest first.
func sustainableBars(points []results.Point, names []string) []bar {
	var bars []bar
	for _, p := range points {
		b := bar{name: p.Name, used: len(p.Ok()) > 0, colour: colourOf(slices.Index(names, p.Name))}
		bracket := results.Sustained(p.Shown())
		foundNone := !b.used && bracket.Median <= 0 // a failed search in which no rate passed
		if bracket.N > 0 && !foundNone {
			b.parts, b.interval = []float64{bracket.Median}, &interval{low: bracket.Low, high: bracket.High}
		} else {
			b.word = wordFor(p)
		}
		bars = append(bars, b)
	}
	sortBars(bars)
	return bars
}
