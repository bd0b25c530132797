package lab

import (
	"fmt"
	"slices"
	"time"

	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
)

// A doubt is a stated reason why a number deserves less trust, such as loss: “3 of 1000 deliveries never came”. It is stored with the
// record and shown with the number. Most doubts follow from the figures of a trial, which is one load, and this file finds them after
// it. Package doubt registers all kinds.

// doubts collects doubts, at most one of each kind: the first.
type doubts []store.Doubt

// add adds a doubt unless there is one of this kind, and returns it for its share and quantiles to be set. The text says what was seen.
func (d *doubts) add(kind *doubt.Kind, format string, args ...any) *store.Doubt {
	return d.keep(store.DoubtOf(kind, fmt.Sprintf(format, args...)))
}

// keep adds a doubt that was made elsewhere, likewise.
func (d *doubts) keep(made store.Doubt) *store.Doubt {
	if slices.ContainsFunc(*d, func(old store.Doubt) bool { return old.Code == made.Code }) {
		return &made
	}
	*d = append(*d, made)
	return &(*d)[len(*d)-1]
}

// addReason adds a doubt with this reason, unless the reason is empty.
func (d *doubts) addReason(kind *doubt.Kind, why remark.Remark) {
	if why.Text != "" {
		d.add(kind, "%s", why)
	}
}

// busyApplication is the share of its time with producerDelay or consumerDelay from which the busiest producer or consumer is the
// limit. The busiest, not the average: brokers give all messages of a partition, or of a subscription, to one of several consumers.
const busyApplication = 0.8

// doubtsAbout returns the reasons to trust a trial's numbers less.
func (b *bench) doubtsAbout(t trial) []store.Doubt {
	var d doubts
	b.doubtRate(t, &d) // first, because it explains the others
	for _, one := range t.each() {
		for _, known := range one.Doubts {
			d.keep(known)
		}
	}
	b.doubtBooks(t, &d)
	b.doubtGenerator(t, &d)
	if t.heldByBroker() {
		d.addReason(doubt.Held, t.heldText())
	}
	if t.Preparing > busyApplication {
		d.add(doubt.ProducerBound,
			"the busiest producer spent %.0f %% of the time with its producerDelay of %s: it, not the broker, set the pace",
			100*min(1, t.Preparing), b.spec.ProducerDelay)
	}
	if t.Working > busyApplication {
		d.add(doubt.ConsumerBound,
			"the busiest consumer spent %.0f %% of the time with its consumerDelay of %s: it, not the broker, set the pace",
			100*min(1, t.Working), b.spec.ConsumerDelay)
	}
	for _, one := range t.each() {
		if one.Others > 0 && b.spec.TopicName != "" {
			d.add(doubt.Others, "%d messages of others came from topic %s meanwhile, warm-up and drain included: the broker carried them, too", one.Others, b.spec.TopicName)
		}
	}
	doubtClocks(t, &d)
	for _, one := range t.each() {
		b.doubtCores(one, &d)
	}
	doubtFewLatencies(int64(b.latency(t).Count()), &d)
	for _, one := range t.each() {
		b.doubtWarmup(one, &d)
	}
	ended := len(t.Samples) > 0 && t.Err == nil
	measuredArrived := t.Measured.Lost == 0 && t.Measured.Unresolved == 0
	if ended && !t.Drained && measuredArrived { // so messages of the warm-up are missing
		d.add(doubt.Late, "not everything of the warm-up had arrived when the drain allowance was used up")
	}
	return d
}

// fewAbove lists quantiles with the number of latencies from which one lies above them, the highest first. The maximum is always a
// single message, but of a thousand it is no surprise.
var fewAbove = []struct {
	q    float64
	name string
	from int64
}{{1, "the maximum", 1000}, {0.999, "p99.9", 1000}, {0.99, "p99", 100}, {0.95, "p95", 20}, {0.9, "p90", 10}, {0.5, "p50", 2}}

