package claim

import (
	"cmp"
	"fmt"
	"maps"
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

// sample is a point, or one rate of a point's curve, with the repetitions that may be used.
type sample struct {
	point     results.Point
	id        string  // of the point and the rate
	rate      float64 // of the curve, in messages/s; 0 for the point itself
	manyRates bool    // other rates of the same curve are samples as well
	nextRate  *sample // of the last rate before a knee: the first one after it
	records   []store.Record
	status    string // how the repetitions ended if none may be used
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
	switch {
	case r == nil:
		return 0, false
	case key == results.KeyKneeRate && r.Knee != nil && r.Knee.JumpedAt > 0:
		return r.Knee.JumpedAt, true
	case key == results.KeySustainableLow && r.Sustainable != nil && r.Sustainable.High == 0:
		return math.Inf(1), true
	case key == results.KeySustainableLow && r.Sustainable != nil:
		return r.Sustainable.High, true
	}
	return 0, false
}

// closed tells whether a figure of m is the latency of a closed loop.
func (s sample) closed(m results.Metric) bool { return m.Latency() && results.ClosedLoop(s.point.Spec) }

func anyClosed(samples []sample, m results.Metric) bool {
	return slices.ContainsFunc(samples, func(s sample) bool { return s.closed(m) })
}

// samplesOf are the points of a study on one side. If equal axis values were measured in several ways, at two scales for example,
// the point that was measured last stands for all.
func samplesOf(points []results.Point, study, side string) []sample {
	var samples []sample
	byAxes := map[string]int{} // index of the sample
	for _, p := range points {
		if p.Records[0].Study != study || sideOf(p) != side {
			continue
		}
		s := sample{point: p, id: p.ID, records: p.Ok(), status: p.Status()}
		if side == Published { // whose status is never ok
			s.records = p.Records
		}
		key := axesKey(p)
		i, ok := byAxes[key]
		switch {
		case !ok:
			byAxes[key] = len(samples)
			samples = append(samples, s)
		case lastRecord(p) > lastRecord(samples[i].point):
			samples[i] = s
		}
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
	axes := p.Records[0].Axes
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(axes)) {
		b.WriteString(name + "=" + axes[name] + "\x00")
	}
	return b.String()
}

// lastRecord is the ID of the point's newest record.
func lastRecord(p results.Point) int64 {
	last := int64(0)
	for _, r := range p.Records {
		last = max(last, r.ID)
	}
	return last
}

// Loads of a curve that a statement can be about.
const (
	everyRate   = "every"
	lowestRate  = "lowest"
	rateAtKnee  = "knee"       // the highest rate up to the knee
	ratesBelow  = "below-knee" // all rates up to the knee
	ratesAbove  = "above-knee"
	pointItself = ""
)

// minAckedShare is the share of an offered rate that has to be confirmed, or the rate was too much.
const minAckedShare = 0.98

// loadChoices are the loads that claims.yaml can ask for.
var loadChoices = []string{everyRate, lowestRate, rateAtKnee, ratesBelow, ratesAbove}

// atLoads replaces samples by the rates of their curves that are asked for. Example: of a curve with the rates 50, 2000, 10,000 and 60,000/s
// whose latency jumped at 10,000, "knee" is 2000, "below-knee" are 50 and 2000, and "above-knee" are the others.
func atLoads(samples []sample, choice string) []sample {
	if choice == pointItself {
		return samples
	}
	var chosen []sample
	for _, s := range samples {
		chosen = append(chosen, chooseRates(s.rates(choice), choice, kneeOf(s.records))...)
	}
	return chosen
}

// rates are the samples of all rates of a curve, the lowest first. Other measurements have none.
func (s sample) rates(choice string) []sample {
	if s.point.Spec.Measure != "curve" {
		return nil
	}
	var rates []sample
	for _, l := range s.point.MeasuredLoads() {
		if l.Rate <= 0 {
			continue
		}
		at := sample{
			point: s.point, id: s.id + " " + l.RowTitle, rate: l.Rate, status: string(l.Status),
			manyRates: choice != lowestRate && choice != rateAtKnee,
		}
		if l.Used() {
			at.records = l.Records
		}
		rates = append(rates, at)
	}
	slices.SortStableFunc(rates, func(a, b sample) int { return cmp.Compare(a.rate, b.rate) })
	return rates
}

// chooseRates keeps the rates that are asked for. Without a knee there are none below, at, or above it.
func chooseRates(rates []sample, choice string, knee store.Knee) []sample {
	switch {
	case choice == everyRate || len(rates) == 0:
		return rates
	case choice == lowestRate:
		return rates[:1]
	case knee == store.Knee{}:
		return nil
	}
	below := 0
	for below < len(rates) && isBelow(knee, rates[below].rate) {
		below++
	}
	switch {
	case choice == ratesBelow:
		return rates[:below]
	case choice == ratesAbove:
		return rates[below:]
	case below == 0:
		return nil
	}
	last := rates[below-1]
	if below < len(rates) {
		last.nextRate = &rates[below]
	}
	return []sample{last}
}

// kneeOf takes the knees of all repetitions together: the highest rate before a jump, and the lowest rate after one. It is the zero
// Knee if no repetition has one.
func kneeOf(records []store.Record) store.Knee {
	var knee store.Knee
	for _, r := range records {
		if r.Result == nil || r.Result.Knee == nil {
			continue
		}
		knee.Rate = max(knee.Rate, r.Result.Knee.Rate)
		if jumped := r.Result.Knee.JumpedAt; jumped > 0 && (knee.JumpedAt == 0 || jumped < knee.JumpedAt) {
			knee.JumpedAt = jumped
		}
	}
	return knee
}

// isBelow tells whether an offered rate lies before the jump in latency or, if there was none, was confirmed almost in full.
func isBelow(knee store.Knee, offered float64) bool {
	if knee.JumpedAt > 0 {
		return offered < knee.JumpedAt
	}
	return offered*minAckedShare <= knee.Rate
}
