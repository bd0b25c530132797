package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/schedule"
	"github.com/brokermark/brokermark/internal/search"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// measure is the middle of a bench, one repetition under way: it runs the kind of measurement that the spec asks for
// and fills the record's result, with the latency at a rate for example, or with how long 1,000,000 messages took. Each
// kind runs one trial, with a load of its own, except that searches (sustain.go) and curves (curve.go) run many. A kind
// returns an error if its trial does not stand.
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
	return fmt.Errorf("measure: unknown word %q; allowed: rate, peak, sustainable, curve, count, backlog, read", b.spec.Measure)
}

// noRate is the rate of a load that is judged without one, because it ends with a number of messages or is as fast as
// it can be.
const noRate = 0.0

// timedLoad returns a load for the spec's warm-up, duration and drain. It is a closed loop if s is nil.
func (b *bench) timedLoad(s schedule.Schedule) worker.Load {
	w := b.spec.Warmup
	return worker.Load{
		Schedule: s, Warmup: worker.Warmup{Auto: w.Auto, For: time.Duration(w.For), Max: time.Duration(w.Max)},
		Duration: time.Duration(b.spec.Duration), Drain: time.Duration(b.spec.Drain),
	}
}

// countedLoad returns a load of a number of messages: at the spec's rate, or as a closed loop if the spec gives no
// rate. If messages is 0, their number follows from the bytes of payload: 1 MB are 1,000 messages of 1 kB on average.
func (b *bench) countedLoad(messages int64, bytes study.Size) (worker.Load, error) {
	load := worker.Load{Messages: countedMessages(b.spec, messages, bytes), Drain: time.Duration(b.spec.Drain)}
	if b.spec.Load.Rate == 0 {
		return load, nil
	}
	var err error
	load.Schedule, err = b.schedule()
	return load, err
}

// countedMessages returns a number of messages, or the number that make up so many bytes of payload.
func countedMessages(s study.Spec, messages int64, bytes study.Size) int64 {
	if messages > 0 {
		return messages
	}
	return max(1, int64(math.Round(float64(bytes)/s.MessageSize.Mean())))
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
	result := b.keepResult(t)
	result.OfferedRate = t.offeredRate()
	return b.judge(t, result.OfferedRate)
}

// measurePeak runs a closed loop: each producer sends as fast as its window of unconfirmed messages allows.
func (b *bench) measurePeak(ctx context.Context) error {
	t := b.growingTrial(ctx, "as fast as the window allows", closedLoop, b.timedLoad(nil))
	result := b.keepResult(t)
	b.setLimits(result, t)
	b.setSampledRates(result, t)
	if through, ok := t.throughputUntilArrived(b.spec.SubscriptionsPerTopic); ok {
		result.Throughput = through
		b.doubtHandedOver(result)
	}
	if err := b.judge(t, noRate); err != nil {
		return err
	}
	return b.judgeSilentPeak(t, result.PublishRate)
}

// bufferedRatio is how many times the throughput a closed loop may hand over before buffers are suspected.
const bufferedRatio = 1.1

// doubtHandedOver doubts a publish rate that only says how fast the client's buffers filled.
func (b *bench) doubtHandedOver(r *store.Result) {
	if r.Throughput > 0 && r.PublishRate > bufferedRatio*r.Throughput {
		b.doubt(doubt.HandedOver, "%.0f/s were handed over and %.0f/s came through until nearly all had come: "+
			"the first says how fast buffers filled, not how fast the broker is", r.PublishRate, r.Throughput)
	}
}

// judgeSilentPeak fails a closed loop in which no message was confirmed during the measured phase, though confirmations
// were to come. If this process stood still meanwhile, they may have come unnoticed, and the trial is void.
func (b *bench) judgeSilentPeak(t trial, publishRate float64) error {
	mustConfirm := b.spec.Delivery != "at-most-once" && len(b.spec.Faults) == 0
	if !mustConfirm || publishRate > 0 {
		return nil
	}
	if pause, _ := t.slowedLoop(); pause.Text != "" {
		return void("no message was confirmed during the measured phase of %s; %s", b.spec.Duration, pause)
	}
	return b.ended(t, search.Judgement{Verdict: search.Fail, Reason: remark.Of("no message was confirmed during the measured phase of %s, "+
		"only before or after it: such a broker needs a longer duration", b.spec.Duration)})
}

