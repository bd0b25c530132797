package claim

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
	"github.com/brokermark/brokermark/internal/verdict"
)

// Axes with a meaning of their own.
const (
	sweepAxis = "sweep" // names the experiment
	sideAxis  = "when"  // Then or Now
	loadAxis  = "load"  // a rate of a curve, in messages/s
)

// sample is one measurement that a statement may be about: a point or, if the statement asks for rates of a curve, a
// point at one rate. Example: kafka with 5 topics was measured three times, and one run failed. That is one sample
// with two records. If each run was a curve at 1000 and 2000 messages/s, a statement about every rate has two samples.
type sample struct {
	point      results.Point
	id         string         // of the point and the rate
	records    []store.Record // the repetitions that ended ok, or all of a published point; may be empty
	counted    []store.Record // the records, and the repetitions that failed: those over which messages are counted
	status     string         // how the repetitions ended; used if there are no records
	rate       float64        // of the curve, in messages/s; 0: the point itself
	rateIsAxis bool           // the statement is about several rates of each curve, so that the rate is one more axis
	sure       *sureness      // figures have confidence intervals; nil: they are what every choice of repetitions allows
	aboveKnee  *sample        // of a sample at the knee of a curve: that at the next higher rate, or nil
	pair       *pair          // the figure is a ratio, of this sample as the dividend; nil: the metric itself
}

// value returns the sample's value on an axis or, if its study has no such axis, of the setting of that name.
func (s sample) value(axis string) (string, bool) {
	if axis == loadAxis && s.rate > 0 {
		return withoutExponent(s.rate), true
	}
	if v, ok := s.point.Records[0].Axes[axis]; ok {
		return v, true
	}
	v, ok := s.point.Facts()[axis]
	return v, ok
}

// cellName returns the name of the cell that the sample belongs to if axes make the cells: "partitionsPerTopic=5 acks=all".
func (s sample) cellName(axes []string) string {
	var words []string
	for _, axis := range axes {
		if v, ok := s.value(axis); ok {
			words = append(words, axis+"="+v)
		}
	}
	return strings.Join(words, " ")
}

