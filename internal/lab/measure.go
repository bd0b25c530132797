package lab

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// measure runs the kind of measurement that the spec asks for and fills the record's result.
func (b *bench) measure(ctx context.Context) error {
	switch b.spec.Measure {
	case study.MeasureRate:
		return b.rate(ctx)
	case study.MeasurePeak:
		return b.peak(ctx)
	case study.MeasureCount:
		return b.count(ctx)
	case study.MeasureSustainable:
		_, err := b.sustainable(ctx)
		return err
	case study.MeasureCurve:
		return b.curve(ctx)
	case study.MeasureBacklog:
		return b.backlog(ctx)
	}
	return fmt.Errorf("measure: unknown word %q; allowed: rate, peak, sustainable, curve, count, backlog", b.spec.Measure)
}

// warmup returns the spec's warm-up.
func (b *bench) warmup() worker.Warmup {
	w := b.spec.Warmup
	return worker.Warmup{Auto: w.Auto, For: time.Duration(w.For), Max: time.Duration(w.Max)}
}

// rate offers the spec's load in open loop.
func (b *bench) rate(ctx context.Context) error {
	s, err := b.schedule()
	if err != nil {
		return err
	}
	load := worker.Load{
		Schedule: s, Warmup: b.warmup(), Duration: time.Duration(b.spec.Duration), Drain: time.Duration(b.spec.Drain),
	}
	if changing(b.spec.Load) {
		if load.Before, err = meanRate(s, load.Duration); err != nil {
			return err
		}
	}
	t := b.judgedTrial(ctx, "fixed load", b.spec.Load.Rate, load)
	b.fill(t)
	b.record.Result.OfferedRate = offered(t)
	return b.judge(t, b.record.Result.OfferedRate)
}

// offered returns the mean rate that was due in the measured phase; 0 if the phase is empty.
func offered(t trial) float64 { return perSecond(t.Measured.Due, seconds(t.From, t.Until)) }

// peak runs a closed loop.
func (b *bench) peak(ctx context.Context) error {
	t := b.judgedTrial(ctx, "as fast as the window allows", 0, worker.Load{
		Warmup: b.warmup(), Duration: time.Duration(b.spec.Duration), Drain: time.Duration(b.spec.Drain),
	})
	b.fill(t)
	// In a closed loop the client takes hundreds of messages at once, and all are due at that moment. With a slow broker few
	// such batches begin within the phase, which is too coarse to count, so what was confirmed and delivered in it counts.
	if acked, received, ok := t.flow(); ok {
		b.record.Result.PublishRate, b.record.Result.ReceiveRate = acked, received
	}
	b.record.Result.Throughput = t.through(b.spec.SubscriptionsPerTopic)
	b.doubtBuffered(b.record.Result.PublishRate, b.record.Result.Throughput)
	return b.judge(t, 0)
}

// bufferedRatio is how many times the rate that came through a closed loop may hand over before buffers are suspected.
const bufferedRatio = 1.1

// doubtBuffered adds a doubt about a closed loop that handed over clearly more messages per second than came through.
func (b *bench) doubtBuffered(handedOver, through float64) {
	if through > 0 && handedOver > bufferedRatio*through {
		b.doubt("handed-over", "%.0f/s were handed over and %.0f/s came through until nearly all had come: the first says how fast buffers filled, not how fast the broker is",
			handedOver, through)
	}
}

// messages returns a number of messages, which a spec gives either as count or as bytes of payload.
func (b *bench) messages(count int64, bytes study.Size) int64 {
	if count > 0 {
		return count
	}
	return max(1, int64(math.Round(float64(bytes)/b.spec.MessageSize.Mean())))
}

// count sends a number of messages and times it.
func (b *bench) count(ctx context.Context) error {
	n := b.messages(b.spec.Count.Messages, b.spec.Count.Bytes)
	load := worker.Load{Messages: n, Drain: time.Duration(b.spec.Drain)}
	if b.spec.Load.Rate > 0 {
		s, err := b.schedule()
		if err != nil {
			return err
		}
		load.Schedule = s
	}
	t := b.judgedTrial(ctx, fmt.Sprintf("%d messages", n), b.spec.Load.Rate, load)
	b.fill(t)
	b.fillCount(t)
	return b.judge(t, 0)
}

// fillCount fills the parts of the result that a number of messages has. The rates are messages confirmed per second until the last
// confirmation, and messages received per second until the last delivery, which at most once may come long after the last send.
func (b *bench) fillCount(t trial) {
	publishing := max(0, seconds(t.FirstSent, t.LastAcked)) // 0 if none was confirmed
	receiving := max(0, seconds(t.FirstSent, t.LastReceived))
	r := b.record.Result
	r.Count = &store.Count{Messages: t.Measured.Sent, Bytes: t.Measured.Bytes, PublishSeconds: publishing, TotalSeconds: max(publishing, receiving)}
	r.Seconds, r.PublishRate, r.ReceiveRate = publishing, perSecond(t.Measured.Acked, publishing), perSecond(t.Measured.Received, receiving)
}

// perSecond returns a rate; 0 if no time has passed.
func perSecond(messages int64, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return float64(messages) / seconds
}

// backlog fills the topics while the consumers are off, then lets the consumers drain them.
func (b *bench) backlog(ctx context.Context) error {
	n := b.messages(b.spec.Backlog.Messages, b.spec.Backlog.Bytes)
	load := worker.Load{
		Messages: n, Drain: time.Duration(b.spec.Drain), Backlog: &worker.Backlog{Ratio: b.spec.Backlog.DrainRatio, For: time.Duration(b.spec.Duration)},
	}
	if b.spec.Load.Rate > 0 {
		s, err := b.schedule()
		if err != nil {
			return err
		}
		load.Schedule = s
		if b.spec.Backlog.KeepSending {
			load.Backlog.Meanwhile = s
		}
	}
	t := b.judgedTrial(ctx, fmt.Sprintf("filling and draining %d messages", n), b.spec.Load.Rate, load)
	b.fill(t)
	fill, drain := seconds(t.FirstSent, t.Backlog.FilledAt), seconds(t.Backlog.From, t.Backlog.To)
	r := &store.Backlog{
		Messages: t.Backlog.Filled, Bytes: t.Backlog.FilledBytes, FillSeconds: fill, DrainSeconds: drain,
		FillRate: perSecond(t.Backlog.Filled, fill), DrainRate: perSecond(t.Backlog.Received, drain),
	}
	b.record.Result.Backlog = r
	b.record.Result.PublishRate, b.record.Result.ReceiveRate = r.FillRate, r.DrainRate
	return b.judge(t, 0)
}

// fill turns a trial into the record's result, with its doubts. A missed rate goes before all other doubts, since it explains
// them.
func (b *bench) fill(t trial) {
	b.record.Result = &store.Result{Measurement: measurement(t, b.spec.ProducersPerTopic)}
	found := b.doubts(t)
	if len(found) > 0 && found[0].Code == store.DoubtRateMissed {
		b.record.Doubts = slices.Insert(b.record.Doubts, 0, found[0])
		found = found[1:]
	}
	for _, d := range found {
		b.doubt(d.Code, "%s", d)
	}
}
