package lab

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
)

// streamName names a producer's topic and a subscription.
type streamName func(producer, subscription int) (topic, name string)

func (b *bench) streamNames() streamName {
	s := b.spec
	return func(producer, subscription int) (string, string) {
		return strconv.Itoa(producer / max(1, s.ProducersPerTopic)), fmt.Sprintf("s%d", subscription)
	}
}

// measurement turns a trial into the stored form; names may be nil to leave the streams out.
func measurement(t trial, names streamName) store.Measurement {
	length := float64(t.Until-t.From) / 1e9
	if t.From >= t.Until || t.LastSent == 0 {
		length = 0
	}
	r := store.Measurement{
		Books: t.Measured, Seconds: length, Latency: latency(t), ClockBoundNs: t.ClockBound, Cost: t.Cost, Series: t.Series, Faults: t.Faults,
		WarmupSeconds: max(0, float64(t.From-t.Start)/1e9), Corrected: corrected(t, length),
	}
	if len(t.Samples) > 0 {
		r.BacklogMax = new(t.BacklogMax)
	}
	r.PublishRate, r.ReceiveRate = t.rates(length)
	r.Pauses = pauses(t)
	if len(t.Faults) > 0 {
		r.Outage = outage(t)
	}
	if t.Measured.Sent > 0 {
		r.PayloadSize = float64(t.Measured.Bytes) / float64(t.Measured.Sent)
	}
	for _, s := range t.Streams {
		if names == nil {
			break
		}
		topic, name := names(s.Producer, s.Subscription)
		k := store.Stream{Producer: s.Producer, Topic: topic, Subscription: name, Books: s.Books, LostRangesCut: s.LostCut}
		for _, l := range s.Lost {
			k.LostRanges = append(k.LostRanges, [2]int64{int64(l.First), int64(l.Last)})
		}
		r.Streams = append(r.Streams, k)
	}
	return r
}

// corrected is the older method of the third study: latency from the actual send, with values put in beside every one
// above the interval at which a producer sends on average.
func corrected(t trial, seconds float64) *store.Corrected {
	of := t.Histograms.EndToEndService
	if t.Measured.Expected == 0 { // nobody subscribes
		of = t.Histograms.Service
	}
	if of.Count() == 0 || seconds <= 0 || t.Measured.Sent == 0 {
		return nil
	}
	interval := int64(seconds * 1e9 * float64(t.Senders) / float64(t.Measured.Sent))
	h := of.Corrected(interval)
	return &store.Corrected{IntervalNs: interval, MeanNs: h.Mean(), P99Ns: h.Quantile(0.99)}
}

func latency(t trial) store.Latency {
	h := t.Histograms
	return store.Latency{
		EndToEnd: h.EndToEnd, EndToEndService: h.EndToEndService, Publish: h.Publish, Service: h.Service,
		Lag: h.Lag, GeneratorLag: h.GeneratorLag,
	}
}

// doubts is a list that holds each kind once.
type doubts []store.Doubt

func (d *doubts) add(code, format string, args ...any) {
	if !slices.ContainsFunc(*d, func(old store.Doubt) bool { return old.Code == code }) {
		*d = append(*d, doubtOf(code, remark.Of(format, args...)))
	}
}

func doubtOf(code string, why remark.Remark) store.Doubt {
	return store.Doubt{Code: code, Text: why.Text, Figures: why.Figures}
}

// doubts states what makes a trial's numbers deserve less trust.
func (b *bench) doubts(t trial) []store.Doubt {
	var d doubts
	if why := b.missedRate(t); why.Text != "" { // first: nothing else matters as much
		d.add(store.DoubtRateMissed, "%s", why)
	}
	d = append(d, t.Doubts...)
	b.doubtBooks(t, &d)
	b.doubtGenerator(t, &d)
	b.slowConsumers(t, &d)
	doubtClocks(t, &d)
	b.crowded(t, &d)
	if n := t.Histograms.EndToEnd.Count(); n > 0 && n < 1000 {
		d.add("few-samples", "only %d latencies were measured: p99.9 and what lies above it rest on single messages", n)
	}
	if b.spec.Warmup.Auto && t.From != 0 && time.Duration(t.From-t.Start) >= time.Duration(b.spec.Warmup.Max) {
		d.add("not-settled", "rate and latency were still drifting after %s of warm-up", time.Duration(b.spec.Warmup.Max))
	}
	if m := t.Measured; len(t.Samples) > 0 && t.Err == nil && !t.Drained && m.Lost == 0 && m.Unresolved == 0 {
		d.add(store.DoubtLate, "not everything of the warm-up had arrived when the drain allowance was used up")
	}
	return d
}