// setSampledRates replaces the rates of a closed loop, which count messages that were due in the measured phase, by
// those between two samples of the counters. In a closed loop the client takes hundreds of messages at once, and all
// are due at that moment: with a slow broker, only a few such batches begin within the phase. If it is too short for
// two samples, the coarse rates stay, with a doubt.
func (b *bench) setSampledRates(r *store.Result, t trial) {
	sampled, ok := t.sampledThroughput()
	switch {
	case ok:
		r.PublishRate, r.ReceiveRate = sampled.acked, sampled.received
	case t.Err == nil:
		b.doubt(doubt.CoarseRate, "the measured phase of %s has fewer than two samples of the counters, %s apart: "+
			"its rates count whole batches of the client", time.Duration(t.Until-t.From), worker.SampleEvery)
	}
}

// measureCount sends a number of messages and takes the time.
func (b *bench) measureCount(ctx context.Context) error {
	load, err := b.countedLoad(b.spec.Count.Messages, b.spec.Count.Bytes)
	if err != nil {
		return err
	}
	t := b.growingTrial(ctx, fmt.Sprintf("%d messages", load.Messages), b.spec.Load.Rate, load)
	result := b.keepResult(t)
	setCount(result, t)
	if load.Schedule == nil {
		b.setLimits(result, t)
	}
	return b.judge(t, noRate)
}

// setCount sets the times and rates of a number of messages: those confirmed per second until the last confirmation,
// and those received per second until the last delivery. For example, 1,000 messages that are all confirmed after 2 s
// and received after 4 s have rates of 500/s and 250/s.
func setCount(r *store.Result, t trial) {
	publishing := seconds(t.FirstSent, t.LastAcked) // 0 if none was confirmed
	receiving := seconds(t.FirstSent, t.LastReceived)
	r.Count = &store.Count{
		Messages: t.Measured.Sent, Bytes: t.Measured.Bytes, PublishSeconds: publishing, TotalSeconds: max(publishing, receiving),
	}
	r.Seconds = publishing
	r.PublishRate = perSecond(t.Measured.Acked, publishing)
	r.ReceiveRate = perSecond(t.Measured.Received, receiving)
}

// measureBacklog fills the topics while consumers are off, then lets these consumers drain them. Where others receive what is sent as it
// comes, the latencies of the result are theirs while the backlog drains, and all others stand beside it.
func (b *bench) measureBacklog(ctx context.Context) error {
	load, err := b.countedLoad(b.spec.Backlog.Messages, b.spec.Backlog.Bytes)
	if err != nil {
		return err
	}
	load.Backlog = &worker.Backlog{Ratio: b.spec.Backlog.DrainRatio, For: time.Duration(b.spec.Duration)}
	switch rate := b.spec.Backlog.Rate; {
	case rate > 0:
		if load.Backlog.Meanwhile, err = b.arrivals(rate, 1); err != nil {
			return err
		}
	case b.spec.Backlog.KeepSending:
		load.Backlog.Meanwhile = load.Schedule
	}
	t := b.growingTrial(ctx, fmt.Sprintf("filling and draining %d messages", load.Messages), b.spec.Load.Rate, load)
	fill, drain := seconds(t.FirstSent, t.Backlog.FilledAt), seconds(t.Backlog.From, t.Backlog.To)
	result := b.keepResult(t)
	result.PublishRate, result.ReceiveRate = perSecond(t.Backlog.Filled, fill), perSecond(t.Backlog.Received, drain)
	result.Backlog = &store.Backlog{
		Messages: t.Backlog.Filled, Bytes: t.Backlog.FilledBytes, FillSeconds: fill, DrainSeconds: drain,
		FillRate: result.PublishRate, DrainRate: result.ReceiveRate,
	}
	if b.spec.Tails() {
		result.Backlog.LaggingEndToEnd = t.Histograms.EndToEndLagging
		if load.Schedule != nil { // else filling is a closed loop
			result.Backlog.FillingEndToEnd = t.Filling
		}
		result.Corrected = nil // its gap would be that of filling and draining together
	}
	return b.judge(t, noRate)
}

