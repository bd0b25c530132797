package figure

import (
	"fmt"
	"slices"

	"github.com/brokermark/brokermark/internal/results"
)

// facet is one of several heat maps that have the same rows, columns and colours.
type facet struct {
	heat
	title string // the values that all of its points share: "at-least-once, partitions 4"; empty for a single heat map
}

// facetsOf is one heat map if no two points have the same cell. Otherwise it is one for each combination of the values of the held
// axes, which tell such points apart. Example: with cells of broker and size, points with 1 and 8 topics have the same cell, so there
// are two heat maps, and "topics" is the held axis.
func facetsOf(points []results.Point, m results.Metric, cellAxes heatAxes) (facets []facet, heldAxes []string, err error) {
	empty, err := emptyHeat(points, m, cellAxes)
	if err != nil {
		return nil, nil, err
	}
	g := sweep[results.Point]{items: points}
	g.axes, g.places = results.SweptAxes(points)
	held, err := heldBy(g, cellAxes)
	if err != nil {
		return nil, nil, err
	}
	for _, group := range g.groupsBy(held) {
		facets = append(facets, facet{heat: empty.filled(group.Members, cellAxes), title: group.Name})
	}
	return facets, g.names(held), tooMany(len(facets), maxPanels, "panels")
}

// heldBy are as few axes as are needed for no two points of one facet to have the same cell. It adds one axis after the other that
// tells two such points apart, the sweep axis only if no other does.
func heldBy(g sweep[results.Point], cellAxes heatAxes) (axisList, error) {
	var held axisList
	for {
		i, j, found := sameCell(g, held, cellAxes)
		if !found {
			slices.Sort(held)
			return held, nil
		}
		apart := -1 // an axis that tells the points apart
		for a, axis := range g.axes {
			differs := g.places[i][a] != g.places[j][a] && axis.Name != cellAxes.row && axis.Name != cellAxes.col
			if differs && (apart < 0 || g.axes[apart].Name == sweepAxis) {
				apart = a
			}
		}
		if apart < 0 {
			return nil, clashing(g.items[i], g.items[j])
		}
		held = append(held, apart)
	}
}

// sameCell finds two points with the same cell in the same facet, by their indexes.
func sameCell(g sweep[results.Point], held axisList, cellAxes heatAxes) (i, j int, found bool) {
	type position struct {
		cell  cellKey
		facet string
	}
	taken := map[position]int{}
	for i, p := range g.items {
		pos := position{cell: cellAxes.cellOf(p), facet: fmt.Sprint(held.of(g.places[i]))}
		if first, ok := taken[pos]; ok {
			return first, i, true
		}
		taken[pos] = i
	}
	return 0, 0, false
}
