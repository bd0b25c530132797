// The sheets behind those of the experiments: Gates, Repetitions, Settings, Points, Doubts and About.

package sheet

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// writeGates writes the verdicts of thresholds and objectives, if there are any.
func (b *book) writeGates(judged []gate.Verdict) {
	if len(judged) == 0 {
		return
	}
	var rows [][]any
	for _, v := range judged {
		rows = append(rows, []any{v.Point, v.Condition, string(v.Outcome), v.Text, v.Study})
	}
	b.writeTable(b.addSheet("Gates"), []heading{
		{name: "point", width: 40},
		{name: "threshold", width: 24},
		{name: "outcome", width: 10},
		{name: "seen", width: 60},
		{name: "study", width: 18},
	}, 1, slices.Values(rows))
}

// writeRepetitions writes every record with the flat columns that every format shares, in base units.
func (b *book) writeRepetitions(records []store.Record) {
	names, rows := results.FlatTable(records)
	var headings []heading
	for _, name := range names {
		headings = append(headings, heading{name: name, width: 16})
	}
	b.writeTable(b.addSheet("Repetitions"), headings, 2, rows)
}

// writeSettings writes a sheet of the settings that all points share, and one of the points with a column for each
// setting in which they differ.
func (b *book) writeSettings(points []results.Point) {
	values := results.Values{}
	var facts []map[string]string // of each point: settings, versions and machine, by path
	for _, p := range points {
		facts = append(facts, p.Facts())
		values.AddAll(p.Facts())
	}
	var shared [][]any
	var differing []string
	for _, path := range slices.Sorted(maps.Keys(values)) {
		isUnset := func(f map[string]string) bool { _, isSet := f[path]; return !isSet }
		if values.Vary(path) || slices.ContainsFunc(facts, isUnset) {
			differing = append(differing, path)
		} else {
			shared = append(shared, []any{path, facts[0][path]})
		}
	}
	b.writeTable(b.addSheet("Settings"), []heading{{name: "setting, equal in all points", width: 40}, {name: "value", width: 60}}, 1, slices.Values(shared))

	headings := []heading{{name: "point", width: 20}, {name: "label", width: 34}}
	for _, path := range differing {
		headings = append(headings, heading{name: path, width: 18})
	}
	var rows [][]any
	for i, p := range points {
		row := []any{p.ID, p.Records[0].Label}
		for _, path := range differing {
			row = append(row, facts[i][path])
		}
		rows = append(rows, row)
	}
	b.writeTable(b.addSheet("Points"), headings, 2, slices.Values(rows))
}

// writeDoubts writes all that there is to say against the figures of each point.
func (b *book) writeDoubts(points []results.Point) {
	var rows [][]any
	for _, p := range points {
		for _, f := range p.Findings() {
			rows = append(rows, []any{p.Name + ", " + p.Setting() + ", " + p.Load(), f.Class, f.Code, f.Text, f.Repetitions, p.ID})
		}
	}
	b.writeTable(b.addSheet("Doubts"), []heading{
		{name: "measured", width: 34},
		{name: "class", width: 20},
		{name: "doubt or ending", width: 20},
		{name: "text", width: 90},
		{name: "repetitions", width: 12},
		{name: "point", width: 20},
	}, 1, slices.Values(rows))
}

// meanings explain the columns of all sheets.
var meanings = [][]any{
	{"sheets", "Each study and kind of measurement has a sheet with a row for each point and load. Repetitions holds every record, with times in nanoseconds and sizes in bytes."},
	{"rows", "Medians over repetitions that ended ok. Rows in grey are void, failed or refused: shown, in no chart, and no conclusion may be drawn from them."},
	{"msg/s", "Messages confirmed by the broker per second of the measured phase."},
	{"sustainable, fails at", "Highest rate that passed long trials, and the lowest that failed. The second is empty where in half of the searches or more no rate failed."},
	{"before the knee", "Of a curve: the highest throughput at any rate before the one at which the mean latency from send to receipt jumps, as one reads it off a plot."},
	{"min … max", "End-to-end latency from the intended time of sending, in milliseconds, from the merged histograms of all repetitions."},
	{"publish min … max", "Latency from the intended time of sending to the broker's confirmation, in milliseconds, from the merged histograms of all repetitions. Points that nobody subscribes to have no other latency."},
	{"from send …", "End-to-end latency from the actual send, as older methods have it."},
	{"avg of seconds", "Latency from the actual send: the mean over the seconds of the measured phase of the mean latency in each second."},
	{"corrected …", "Latency from the actual send with HdrHistogram's correction for coordinated omission, by the mean gap between a producer's sends."},
	{"largest backlog", "The largest number of messages that were due and not done, from the start of the measured phase on."},
	{"disk MB", "Bytes that the kernel wrote for the broker's processes from the start of the measured phase to the end of the drain, in 10^6 bytes."},
	{"disk read MB", "Bytes that the kernel read from disks for the broker's processes in the same time as disk MB, in 10^6 bytes. Bytes that came from the page cache are not counted."},
	{"core %usr, core %sys", "CPU time of all of the broker's processes in the measured phase, in % of one core."},
	{"cpu %usr, cpu %sys", "CPU time of all of the broker's processes, in % of the time of all cores of the machine: in the measured phase; if that was shorter than 100 ms, to the end of the drain."},
	{"empty cells", "Not measured or not known, which is never the same as 0."},
	{"due … corrupted", "Counts of messages: sums over the repetitions that ended ok and those that failed. Resent messages were sent once more because the connection was lost or no answer came."},
}

// writeAbout explains the columns, and names the versions and machines of the records.
func (b *book) writeAbout(records []store.Record) {
	var rows [][]any
	if len(records) == 0 {
		rows = append(rows, []any{"", "The store holds no records that match: nothing was measured."})
	}
	rows = append(rows, meanings...)
	measured := map[string]bool{}
	for _, r := range records {
		measured[fmt.Sprintf("%s, client %s, brokermark %s, on %s, %d cores",
			strings.TrimSpace(r.Spec.Broker+" "+r.Versions.Broker), r.Versions.Client, r.Versions.Tool, r.Host.CPU, r.Host.Cores)] = true
	}
	for _, text := range slices.Sorted(maps.Keys(measured)) {
		rows = append(rows, []any{"measured", text})
	}
	b.writeTable(b.addSheet("About"), []heading{{name: "column", width: 24}, {name: "meaning", width: 110}}, 1, slices.Values(rows))
}
