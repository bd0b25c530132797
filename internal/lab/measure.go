package lab

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/brokermark/brokermark/internal/schedule"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// measure is the middle of a bench, one repetition under way: it runs the kind of measurement that the spec asks for and fills the record's
// result, with the latency at a rate for example, or with how long 1,000,000 messages took. Each kind runs one trial, with a load of its
// own, except that searches (sustain.go) and curves (curve.go) run many. A kind returns an error if its trial does not stand.
func (b *bench) measure(ctx context.Context) error {
	switch b.spec.Measure {
	case study.MeasureRate:
		return b.measureRate(ctx)
	case study.MeasurePeak:
		return b.measurePeak(ctx)
	case study.MeasureCount:
		return b.measureCount(ctx)
	case study.MeasureSustainable:
		_, err := b.searchSustainable(ctx)
		return err
	case study.MeasureCurve:
		return b.measureCurve(ctx)
	case study.MeasureBacklog:
		return b.measureBacklog(ctx)
	}
	return fmt.Errorf("measure: unknown word %q; allowed: rate, peak, sustainable, curve, count, backlog", b.spec.Measure)
}

// timedLoad returns a load for the spec's warm-up, duration and drain. It is a closed loop if s is nil.
func (b *bench) timedLoad(s schedule.Schedule) worker.Load {
	w := b.spec.Warmup
	return worker.Load{
		Schedule: s, Warmup: worker.Warmup{Auto: w.Auto, For: time.Duration(w.For), Max: time.Duration(w.Max)},
		Duration: time.Duration(b.spec.Duration), Drain: time.Duration(b.spec.Drain),
	}
}

// countedLoad returns a load of a number of messages: at the spec's rate, or as a closed loop if the spec gives no rate. If messages is
// 0, their number follows from the bytes of payload: 1 MB are 1,000 messages with a mean size of 1 kB.
func (b *bench) countedLoad(messages int64, bytes study.Size) (worker.Load, error) {
	if messages == 0 {
		messages = max(1, int64(math.Round(float64(bytes)/b.spec.MessageSize.Mean())))
	}
	load := worker.Load{Messages: messages, Drain: time.Duration(b.spec.Drain)}
	if b.spec.Load.Rate == 0 {
		return load, nil
	}
	var err error
	load.Schedule, err = b.schedule()
	return load, err
}

// measureRate offers the spec's load in open loop: messages are due by the schedule, however slow the broker is.
func (b *bench) measureRate(ctx context.Context) error {
	s, err := b.schedule()
	if err != nil {
		return err
	}
	load := b.timedLoad(s)
	if changing(b.spec.Load) {
		if load.Before, err = meanRate(s, load.Duration); err != nil {
			return err
		}
	}
	t := b.growingTrial(ctx, "fixed load", b.spec.Load.Rate, load)
	b.fill(t)
	b.record.Result.OfferedRate = t.offeredRate()
	return b.judge(t, b.record.Result.OfferedRate)
}

// measurePeak runs a closed loop: each producer sends as fast as its window of unconfirmed messages allows.
func (b *bench) measurePeak(ctx context.Context) error {
	t := b.growingTrial(ctx, "as fast as the window allows", 0, b.timedLoad(nil))
	b.fill(t)
	b.setFlow(t)
	result := b.record.Result
	result.Throughput = t.throughputUntilArrived(b.spec.SubscriptionsPerTopic)
	b.doubtBuffered(result.PublishRate, result.Throughput)
	if err := b.judge(t, 0); err != nil {
		return err
	}
	mustConfirm := b.spec.Delivery != "at-most-once" && len(b.spec.Faults) == 0
	if mustConfirm && result.PublishRate == 0 {
		if paused := t.pauseEffect(0, ""); paused.Text != "" { // a confirmation that came then was noticed afterwards
			return void("no message was confirmed during the measured phase of %s; %s", b.spec.Duration, paused)
		}
		return failed("no message was confirmed during the measured phase of %s, only before or after it: such a broker needs a longer duration", b.spec.Duration)
	}
	return nil
}

