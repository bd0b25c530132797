package lab

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// quietFor is how long a topic that is read from its start must be silent to count as read: longer than a fetch of any client waits.
const quietFor = 5 * time.Second

// measureRead reads a topic to which others publish: how many messages come, and how fast. Nothing is sent, so no latency is known, nor what is
// lost, comes twice or in another order.
func (b *bench) measureRead(ctx context.Context) (err error) {
	b.announce("connecting")
	broker := b.broker.link
	broker.Topology = b.topology(uint16(rand.Uint32()))
	d, err := broker.Open(ctx, b.lab.options.Log)
	if err != nil {
		return b.explainDeath(err)
	}
	defer func() { b.closeAdmin(d, err) }()
	held, err := b.holds(ctx, d)
	if err != nil {
		return err
	}
	const stage = "reading"
	b.report(Event{Kind: Staged, Stage: stage})
	p, m := b.reading(held), newMetering(b, stage, noRate)
	p.Hooks = worker.Hooks{Measuring: func(at int64) { m.schedule(at, 0) }, Sent: m.endNow, Observe: m.observe}
	out := worker.Read(ctx, d, p)
	cost, doubts := m.finish(ctx, out.Outcome, nil)
	t := trial{Outcome: out.Outcome, trialCost: cost, SampleEvery: worker.SampleEvery, Series: m.series(out.Outcome), Doubts: doubts}
	b.keepReading(out, t, held)
	return b.judgeReading(out, held)
}

// holds returns how many deliveries to expect from a topic that is read from its start; nil for another one, or if the broker doesn't say.
func (b *bench) holds(ctx context.Context, d driver.Driver) (*int64, error) {
	holder, ok := d.(driver.Holder)
	if !ok || b.spec.Read.From != study.ReadStart {
		return nil, nil
	}
	n, err := holder.Holds(ctx, 0)
	switch {
	case err != nil:
		return nil, failed("topic %s: the broker was asked how many messages it holds: %v", b.spec.TopicName, err)
	case n == 0:
		return nil, failed("topic %s holds no message", b.spec.TopicName)
	}
	n *= int64(b.spec.SubscriptionsPerTopic)
	return &n, nil
}

// reading returns what the consumers do.
func (b *bench) reading(held *int64) worker.Reading {
	p := worker.Reading{
		Consumers: consumers(b.spec), Connect: time.Minute, Warmup: time.Duration(b.spec.Warmup.For), For: time.Duration(b.spec.Duration),
	}
	if b.spec.Read.From == study.ReadStart {
		p.Quiet = quietFor
	}
	if held != nil {
		p.Messages = *held
	}
	return p
}

// keepReading makes what was read the record's result.
func (b *bench) keepReading(out worker.Readings, t trial, held *int64) {
	read := &store.Read{Messages: out.Messages, Bytes: out.Bytes, Held: held}
	length := seconds(out.From, out.Until)
	r := &store.Result{Measurement: store.Measurement{
		Seconds: length, ReceiveRate: perSecond(out.Messages, length), Cost: t.Cost, Series: t.Series, WarmupSeconds: seconds(out.Start, out.From),
	}, Read: read}
	r.Throughput = r.ReceiveRate / float64(b.spec.SubscriptionsPerTopic)
	if out.Messages > 0 {
		r.PayloadSize = float64(out.Bytes) / float64(out.Messages)
	}
	b.record.Result = r
	for _, d := range t.Doubts {
		b.doubts().keep(d)
	}
	b.doubtCores(t, b.doubts())
	if b.spec.Read.From == study.ReadStart {
		b.setLimits(r, t)
	}
}

// judgeReading says why what was read doesn't stand; nil if it does.
func (b *bench) judgeReading(out worker.Readings, held *int64) error {
	switch {
	case out.Err != nil:
		return out.Err
	case out.Messages == 0 && held != nil:
		return failed("topic %s holds messages, and none came in %s", b.spec.TopicName, b.spec.Duration)
	case out.Messages == 0:
		return failed("no message came from topic %s in %s", b.spec.TopicName, b.spec.Duration)
	case held != nil && !out.All:
		b.doubt(doubt.Late, "%d of the %d messages that the broker says topic %s holds were read before %s", out.Messages, *held, b.spec.TopicName, b.endOf(out))
	}
	return nil
}

// endOf says, as a clause, what ended a reading that did not come to the end of its topic.
func (b *bench) endOf(out worker.Readings) string {
	if out.Ended > 0 && out.Until < out.Ended {
		return "nothing came any more: what was compacted away, and what ends transactions, may count as held"
	}
	return "duration was over"
}
