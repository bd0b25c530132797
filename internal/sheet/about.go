package sheet

import (
	"fmt"
	"maps"
	"slices"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// repetitions writes every record with the flat columns that every format shares, in base units.
func (b *book) repetitions(records []store.Record) {
	header, rows := results.FlatTable(records)
	b.fill(b.sheet("Repetitions"), table{header: header, widths: slices.Repeat([]float64{16}, len(header)), frozen: 2}, rows)
}

// settings writes a sheet of the settings that all points share, and one of the points with a column for each setting in which they
// differ.
func (b *book) settings(points []results.Point) {
	facts := make([]map[string]string, len(points)) // settings of each point, by their path in the spec
	values := results.Values{}
	for i, p := range points {
		facts[i] = p.FactsOf(p.Records[len(p.Records)-1])
		values.AddAll(facts[i])
	}
	var shared [][]any
	var differing []string
	for _, path := range slices.Sorted(maps.Keys(values)) {
		lacks := func(f map[string]string) bool { _, ok := f[path]; return !ok }
		if values.Vary(path) || slices.ContainsFunc(facts, lacks) {
			differing = append(differing, path)
		} else {
			shared = append(shared, []any{path, facts[0][path]})
		}
	}
	b.fill(b.sheet("Settings"), table{header: []string{"setting, equal in all points", "value"}, widths: []float64{40, 60}, frozen: 1}, slices.Values(shared))
	var rows [][]any
	for i, p := range points {
		row := []any{p.ID, p.Records[0].Label}
		for _, path := range differing {
			row = append(row, facts[i][path])
		}
		rows = append(rows, row)
	}
	t := table{header: append([]string{"point", "label"}, differing...), frozen: 2}
	t.widths = append([]float64{20, 34}, slices.Repeat([]float64{18}, len(differing))...)
	b.fill(b.sheet("Points"), t, slices.Values(rows))
}

// finding is a reason to distrust a repetition: a doubt, or how it ended if not ok.
type finding struct{ what, text string }

// findingsOf are the findings of a repetition and of the loads of its curve. A load's own text begins with its name.
func findingsOf(r store.Record) []finding {
	var findings []finding
	if r.Status != store.OK {
		findings = append(findings, finding{what: string(r.Status), text: r.Reason})
	}
	for _, d := range r.Doubts {
		findings = append(findings, finding{what: d.Code, text: d.Text})
	}
	for _, l := range results.Loads(r) {
		if l.Rate <= 0 {
			continue // the whole repetition
		}
		if l.Record.Status != store.OK {
			findings = append(findings, finding{what: string(l.Record.Status), text: l.Name + ": " + l.Record.Reason})
		}
		for _, d := range l.Record.Doubts {
			if !slices.ContainsFunc(r.Doubts, d.Same) {
				findings = append(findings, finding{what: d.Code, text: l.Name + ": " + d.Text})
			}
		}
	}
	return findings
}

// doubts writes the findings about each point, with how often each was made.
func (b *book) doubts(points []results.Point) {
	var rows [][]any
	for _, p := range points {
		var all []finding
		for _, r := range p.Records {
			all = append(all, findingsOf(r)...)
		}
		for _, g := range results.GroupBy(all, func(f finding) string { return f.what + "\x00" + f.text }) {
			f := g.Members[0]
			rows = append(rows, []any{p.Name + ", " + p.Setting() + ", " + p.Load(), f.what, f.text, len(g.Members), p.ID})
		}
	}
	t := table{header: []string{"label", "what", "text", "repetitions", "point"}, widths: []float64{34, 20, 90, 12, 20}, frozen: 1}
	b.fill(b.sheet("Doubts"), t, slices.Values(rows))
}

// meanings explain the columns of all sheets.
var meanings = [][]any{
	{"sheets", "One for each study and kind of measurement, a row for each point and load; Repetitions holds every record, in nanoseconds and bytes."},
	{"rows", "Medians over repetitions that ended ok. Rows in grey are void, failed or refused: shown, in no chart, and no conclusion may be drawn from them."},
	{"msg/s", "Messages confirmed by the broker per second of the measured phase."},
	{"sustainable, fails at", "Highest rate that passed long trials, and the lowest that failed."},
	{"before the knee", "Of a curve: the most that came through at a rate before the mean latency from send to receipt jumps, as one reads it off a plot."},
	{"min … max", "End-to-end latency from the intended time of sending, in milliseconds, from the merged histograms of all repetitions."},
	{"publish min … max", "From the intended time of sending to the broker's confirmation, in milliseconds, from merged histograms: the latency of points that nobody subscribes to."},
	{"from send, avg of seconds, corrected", "Latency as older methods have it: from the actual send to the receipt; the mean of the means of each second; with HdrHistogram's correction by the mean gap between a producer's sends."},
	{"largest backlog", "Messages due but not done, at most, from the start of the measured phase on."},
	{"disk read MB", "Bytes the kernel read from disks for the broker's processes, over the same time as disk MB; what came from the page cache is not in it."},
	{"core %usr, core %sys", "CPU time of all of the broker's processes in the measured phase, in % of one core."},
	{"disk MB", "Bytes the kernel wrote for the broker's processes from the start of the measured phase to the end of the drain, in 10^6 bytes."},
	{"cpu %usr, cpu %sys", "CPU time of all of the broker's processes, as a share of what all cores of the machine had: in the measured phase, in records of older versions to the end of the drain."},
	{"empty cells", "Not measured or not known, which is never the same as 0."},
	{"resent, lost, duplicated, reordered", "Sums over all repetitions in the row. Resent: sent once more because the connection was lost or no answer came."},
}

// about explains the columns, and names the versions and machines of the records.
func (b *book) about(records []store.Record) {
	var rows [][]any
	if len(records) == 0 {
		rows = append(rows, []any{"", "The store holds no records that match: nothing was measured."})
	}
	rows = append(rows, meanings...)
	versions := map[string]bool{}
	for _, r := range records {
		versions[fmt.Sprintf("%s %s, client %s, brokermark %s, on %s, %d cores", r.Spec.Broker, r.Versions.Broker, r.Versions.Client, r.Versions.Tool, r.Host.CPU, r.Host.Cores)] = true
	}
	for _, v := range slices.Sorted(maps.Keys(versions)) {
		rows = append(rows, []any{"measured", v})
	}
	b.fill(b.sheet("About"), table{header: []string{"column", "meaning"}, widths: []float64{24, 110}, frozen: 1}, slices.Values(rows))
}
