package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// A curve is the latency at several rates. For example, 1,000/s may have a p99 of 2 ms, 2,000/s one of 3 ms, and 4,000/s one of 900 ms. A
// rate is void if its figures say nothing about the broker: the generator limited them, or messages of the rate before disturbed them.
// Each rate is one load, which a trial measures.

// measureCurve offers one rate after the other on the same topics, in a drawn order, and judges each like a repetition of its own. If one is
// void because the generator had too few threads, all are offered again with all threads. The record lists those that were offered in the
// order of the spec.
func (b *bench) measureCurve(ctx context.Context) error {
	doubtsOfAll := slices.Clone(b.record.Doubts) // about the broker and how it was reached, so about every rate
	rates, err := b.curveRates(ctx)
	if err != nil {
		return err
	}
	if b.record.Result == nil { // unless the search for the rates has set it
		b.record.Result = &store.Result{}
	}
	measured, order := make([]store.CurvePoint, len(rates)), newCurveOrder(rates, b.record.Seed)
	threadsForRate := highest(rates) // for all of them: their costs and latencies are compared with one another
	for len(order.waiting) > 0 {
		i, isLast := order.next()
		load, err := b.curveLoad(rates[i].rate, i+1, isLast)
		if err != nil {
			return fmt.Errorf("curve at %g/s: %w", rates[i].rate, err)
		}
		load.RateForThreads = threadsForRate
		t := b.growingTrial(ctx, "curve", rates[i].rate, load)
		if t.Err == nil && threadsForRate < allThreads && b.lacksThreads(t) { // begin again, with all threads at every rate
			threadsForRate, b.record.Result.Curve = allThreads, nil
			measured, order = make([]store.CurvePoint, len(rates)), newCurveOrder(rates, b.record.Seed)
			continue
		}
		point := b.curvePoint(ctx, t)
		point.Doubts = append(point.Doubts, doubtsOfAll...)
		point.Fraction, point.Offered = rates[i].fraction, len(order.offered)
		measured[i] = point
		b.keepCurve(measured)
		if t.Err != nil {
			return t.Err
		}
		order.ended(point.Status, judgeStale(t) != nil)
	}
	b.record.Result.Knee = knee(b.record.Result.Curve, b.spec.SubscriptionsPerTopic)
	return b.judgeCurve()
}

// keepCurve sets the record's curve to those of its rates that were offered. If no search has set the result's own figures, they are those
// of the last one in the order of the spec.
func (b *bench) keepCurve(rates []store.CurvePoint) {
	curve := slices.DeleteFunc(slices.Clone(rates), func(p store.CurvePoint) bool { return p.Offered == 0 })
	b.record.Result.Curve = curve
	if last := curve[len(curve)-1]; last.Fraction == 0 {
		b.record.Result.Measurement = last.Measurement
	}
}

// curveRate is a rate of a curve.
type curveRate struct {
	rate     float64 // messages per second
	fraction float64 // of the sustainable rate; 0 if the spec gives the rate itself
}

// highest returns the highest of the rates of a curve.
func highest(rates []curveRate) (most float64) {
	for _, r := range rates {
		most = max(most, r.rate)
	}
	return most
}

// curveRates returns the rates of a curve: those of the spec or, if it has none, its fractions of the sustainable rate, which is searched
// first. For example, fractions of 0.3, 0.7 and 0.9 of 10,000/s are 3,000, 7,000 and 9,000/s.
func (b *bench) curveRates(ctx context.Context) ([]curveRate, error) {
	var rates []curveRate
	for _, rate := range b.spec.Curve.Rates {
		rates = append(rates, curveRate{rate: rate})
	}
	if len(rates) > 0 {
		return rates, nil
	}
	sustainable, err := b.searchSustainable(ctx)
	if err != nil {
		return nil, err
	}
	for _, fraction := range b.spec.Curve.Fractions {
		rates = append(rates, curveRate{rate: fraction * sustainable, fraction: fraction})
	}
	return rates, nil
}

// curveLoad returns the load of one rate, the number'th of the spec. Messages that it leaves behind would disturb the next rate, so its trial
// waits for them, unless it is the last.
func (b *bench) curveLoad(rate float64, number int, isLast bool) (worker.Load, error) {
	arrivals, err := b.arrivals(rate, number)
	if err != nil {
		return worker.Load{}, err
	}
	load := b.timedLoad(arrivals)
	if !isLast {
		offeredFor := max(load.Warmup.For, load.Warmup.Max) + load.Duration
		load.Settle = load.Drain + settleFactor*offeredFor
	}
	return load, nil
}

// settleFactor bounds how long a curve waits for messages that a rate has left behind, in multiples of the time for which the rate was
// offered. A broker that carries less than about a tenth of the rate would need longer. Then the next rate has a doubt (undrained).
const settleFactor = 10

