// How points are divided among tables and rankings.

package reports

import (
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/results"
)

// group is points that belong together, under a name that says what they share.
type group = results.Group[results.Point]

// byWorkload groups the points that may be ranked against each other: those that were given the
// same work. They differ in the broker and in the settings that their names show.
func byWorkload(points []results.Point) []group {
	mayDiffer := []string{"broker"} // spec paths
	for _, p := range points {
		for axis := range p.Records[0].Axes { // all records of a point have the same axes
			isLoad := axis == "load" || strings.HasPrefix(axis, "load.") // another load is other work
			if results.InNames(axis) && !isLoad && !slices.Contains(mayDiffer, axis) {
				mayDiffer = append(mayDiffer, axis)
			}
		}
	}
	return results.GroupBy(points, func(p results.Point) string { return p.Workload(mayDiffer...) })
}

// rankable leaves out points with planned faults, which the promise report covers, and the figures of
// publications, which are only shown beside measured ones.
func rankable(points []results.Point) []results.Point {
	return slices.DeleteFunc(slices.Clone(points), func(p results.Point) bool { return len(p.Spec.Faults) > 0 || p.Published() })
}

// unnamedDifferences lists the facts in which the compared repetitions differ: "host.cores: 2, 8". It
// leaves out what is meant to differ: the broker, what is measured, and the axes of studies.
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
