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
	b.fill(b.sheet("Repetitions"), table{header: header, widths: slices.Repeat([]float64{16}, len(header)), frozen: 2}, func(row func(...any)) {
		for values := range rows {
			row(values...)
		}
	})
}

// settings writes the settings that all points share, then a column for each setting in which they differ.
func (b *book) settings(points []results.Point) {
	values := results.Values{}
	facts := make([]map[string]string, len(points))
	for i, p := range points {
		facts[i] = p.FactsOf(p.Records[len(p.Records)-1])
		values.AddAll(facts[i])
	}
	present := func(path string) bool {
		return !slices.ContainsFunc(facts, func(f map[string]string) bool { _, ok := f[path]; return !ok })
	}
	var common, differing []string
	for _, path := range slices.Sorted(maps.Keys(values)) {
		if len(values[path]) == 1 && present(path) {
			common = append(common, path)
		} else {
			differing = append(differing, path)
		}
	}
	b.fill(b.sheet("Settings"), table{header: []string{"setting, equal in all points", "value"}, widths: []float64{40, 60}, frozen: 1}, func(row func(...any)) {
		for _, path := range common {
			row(path, facts[0][path])
		}
	})
	t := table{header: append([]string{"point", "label"}, differing...), widths: []float64{20, 34}, frozen: 2}
	for range differing {
		t.widths = append(t.widths, 18)
	}
	b.fill(b.sheet("Points"), t, func(row func(...any)) {
		for i, p := range points {
			cells := []any{p.ID, p.Records[0].Label}
			for _, path := range differing {
				cells = append(cells, facts[i][path])
			}
			row(cells...)
		}
	})
}

// doubts writes each point's reasons to distrust it, and why repetitions didn't end ok.
func (b *book) doubts(points []results.Point) {
	t := table{header: []string{"label", "what", "text", "repetitions", "point"}, widths: []float64{34, 20, 90, 12, 20}, frozen: 1}
	b.fill(b.sheet("Doubts"), t, func(row func(...any)) {
		for _, p := range points {
			type doubt struct{ what, text string }
			count := map[doubt]int{}
			var order []doubt
			add := func(d doubt) {
				if count[d] == 0 {
					order = append(order, d)
				}
				count[d]++
			}
			for _, r := range p.Records {
				if r.Status != store.OK {
					add(doubt{string(r.Status), r.Reason})
				}
				for _, d := range r.Doubts {
					add(doubt{d.Code, d.Text})
				}
				for _, l := range results.Loads(r) {
					if l.Rate > 0 && l.Record.Status != store.OK {
						add(doubt{string(l.Record.Status), l.Name + ": " + l.Record.Reason})
					}
					for _, d := range l.Record.Doubts {
						if l.Rate > 0 && !slices.ContainsFunc(r.Doubts, d.Same) {
							add(doubt{d.Code, l.Name + ": " + d.Text})
						}
					}
				}
			}
			for _, d := range order {
				row(p.Name+", "+p.Setting()+", "+p.Load(), d.what, d.text, count[d], p.ID)
			}
		}
	})
}

// about explains the columns.
func (b *book) about(records []store.Record) {
	b.fill(b.sheet("About"), table{header: []string{"column", "meaning"}, widths: []float64{24, 110}, frozen: 1}, func(row func(...any)) {
		if len(records) == 0 {
			row("", "The store holds no records that match: nothing was measured.")
		}
		row("sheets", "One for each study and kind of measurement, a row for each point and load; Repetitions holds every record, in nanoseconds and bytes.")
		row("rows", "Medians over repetitions that ended ok. Rows in grey are void, failed or refused: shown, in no chart, and no conclusion may be drawn from them.")
		row("msg/s", "Messages confirmed by the broker per second of the measured phase.")
		row("sustainable, fails at", "Highest rate that passed long trials, and the lowest that failed.")
		row("before the knee", "Of a curve: the most that came through at a rate before the mean latency from send to receipt jumps, as one reads it off a plot.")
		row("min … max", "End-to-end latency from the intended time of sending, in milliseconds, from the merged histograms of all repetitions.")
		row("publish min … max", "From the intended time of sending to the broker's confirmation, in milliseconds, from merged histograms: the latency of points that nobody subscribes to.")
		row("from send, avg of seconds, corrected", "Latency as older methods have it: from the actual send to the receipt; the mean of the means of each second; with HdrHistogram's correction by the mean gap between a producer's sends.")
		row("largest backlog", "Messages due but not done, at most, from the start of the measured phase on.")
		row("disk read MB", "Bytes the kernel read from disks for the broker's processes, over the same time as disk MB; what came from the page cache is not in it.")
		row("core %usr, core %sys", "CPU time of all of the broker's processes in the measured phase, in % of one core.")
		row("disk MB", "Bytes the kernel wrote for the broker's processes from the start of the measured phase to the end of the drain, in 10^6 bytes.")
		row("cpu %usr, cpu %sys", "CPU time of all of the broker's processes, as a share of what all cores of the machine had: in the measured phase, in records of older versions to the end of the drain.")
		row("empty cells", "Not measured or not known, which is never the same as 0.")
		row("resent, lost, duplicated, reordered", "Sums over all repetitions in the row. Resent: sent once more because the connection was lost or no answer came.")
		versions := map[string]bool{}
		for _, r := range records {
			versions[fmt.Sprintf("%s %s, client %s, brokermark %s, on %s, %d cores", r.Spec.Broker, r.Versions.Broker, r.Versions.Client, r.Versions.Tool, r.Host.CPU, r.Host.Cores)] = true
		}
		for _, v := range slices.Sorted(maps.Keys(versions)) {
			row("measured", v)
		}
	})
}
