package results

import (
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
)

// LoadPoint is one load of a point over its repetitions: the point's own load, or one rate of its curve. Its records are the
// point's, cut down to the measurements under that load, so that every metric applies to them.
//
// For example, a curve of 1k/s and 2k/s was repeated three times, and the second repetition failed at 2k/s because it lost
// messages. The load point of 1k/s has three Records. That of 2k/s has the two that ended ok, of which its latencies are, and
// three that are Counted: what the second repetition lost is lost.
type LoadPoint struct {
	Point Point

	Name     string   // of the load: "rate 1k/s", "50.0 % of sustainable"
	RowTitle string   // "rate 1k/s", "curve 1k/s": unlike Name it tells a curve's rate from a fixed rate
	Rate     float64  // offered messages per second; 0 if the load was not a constant rate
	fraction fraction // of the sustainable rate that was offered; 0 if the rate was not given as such a share
	Closed   bool     // a closed loop, which has no latency

	Status store.Status  // of all Records
	Why    remark.Remark // why it did not end ok; empty if it did

	Records []store.Record // cut down to this load
	counted []store.Record // see Counted; empty if they are the Records
}

// Used tells whether conclusions may be drawn from the load point.
func (l LoadPoint) Used() bool { return l.Status == store.OK }

// Fixed tells whether the load is one constant rate that was given as a number.
func (l LoadPoint) Fixed() bool { return l.Rate > 0 && !l.fraction.given() }

// Measured lists the values of a metric over the load point's repetitions, unknown ones left out.
func (l LoadPoint) Measured(key string) []float64 { return MustMetric(key).Values(l.Records) }

// Over is a metric over the load point's repetitions. Counts are sums also over repetitions that failed, which Records leave
// out if others ended ok: of three repetitions of which one failed because it lost 3 messages, 3 are lost. The sustainable
// rate of searches is their bracket.
func (l LoadPoint) Over(m Metric) Summary {
	if bracket, ok := l.bracket(m); ok {
		return bracket.Summary()
	}
	if m.Counts() {
		return m.Over(l.Counted())
	}
	return m.Over(l.Records)
}

// Counted are the repetitions that counts of messages are added up over: the Records, and those that failed, cut down to this
// load.
func (l LoadPoint) Counted() []store.Record {
	if len(l.counted) > 0 {
		return l.counted
	}
	return l.Records
}

// Cell is Over as a cell of a table. It is marked as unused unless the load point is used.
func (l LoadPoint) Cell(key string) document.Cell {
	m := MustMetric(key)
	if bracket, ok := l.bracket(m); ok {
		return bracket.Cell().Excluded(!l.Used())
	}
	return l.Over(m).Cell().Excluded(!l.Used())
}

// bracket is what the repetitions found if m is the sustainable rate and they searched for it.
func (l LoadPoint) bracket(m Metric) (b Bracket, ok bool) {
	if m.Key != KeySustainableLow || !searched(l.Records) {
		return Bracket{}, false
	}
	return Sustained(l.Records), true
}

// Offered is what was offered, as a text and as a number that orders the load points of one point: "50.0 % of sustainable"
// and 0.5, or "1k/s" and 1000. A load that is no rate, such as a peak, has its title and 0.
func (l LoadPoint) Offered() (text string, order float64) {
	switch {
	case l.fraction.given():
		return l.fraction.ofSustainable(), float64(l.fraction)
	case l.Rate > 0:
		return RateText(l.Rate), l.Rate
	default:
		return l.RowTitle, 0
	}
}
