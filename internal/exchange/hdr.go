// Package exchange writes records in the formats of other tools and reads theirs: HdrHistogram's percentile text
// (.hgrm) and interval log (.hlog), and the result files of the OpenMessaging Benchmark (OMB). It knows those formats;
// docs/method.md defines the numbers.
//
// A record is one repetition of a point: one run of one broker with one load, or with the loads of a curve one after
// the other.
package exchange

import (
	"errors"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/brokermark/brokermark/internal/hist"
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