// withoutExponent writes a number: 1000000, and not 1e+06.
func withoutExponent(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// figure returns the metric over the sample's repetitions, latencies of closed loops included, because papers print them. A
// rate that was searched for or read off a curve is only known to lie between two rates that were tried, so the upper one
// is the high end of its spread: 85k/s passed and 107k/s failed is a figure of 85k/s from 85k/s to 107k/s. The same goes
// for a measurement at a knee. The figure of a pair is its ratio, whatever m is.
func (s sample) figure(m results.Metric) Figure {
	if s.pair != nil {
		return s.pair.figure()
	}
	if m.Counts() {
		return s.count(m)
	}
	f := summarized(m.AsRecorded().Over(s.records), m.Unit)
	if !f.known() {
		return Figure{}
	}
	if s.sure != nil {
		f = f.within(s.interval(m.Key, m.AsRecorded().Sample))
	}
	if s.aboveKnee != nil {
		if next := s.aboveKnee.figure(m); next.known() {
			f.Low, f.High = min(f.Low, next.Low), max(f.High, next.High)
		}
	}
	return f
}

// within returns the figure with a confidence interval. Its low end stays above 0 where the figure is: an unknown divisor isn't zero.
func (f Figure) within(low, high float64) Figure {
	if f.Low > 0 {
		low = max(low, math.SmallestNonzeroFloat64)
	}
	f.Low, f.High = low, high
	return f
}

// sureness says that figures have confidence intervals, which err with the probability alpha. Samples of one experiment share an estimate of
// their spread.
type sureness struct {
	alpha   float64
	among   []sample                  // those of the experiments
	spreads map[string]verdict.Spread // by experiment and what they are of
}

// spread returns the estimate from all samples of an experiment. of reads from records what the key names: a metric, or the ratio of two.
func (s *sureness) spread(key, experiment string, of func([]store.Record) verdict.Sample) verdict.Spread {
	key = experiment + " " + key
	spread, ok := s.spreads[key]
	if !ok {
		var samples []verdict.Sample
		for _, one := range s.among {
			if other, _ := one.value(sweepAxis); other == experiment {
				samples = append(samples, of(one.records))
			}
		}
		spread = verdict.Pool(samples...)
		s.spreads[key] = spread
	}
	return spread
}

func (s sample) interval(key string, of func([]store.Record) verdict.Sample) (low, high float64) {
	experiment, _ := s.value(sweepAxis)
	return of(s.records).Interval(s.sure.spread(key, experiment, of), s.sure.alpha)
}

// surely returns the chosen samples with confidence intervals that err with the probability alpha. among are all of their experiments.
func surely(chosen, among []sample, alpha float64) []sample {
	sure := &sureness{alpha: alpha, among: among, spreads: map[string]verdict.Spread{}}
	return lists.Map(chosen, func(s sample) sample { return s.with(sure) })
}

// with returns the sample with other confidence intervals.
func (s sample) with(sure *sureness) sample {
	s.sure = sure
	if s.aboveKnee != nil {
		above := s.aboveKnee.with(sure)
		s.aboveKnee = &above
	}
	if s.pair != nil {
		p := *s.pair
		p.of, p.to = p.of.with(sure), p.to.with(sure)
		s.pair = &p
	}
	return s
}

// sharing returns the sample with intervals that err so seldom that n of them together err as often as one did.
func (s sample) sharing(n int) sample {
	if s.sure == nil {
		return s
	}
	sure := *s.sure
	sure.alpha /= float64(n)
	return s.with(&sure)
}

// count returns how many messages the metric counts per repetition, also in those that failed. Messages that one
// repetition lost are lost, whatever the others did, so the spread is none: of 0, 0 and 30 it is 10, with as many as in
// six repetitions of 10. Where none ended ok there may have been more.
func (s sample) count(m results.Metric) Figure {
	f := summarized(m.Over(s.counted), m.Unit)
	if !f.known() {
		return Figure{}
	}
	f.Value /= float64(f.N) // the sum of all
	f.Low, f.High = f.Value, f.Value
	if len(s.records) == 0 {
		f.High = math.Inf(1)
	}
	if f.Value != math.Trunc(f.Value) {
		f.Unit = unit.None
	}
	return f
}

// anyClosed reports whether a figure of m is, for any sample, the latency of a closed loop.
func anyClosed(samples []sample, m results.Metric) bool {
	return slices.ContainsFunc(samples, func(s sample) bool {
		if s.pair != nil {
			return anyClosed([]sample{s.pair.of}, s.pair.ofMetric) || anyClosed([]sample{s.pair.to}, s.pair.toMetric)
		}
		return m.Latency() && s.point.Spec.ClosedLoop()
	})
}

// samplesOf returns the points of a study on one side. If equal axis values were measured in several ways, at two scales
// for example, the point that was measured last stands for all.
func samplesOf(points []results.Point, study, side string) []sample {
	ofSide := lists.Filter(points, func(p results.Point) bool { return p.Records[0].Study == study && SideOf(p) == side })
	var samples []sample
	for _, g := range results.GroupBy(ofSide, axesKey) {
		latest := slices.MaxFunc(g.Members, func(a, b results.Point) int { return cmp.Compare(lastRecord(a), lastRecord(b)) })
		s := sample{point: latest, id: latest.ID, records: latest.Ok(), counted: latest.Ran(), status: latest.Status()}
		if side == Published { // no published record is ok
			s.records, s.counted = latest.Records, latest.Records
		}
		samples = append(samples, s)
	}
	return samples
}

// SideOf returns the side of a point. Without an axis of versions a study was measured with today's.
func SideOf(p results.Point) string {
	if p.Published() {
		return Published
	}
	return cmp.Or(p.Records[0].Axes[sideAxis], Now)
}

// axesKey returns the same text for points with equal axis values.
func axesKey(p results.Point) string {
	return fmt.Sprintf("%q", p.Records[0].Axes) // prints a map in the order of its keys
}

// lastRecord returns the ID of the point's newest record.
func lastRecord(p results.Point) int64 {
	return slices.MaxFunc(p.Records, func(a, b store.Record) int { return cmp.Compare(a.ID, b.ID) }).ID
}
