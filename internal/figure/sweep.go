package figure

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// sweepAxis names the sweep that a study wrote a point in. It tells how the study is written, so it is only shown if no other axis
// tells points apart.
const sweepAxis = "sweep"

// sweep is points or load points with their places on the axes in which they differ.
type sweep[T any] struct {
	items  []T
	axes   []results.Axis
	places []results.Place // of each item: the index of its value on each axis
}

// axisList is a list of axes by their indexes.
type axisList []int

// of is the part of a place on the listed axes.
func (l axisList) of(p results.Place) results.Place {
	var part results.Place
	for _, axis := range l {
		part = append(part, p[axis])
	}
	return part
}

// names are the names of axes.
func (s sweep[T]) names(axes axisList) []string {
	var names []string
	for _, i := range axes {
		names = append(names, s.axes[i].Name)
	}
	return names
}

// groupsBy groups items by their values on some axes, in the order of the values.
func (s sweep[T]) groupsBy(axes axisList) []results.Group[T] {
	order := make([]int, len(s.items))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return slices.Compare(axes.of(s.places[i]), axes.of(s.places[j])) })
	var groups []results.Group[T]
	for _, g := range results.GroupBy(order, func(i int) string { return fmt.Sprint(axes.of(s.places[i])) }) {
		group := results.Group[T]{Name: s.title(axes, s.places[g.Members[0]])}
		for _, i := range g.Members {
			group.Members = append(group.Members, s.items[i])
		}
		groups = append(groups, group)
	}
	return groups
}

// title names the values of a place on some axes: "at-least-once, partitions 4". Numbers stand behind the name of their axis.
func (s sweep[T]) title(axes axisList, p results.Place) string {
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

// metricOf is the metric that the options ask for, or else the one that the points were measured for.
func metricOf(points []results.Point, o Options) (results.Metric, error) {
	if m, ok := results.Headline(points[0].Spec.Measure); ok && o.Metric == "" {
		return m, nil
	}
	return results.MetricByKey(o.Metric)
}

// compareBools orders false before true.
func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func listed(names []string) string { return cmp.Or(strings.Join(names, ", "), "none") }

// maxDifferences is how many differences between two points an error names.
const maxDifferences = 4

// clashing says in what two points differ that would have the same place in a figure.
func clashing(a, b results.Point) error {
	differ := results.Residue([]store.Record{a.Records[0], b.Records[0]})
	if differ == nil {
		differ = []string{"point: " + a.ID + ", " + b.ID}
	}
	return nothing("several points have the same place; they differ in %s: narrow the selection with --where",
		strings.Join(differ[:min(len(differ), maxDifferences)], "; "))
}
