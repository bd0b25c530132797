package figure

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/results"
)

// facet is one heat map of several that have the same rows, columns and colours.
type facet struct {
	heat
	title string
	names []string // of the axes that the facets hold still
}

// heatsOf is one heat map, or one for each combination of the values of the axes that set points of the same cell apart.
func heatsOf(points []results.Point, m results.Metric, row, col string) ([]facet, error) {
	frame, err := heatFrame(points, m, row, col)
	if err != nil {
		return nil, err
	}
	axes, at := results.SweptAxes(points)
	held, err := facetAxes(points, axes, at, row, col)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, a := range held {
		names = append(names, axes[a].Name)
	}
	order := make([]int, len(points))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		for _, a := range held {
			if c := cmp.Compare(at[i][a], at[j][a]); c != 0 {
				return c
			}
		}
		return 0
	})
	var titles []string
	members := map[string][]results.Point{}
	for _, i := range order {
		title := heldTitle(axes, held, at[i])
		titles = add(titles, title)
		members[title] = append(members[title], points[i])
	}
	var facets []facet
	for _, title := range titles {
		facets = append(facets, facet{frame.fill(members[title], row, col), title, names})
	}
	return facets, tooMany(len(facets), mostPanels, "panels")
}

// facetAxes are as few axes as needed, so that no two points have the same values of them, the same row and the same column.
func facetAxes(points []results.Point, axes []results.Axis, at [][]int, row, col string) ([]int, error) {
	var held []int
	for {
		i, j := clash(points, at, held, row, col)
		if i < 0 {
			slices.Sort(held)
			return held, nil
		}
		next := -1
		for a, axis := range axes {
			// The axis "sweep" says how a study is written: it tells points apart only if no other axis does.
			if at[i][a] != at[j][a] && (next < 0 || axes[next].Name == "sweep") && axis.Name != row && axis.Name != col {
				next = a
			}
		}
		if next < 0 {
			return nil, clashing(points[i], points[j])
		}
		held = append(held, next)
	}
}

// clash finds two points of one cell of one facet. Both are −1 if there are none.
func clash(points []results.Point, at [][]int, held []int, row, col string) (int, int) {
	taken := map[string]int{}
	for i, p := range points {
		where := place(p, row, col)
		key := where[0] + "\x00" + where[1]
		for _, a := range held {
			key += "\x00" + strconv.Itoa(at[i][a])
		}
		if other, ok := taken[key]; ok {
			return other, i
		}
		taken[key] = i
	}
	return -1, -1
}

// heldTitle names the values that a panel holds still: "at-least-once, partitions 4".
func heldTitle(axes []results.Axis, held, at []int) string {
	var parts []string
	for _, i := range held {
		if at[i] < 0 {
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

// panel draws f with the names of its axes.
func (f facet) panel(col, row string) *Panel {
	p := panel(f.title, col, row)
	x, y := &p.Plot.X, &p.Plot.Y
	x.Min, x.Max, y.Min, y.Max = -0.5, float64(len(f.cols))-0.5, -0.5, float64(len(f.rows))-0.5
	x.Tick.Marker, y.Tick.Marker = nominal(f.cols, false), nominal(f.rows, true)
	x.Tick.Length, y.Tick.Length = 0, 0
	p.Add(f.heat)
	return p
}
