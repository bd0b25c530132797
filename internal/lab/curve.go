package lab

import (
	"context"
	"slices"

	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// measureCurve measures latency at given rates, or at fractions of the sustainable rate, which it searches first. For example, with
// fractions of 0.3, 0.7 and 0.9 and a sustainable rate of 10,000/s, it measures at 3,000, 7,000 and 9,000/s.
func (b *bench) measureCurve(ctx context.Context) error {
	rates, fractions := b.spec.Curve.Rates, b.spec.Curve.Fractions
	general := slices.Clone(b.record.Doubts) // about the broker and how it was reached, so about every rate
	searched := len(rates) == 0
	if searched {
		sustainable, err := b.searchSustainable(ctx)
		if err != nil {
			return err
		}
		for _, f := range fractions {
			rates = append(rates, f*sustainable)
		}
	} else {
		b.record.Result = &store.Result{}
	}
	result := b.record.Result
	for i, rate := range rates {
		followed := i+1 < len(rates)
		point, err := b.curvePoint(ctx, rate, followed)
		point.Doubts = append(point.Doubts, general...)
		if searched {
			point.Fraction = fractions[i]
		} else { // the result's own figures are those of the last rate
			result.Measurement = point.Measurement
		}
		result.Curve = append(result.Curve, point)
		if err != nil {
			return err
		}
	}
	result.Knee = knee(result.Curve, b.spec.SubscriptionsPerTopic)
	return b.judgeCurve()
}

// settleFactor bounds how long a curve waits for messages that a rate has left behind, in multiples of the time for which the
// rate was offered. A broker that carries less than a tenth of the rate would need longer; then the next rate has a doubt.
const settleFactor = 10

// curvePoint measures one rate of a curve. If followed, it waits until all messages of this rate have arrived, before the next
// rate begins. An error ends the curve; a rate that does not stand has a status of its own.
func (b *bench) curvePoint(ctx context.Context, rate float64, followed bool) (store.CurvePoint, error) {
	p := store.CurvePoint{Rate: rate, Status: store.OK}
	arrivals, err := b.arrivals(rate)
	if err != nil {
		b.setEnding(ctx, &p, err)
		return p, err
	}
	before := b.before
	load := b.timedLoad(arrivals)
	if followed {
		load.Settle = load.Drain + settleFactor*(max(load.Warmup.For, load.Warmup.Max)+load.Duration)
	}
	t := b.judgedTrial(ctx, "curve", rate, load)
	p.Measurement = measurement(t, b.spec.ProducersPerTopic)
	p.OfferedRate = rate
	p.Doubts = slices.Concat(b.doubts(t), undrained(before, t.Outcome))
	err = b.judge(t, rate)
	if mixed := voidIfMixed(t.Outcome); mixed != nil && b.judgePromises(t) == nil { // a broken promise is worse than void
		err = mixed
	}
	if err != nil {
		b.setEnding(ctx, &p, err)
	}
	return p, t.Err
}

func (b *bench) setEnding(ctx context.Context, p *store.CurvePoint, err error) {
	status, why := b.ending(ctx, err)
	p.Status, p.Reason, p.Figures = status, why.Text, why.Figures
}

// voidIfMixed returns the error of a load that is void because many deliveries of the load before arrived during it: its figures
// would be those of both. It returns nil if there were few.
func voidIfMixed(now worker.Outcome) error {
	const mostOthers = 0.01 // of the load's own deliveries
	others, own := now.Warmup.Stale+now.Measured.Stale, now.Warmup.Expected+now.Measured.Expected
	if float64(others) <= mostOthers*float64(own) {
		return nil
	}
	return void("%d deliveries of the load before came during this one, which has %d of its own", others, own)
}

// undrained returns a doubt about a load if messages of the load before it were still under way.
func undrained(before, now worker.Outcome) []store.Doubt {
	arrived := now.Warmup.Stale + now.Measured.Stale
	due := before.Warmup.Lost + before.Measured.Lost
	open := before.Warmup.Unresolved + before.Measured.Unresolved
	var d doubts
	switch {
	case arrived > 0:
		d.add("undrained", "the load before wasn't drained: %d of its deliveries came during this one", arrived)
	case before.Arriving && due > 0:
		d.add("undrained", "the load before wasn't drained: %d of its deliveries were still due when this one began", due)
	case open > 0:
		d.add("undrained", "the load before wasn't drained: the fate of %d of its messages was open when this one began", open)
	}
	return d
}

// judgeCurve fails or voids the repetition if no rate of the curve ended ok, and adds a doubt if some did not.
func (b *bench) judgeCurve() error {
	curve := b.record.Result.Curve
	var bad []store.CurvePoint
	for _, p := range curve {
		if p.Status != store.OK {
			bad = append(bad, p)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	first := bad[0]
	why := remark.Of("%d of %d loads did not stand; at %.6g/s: %s", len(bad), len(curve), first.Rate, remark.Stored(first.Reason, first.Figures))
	if len(bad) < len(curve) {
		b.record.Doubts = slices.Insert(b.record.Doubts, 0, doubtOf(store.DoubtBadRates, why))
		return nil
	}
	if slices.ContainsFunc(bad, func(p store.CurvePoint) bool { return p.Status != store.Void }) {
		return failed("%s", why)
	}
	return void("%s", why)
}