// curvePoint returns the stored form of a rate of a curve, which trial t has measured.
func (b *bench) curvePoint(ctx context.Context, t trial) store.CurvePoint {
	p := store.CurvePoint{
		Rate: t.Rate, Status: store.OK, Measurement: b.measurement(t),
		Doubts: slices.Concat(b.doubtsAbout(t), undrained(t)),
	}
	p.OfferedRate = t.Rate
	if err := b.judgeRate(t); err != nil {
		status, why := ending(ctx, err)
		p.Status, p.Reason, p.Figures = status, why.Text, why.Figures
	}
	return p
}

// judgeRate judges the trial of one rate. A broken promise comes before void figures, because it is worse.
func (b *bench) judgeRate(t trial) error {
	err, stale := b.judge(t, t.Rate), judgeStale(t)
	var judged errJudged
	if stale == nil || errors.As(err, &judged) && judged.broken {
		return err
	}
	return stale
}

// maxStaleShare is how many stale deliveries (staleDeliveries) may arrive during a load, as a share of the load's own.
const maxStaleShare = 0.01

// judgeStale voids a load during which many deliveries of the load before arrived: its figures would be those of both. A load
// that broke off ends with its own error.
func judgeStale(t trial) error {
	stale, own := staleDeliveries(t), t.Warmup.Expected+t.Measured.Expected
	if brokeOff(t) || float64(stale) <= maxStaleShare*float64(own) {
		return nil
	}
	return void("%d deliveries of the load before came during this one, which has %d of its own", stale, own)
}

// staleDeliveries returns how many deliveries of the load before arrived during a load.
func staleDeliveries(t trial) int64 { return t.Warmup.Stale + t.Measured.Stale }

// undrained returns a doubt about a load if messages of the load before it (previous) were still under way.
func undrained(t trial) []store.Doubt {
	before, stale := t.previous, staleDeliveries(t)
	missing := before.Warmup.Lost + before.Measured.Lost
	unresolved := before.Warmup.Unresolved + before.Measured.Unresolved
	var d doubts
	switch {
	case stale > 0:
		d.add(doubt.Undrained, "the load before wasn't drained: %d of its deliveries came during this one", stale)
	case before.Arriving && missing > 0: // its deliveries still came when waiting for them ended
		d.add(doubt.Undrained, "the load before wasn't drained: %d of its deliveries were still due when this one began", missing)
	case unresolved > 0:
		d.add(doubt.Undrained, "the load before wasn't drained: the fate of %d of its messages was open when this one began", unresolved)
	}
	return d
}

// judgeCurve fails the repetition if no rate of the curve ended ok, or voids it if all are void. If some ended ok, it adds a doubt
// about the others.
func (b *bench) judgeCurve() error {
	curve := b.record.Result.Curve
	notOK := slices.DeleteFunc(slices.Clone(curve), func(p store.CurvePoint) bool { return p.Status == store.OK })
	if len(notOK) == 0 {
		return nil
	}
	first := notOK[0]
	why := remark.Of("%d of %d loads failed or are void; at %.6g/s: %s",
		len(notOK), len(curve), first.Rate, remark.Stored(first.Reason, first.Figures))
	if len(notOK) < len(curve) {
		b.record.Doubts = slices.Insert(b.record.Doubts, 0, store.DoubtOf(doubt.BadRates, why.Text))
		return nil
	}
	if slices.ContainsFunc(notOK, func(p store.CurvePoint) bool { return p.Status != store.Void }) {
		return failed("%s", why)
	}
	return void("%s", why)
}

// curveOrder is the order in which the rates of a curve are offered. It is drawn anew for each repetition: with rates that always rise, the
// effect of a rate can't be told from that of the time since the broker was started. But an overload leaves a broker with full queues and
// caches. So once a rate has not ended ok, the lower ones that are left come first, and then the higher ones in rising order.
//
// For example, 8,000/s is drawn first of 1,000, 2,000, 4,000, 8,000, 16,000 and 32,000/s, and fails. The next are 4,000, 1,000 and
// 2,000/s, as drawn; then 16,000 and 32,000/s.
type curveOrder struct {
	rates   []curveRate
	waiting []int // indexes of the rates that are still to come, the next one first
	offered []int // indexes of those that have come; twice if disturbed
}

// newCurveOrder draws an order of rates.
func newCurveOrder(rates []curveRate, seed int64) *curveOrder {
	rng := rand.New(rand.NewPCG(uint64(seed), 0x6375_7276_65)) // any fixed stream will do
	return &curveOrder{rates: rates, waiting: rng.Perm(len(rates))}
}

// next returns the index of the next rate, and whether it is the last one. There must be one left.
func (o *curveOrder) next() (i int, isLast bool) {
	i, o.waiting = o.waiting[0], o.waiting[1:]
	o.offered = append(o.offered, i)
	return i, len(o.waiting) == 0
}