// doubtFewLatencies adds a doubt about the quantiles above which fewer than one of n latencies lies. For example, 5 of 100 latencies lie above
// the p95 and 1 above the p99, but none need lie above the p99.9.
func doubtFewLatencies(n int64, d *doubts) {
	var quantiles []float64
	lowest := ""
	for _, few := range fewAbove {
		if 0 < n && n < few.from {
			quantiles, lowest = append(quantiles, few.q), few.name
		}
	}
	switch {
	case lowest == "":
	case n == 1:
		d.add(doubt.FewSamples, "only one latency was measured: every quantile is that of a single message").Quantiles = quantiles
	default:
		d.add(doubt.FewSamples, "only %d latencies were measured: %s and what lies above it rest on single messages", n, lowest).Quantiles = quantiles
	}
}

// doubtWarmup adds doubts if generator and broker were in no steady state when the measured phase began.
func (b *bench) doubtWarmup(t trial, d *doubts) {
	longest := time.Duration(b.spec.Warmup.Max)
	if b.spec.Warmup.Auto && t.From != 0 && time.Duration(t.From-t.Start) >= longest {
		d.add(doubt.NotSettled, "rate and latency were still drifting after %s of warm-up", longest)
	}
	b.doubtWarming(t, d)
}

// doubtBooks adds doubts about messages that failed, were lost, or arrived late.
func (b *bench) doubtBooks(t trial, d *doubts) {
	m := t.Measured
	if !m.Balanced() {
		d.add(doubt.Unbalanced, "due %d = sent %d + unsent %d, sent = acked %d + failed %d + unresolved %d, "+
			"expected %d = received %d + lost %d does not hold",
			m.Due, m.Sent, m.Unsent, m.Acked, m.Failed, m.Unresolved, m.Expected, m.Received, m.Lost)
	}
	if m.Unresolved > 0 {
		d.add(doubt.Unresolved, "the fate of %d messages was not known when the run ended", m.Unresolved).Share = share(m.Unresolved, m.Sent)
	}
	b.doubtMissing(t, d)
	if t.Overdue > 0 {
		d.add(doubt.Late, "%d deliveries had not come when the drain allowance of %s was used up, though others still came",
			t.Overdue, b.spec.Drain).Share = share(t.Overdue, m.Expected)
	}
	if m.Failed > 0 {
		d.add(doubt.FailedSends, "%d of %d sends failed%s", m.Failed, m.Sent, remark.Because(t.SendErr)).Share = share(m.Failed, m.Sent)
	}
	if m.Resent > 0 && len(b.spec.Faults) == 0 {
		d.add(doubt.Resent, "%d sends were repeated because the connection was lost or no answer came", m.Resent).Share = share(m.Resent, m.Sent)
	}
	if work := time.Duration(b.spec.ConsumerDelay); m.Duplicated > 0 && b.ackSetting != "" && work >= b.redelivery {
		d.add(doubt.Redelivered, "%d deliveries came again: a consumer works on a message for %s (consumerDelay), and the broker delivers again what is not acknowledged within %s (%s)",
			m.Duplicated, work, b.redelivery, b.ackSetting).Share = share(m.Duplicated, m.Received)
	}
	lostInWarmup := t.Warmup.WronglyLost() > t.Dropped && !brokeOff(t)
	if lostInWarmup || t.Warmup.Corrupted > 0 {
		d.add(doubt.WarmupFaults, "in warm-up %d confirmed messages were lost and %d corrupted", t.Warmup.WronglyLost(), t.Warmup.Corrupted)
	}
	if m.Untimed > 0 {
		d.add(doubt.Untimed, "%d messages arrived too late for their latency to be known: they were too short to carry their times", m.Untimed).Share = share(m.Untimed, m.Received)
	}
}

