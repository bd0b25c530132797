package exchange

import (
	"bufio"
	"fmt"
	"io"

	"github.com/brokermark/brokermark/internal/results"
)

// ticksPerHalf is how many lines of a percentile text halve the distance to 100 %, as in HdrHistogram's own tools.
const ticksPerHalf = 5

// WriteHgrm writes one distribution as HdrHistogram's percentile text, in milliseconds:
//
//	Value     Percentile TotalCount 1/(1-Percentile)
//	1.250 0.500000000000       5000           2.00
//
// Comments, which begin with #, name the distribution, and say if it must not be used and how many of its values are lower bounds.
func WriteHgrm(w io.Writer, d results.Distribution, kind results.LatencyKind) error {
	if d.Latencies.Count() == 0 {
		return ErrEmpty
	}
	h, err := hdr(d.Latencies, 1)
	if err != nil {
		return fmt.Errorf("point %s: %w", d.Point.ID, err)
	}
	out := bufio.NewWriter(w) // keeps the first error for Flush
	fmt.Fprintf(out, "#[%s of %s, %s, %s; point %s; repetitions: %d; milliseconds]\n",
		inLine(kind.Text), inLine(d.Point.Name), inLine(d.Point.Setting()), inLine(d.RowTitle), inLine(d.Point.ID), d.N)
	if d.Closed {
		fmt.Fprintln(out, "#[closed loop: this says how full the client's window or the backlog was, and is no latency under a load]")
	}
	if !d.Used {
		fmt.Fprintln(out, "#[void or failed: no conclusion may be drawn from it]")
	}
	if never := d.Latencies.Censored(); never > 0 {
		fmt.Fprintf(out, "#[%d of the %d values are lower bounds: messages that never came, by how long they were waited for]\n", never, d.Latencies.Count())
	}
	fmt.Fprintf(out, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")
	for _, b := range h.CumulativeDistributionWithTicks(ticksPerHalf) {
		// As Java's HdrHistogram writes it: 12 digits, and no last column at 100 %. The six digits of this library's own
		// text don't tell percentiles beyond 99.9999 apart.
		fmt.Fprintf(out, "%12.3f %14.12f %10d", float64(b.ValueAt)/nanosPerMilli, b.Quantile/100, b.Count)
		if b.Quantile < 100 {
			fmt.Fprintf(out, " %14.2f", 1/(1-b.Quantile/100))
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintf(out, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n#[Max     = %12.3f, Total count    = %12d]\n",
		h.Mean()/nanosPerMilli, h.StdDev()/nanosPerMilli, float64(h.Max())/nanosPerMilli, h.TotalCount())
	return out.Flush()
}
