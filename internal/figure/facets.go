package figure

import (
	"fmt"
	"slices"

	"github.com/brokermark/brokermark/internal/results"
)

// facet is one of several heat maps beside each other. All have the same rows, columns and colours.
type facet struct {
	heat
	title string // the values on the panel axes: "at-least-once, partitions 4"; empty for a single heat map
}

// facetsOf makes as many heat maps as are needed for every point to have a cell of its own. Example: rows are brokers and
// columns are sizes. Kafka with 1 KiB was measured with 1 topic and with 8, which is two points for one cell. So "topics" is a
// panel axis: there is a heat map for each number of topics.
func facetsOf(points []results.Point, m results.Metric, cellAxes heatAxes) (facets []facet, panelAxes []string, err error) {
	empty := emptyHeat(points, m, cellAxes)
	if err := tooMany(max(len(empty.rows), len(empty.cols)), maxCells, "rows or columns"); err != nil {
		return nil, nil, err
	}
	axes, places := results.SweptAxes(points)
	s := sweep{axes: axes, places: places}
	byPanel, err := s.panelAxes(points, cellAxes)
	if err != nil {
		return nil, nil, err
	}
	groups := s.groupsBy(byPanel)
	if err := tooMany(len(groups), maxPanels, "panels"); err != nil {
		return nil, nil, err
	}
	for _, group := range groups {
		drawn := empty
		drawn.cells = map[cellKey]heatCell{}
		for _, i := range group.Members {
			drawn.cells[cellAxes.cellOf(points[i])] = heatCellOf(points[i], m)
		}
		facets = append(facets, facet{heat: drawn, title: group.Name})
	}
	return facets, s.names(byPanel), nil
}

// panelAxes chooses the panel axes. As long as two points of one facet have the same cell, it adds an axis on which the two
// differ.
func (s sweep) panelAxes(points []results.Point, cellAxes heatAxes) (axisList, error) {
	var chosen axisList
	for {
		i, j, found := s.sameCell(points, chosen, cellAxes)
		if !found {
			slices.Sort(chosen)
			return chosen, nil
		}
		next := -1 // the first axis on which they differ; the sweep axis only if they differ on no other
		for a, axis := range s.axes {
			isCellAxis := axis.Name == cellAxes.row || axis.Name == cellAxes.col
			differ := s.places[i][a] != s.places[j][a]
			if differ && !isCellAxis && (next < 0 || s.axes[next].Name == sweepAxis) {
				next = a
			}
		}
		if next < 0 {
			return nil, samePlace(points[i], points[j])
		}
		chosen = append(chosen, next)
	}
}

// sameCell finds two points with the same cell in the same facet, by their indexes.
func (s sweep) sameCell(points []results.Point, byPanel axisList, cellAxes heatAxes) (i, j int, found bool) {
	type position struct {
		cell  cellKey
		facet string
	}
	taken := map[position]int{}
	for i, p := range points {
		pos := position{cell: cellAxes.cellOf(p), facet: fmt.Sprint(byPanel.of(s.places[i]))}
		if first, ok := taken[pos]; ok {
			return first, i, true
		}
		taken[pos] = i
	}
	return 0, 0, false
}