// doubtRate adds a doubt if less came through than was offered.
func (b *bench) doubtRate(t trial, d *doubts) {
	if why := b.missedRate(t); why.Text != "" {
		lacking := 1 - t.phaseThroughput().through(b.spec.SubscriptionsPerTopic)/t.offeredRate()
		d.add(doubt.RateMissed, "%s", why).Share = min(1, max(0, lacking))
	}
}

// doubtMissing adds a doubt if deliveries are missing. It says why they are if that is known: the trial broke off, a queue limit
// dropped them, or they are late. Otherwise they count as lost.
func (b *bench) doubtMissing(t trial, d *doubts) {
	m := t.Measured
	m.Lost = max(0, m.Lost-m.Dropped) // the trial is void because of those
	missing, expected := t.Warmup.Lost+m.Lost, t.Warmup.Expected+m.Expected
	if brokeOff(t) {
		if missing > 0 { // under way, or received by a process that died with its counts
			d.add(doubt.Late, "nothing is known of %d of %d deliveries, because the trial broke off: they may be late rather than lost",
				missing, expected).Share = share(missing, expected)
		}
		return
	}
	switch {
	case m.Lost == 0:
	case m.Lost <= m.MayDrop:
		d.add(doubt.Limited, "%d of %d deliveries were dropped by %s, which was asked for", m.Lost, m.Expected, t.limitSetting).Share = share(m.Lost, m.Expected)
	case t.Arriving:
		d.add(doubt.Late, "%d of %d deliveries had not come when the drain allowance of %s was used up, "+
			"though others still came: they may be late rather than lost", m.Lost, m.Expected, b.spec.Drain).Share = share(m.Lost, m.Expected)
	default:
		d.add(doubt.Loss, "%d of %d deliveries never came", m.Lost, m.Expected).Share = share(m.Lost, m.Expected)
	}
}

// doubtGenerator adds doubts if the generator's lag, its pauses or its window shaped the figures.
func (b *bench) doubtGenerator(t trial, d *doubts) {
	measured := "end to end"
	if b.spec.SubscriptionsPerTopic == 0 { // there are no consumers
		measured = "of publishing"
	}
	if !b.spec.ClosedLoop() {
		b.doubtOwnDelay(t, measured, d)
	}
	if !t.Scheduled {
		t.doubtSlowedLoop(d)
	}
	for _, one := range t.each() {
		d.addReason(doubt.Stolen, one.stolenEffect(b.latency(one), measured))
	}
	if n := b.spec.InFlight.Messages; n > 1 && b.spec.InFlight.Bytes < 2*b.spec.MessageSize.Largest() {
		d.add(doubt.OneInFlight, "inFlight.bytes (%d) holds one message of %d bytes: each producer waits for every confirmation, "+
			"though inFlight.messages allows %d",
			b.spec.InFlight.Bytes, b.spec.MessageSize.Largest(), n)
	}
}

// doubtClocks adds doubts if latencies between hosts are uncertain, or if the order of messages is not known.
func doubtClocks(t trial, d *doubts) {
	if t.Unordered > 0 {
		d.add(doubt.OrderUnknown, "of %d streams messages came to several agents in an order that is not known: "+
			"what was reordered is the least there can have been", t.Unordered)
	}
	if t.ClockBound > 0 {
		d.add(doubt.ClockBound, "the clock offset between agents is uncertain by ±%s: every end-to-end latency may be off by that, "+
			"and %d deliveries seem to have come before they were sent", told(t.ClockBound), t.Early.Deliveries)
	}
}

// share returns n of all; 0 if all is not known.
func share(n, all int64) float64 {
	if all <= 0 {
		return 0
	}
	return min(1, float64(n)/float64(all))
}

// told returns nanoseconds as a duration for sentences, with three digits: 25.4ms, 1.91s.
func told(ns int64) time.Duration {
	digit := time.Duration(1)
	for 1000*digit <= time.Duration(ns).Abs() {
		digit *= 10
	}
	return time.Duration(ns).Round(digit)
}
