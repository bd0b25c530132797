// How points are divided among tables and rankings.

package reports

import (
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/results"
)

// group is points that belong together under a name.
type group struct {
	name   string
	points []results.Point // at least one
}

// groupBy splits points by a key, which names their group. Groups keep the order in which they first appear.
func groupBy(points []results.Point, key func(results.Point) string) []group {
	var groups []group
	for _, g := range results.GroupBy(points, key) {
		groups = append(groups, group{name: g.Name, points: g.Members})
	}
	return groups
}

// findOrAdd returns the first entry of list that matches. If there is none, it appends fresh. The pointer is valid until list grows.
func findOrAdd[T any](list *[]T, matches func(T) bool, fresh T) *T {
	i := slices.IndexFunc(*list, matches)
	if i < 0 {
		i = len(*list)
		*list = append(*list, fresh)
	}
	return &(*list)[i]
}

// bySetting groups the points that stand in one table: those of equal message size and delivery guarantee.
func bySetting(points []results.Point) []group {
	return groupBy(points, results.Point.Setting)
}

// byWorkload groups the points that may be ranked against each other: those that were given the same work. They differ in the broker
// and in the settings that their names show.
func byWorkload(points []results.Point) []group {
	named := []string{"broker"}
	for _, p := range points {
		for axis := range p.Records[0].Axes {
			load := axis == "load" || strings.HasPrefix(axis, "load.") // another load is other work
			if results.InNames(axis) && !load && !slices.Contains(named, axis) {
				named = append(named, axis)
			}
		}
	}
	return groupBy(points, func(p results.Point) string { return p.Workload(named...) })
}

// rankable leaves out points with planned faults, which the promise report covers, and published figures, which only stand beside
// measured ones.
func rankable(points []results.Point) []results.Point {
	return slices.DeleteFunc(slices.Clone(points), func(p results.Point) bool { return len(p.Spec.Faults) > 0 || p.Published() })
}

// unnamedDifferences lists the facts in which repetitions of one point, or points that a verdict compares, differ, apart from those in
// which they are meant to: the broker, what is measured, and the axes of studies.
func unnamedDifferences(points []results.Point) []string {
	var records []results.Record
	named := []string{"broker", "measure", "nodes"}
	for _, p := range points {
		for _, r := range p.Ok() {
			records = append(records, r)
			for axis := range r.Axes {
				named = append(named, axis)
			}
		}
	}
	return results.Residue(records, named...)
}