// doubtBooks states which messages failed, were lost or came late.
func (b *bench) doubtBooks(t trial, d *doubts) {
	m := t.Measured
	if !m.Balanced() {
		d.add("unbalanced-books", "due %d = sent %d + unsent %d, sent = acked %d + failed %d + unresolved %d, expected %d = received %d + lost %d does not hold",
			m.Due, m.Sent, m.Unsent, m.Acked, m.Failed, m.Unresolved, m.Expected, m.Received, m.Lost)
	}
	if m.Unresolved > 0 {
		d.add("unresolved", "the fate of %d messages was not known when the run ended", m.Unresolved)
	}
	switch {
	case m.Lost > 0 && m.Lost <= m.MayDrop:
		d.add("limited", "%d of %d deliveries were dropped by %s, which was asked for", m.Lost, m.Expected, b.limitSetting)
	case m.Lost > 0 && t.Arriving:
		d.add(store.DoubtLate, "%d of %d deliveries had not come when the drain allowance of %s was used up, though others still came: they may be late rather than lost", m.Lost, m.Expected, b.spec.Drain)
	case m.Lost > 0:
		d.add("loss", "%d of %d deliveries never came", m.Lost, m.Expected)
	}
	if t.Overdue > 0 {
		d.add(store.DoubtLate, "%d deliveries had not come when the drain allowance of %s was used up, though others still came", t.Overdue, b.spec.Drain)
	}
	if m.Failed > 0 {
		d.add("failed-sends", "%d of %d sends failed%s", m.Failed, m.Sent, because(t.SendErr))
	}
	if m.Resent > 0 && len(b.spec.Faults) == 0 {
		d.add("resent", "%d sends were repeated because the connection was lost or no answer came", m.Resent)
	}
	if w := t.Warmup; w.WronglyLost() > 0 || w.Corrupted > 0 {
		d.add("warmup-faults", "in warm-up %d confirmed messages were lost and %d corrupted", w.LostAcked, w.Corrupted)
	}
	if m.Untimed > 0 {
		d.add("untimed", "%d messages arrived too late for their latency to be known: they were too short to carry their times", m.Untimed)
	}
}

// doubtGenerator states how the generator's own delays and window shaped the figures.
func (b *bench) doubtGenerator(t trial, d *doubts) {
	latency, measured := t.Histograms.EndToEnd, "end to end"
	if b.spec.SubscriptionsPerTopic == 0 { // nobody receives
		latency, measured = t.Histograms.Publish, "publishing"
	}
	p99 := latency.Quantile(0.99)
	if who, lag, _ := t.latest(); lag > int64(time.Millisecond) && lag > p99/10 {
		d.add(store.DoubtGeneratorLag, "%s was %s late at p99, %s was %s", who, ms(lag), measured, ms(p99))
	}
	if why := b.stoodStill(t, p99, measured); why.Text != "" {
		d.add(store.DoubtPauses, "%s", why)
	}
	if n := b.spec.InFlight.Messages; n > 1 && b.spec.InFlight.Bytes < 2*b.spec.MessageSize.Largest() {
		d.add("one-in-flight", "inFlight.bytes (%d) holds one message of %d bytes: each producer waits for every confirmation, though inFlight.messages allows %d",
			b.spec.InFlight.Bytes, b.spec.MessageSize.Largest(), n)
	}
}

func ms(ns int64) time.Duration { return time.Duration(ns).Round(10 * time.Microsecond) }
