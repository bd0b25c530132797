package exchange

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// WriteHlog writes an HdrHistogram interval log (format 1.3, V2 compressed histograms of nanoseconds) with an interval
// for each repetition, or for each rate of its curve. Its tag holds the point, the load and, unless it is ok, the
// status. An interval begins when the repetition did, warm-up included, and is as long as the measured phase of its
// load. So those of one curve overlap: when each of its rates began isn't stored. Interval_Max is in milliseconds.
func WriteHlog(w io.Writer, records []store.Record, kind results.LatencyKind) error {
	all := lists.Flat(records, func(r store.Record) []interval { return intervals(r, kind) })
	if len(all) == 0 {
		return ErrEmpty
	}
	out := bufio.NewWriter(w)
	log := hdrhistogram.NewHistogramLogWriter(out)
	err := errors.Join(
		log.OutputComment("[Logged by brokermark: "+inLine(kind.Text)+", nanoseconds]"),
		log.OutputLogFormatVersion(),
		log.OutputStartTime(all[0].began.UnixMilli()),
		log.OutputLegend(),
	)
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
	add := func(load string, status store.Status, seconds float64, latency hist.Snapshot) {
		if latency.Count() == 0 {
			return
		}
		tag := tagOf(r, load, status)
		if latency.Censored() > 0 { // some values are lower bounds
			tag += "-censored"
		}
		loads = append(loads, interval{recordID: r.ID, began: r.Began, seconds: seconds, tag: tag, latency: latency})
	}
	if r.Result.Curve == nil {
		add("", r.Status, r.Result.Seconds, kind.Of(r.Result.Latency))
	}
	for _, l := range results.Loads(r) {
		if l.Rate == 0 {
			continue // the search before the curve
		}
		one := l.Record
		add(l.RowTitle, one.Status, one.Result.Seconds, kind.Of(one.Result.Latency))
	}
	return loads
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

// inTag removes characters that the format doesn't allow in a tag: commas, spaces, line breaks.
func inTag(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == ',' || r == deleteRune {
			return '_'
		}
		return r
	}, s)
}
