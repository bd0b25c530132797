// Package exchange writes records in the formats of other tools and reads theirs: HdrHistogram's percentile text
// (.hgrm) and interval log (.hlog), and the result files of the OpenMessaging Benchmark (OMB). It knows those formats;
// docs/method.md defines the numbers.
//
// A record is one repetition of a point: one run of one broker with one load, or with the loads of a curve one after
// the other.
package exchange

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// digits is the precision of the HdrHistograms that are written, in decimal digits. Their buckets are narrower than
// those of package hist, so no second rounding is seen.
const digits = 3

// ticksPerHalf is how many lines of a percentile text halve the distance to 100 %, as in HdrHistogram's own tools.
const ticksPerHalf = 5

const (
	nanosPerMilli = 1e6
	nanosPerMicro = 1e3
)

// hdr copies a histogram of nanoseconds into an HdrHistogram whose unit is unitNs nanoseconds. A bucket's values all
// stand at its upper edge, where hist.Quantile reports them too, except for the smallest value of all, which is known
// exactly. The upper edge of the last bucket is the largest value.
func hdr(s hist.Snapshot, unitNs int64) (*hdrhistogram.Histogram, error) {
	h := hdrhistogram.New(1, max(s.Max()/unitNs, 2), digits)
	if s.Count() == 0 {
		return h, nil
	}
	err := h.RecordValue(s.Min() / unitNs)
	isFirst := true
	s.Buckets(func(_, highest, count int64) bool {
		if isFirst {
			count-- // the smallest value is recorded already
			isFirst = false
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

// WriteHgrm writes one distribution as HdrHistogram's percentile text, in milliseconds:
//
//	Value     Percentile TotalCount 1/(1-Percentile)
//	1.250 0.500000000000       5000           2.00
//
// Comments, which begin with #, name the distribution and say if it must not be used.
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

// WriteHlog writes an HdrHistogram interval log (format 1.3, V2 compressed histograms of nanoseconds) with an interval
// for each repetition, or for each rate of its curve. Its tag holds the point, the load and, unless it is ok, the
// status. An interval begins when the repetition did, warm-up included, and is as long as the measured phase of its
// load. Interval_Max is in milliseconds.
func WriteHlog(w io.Writer, records []store.Record, kind results.LatencyKind) error {
	var all []interval
	for _, r := range records {
		all = append(all, intervals(r, kind)...)
	}
	if len(all) == 0 {
		return ErrEmpty
	}
	out := bufio.NewWriter(w)
	log := hdrhistogram.NewHistogramLogWriter(out)
	comment, started := "[Logged by brokermark: "+inLine(kind.Text)+", nanoseconds]", all[0].began.UnixMilli()
	err := errors.Join(log.OutputComment(comment), log.OutputLogFormatVersion(), log.OutputStartTime(started), log.OutputLegend())
	if err != nil {
		return fmt.Errorf("write the head of the log: %w", err)
	}
	for _, i := range all {
		if err := i.write(log); err != nil {
			return fmt.Errorf("record %d: %w", i.recordID, err)
		}
	}
	return out.Flush()
}

// interval is one line of a log: one load of a repetition.
type interval struct {
	recordID int64
	began    time.Time // the repetition, warm-up included
	seconds  float64   // of the measured phase
	tag      string    // see tagOf
	latency  hist.Snapshot
}

func (i interval) write(log *hdrhistogram.HistogramLogWriter) error {
	h, err := hdr(i.latency, 1)
	if err != nil {
		return err
	}
	h.SetTag(i.tag)
	h.SetStartTimeMs(i.began.UnixMilli())
	h.SetEndTimeMs(i.began.UnixMilli() + int64(math.Round(i.seconds*1000)))
	return log.OutputIntervalHistogram(h)
}

// intervals are the measured loads of a record that have the latency.
func intervals(r store.Record, kind results.LatencyKind) []interval {
	if r.Result == nil {
		return nil
	}
	var loads []interval
	if r.Result.Curve == nil {
		own := interval{seconds: r.Result.Seconds, tag: tagOf(r, "", r.Status), latency: kind.Of(r.Result.Latency)}
		loads = append(loads, own)
	}
	for _, c := range r.Result.Curve {
		seconds := cmp.Or(c.Seconds, r.Result.Seconds) // older records hold no length for each rate
		atRate := interval{seconds: seconds, tag: tagOf(r, results.CurveLoad(c), c.Status), latency: kind.Of(c.Latency)}
		loads = append(loads, atRate)
	}
	for i := range loads {
		loads[i].recordID, loads[i].began = r.ID, r.Began
	}
	return slices.DeleteFunc(loads, func(i interval) bool { return i.latency.Count() == 0 })
}

// tagOf is "9f2c41-20k/s-closed-loop-void": the point, then the load if there is one, that it was a closed loop, and a
// status that isn't ok.
func tagOf(r store.Record, load string, status store.Status) string {
	parts := []string{r.PointID}
	if load != "" {
		parts = append(parts, load)
	}
	if r.Spec.ClosedLoop() {
		parts = append(parts, "closed-loop")
	}
	if status != store.OK {
		parts = append(parts, string(status))
	}
	return inTag(strings.Join(parts, "-"))
}

// inTag keeps a tag within what the format allows: no commas, no spaces, no line breaks.
func inTag(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == ',' || r == deleteRune {
			return '_'
		}
		return r
	}, s)
}

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
