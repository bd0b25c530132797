package figure

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"

	"github.com/brokermark/brokermark/internal/results"
)

// facet is one of several heat maps that have the same rows, columns and colours.
type facet struct {
	heat
	title string   // the values of its held axes: "at-least-once, partitions 4"; empty if there are none
	held  []string // names of the axes of whose values a facet holds one each
}

// facetsOf is one heat map if no two points have the same cell. Otherwise it is one for each combination of the values of those axes
// that tell such points apart.
func facetsOf(points []results.Point, m results.Metric, cellAxes heatAxes) ([]facet, error) {
	empty, err := emptyHeat(points, m, cellAxes)
	if err != nil {
		return nil, err
	}
	axes, places := results.SweptAxes(points)
	held, err := heldAxes(points, axes, places, cellAxes)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, i := range held {
		names = append(names, axes[i].Name)
	}
	order := make([]int, len(points)) // of points, by their values on the held axes
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return compareOn(held, places[i], places[j]) })
	var titles []string
	byTitle := map[string][]results.Point{}
	for _, i := range order {
		title := heldTitle(axes, held, places[i])
		titles = addNew(titles, title)
		byTitle[title] = append(byTitle[title], points[i])
	}
	var facets []facet
	for _, title := range titles {
		facets = append(facets, facet{heat: empty.filled(byTitle[title], cellAxes), title: title, held: names})
	}
	return facets, tooMany(len(facets), maxPanels, "panels")
}

// heldAxes are as few axes as are needed for no two points of one facet to have the same cell. It adds one axis after the other, each
// of which tells two points of the same cell apart.
func heldAxes(points []results.Point, axes []results.Axis, places []results.Place, cellAxes heatAxes) ([]int, error) {
	var held []int
	for {
		i, j, found := sameCell(points, places, held, cellAxes)
		if !found {
			slices.Sort(held)
			return held, nil
		}
		var differ, other []int // axes that tell the points apart
		for a, axis := range axes {
			switch {
			case places[i][a] == places[j][a] || axis.Name == cellAxes.row || axis.Name == cellAxes.col:
			case axis.Name == sweepAxis:
				other = append(other, a)
			default:
				differ = append(differ, a)
			}
		}
		candidates := append(differ, other...)
		if len(candidates) == 0 {
			return nil, clashing(points[i], points[j])
		}
		held = append(held, candidates[0])
	}
}

// sameCell finds two points with the same cell in the same facet, by their indexes.
func sameCell(points []results.Point, places []results.Place, held []int, cellAxes heatAxes) (i, j int, found bool) {
	type position struct {
		cell  cellKey
		facet string
	}
	taken := map[position]int{}
	for i, p := range points {
		at := position{cell: cellAxes.cellOf(p)}
		for _, a := range held {
			at.facet += fmt.Sprintf("%d ", places[i][a])
		}
		if first, ok := taken[at]; ok {
			return first, i, true
		}
		taken[at] = i
	}
	return 0, 0, false
}

// heldTitle names values on some axes: "at-least-once, partitions 4". Numbers stand behind the name of their axis.
func heldTitle(axes []results.Axis, held []int, at results.Place) string {
	var parts []string
	for _, i := range held {
		if at[i] == results.Unset {
			continue
		}
		text := axes[i].Values[at[i]]
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			text = axes[i].Name + " " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// panel draws a facet with the names of its axes. Cells are one unit wide and high.
func (f facet) panel(axes heatAxes) *Panel {
	p := panel(f.title, axes.col, axes.row)
	x, y := &p.Plot.X, &p.Plot.Y
	x.Min, x.Max = -0.5, float64(len(f.cols))-0.5
	y.Min, y.Max = -0.5, float64(len(f.rows))-0.5
	upwards := slices.Clone(f.rows)
	slices.Reverse(upwards)
	x.Tick.Marker, y.Tick.Marker = nameTicks(f.cols), nameTicks(upwards)
	x.Tick.Length, y.Tick.Length = 0, 0
	p.Add(f.heat)
	return p
}

// nameTicks label the places 0, 1, 2, … with names.
func nameTicks(names []string) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for i, name := range names {
		if name == "" {
			name = "not set"
		}
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: cut(letters(smallSize, ink), name, maxLabelSize)})
	}
	return ticks
}
