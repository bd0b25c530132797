package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/brokermark/brokermark/internal/schedule"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// measure does what the spec's measure asks and fills the record's result.
func (b *bench) measure(ctx context.Context) error {
	switch b.spec.Measure {
	case "rate":
		return b.rate(ctx)
	case "peak":
		return b.flatOut(ctx, "as fast as the window allows", worker.Load{
			Warmup: b.warmup(), Duration: time.Duration(b.spec.Duration), Drain: time.Duration(b.spec.Drain),
		})
	case "count":
		return b.count(ctx)
	case "sustainable":
		_, err := b.sustainable(ctx)
		return err
	case "curve":
		return b.curve(ctx)
	case "backlog":
		return b.backlog(ctx)
	}
	return fmt.Errorf("measure: unknown word %q", b.spec.Measure)
}

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
		if load.Before, err = steadyMean(s, load.Duration); err != nil {
			return err
		}
	}
	t := b.judgedTrial(ctx, "fixed load", b.spec.Load.Rate, load)
	b.fill(t)
	b.record.Result.OfferedRate = offered(t)
	return b.judge(t, b.record.Result.OfferedRate)
}

// changing reports whether a load changes over the measured phase, so that its schedule has to begin with that phase.
func changing(l study.Load) bool { return l.Shape != "constant" && l.Shape != "poisson" }

// steadyMean returns a constant rate with as many messages as s has over a time. It is the warm-up of a changing load.
func steadyMean(s schedule.Schedule, over time.Duration) (schedule.Schedule, error) {
	return schedule.Constant(float64(schedule.Sequential(s).Count(int64(over))) / over.Seconds())
}

// offered returns the mean rate that was due in the measured phase; 0 if the phase is empty.
func offered(t trial) float64 {
	length := seconds(t.From, t.Until)
	if length == 0 {
		return 0
	}
	return float64(t.Measured.Due) / length
}

// flatOut runs a closed loop.
func (b *bench) flatOut(ctx context.Context, stage string, load worker.Load) error {
	t := b.judgedTrial(ctx, stage, 0, load)
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

// bufferedRatio: a closed loop may hand over this many times the rate that came through before buffers are suspected.
const bufferedRatio = 1.1

// doubtBuffered doubts a closed loop that handed over clearly more messages than came through meanwhile.
func (b *bench) doubtBuffered(handedOver, through float64) {
	if through > 0 && handedOver > bufferedRatio*through {
		b.doubt("handed-over", "%.0f/s were handed over and %.0f/s came through until nearly all had come: the first says how fast buffers filled, not how fast the broker is",
			handedOver, through)
	}
}

// messages returns a number of messages, which a spec gives as such or as bytes of payload.
func (b *bench) messages(count int64, bytes study.Size) int64 {
	if count > 0 {
		return count
	}
	return max(1, int64(math.Round(float64(bytes)/b.spec.MessageSize.Mean())))
}

// schedule returns the schedule of the spec's load.
func (b *bench) schedule() (schedule.Schedule, error) {
	return loadSchedule(b.spec.Load, time.Duration(b.spec.Duration), b.spec.Seed)
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
	b.record.Result.Count = &store.Count{
		Messages: t.Measured.Sent, Bytes: t.Measured.Bytes,
		PublishSeconds: seconds(t.FirstSent, t.LastAcked),
		TotalSeconds:   seconds(t.FirstSent, max(t.LastAcked, t.LastReceived)),
	}
	b.setRates(b.record.Result.Count.PublishSeconds, seconds(t.FirstSent, t.LastReceived))
	return b.judge(t, 0)
}

// setRates sets the rates of a number of messages: confirmed per second until the last confirmation, and received per second
// until the last delivery, which at most once may come long after the last send. A rate is 0 if its time is 0.
func (b *bench) setRates(publishing, receiving float64) {
	r := b.record.Result
	r.Seconds, r.PublishRate, r.ReceiveRate = publishing, 0, 0
	if publishing > 0 {
		r.PublishRate = float64(r.Books.Acked) / publishing
	}
	if receiving > 0 {
		r.ReceiveRate = float64(r.Books.Received) / receiving
	}
}

// seconds returns the time from one to the other, in ns; 0 if it is negative.
func seconds(from, to int64) float64 { return max(0, float64(to-from)/1e9) }

// backlog fills the topics with the consumers off, then lets them drain what there is.
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
	r := &store.Backlog{Messages: t.Backlog.Filled, Bytes: t.Backlog.FilledBytes, FillSeconds: fill, DrainSeconds: drain}
	if fill > 0 {
		r.FillRate = float64(t.Backlog.Filled) / fill
	}
	if drain > 0 {
		r.DrainRate = float64(t.Backlog.Received) / drain
	}
	b.record.Result.Backlog = r
	b.record.Result.PublishRate, b.record.Result.ReceiveRate = r.FillRate, r.DrainRate
	return b.judge(t, 0)
}

// fill turns a trial into the record's result, with its doubts. A missed rate goes before all other doubts, since it explains
// them.
func (b *bench) fill(t trial) {
	b.record.Result = &store.Result{Measurement: measurement(t, b.streamNames())}
	found := b.doubts(t)
	if len(found) > 0 && found[0].Code == store.DoubtRateMissed {
		b.record.Doubts = slices.Insert(b.record.Doubts, 0, found[0])
		found = found[1:]
	}
	for _, d := range found {
		b.doubt(d.Code, "%s", d)
	}
}

// because ends a sentence with an error; empty if there is none.
func because(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}

// loadSchedule builds the schedule of a load; ramps run over the measured phase.
func loadSchedule(l study.Load, over time.Duration, seed int64) (schedule.Schedule, error) {
	switch l.Shape {
	case "constant":
		return schedule.Constant(l.Rate)
	case "poisson":
		return schedule.Poisson(l.Rate, uint64(seed))
	case "steps":
		steps := make([]schedule.Step, len(l.Steps))
		for i, s := range l.Steps {
			steps[i] = schedule.Step{Rate: s.Rate, For: time.Duration(s.For)}
		}
		return schedule.Steps(steps)
	case "ramp":
		return schedule.Ramp(l.Rate, l.To, over)
	case "bursts":
		if l.Burst == nil {
			return nil, errors.New("load.burst: a bursty load needs rate, every and for")
		}
		return schedule.Bursts(l.Rate, l.Burst.Rate, time.Duration(l.Burst.Every), time.Duration(l.Burst.For))
	}
	return nil, fmt.Errorf("load.shape: unknown word %q", l.Shape)
}
