package claim

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/results"
)

// Selector says which points are meant, by axis.
type Selector map[string]Values

// Values are the values of an axis that are meant: those listed, those within numbers, or an end of what there is.
type Values struct {
	Any      []string
	From, To float64 // both NaN: not asked
	End      int     // -1 the lowest, +1 the highest of those that the rest of the selector leaves
	Not      []string
}

const (
	lowest  = "lowest"
	highest = "highest"
)

// The loads of a curve that a statement can be about.
const (
	atWhole  = ""           // the point itself
	atEvery  = "every"      // all rates of its curve
	atLowest = "lowest"     // the lowest rate
	atKnee   = "knee"       // the highest rate up to the knee
	atBelow  = "below-knee" // all rates up to the knee
	atAbove  = "above-knee"
)

// Sides of a study: the versions that the paper used, today's, and what the paper published.
const (
	Then      = "then"
	Now       = "now"
	Published = "published"
)

// sweepAxis names the experiment among a record's axes, whenAxis the side; loadAxis is the rate of a curve.
const (
	sweepAxis = "sweep"
	whenAxis  = "when"
	loadAxis  = "load"
)

// sample is a point under one load, with the repetitions that may be used.
type sample struct {
	point   results.Point
	id      string // of point and load
	load    float64
	several bool    // rates of its curve may be selected
	beyond  *sample // of the rate at a knee: the next one, at which it had jumped
	records []results.Record
	status  string // where there are none
}

// value is where the sample lies on an axis, or what its spec says there.
func (s sample) value(axis string) (string, bool) {
	if axis == loadAxis && s.load > 0 {
		return fmt.Sprint(s.load), true
	}
	if v, ok := s.point.Records[0].Axes[axis]; ok {
		return v, true
	}
	v, ok := s.point.Facts()[axis]
	return v, ok
}

// figure is what the records hold of m, also the latency of a closed loop: that is what papers print. A rate that was
// searched for, or read off a curve, is only known to lie between two rates that were tried.
func (s sample) figure(m results.Metric) Figure {
	o := m.AsRecorded().Over(s.records)
	f := Figure{o.Median, o.Low, o.High, o.N, m.Unit}
	for _, r := range s.records {
		if f.N > 0 && r.Result != nil {
			f.High = max(f.High, next(m.Key, r))
		}
	}
	if s.beyond == nil || f.N == 0 {
		return f
	}
	if after := s.beyond.figure(m); after.N > 0 { // the knee is somewhere between both rates
		f.Low, f.High = min(f.Low, after.Low), max(f.High, after.High)
	}
	return f
}

// next is the lowest rate that was tried and was too much for r; 0 where a metric is no such rate.
func next(key string, r results.Record) float64 {
	switch {
	case key == results.KeyKneeRate && r.Result.Knee != nil:
		return r.Result.Knee.JumpedAt
	case key == results.KeySustainableLow && r.Result.Sustainable != nil && r.Result.Sustainable.High == 0:
		return math.Inf(1) // none failed
	case key == results.KeySustainableLow && r.Result.Sustainable != nil:
		return r.Result.Sustainable.High
	}
	return 0
}

// closed tells that a figure of m would be the latency of a closed loop.
func (s sample) closed(m results.Metric) bool { return m.Latency() && results.ClosedLoop(s.point.Spec) }

// side is where a point belongs: what has no axis of versions was measured with today's.
func side(p results.Point) string {
	if p.Published() {
		return Published
	}
	return cmp.Or(p.Records[0].Axes[whenAxis], Now)
}

// samples are the points of a study on one side. Where the same axis values were measured in several ways (at another
// scale, say), the one measured last stands for all.
func samples(points []results.Point, study, when string) []sample {
	var out []sample
	byAxes := map[string]int{}
	for _, p := range points {
		if p.Records[0].Study != study || side(p) != when {
			continue
		}
		s := sample{point: p, id: p.ID, records: p.Ok(), status: p.Status()}
		if when == Published {
			s.records = p.Records
		}
		key := axesKey(p)
		i, there := byAxes[key]
		switch {
		case !there:
			byAxes[key] = len(out)
			out = append(out, s)
		case newest(p) > newest(out[i].point):
			out[i] = s
		}
	}
	return out
}

func axesKey(p results.Point) string {
	axes := p.Records[0].Axes
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(axes)) {
		b.WriteString(name + "=" + axes[name] + "\x00")
	}
	return b.String()
}

func newest(p results.Point) int64 {
	id := int64(0)
	for _, r := range p.Records {
		id = max(id, r.ID)
	}
	return id
}

// loads cuts samples to the loads that at names.
func loads(all []sample, at string) []sample {
	if at == atWhole {
		return all
	}
	var out []sample
	for _, s := range all {
		var own []sample
		for _, l := range s.point.MeasuredLoads() {
			if l.Rate > 0 && s.point.Spec.Measure == "curve" {
				level := sample{point: s.point, id: s.id + " " + l.RowTitle, load: l.Rate, several: at != atLowest && at != atKnee, status: string(l.Status)}
				if l.Used() {
					level.records = l.Records
				}
				own = append(own, level)
			}
		}
		slices.SortStableFunc(own, func(a, b sample) int { return cmp.Compare(a.load, b.load) })
		out = append(out, chosen(own, at, knee(s))...)
	}
	return out
}

