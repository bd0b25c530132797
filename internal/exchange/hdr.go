// Package exchange writes records in the formats of other tools and reads theirs: HdrHistogram's percentile text and
// interval log, and the OpenMessaging Benchmark's results. It knows those formats; what the numbers mean is
// docs/method.md's.
package exchange

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// digits of the HdrHistograms written: their buckets are narrower than ours, so nothing is lost twice.
const digits = 3

// ticks per halving of the distance to 100 %, as HdrHistogram's own tools write it.
const ticks = 5

const (
	nanosPerMilli = 1e6
	nanosPerMicro = 1e3
)

// hdr is s as an HdrHistogram, every value at the upper edge of its bucket, where Quantile reports it; smallest and
// largest value are exact within HdrHistogram's own precision. per divides the nanoseconds.
func hdr(s hist.Snapshot, per int64) (*hdrhistogram.Histogram, error) {
	h := hdrhistogram.New(1, max(s.Max()/per, 2), digits)
	first := true
	var failed error
	s.Buckets(func(_, highest, n int64) bool {
		if first {
			failed = h.RecordValue(s.Min() / per)
			n, first = n-1, false
		}
		if failed == nil && n > 0 {
			failed = h.RecordValues(min(highest, s.Max())/per, n)
		}
		return failed == nil
	})
	return h, failed
}

// ErrEmpty says that there is no histogram to write.
var ErrEmpty = errors.New("none of the records holds this latency")

// WriteHgrm writes one distribution as HdrHistogram's percentile text, in milliseconds. Lines beginning with # say
// what it is.
func WriteHgrm(w io.Writer, d results.Distribution, kind results.LatencyKind) error {
	if d.Count() == 0 {
		return ErrEmpty
	}
	h, err := hdr(d.Snapshot, 1)
	if err != nil {
		return fmt.Errorf("point %s: %w", d.Point.ID, err)
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "#[%s of %s, %s, %s; point %s; repetitions: %d; milliseconds]\n",
		inLine(kind.Text), inLine(d.Point.Name), inLine(d.Point.Setting()), inLine(d.RowTitle), inLine(d.Point.ID), d.N)
	if d.Closed {
		fmt.Fprintln(out, "#[closed loop: this says how full the client's window or the backlog was, and is no latency under a load]")
	}
	if !d.Used {
		fmt.Fprintln(out, "#[void or failed: no conclusion may be drawn from it]")
	}
	fmt.Fprintf(out, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")
	for _, b := range h.CumulativeDistributionWithTicks(ticks) {
		// As Java writes it: the library's own text has six digits, which is nothing beyond p99.9999, and a word at 100 %.
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

// WriteHlog writes an interval log (format 1.3, V2 compressed histograms of nanoseconds): one interval for each
// repetition, and for each rate of a curve, tagged with point, load and, unless it is ok, status. Intervals begin when
// the repetition began, warm-up included, and are as long as the measured phase of their load; Interval_Max is in milliseconds.
func WriteHlog(w io.Writer, records []store.Record, kind results.LatencyKind) error {
	out := bufio.NewWriter(w)
	log := hdrhistogram.NewHistogramLogWriter(out)
	begun := false
	for _, r := range records {
		for _, i := range intervals(r, kind) {
			if !begun {
				if err := logHead(log, r.Began, kind); err != nil {
					return err
				}
				begun = true
			}
			h, err := hdr(i.snapshot, 1)
			if err != nil {
				return fmt.Errorf("record %d: %w", r.ID, err)
			}
			h.SetTag(i.tag)
			h.SetStartTimeMs(r.Began.UnixMilli())
			h.SetEndTimeMs(r.Began.UnixMilli() + int64(math.Round(i.seconds*1000)))
			if err := log.OutputIntervalHistogram(h); err != nil {
				return fmt.Errorf("record %d: %w", r.ID, err)
			}
		}
	}
	if !begun {
		return ErrEmpty
	}
	return out.Flush()
}

func logHead(log *hdrhistogram.HistogramLogWriter, began time.Time, kind results.LatencyKind) error {
	return errors.Join(
		log.OutputComment("[Logged by brokermark: "+inLine(kind.Text)+", nanoseconds]"), log.OutputLogFormatVersion(),
		log.OutputStartTime(began.UnixMilli()), log.OutputLegend(),
	)
}

// interval is one line of a log.
type interval struct {
	tag      string
	seconds  float64
	snapshot hist.Snapshot
}

func intervals(r store.Record, kind results.LatencyKind) []interval {
	if r.Result == nil {
		return nil
	}
	var list []interval
	add := func(load string, status store.Status, seconds float64, s hist.Snapshot) {
		if s.Count() == 0 {
			return
		}
		tag := r.PointID
		if load != "" {
			tag += "-" + load
		}
		if results.ClosedLoop(r.Spec) {
			tag += "-closed-loop"
		}
		if status != store.OK {
			tag += "-" + string(status)
		}
		list = append(list, interval{inTag(tag), seconds, s})
	}
	for _, c := range r.Result.Curve {
		add(results.CurveLoad(c), c.Status, cmp.Or(c.Seconds, r.Result.Seconds), kind.Of(c.Latency)) // 0 in older records
	}
	if r.Result.Curve == nil {
		add("", r.Status, r.Result.Seconds, kind.Of(r.Result.Latency))
	}
	return list
}

// inTag keeps a tag within what the format allows: no commas, no spaces, no line breaks.
func inTag(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r <= ' ' || r == ',' || r == 0x7f:
			return '_'
		}
		return r
	}, s)
}

// inLine keeps a comment on its line.
func inLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}
