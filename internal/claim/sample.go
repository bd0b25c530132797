package claim

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// Axes with a meaning of their own.
const (
	sweepAxis = "sweep" // names the experiment
	sideAxis  = "when"  // Then or Now
	loadAxis  = "load"  // a rate of a curve, in messages/s
)

// sample is one measurement that a statement may be about: a point or, if the statement asks for rates of a curve, a point at one rate.
type sample struct {
	point     results.Point
	id        string         // of the point and the rate
	records   []store.Record // the repetitions that may be used
	status    string         // how the repetitions ended, if none may be used
	rate      float64        // of the curve, in messages/s; 0: the point itself
	manyRates bool           // the statement is about several rates of each curve, so that the rate is an axis like others
	nextRate  *sample        // if the rate is a knee: the first one after it, or nil
}

// value is where the sample lies on an axis or, if its study has no such axis, the setting of that name.
func (s sample) value(axis string) (string, bool) {
	if axis == loadAxis && s.rate > 0 {
		return fmt.Sprint(s.rate), true
	}
	if v, ok := s.point.Records[0].Axes[axis]; ok {
		return v, true
	}
	v, ok := s.point.Facts()[axis]
	return v, ok
}

// valuesOn names the sample's values on axes: "partitionsPerTopic=5 acks=all".
func (s sample) valuesOn(axes []string) string {
	var words []string
	for _, axis := range axes {
		if v, ok := s.value(axis); ok {
			words = append(words, axis+"="+v)
		}
	}
	return strings.Join(words, " ")
}

// figure is the metric over the sample's repetitions, latencies of closed loops included, because papers print them. A rate that
// was searched for, or read off a curve, is only known to lie between two rates that were tried: the upper one widens the spread.
func (s sample) figure(m results.Metric) Figure {
	sum := m.AsRecorded().Over(s.records)
	if sum.N == 0 {
		return Figure{}
	}
	f := Figure{Value: sum.Median, Low: sum.Low, High: sum.High, N: sum.N, Unit: m.Unit}
	for _, r := range s.records {
		if failing, ok := failingRate(m.Key, r.Result); ok {
			f.High = max(f.High, failing)
		}
	}
	if s.nextRate != nil {
		if after := s.nextRate.figure(m); after.N > 0 {
			f.Low, f.High = min(f.Low, after.Low), max(f.High, after.High)
		}
	}
	return f
}

// failingRate is the lowest rate that was too much, +Inf if none was. It is not ok if the metric is no rate that was searched for.
func failingRate(key string, r *store.Result) (rate float64, ok bool) {
	if r == nil {
		return 0, false
	}
	if key == results.KeyKneeRate && r.Knee != nil && r.Knee.JumpedAt > 0 {
		return r.Knee.JumpedAt, true
	}
	if key == results.KeySustainableLow && r.Sustainable != nil {
		if r.Sustainable.High == 0 { // every rate that was tried passed
			return math.Inf(1), true
		}
		return r.Sustainable.High, true
	}
	return 0, false
}

// anyClosed tells whether a figure of m is, for any sample, the latency of a closed loop.
func anyClosed(samples []sample, m results.Metric) bool {
	return m.Latency() && slices.ContainsFunc(samples, func(s sample) bool { return s.point.Spec.ClosedLoop() })
}

// samplesOf are the points of a study on one side. If equal axis values were measured in several ways, at two scales for example,
// the point that was measured last stands for all.
func samplesOf(points []results.Point, study, side string) []sample {
	ofSide := slices.DeleteFunc(slices.Clone(points), func(p results.Point) bool {
		return p.Records[0].Study != study || sideOf(p) != side
	})
	var samples []sample
	for _, g := range results.GroupBy(ofSide, axesKey) {
		p := slices.MaxFunc(g.Members, func(a, b results.Point) int { return cmp.Compare(lastRecord(a), lastRecord(b)) })
		s := sample{point: p, id: p.ID, records: p.Ok(), status: p.Status()}
		if side == Published { // no published record is ok
			s.records = p.Records
		}
		samples = append(samples, s)
	}
	return samples
}

// sideOf is the side of a point. A study without an axis of versions was measured with today's.
func sideOf(p results.Point) string {
	if p.Published() {
		return Published
	}
	return cmp.Or(p.Records[0].Axes[sideAxis], Now)
}

// axesKey is equal for points with equal axis values.
func axesKey(p results.Point) string {
	return fmt.Sprintf("%q", p.Records[0].Axes) // prints a map in the order of its keys
}

// lastRecord is the ID of the point's newest record.
func lastRecord(p results.Point) int64 {
	return slices.MaxFunc(p.Records, func(a, b store.Record) int { return cmp.Compare(a.ID, b.ID) }).ID
}
