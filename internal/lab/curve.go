package lab

import (
	"context"
	"slices"
	"time"

	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// curve measures latency at fractions of the sustainable rate, searched first, or at given rates.
func (b *bench) curve(ctx context.Context) error {
	c := b.spec.Curve
	rates, top := slices.Clone(c.Rates), 0.0
	wide := slices.Clone(b.record.Doubts) // about the broker and how it was reached, so about every level
	if len(rates) == 0 {
		var err error
		if top, err = b.sustainable(ctx); err != nil {
			return err
		}
		for _, f := range c.Fractions {
			rates = append(rates, f*top)
		}
	}
	for i, rate := range rates {
		level, err := b.level(ctx, rate, i+1 < len(rates))
		if b.record.Result == nil {
			b.record.Result = &store.Result{}
		}
		if level.Doubts = append(level.Doubts, wide...); top > 0 {
			level.Fraction = c.Fractions[i]
		} else { // no search has filled the result
			b.record.Result.Measurement = level.Measurement
		}
		b.record.Result.Curve = append(b.record.Result.Curve, level)
		if err != nil {
			return err
		}
	}
	b.record.Result.Knee = knee(b.record.Result.Curve, b.spec.SubscriptionsPerTopic)
	return b.judgeCurve()
}

// settleFor is how long a curve waits for the messages that a rate has left behind, in multiples of the time for which the
// rate was offered. A broker that carries less than a tenth of the rate would need longer; then the next rate has a doubt.
const settleFor = 10

// level measures one rate of a curve. An error ends the curve. If another rate follows, level waits until all messages of
// this one have come.
func (b *bench) level(ctx context.Context, rate float64, followed bool) (store.CurvePoint, error) {
	p := store.CurvePoint{Rate: rate, Status: store.OK}
	s, err := b.arrivals(rate)
	if err != nil {
		status, why := verdict(ctx, b, err)
		p.Status, p.Reason, p.Figures = status, why.Text, why.Figures
		return p, err
	}
	before := b.before
	load := worker.Load{
		Schedule: s, Warmup: b.warmup(), Duration: time.Duration(b.spec.Duration), Drain: time.Duration(b.spec.Drain),
	}
	if followed {
		load.Settle = load.Drain + settleFor*(max(load.Warmup.For, load.Warmup.Max)+load.Duration)
	}
	t := b.judgedTrial(ctx, "curve", rate, load)
	p.Measurement = measurement(t, b.streamNames())
	p.OfferedRate = rate
	p.Doubts = slices.Concat(b.doubts(t), undrained(before, t.Outcome))
	err = b.judge(t, rate)
	if heavy := burdened(t.Outcome); heavy != nil && b.promises(t) == nil {
		err = heavy
	}
	if err != nil {
		status, why := verdict(ctx, b, err)
		p.Status, p.Reason, p.Figures = status, why.Text, why.Figures
	}
	return p, t.Err
}

// burdened returns why a load is void during which many deliveries of the load before it came; nil if there were few. Its
// figures would be those of both.
func burdened(now worker.Outcome) error {
	const share = 0.01
	came, expected := now.Warmup.Stale+now.Measured.Stale, now.Warmup.Expected+now.Measured.Expected
	if float64(came) <= share*float64(expected) {
		return nil
	}
	return void("%d deliveries of the load before came during this one, which has %d of its own", came, expected)
}

// undrained doubts a trial if messages of the one before it were still under way.
func undrained(before, now worker.Outcome) (d doubts) {
	came := now.Warmup.Stale + now.Measured.Stale
	late := before.Warmup.Lost + before.Measured.Lost
	open := before.Warmup.Unresolved + before.Measured.Unresolved
	switch {
	case came > 0:
		d.add("undrained", "the load before wasn't drained: %d of its deliveries came during this one", came)
	case before.Arriving && late > 0:
		d.add("undrained", "the load before wasn't drained: %d of its deliveries were still due when this one began", late)
	case open > 0:
		d.add("undrained", "the load before wasn't drained: the fate of %d of its messages was open when this one began", open)
	}
	return d
}

// judgeCurve fails or voids the repetition if no rate of the curve ended ok, and doubts it if some did not.
func (b *bench) judgeCurve() error {
	levels := b.record.Result.Curve
	var bad []store.CurvePoint
	for _, l := range levels {
		if l.Status != store.OK {
			bad = append(bad, l)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	first := bad[0]
	why := remark.Of("%d of %d loads did not stand; at %.6g/s: %s", len(bad), len(levels), first.Rate, remark.Stored(first.Reason, first.Figures))
	if len(bad) < len(levels) {
		b.record.Doubts = slices.Insert(b.record.Doubts, 0, doubtOf(store.DoubtBadRates, why))
		return nil
	}
	if slices.ContainsFunc(bad, func(l store.CurvePoint) bool { return l.Status != store.Void }) {
		return failed("%s", why)
	}
	return void("%s", why)
}
