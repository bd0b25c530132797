// A workload is the work that several points were given, such as 1,000 messages/s of 100 B each. A point is one broker with one complete
// set of settings. Points are ranked against each other only within a workload.

package reports

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/results"
)

// group is points that belong together, under a name that says what they share.
type group = results.Group[results.Point]

// byWorkload groups the points that were given the same work. In a group they differ in the broker, and in the settings that their names
// show: the axes of the study ("linger"), other than its loads.
func byWorkload(points []results.Point) []group {
	mayDiffer := map[string]bool{"broker": true} // spec paths
	for _, p := range points {
		for axis := range p.Records[0].Axes { // all records of a point have the same axes
			isLoad := axis == "load" || strings.HasPrefix(axis, "load.") // another load is other work
			if results.InNames(axis) && !isLoad {
				mayDiffer[axis] = true
			}
		}
	}
	paths := slices.Sorted(maps.Keys(mayDiffer))
	return results.GroupBy(points, func(p results.Point) string { return p.Workload(paths...) })
}

// measureOf is the kind of measurement of a workload, such as study.MeasurePeak. All its points have the same.
func measureOf(workload group) string { return workload.Members[0].Spec.Measure }

// rankable leaves out points with planned faults, which the promise report covers, and the figures of
// publications, which are only shown beside measured ones.
func rankable(points []results.Point) []results.Point {
	return slices.DeleteFunc(slices.Clone(points), func(p results.Point) bool {
		return len(p.Spec.Faults) > 0 || p.Published()
	})
}

// distinctions words, for each of several workloads, in what it differs from the others: "persistence log", or "peak" beside a workload
// with another load. A text is empty if the settings that readers care for most don't set the workload apart.
func distinctions(workloads []group) []string {
	values := results.Values{} // that the workloads have, by setting
	for _, w := range workloads {
		values.AddAll(commonSettings(w.Members))
	}
	var texts []string
	for _, w := range workloads {
		common := commonSettings(w.Members)
		var words []string
		for _, setting := range distinguishing {
			if common[setting] != "" && values.Vary(setting) && len(words) < maxSettingsNamed {
				words = append(words, common[setting])
			}
		}
		texts = append(texts, strings.Join(words, ", "))
	}
	return texts
}

// maxSettingsNamed is how many settings a sentence names. The warning below the table names the others.
const maxSettingsNamed = 2

// distinguishing are the settings that sentences tell workloads apart by.
var distinguishing = slices.Concat([]string{"load"}, results.FirstInNames)

// commonSettings words the distinguishing settings of which all points have the same value: {"persistence": "persistence log"}. The load
// is left out if it is a fixed rate, which every sentence names anyway.
func commonSettings(points []results.Point) map[string]string {
	words := results.Values{}
	for _, p := range points {
		if !isFixedRate(p) {
			words.Add("load", p.Load())
		}
		facts := p.Facts()
		for _, path := range results.FirstInNames {
			words.Add(path, path+" "+cmp.Or(facts[path], "unset"))
		}
	}
	common := map[string]string{}
	for setting, different := range words {
		for word := range different {
			if len(different) == 1 {
				common[setting] = word
			}
		}
	}
	return common
}
