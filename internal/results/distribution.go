package results

import "github.com/brokermark/brokermark/internal/hist"

// Distribution is all latencies of a point at one load, its repetitions merged into one histogram. Percentiles can't be averaged, so those
// of all repetitions are read from it.
type Distribution struct {
	Point    Point
	RowTitle string // of the load point: "rate 20k/s", "curve 50.0 %"
	Used     bool   // whether conclusions may be drawn from it
	N        int    // repetitions in it
	// Closed tells whether it is of a closed loop. Such a latency says how full the window or the backlog was, nothing about a load.
	// Formats that copy records keep it and say so; no chart shows it and no report concludes from it.
	Closed    bool
	Latencies hist.Snapshot
	Pauses    hist.Snapshot // pauses of the measuring machine meanwhile; empty if they weren't recorded
}

// Distributions merges the repetitions of every point and load. Loads without that histogram are left out.
func Distributions(points []Point, kind LatencyKind) []Distribution {
	var all []Distribution
	for _, p := range points {
		for _, l := range p.MeasuredLoads() {
			if d := l.Distribution(kind); d.N > 0 {
				all = append(all, d)
			}
		}
	}
	return all
}

// Distribution merges the repetitions of a load. It has no repetition (N is 0) if none has that histogram.
func (l LoadPoint) Distribution(kind LatencyKind) Distribution {
	d := Distribution{Point: l.Point, RowTitle: l.RowTitle, Used: l.Used(), Closed: l.Closed}
	for _, r := range l.Records {
		if r.Result == nil || kind.Of(r.Result.Latency).Count() == 0 {
			continue
		}
		d.N++
		d.Latencies = d.Latencies.Merge(kind.Of(r.Result.Latency))
		if r.Result.Pauses != nil {
			d.Pauses = d.Pauses.Merge(r.Result.Pauses.Late)
		}
	}
	return d
}
