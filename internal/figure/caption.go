// The texts of a figure that say what was measured and how far to trust it: it is shown without the report and its footnotes.

package figure

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

const noBreakSpace = "\u00a0"

// subtitle names versions, machines and the number of repetitions, "kafka 4.1.0, nats 2.12.1 · 3 subscriptions · Xeon, 8 cores ·
// n = 3 to 5", and what all points ask for that is no default. drawsOne: the figure shows one repetition of each point.
func subtitle(points []results.Point, drawsOne bool) string {
	var versions, machines []string
	for _, p := range points {
		for _, r := range p.Shown() {
			versions = addNew(versions, strings.TrimSpace(r.Spec.Broker+" "+r.Versions.Broker))
			machines = addNew(machines, machineOf(r))
		}
	}
	slices.Sort(versions)
	count := repetitionCount(points)
	if drawsOne {
		count = "n = 1"
	}
	return joined([]string{
		joined(versions, ", "), joined(results.AskedByAll(points), ", "), joined(machines, " and "), strings.ReplaceAll(count, " ", noBreakSpace),
	}, " · ")
}

// joined joins the texts that aren't empty.
func joined(texts []string, separator string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return s == "" }), separator)
}

// repetitionCount says how many repetitions of each point are shown: "n = 3", or "n = 3 to 5" if points differ. It is empty if
// none is.
func repetitionCount(points []results.Point) string {
	var counts []int
	for _, p := range points {
		if n := len(p.Shown()); n > 0 {
			counts = append(counts, n)
		}
	}
	if counts == nil {
		return ""
	}
	least, most := slices.Min(counts), slices.Max(counts)
	if least == most {
		return fmt.Sprintf("n = %d", least)
	}
	return fmt.Sprintf("n = %d to %d", least, most)
}

// machineOf describes the machine of a record: "Xeon, 8 cores". It is empty if that isn't known.
func machineOf(r store.Record) string {
	cores := ""
	if r.Host.Cores > 0 {
		cores = fmt.Sprintf("%d cores", r.Host.Cores)
	}
	return joined([]string{strings.TrimSpace(r.Host.CPU), cores}, ", ")
}
