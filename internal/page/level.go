package page

import (
	"cmp"
	"slices"

	"github.com/brokermark/brokermark/internal/report"
	"github.com/brokermark/brokermark/internal/store"
)

// level is one load of one point: all of it, or one rate of its curve. Its records are those of the point cut down to
// what was measured under that load, so that every metric of package report says about a level what it says about a
// record.
type level struct {
	point   int
	load    string
	rate    float64 // offered, messages per second; 0 where the load was not a constant rate
	status  store.Status
	reason  string
	closed  bool // a closed loop: its latency says how full the window was
	records []store.Record
}

// levels lists what was measured of a point, the point itself first unless its curve says it better.
func levels(index int, p report.Point) []level {
	var out []level
	shown := p.Shown()
	whole := level{point: index, load: p.Load(), records: shown, status: store.Refused}
	if len(shown) > 0 {
		whole.status, whole.reason = shown[0].Status, shown[0].Reason
	} else {
		last := p.Records[len(p.Records)-1]
		whole.status, whole.reason = last.Status, last.Reason
	}
	switch p.Spec.Measure {
	case "rate":
		whole.rate = p.Spec.Load.Rate
		if shape := p.Spec.Load.Shape; shape != "constant" && shape != "poisson" && shape != "" {
			whole.rate = 0
		}
	case "peak":
		whole.closed = true
	case "count", "backlog":
		whole.closed = p.Spec.Load.Rate == 0
	case "curve":
		whole.load = "sustainable"
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
func curveLevels(index int, records []store.Record) []level {
	var out []level
	for _, r := range records {
		if r.Result == nil {
			continue
		}
		for _, c := range r.Result.Curve {
			load := "rate " + report.PerSecond.Format(c.Rate)
			if c.Fraction > 0 {
				load = report.Share.Format(c.Fraction) + " of sustainable"
			}
			status, reason := c.Status, c.Reason
			if r.Status != store.OK {
				status, reason = r.Status, r.Reason
			}
			i := slices.IndexFunc(out, func(l level) bool { return l.load == load && l.status == status })
			if i < 0 {
				i = len(out)
				out = append(out, level{point: index, load: load, rate: c.Rate, status: status, reason: reason})
			}
			out[i].records = append(out[i].records, cut(r, c))
		}
	}
	// What ended ok speaks for its rate; the rest stands beside it, unused.
	slices.SortStableFunc(out, func(a, b level) int { return cmp.Compare(a.rate, b.rate) })
	return out
}

// cut is the record as if nothing but one rate of its curve had been measured.
func cut(r store.Record, c store.CurvePoint) store.Record {
	r.Result = &store.Result{
		OfferedRate: c.Rate, PublishRate: c.PublishRate, ReceiveRate: c.ReceiveRate, Latency: c.Latency, Cost: c.Cost,
		Books: store.Books{Sent: c.Cost.Messages, Acked: c.Cost.Messages},
	}
	return r
}