// ended says how the rate that next returned has ended. disturbed says that messages of the rate before came during it: such a rate is
// offered once more, at once.
func (o *curveOrder) ended(status store.Status, disturbed bool) {
	i := o.offered[len(o.offered)-1]
	if disturbed {
		if !slices.Contains(o.offered[:len(o.offered)-1], i) {
			o.waiting = slices.Insert(o.waiting, 0, i)
		}
		return
	}
	if status != store.OK {
		slices.SortStableFunc(o.waiting, func(a, b int) int { return o.compareAfter(o.rates[i].rate, a, b) })
	}
}

// compareAfter orders two rates that are to come after one that did not end ok: those above it last, and in rising order.
func (o *curveOrder) compareAfter(notOK float64, a, b int) int {
	x, y := o.rates[a].rate, o.rates[b].rate
	if x < notOK && y < notOK {
		return 0 // as drawn
	}
	return cmp.Compare(max(x, notOK), max(y, notOK))
}

// A mean latency has jumped if it is at least jumpFactor times the highest one at all lower rates, and at least jumpNs above it, at a rate
// of which less than store.KneeShare came through: it is a queue that Nilsson and Pregén look for, and latency that climbs while everything
// comes through is none. They read the jump off a plot and give no numbers; with these, the jump in their figure 4.1 is found.
const (
	jumpFactor = 5
	jumpNs     = 1e6 // 1 ms: among microseconds, a factor of five is only noise
)

// kneeStep is one rate of a curve, reduced to what the knee depends on.
type kneeStep struct {
	rate    float64 // offered, messages per second
	through float64 // messages per second that came through
	mean    float64 // latency from the send, ns
}

// knee finds the maximum throughput of a curve as Nilsson and Pregén did (2020, sections 3.4.1 and 4.1, after Sommer et al.): the
// most that came through at any rate below the one at which the mean latency jumps and stays up, and less comes through than is offered.
// If it never jumps, that is the most that came through at any rate. knee returns nil if the curve does not show a knee: if it has fewer
// than two usable rates, or if it has no jump and the broker kept up with the highest rate.
//
// For example, 1,000/s at 1 ms, 2,000/s at 2 ms, and 3,000/s at 150 ms with 2,100/s coming through: the latency has jumped at
// 3,000/s, and the knee is 2,000/s.
func knee(curve []store.CurvePoint, subscriptions int) *store.Knee {
	steps := kneeSteps(curve, subscriptions)
	if len(steps) < 2 {
		return nil
	}
	jumped := jump(steps)
	k := &store.Knee{}
	for _, s := range steps[:jumped] {
		k.Rate = max(k.Rate, s.through)
	}
	if jumped < len(steps) {
		k.JumpedAt = steps[jumped].rate
		return k
	}
	if steps[len(steps)-1].keptUp(k.Rate) {
		return nil
	}
	return k
}

// keptUp reports whether so many messages per second are as good as all that was offered.
func (s kneeStep) keptUp(through float64) bool { return through >= store.KneeShare*s.rate }

// kneeSteps returns the usable rates of a curve in rising order: those at which the broker, and nothing else, set the latency.
func kneeSteps(curve []store.CurvePoint, subscriptions int) []kneeStep {
	var steps []kneeStep
	for _, p := range curve {
		s := kneeStep{rate: p.Rate, through: p.PublishRate, mean: p.Latency.Service.Mean()}
		if subscriptions > 0 {
			s.through, s.mean = p.ReceiveRate/float64(subscriptions), p.Latency.EndToEndService.Mean()
		}
		if p.Status != store.Void && p.Status != store.Aborted && s.mean > 0 {
			steps = append(steps, s)
		}
	}
	slices.SortStableFunc(steps, func(a, b kneeStep) int { return cmp.Compare(a.rate, b.rate) })
	return steps
}

// jump returns the index of the first step that is saturated and at which the mean latency has jumped, from which on it stays up;
// len(steps) if there is none. The first step has none before it, so it can't have jumped.
func jump(steps []kneeStep) int {
	highest := steps[0].mean // at all lower rates, without jumps that did not last or had no queue: neither may hide the real one
	for i := 1; i < len(steps); i++ {
		lowest := slices.MinFunc(steps[i:], func(a, b kneeStep) int { return cmp.Compare(a.mean, b.mean) })
		if hasJumped(lowest.mean, highest) && !steps[i].keptUp(steps[i].through) { // and so have all others from i on
			return i
		}
		if mean := steps[i].mean; !hasJumped(mean, highest) {
			highest = max(highest, mean)
		}
	}
	return len(steps)
}

// hasJumped reports whether a mean latency has jumped above the highest one at lower rates. Both are in ns.
func hasJumped(mean, highest float64) bool {
	return mean >= jumpFactor*highest && mean >= highest+jumpNs
}
