// Sweeps: points that differ in several settings, each of which is an axis. Two brokers with 1 and 4 partitions are four
// points; the place of kafka with 4 partitions is {0, 1}, the indexes of its values on the axes broker and partitions.

package figure

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// sweepAxis names the sweep that a study wrote a point in. It reflects how the study is written, so it is only shown if no
// other axis distinguishes the points.
const sweepAxis = "sweep"

// sweep is the axes in which points or load points differ, with the place of each on them.
type sweep struct {
	axes   []results.Axis
	places []results.Place // by the index of the point
}

// axisList is a list of axes by their indexes.
type axisList []int

// of returns the part of a place on the listed axes.
func (l axisList) of(p results.Place) results.Place {
	return lists.Map(l, func(axis int) int { return p[axis] })
}

func (s sweep) names(axes axisList) []string {
	return lists.Map(axes, func(i int) string { return s.axes[i].Name })
}

// groupsBy groups the indexes of points by their values on some axes, in the order of the values.
func (s sweep) groupsBy(axes axisList) []results.Group[int] {
	order := make([]int, len(s.places))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return slices.Compare(axes.of(s.places[i]), axes.of(s.places[j])) })
	groups := results.GroupBy(order, func(i int) string { return fmt.Sprint(axes.of(s.places[i])) })
	for i := range groups {
		groups[i].Name = s.title(axes, s.places[groups[i].Members[0]])
	}
	return groups
}

// title names the values of a place on some axes: "at-least-once, partitions 4". Numbers stand behind
// the name of their axis.
func (s sweep) title(axes axisList, p results.Place) string {
	var parts []string
	for _, i := range axes {
		if p[i] == results.Unset {
			continue
		}
		text := s.axes[i].Values[p[i]]
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			text = s.axes[i].Name + " " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// samePlace returns an error that names the difference of two points which would have the same place in a figure.
func samePlace(a, b results.Point) error {
	const most = 4 // differences
	differ := results.Residue([]store.Record{a.Records[0], b.Records[0]})
	if differ == nil {
		differ = []string{"point: " + a.ID + ", " + b.ID}
	}
	return nothing("several points have the same place; they differ in %s: narrow the selection with --where",
		strings.Join(differ[:min(len(differ), most)], "; "))
}