// bend is where the latency of a curve jumps: the most that came through before it, and the rate at which it had jumped.
type bend struct{ rate, jumped float64 }

// followed is the share of an offered rate that has to come through for the rate not to be too much.
const followed = 0.98

// knee is what the records say of it; nothing where they don't.
func knee(s sample) (k bend) {
	for _, r := range s.records {
		if r.Result == nil || r.Result.Knee == nil {
			continue
		}
		k.rate = max(k.rate, r.Result.Knee.Rate)
		if at := r.Result.Knee.JumpedAt; at > 0 && (k.jumped == 0 || at < k.jumped) {
			k.jumped = at
		}
	}
	return k
}

// before tells that a rate was offered before the jump; where there was none, that it came through.
func (k bend) before(offered float64) bool {
	if k.jumped > 0 {
		return offered < k.jumped
	}
	return offered*followed <= k.rate
}

func chosen(levels []sample, at string, k bend) []sample {
	up := 0
	for up < len(levels) && k.before(levels[up].load) {
		up++
	}
	switch {
	case at == atEvery || len(levels) == 0:
		return levels
	case at == atLowest:
		return levels[:1]
	case k == bend{}:
		return nil
	case at == atBelow:
		return levels[:up]
	case at == atAbove:
		return levels[up:]
	}
	last := levels[max(0, up-1):up] // at the knee
	if len(last) > 0 && up < len(levels) {
		last[0].beyond = &levels[up]
	}
	return last
}

// selected are the samples of the experiments that match; why says what is wrong where there are none.
func selected(all []sample, experiments []string, at string, selectors ...Selector) (out []sample, reason Reason, why string) {
	for _, s := range all {
		if name, _ := s.value(sweepAxis); len(experiments) == 0 || slices.Contains(experiments, name) {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return nil, NothingMeasured, "nothing was measured of " + strings.Join(experiments, ", ")
	}
	for _, ends := range []bool{false, true} { // the lowest and the highest are those of what the rest leaves
		for _, selector := range selectors {
			for _, axis := range slices.Sorted(maps.Keys(selector)) {
				if v := selector[axis]; (v.End != 0) == ends {
					if out, reason, why = v.of(out, axis); reason != Decided {
						return nil, reason, why
					}
				}
			}
		}
	}
	if out = loads(out, at); len(out) == 0 {
		return nil, NoFigure, "no rate of a curve is " + at
	}
	return out, Decided, ""
}

// of keeps the samples whose value of an axis is meant.
func (v Values) of(all []sample, axis string) (out []sample, reason Reason, why string) {
	var there []string
	for _, s := range all {
		text, ok := s.value(axis)
		if !ok {
			continue
		}
		if !slices.Contains(there, text) {
			there = append(there, text)
		}
	}
	if len(there) == 0 {
		return nil, Misfit, fmt.Sprintf("no point has an axis or a setting %q", axis)
	}
	slices.SortFunc(there, results.CompareNames)
	end := math.Inf(-1)
	for _, text := range there {
		if n, ok := results.Magnitude(text); ok {
			end = max(end, float64(v.End)*n)
		}
	}
	for _, s := range all {
		if text, ok := s.value(axis); ok && v.match(text, end) {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return nil, NothingMeasured, fmt.Sprintf("no point has %s %s; there are %s", axis, v, strings.Join(results.Shorten(there), ", "))
	}
	return out, Decided, ""
}

func (v Values) match(text string, end float64) bool {
	n, number := results.Magnitude(text)
	is := func(want string) bool { return same(want, text) }
	switch {
	case v.End != 0:
		return number && float64(v.End)*n == end
	case v.Any != nil:
		return slices.ContainsFunc(v.Any, is)
	case v.Not != nil:
		return !slices.ContainsFunc(v.Not, is)
	}
	return number && !(n < v.From) && !(n > v.To)
}

// same tells that two values of an axis are equal or measure the same.
func same(a, b string) bool {
	x, okx := results.Magnitude(a)
	y, oky := results.Magnitude(b)
	return a == b || okx && oky && x == y
}

// String is how the values were written.
func (v Values) String() string {
	switch {
	case v.End < 0:
		return lowest
	case v.End > 0:
		return highest
	case v.Any != nil:
		return strings.Join(v.Any, " or ")
	case v.Not != nil:
		return "other than " + strings.Join(v.Not, ", ")
	case math.IsNaN(v.From):
		return fmt.Sprintf("up to %v", v.To)
	case math.IsNaN(v.To):
		return fmt.Sprintf("from %v", v.From)
	}
	return fmt.Sprintf("from %v to %v", v.From, v.To)
}