// setFlow sets the rates of a closed loop to what was confirmed and delivered per second of the measured phase
// (trial.ratesWhileSending). The books count a message in the phase in which it was due. In a closed loop the client takes hundreds of
// messages at once, and all are due at that moment: with a slow broker, only a few such batches begin within the phase, which is too
// coarse to count. If the phase is too short for such rates, the coarse ones stay, with a doubt.
func (b *bench) setFlow(t trial) {
	acked, received, ok := t.ratesWhileSending()
	switch {
	case ok:
		b.record.Result.PublishRate, b.record.Result.ReceiveRate = acked, received
	case t.Err == nil:
		b.doubt("coarse-rate", "the measured phase of %s has fewer than two samples of the counters, %s apart: its rates count whole batches of the client",
			time.Duration(t.Until-t.From), worker.SampleEvery)
	}
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

// measureCount sends a number of messages and takes the time.
func (b *bench) measureCount(ctx context.Context) error {
	load, err := b.countedLoad(b.spec.Count.Messages, b.spec.Count.Bytes)
	if err != nil {
		return err
	}
	t := b.growingTrial(ctx, fmt.Sprintf("%d messages", load.Messages), b.spec.Load.Rate, load)
	b.fill(t)
	b.fillCount(t)
	return b.judge(t, 0)
}

// fillCount fills the parts of the result that a number of messages has. The rates are messages confirmed per second until the last
// confirmation, and messages received per second until the last delivery. For example, 1,000 messages that are all confirmed after
// 2 s and received after 4 s have rates of 500/s and 250/s. With at most once, deliveries may come long after the last send.
func (b *bench) fillCount(t trial) {
	publishing := seconds(t.FirstSent, t.LastAcked) // 0 if none was confirmed
	receiving := seconds(t.FirstSent, t.LastReceived)
	r := b.record.Result
	r.Count = &store.Count{Messages: t.Measured.Sent, Bytes: t.Measured.Bytes, PublishSeconds: publishing, TotalSeconds: max(publishing, receiving)}
	r.Seconds, r.PublishRate = publishing, perSecond(t.Measured.Acked, publishing)
	r.ReceiveRate = perSecond(t.Measured.Received, receiving)
}

// measureBacklog fills the topics while the consumers are off, then lets the consumers drain them.
func (b *bench) measureBacklog(ctx context.Context) error {
	load, err := b.countedLoad(b.spec.Backlog.Messages, b.spec.Backlog.Bytes)
	if err != nil {
		return err
	}
	load.Backlog = &worker.Backlog{Ratio: b.spec.Backlog.DrainRatio, For: time.Duration(b.spec.Duration)}
	if b.spec.Backlog.KeepSending {
		load.Backlog.Meanwhile = load.Schedule
	}
	t := b.growingTrial(ctx, fmt.Sprintf("filling and draining %d messages", load.Messages), b.spec.Load.Rate, load)
	b.fill(t)
	fill, drain := seconds(t.FirstSent, t.Backlog.FilledAt), seconds(t.Backlog.From, t.Backlog.To)
	result := b.record.Result
	result.PublishRate, result.ReceiveRate = perSecond(t.Backlog.Filled, fill), perSecond(t.Backlog.Received, drain)
	result.Backlog = &store.Backlog{
		Messages: t.Backlog.Filled, Bytes: t.Backlog.FilledBytes, FillSeconds: fill, DrainSeconds: drain,
		FillRate: result.PublishRate, DrainRate: result.ReceiveRate,
	}
	return b.judge(t, 0)
}

// fill turns a trial into the record's result, and adds its doubts to the record's. A missed rate goes before all others, since it
// explains them; doubtsAbout returns it first.
func (b *bench) fill(t trial) {
	b.record.Result = &store.Result{Measurement: measurement(t, b.spec.ProducersPerTopic)}
	found := b.doubtsAbout(t)
	if len(found) > 0 && found[0].Code == store.DoubtRateMissed {
		b.record.Doubts = slices.Insert(b.record.Doubts, 0, found[0])
		found = found[1:]
	}
	for _, d := range found {
		b.doubt(d.Code, "%s", d.Remark())
	}
}