// keepResult makes a trial the record's result and adds its doubts to the record's. It returns the result, in which a
// kind of measurement sets what it has beside the figures of every trial.
func (b *bench) keepResult(t trial) *store.Result {
	for _, d := range b.doubtsAbout(t) {
		if d.Is(doubt.RateMissed) { // the only one that stands before all others, since it explains them
			b.record.Doubts = slices.Insert(b.record.Doubts, 0, d)
		} else {
			b.doubts().keep(d)
		}
	}
	b.record.Result = &store.Result{Measurement: b.measurement(t)}
	return b.record.Result
}

// measurement returns a trial in the form that records hold, with what set its pace if it fell behind.
func (b *bench) measurement(t trial) store.Measurement {
	m := measurement(t, b.spec.ProducersPerTopic)
	if b.missedRate(t).Text != "" {
		m.Limits = b.bottleneckOf(t).limits()
	}
	return m
}

// judge decides whether the only load of a repetition, or one rate of a curve, stands: whether its figures say something about the broker. It
// returns nil if so, or else an error that says how the repetition ends. The rules are those of a search (search.Rule.Judge), but for what
// the load has to be kept up with. They look at the measured phase alone, as reports do: lesser deviations, and what went wrong in the
// warm-up, become doubts (doubtsAbout). rate is the offered rate, messages per second; 0 in a closed loop.
func (b *bench) judge(t trial, rate float64) error {
	if endsUnjudged(t.Err) {
		return t.Err
	}
	passRule, evidence := rule(b.spec), b.evidence(t, rate)
	passRule.Sustained, passRule.Guarantee.Failover = false, b.record.Failover
	evidence.Books = t.Measured
	return b.ended(t, passRule.Judge(evidence, search.Goal{LossRatio: mostLost}))
}

// ended returns the error by which a repetition ends that was judged so; nil if it passed.
func (b *bench) ended(t trial, j search.Judgement) error {
	if j.Verdict == search.Pass {
		return nil
	}
	// What the broker says itself, and what the spec sets, no other process has caused.
	if limits := b.bottleneckOf(t).limits(); j.Verdict == search.Fail && !j.Broken && limits.Are(limitBroker, limitProducerDelay, limitConsumerDelay) {
		j.Reason = remark.Of("%s; %s", j.Reason, limits[0].Seen)
	} else {
		j = t.voidIfDisturbed(j, float64(b.lab.machine.Cores))
	}
	switch {
	case j.Verdict == search.Fail:
		return errJudged{status: store.Failed, why: j.Reason, broken: j.Broken}
	case j.Generator.Text != "":
		return void("%s%s%s", j.Reason, t.longestPause(t.latest().pauses), b.whyNoMore())
	}
	return void("%s", j.Reason)
}

// endsUnjudged reports whether a trial ended with an error that has a status of its own, whatever was measured until then.
func endsUnjudged(err error) bool {
	return errors.As(err, new(errDied)) || errors.As(err, new(*agent.ErrLost)) || errors.As(err, new(*agent.ErrClock)) ||
		errors.As(err, new(*driver.ErrUnsupported)) || errors.Is(err, worker.ErrConsumerProcess) || errors.Is(err, worker.ErrLate)
}

// brokeOff reports whether a trial ended before its time. A backlog that ran dry did not: every message that could arrive had
// arrived.
func brokeOff(t trial) bool { return t.Err != nil && !errors.Is(t.Err, worker.ErrRanDry) }
