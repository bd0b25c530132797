// Package exchange writes records in the formats of other tools and reads theirs: HdrHistogram's percentile text
// (.hgrm) and interval log (.hlog), and the result files of the OpenMessaging Benchmark (OMB). It knows those formats;
// docs/method.md defines the numbers.
//
// A record is one repetition of a point: one run of one broker with one load, or with the loads of a curve one after
// the other.
package exchange

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/results"
)

// digits is the precision of the HdrHistograms that are written, in decimal digits. Their buckets are narrower than
// those of package hist, so no second rounding is seen.
const digits = 3

const (
	nanosPerMilli = 1e6
	nanosPerMicro = 1e3
)

// hdr copies a histogram of nanoseconds into an HdrHistogram whose unit is unitNs nanoseconds: 1, or 1,000 for OMB. The
// values of a bucket all stand at its upper edge, where hist.Quantile reports them too. So quantiles are the same, and
// means at most 1/256 too high. The smallest and the largest value of all, which are known exactly, stay so.
func hdr(s hist.Snapshot, unitNs int64) (*hdrhistogram.Histogram, error) {
	h := hdrhistogram.New(1, max(s.Max()/unitNs, 2), digits)
	if s.Count() == 0 {
		return h, nil
	}
	err := h.RecordValue(s.Min() / unitNs)
	s.Buckets(func(lowest, highest, count int64) bool {
		if lowest <= s.Min() {
			count-- // the smallest value is recorded already
		}
		if err == nil && count > 0 {
			err = h.RecordValues(min(highest, s.Max())/unitNs, count)
		}
		return err == nil
	})
	return h, err
}

// ErrEmpty says that there is no histogram to write.
var ErrEmpty = errors.New("none of the records holds this latency")

// inLine keeps a comment on its line.
func inLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == deleteRune {
			return ' '
		}
		return r
	}, s)
}

const deleteRune = 0x7f // the only control character of ASCII that isn't below the space

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
