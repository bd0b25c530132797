package lab

import (
	"context"
	"fmt"
	"slices"
	"time"

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
	for _, rate := range rates {
		level, err := b.level(ctx, rate)
		if b.record.Result == nil {
			b.record.Result = &store.Result{}
		}
		if level.Doubts = append(level.Doubts, wide...); top > 0 {
			level.Fraction = rate / top
		} else { // no search has filled the result
			b.record.Result.Measurement = level.Measurement
		}
		b.record.Result.Curve = append(b.record.Result.Curve, level)
		if err != nil {
			return err
		}
	}
	return b.judgeCurve()
}

// level measures one rate of a curve. An error is one that ends the curve.
func (b *bench) level(ctx context.Context, rate float64) (store.CurvePoint, error) {
	p := store.CurvePoint{Rate: rate, Status: store.OK}
	s, err := b.arrivals(rate)
	if err != nil {
		p.Status, p.Reason = verdict(ctx, b, err)
		return p, err
	}
	before := b.before
	t := b.runTrial(ctx, "curve", rate, worker.Load{
		Schedule: s, Warmup: b.warmup(), Duration: time.Duration(b.spec.Duration), Drain: time.Duration(b.spec.Drain),
	})
	p.Measurement = measurement(t, b.streamNames())
	p.OfferedRate = rate
	p.Doubts = slices.Concat(b.doubts(t), undrained(before, t.Outcome))
	if err := b.judge(t, rate); err != nil {
		p.Status, p.Reason = verdict(ctx, b, err)
	}
	return p, t.Err
}

// undrained doubts a trial that the one before it burdened, because what that had sent was still under way.
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

// judgeCurve says what the repetition is worth after its levels: nothing where none stands, else doubted where some
// don't.
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
	text := fmt.Sprintf("%d of %d loads did not stand; at %.6g/s: %s", len(bad), len(levels), bad[0].Rate, bad[0].Reason)
	if len(bad) < len(levels) {
		b.record.Doubts = slices.Insert(b.record.Doubts, 0, store.Doubt{Code: "bad-levels", Text: text})
		return nil
	}
	if slices.ContainsFunc(bad, func(l store.CurvePoint) bool { return l.Status != store.Void }) {
		return failed("%s", text)
	}
	return voidError{text}
}
