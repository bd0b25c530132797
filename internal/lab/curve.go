package lab

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
)

// measureCurve measures latency at given rates, or at fractions of the sustainable rate, which it searches first. For
// example, with fractions of 0.3, 0.7 and 0.9 and a sustainable rate of 10,000/s, it measures at 3,000, 7,000 and 9,000/s.
func (b *bench) measureCurve(ctx context.Context) error {
	rates, fractions := b.spec.Curve.Rates, b.spec.Curve.Fractions
	general := slices.Clone(b.record.Doubts) // about the broker and how it was reached, so about every rate
	b.record.Result = &store.Result{}
	searched := len(rates) == 0 // a spec has either rates or fractions
	if searched {
		sustainable, err := b.searchSustainable(ctx) // makes a result of its own
		if err != nil {
			return err
		}
		for _, f := range fractions {
			rates = append(rates, f*sustainable)
		}
	}
	result := b.record.Result
	for i, rate := range rates {
		arrivals, err := b.arrivals(rate)
		if err != nil {
			return fmt.Errorf("curve at %g/s: %w", rate, err)
		}
		load := b.timedLoad(arrivals)
		if i+1 < len(rates) { // messages that this rate leaves behind would disturb the next one
			load.Settle = load.Drain + settleFactor*(max(load.Warmup.For, load.Warmup.Max)+load.Duration)
		}
		t := b.growingTrial(ctx, "curve", rate, load)
		point := b.curvePoint(ctx, t)
		point.Doubts = append(point.Doubts, general...)
		if searched {
			point.Fraction = fractions[i]
		} else { // the result's own figures are those of the last rate
			result.Measurement = point.Measurement
		}
		result.Curve = append(result.Curve, point)
		if t.Err != nil {
			return t.Err
		}
	}
	result.Knee = knee(result.Curve, b.spec.SubscriptionsPerTopic)
	return b.judgeCurve()
}

// settleFactor bounds how long a curve waits for messages that a rate has left behind, in multiples of the time for which the rate was
// offered. A broker that carries less than about a tenth of the rate would need longer. Then the next rate has a doubt (undrained).
const settleFactor = 10

// curvePoint returns the point of a curve that trial t has measured. It is judged like a repetition at this rate alone, and is void if the
// deliveries of the load before mixed with its own.
func (b *bench) curvePoint(ctx context.Context, t trial) store.CurvePoint {
	p := store.CurvePoint{
		Rate: t.Rate, Status: store.OK, Measurement: measurement(t, b.spec.ProducersPerTopic),
		Doubts: slices.Concat(b.doubtsAbout(t), undrained(t)),
	}
	p.OfferedRate = t.Rate
	// A broken promise comes before void figures, because it is worse.
	if err := cmp.Or(b.judgePromises(t), judgeStale(t), b.judge(t, t.Rate)); err != nil {
		status, why := ending(ctx, err)
		p.Status, p.Reason, p.Figures = status, why.Text, why.Figures
	}
	return p
}

// maxStaleShare is how many stale deliveries, those of the load before, may arrive during a load, as a share of the load's own.
const maxStaleShare = 0.01

// judgeStale voids a load during which many deliveries of the load before arrived: its figures would be those of both. A load
// that broke off ends with its own error.
func judgeStale(t trial) error {
	stale, own := t.Warmup.Stale+t.Measured.Stale, t.Warmup.Expected+t.Measured.Expected
	if brokeOff(t) || float64(stale) <= maxStaleShare*float64(own) {
		return nil
	}
	return void("%d deliveries of the load before came during this one, which has %d of its own", stale, own)
}

// undrained returns a doubt about a load if messages of the load before it were still under way.
func undrained(t trial) []store.Doubt {
	before := t.previous
	stale := t.Warmup.Stale + t.Measured.Stale
	missing := before.Warmup.Lost + before.Measured.Lost
	unresolved := before.Warmup.Unresolved + before.Measured.Unresolved
	var d doubts
	switch {
	case stale > 0:
		d.add("undrained", "the load before wasn't drained: %d of its deliveries came during this one", stale)
	case before.Arriving && missing > 0: // its deliveries still came when waiting for them ended
		d.add("undrained", "the load before wasn't drained: %d of its deliveries were still due when this one began", missing)
	case unresolved > 0:
		d.add("undrained", "the load before wasn't drained: the fate of %d of its messages was open when this one began", unresolved)
	}
	return d
}

// judgeCurve fails or voids the repetition if no rate of the curve ended ok, and adds a doubt if some did not. A void
// repetition has only void rates.
func (b *bench) judgeCurve() error {
	curve := b.record.Result.Curve
	var notOK []store.CurvePoint
	for _, p := range curve {
		if p.Status != store.OK {
			notOK = append(notOK, p)
		}
	}
	if len(notOK) == 0 {
		return nil
	}
	first := notOK[0]
	why := remark.Of("%d of %d loads failed or are void; at %.6g/s: %s",
		len(notOK), len(curve), first.Rate, remark.Stored(first.Reason, first.Figures))
	if len(notOK) < len(curve) {
		b.record.Doubts = slices.Insert(b.record.Doubts, 0, doubtOf(store.DoubtBadRates, why))
		return nil
	}
	if slices.ContainsFunc(notOK, func(p store.CurvePoint) bool { return p.Status != store.Void }) {
		return failed("%s", why)
	}
	return void("%s", why)
}
