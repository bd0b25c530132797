package report

import (
	"cmp"
	"slices"

	"github.com/brokermark/brokermark/internal/store"
)

// Level is one load of one point: all of it, or one rate of its curve. Its records are those of the point cut down to
// what was measured under that load, so that every metric of this package says about a level what it says about a
// record.
type Level struct {
	Point   int // index among the points
	Load    string
	Rate    float64 // offered, messages per second; 0 where the load was not a constant rate
	share   float64 // of the sustainable rate, where the rates of a curve were given so
	Status  store.Status
	Reason  string
	Closed  bool // a closed loop, so without a latency
	Records []store.Record
}

// Levels lists what was measured of a point, the point itself first unless its curve says it better.
func Levels(index int, p Point) []Level {
	var out []Level
	shown := p.Shown()
	whole := Level{Point: index, Load: p.Load(), Records: shown, Status: store.Refused, Closed: ClosedLoop(p.Spec)}
	if len(shown) > 0 {
		whole.Status, whole.Reason = shown[0].Status, shown[0].Reason
	} else {
		last := p.Records[len(p.Records)-1]
		whole.Status, whole.Reason = last.Status, last.Reason
	}
	switch p.Spec.Measure {
	case "rate":
		whole.Rate = p.Spec.Load.Rate
		if shape := p.Spec.Load.Shape; shape != "constant" && shape != "poisson" && shape != "" {
			whole.Rate = 0
		}
	case "curve":
		whole.Load = "sustainable"
	}
	if p.Spec.Measure != "curve" || len(shown) == 0 || searched(shown) {
		out = append(out, whole)
	}
	return append(out, curveLevels(index, shown)...)
}

func searched(records []store.Record) bool {
	return slices.ContainsFunc(records, func(r store.Record) bool { return r.Result != nil && r.Result.Sustainable != nil })
}

// curveLevels gathers the repetitions of every rate of a curve: by fraction where the rates were fractions of what
// each repetition found sustainable.
func curveLevels(index int, records []store.Record) []Level {
	var out []Level
	for _, r := range records {
		if r.Result == nil {
			continue
		}
		for _, c := range r.Result.Curve {
			load := "rate " + PerSecond.Format(c.Rate)
			if c.Fraction > 0 {
				load = Share.Format(c.Fraction) + " of sustainable"
			}
			status, reason := c.Status, c.Reason
			if r.Status != store.OK {
				status, reason = r.Status, r.Reason
			}
			i := slices.IndexFunc(out, func(l Level) bool { return l.Load == load && l.Status == status })
			if i < 0 {
				i = len(out)
				out = append(out, Level{Point: index, Load: load, Rate: c.Rate, share: c.Fraction, Status: status, Reason: reason})
			}
			out[i].Records = append(out[i].Records, cut(r, c))
		}
	}
	// What ended ok speaks for its rate; the rest stands beside it, unused.
	slices.SortStableFunc(out, func(a, b Level) int { return cmp.Compare(a.Rate, b.Rate) })
	return out
}

// cut is the record as if nothing but one rate of its curve had been measured.
func cut(r store.Record, c store.CurvePoint) store.Record {
	r.Result = &store.Result{Measurement: c.Measurement}
	r.Result.OfferedRate = c.Rate
	return r
}
