package worker

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/wire"
)

// unflushed is a driver that hands over nothing before Flush, which fails.
type unflushed struct{ script }

type unflushable struct{ driver.Producer }

func (unflushable) Flush(context.Context) error { return errKept }

func (d *unflushed) Producer(ctx context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	p, err := d.script.Producer(ctx, c, r)
	return unflushable{p}, err
}

func TestAProbeThatCannotBeFlushedIsSaidAtOnce(t *testing.T) {
	plan := simple(2, 1)
	plan.Connect = time.Minute
	began := time.Now()
	w, err := Prepare(t.Context(), &unflushed{script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		p.done(batch, nil)
		return nil
	}}}, plan)
	if err == nil {
		_ = w.Close()
	}
	if !errors.Is(err, errKept) || !strings.Contains(err.Error(), ": probe: ") || time.Since(began) > 30*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
}

// early ends its consumers before they are registered.
type early struct{ script }

func (*early) Consume(context.Context, driver.ConsumerConfig, driver.Sink, func()) error {
	return errKept
}

func TestAConsumerThatEndsBeforeItIsRegisteredSaysWhy(t *testing.T) {
	plan := simple(1, 1)
	plan.Lagging, plan.Connect = allLagging, time.Minute
	w := ready(t, &early{}, plan)
	if _, err := w.consumers.start(t.Context(), true); !errors.Is(err, errKept) {
		t.Errorf("consumers were started: %v", err)
	}
}

func TestABacklogWhoseConsumersCannotBeStartedIsAnError(t *testing.T) {
	plan := simple(2, 1)
	plan.Lagging, plan.Connect = allLagging, time.Minute
	d := &early{script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		p.done(batch, nil)
		return nil
	}}}
	out := ready(t, d, plan).Run(t.Context(), Load{Messages: 50, Drain: 100 * time.Millisecond, Backlog: &Backlog{Ratio: 1}})
	if !errors.Is(out.Err, errKept) || out.Backlog.Filled != 50 || out.Backlog.FilledAt != out.LastAcked || out.Backlog.Received != 0 {
		t.Errorf("%+v: %v", out.Backlog, out.Err)
	}
}

func TestAProbeOfAProducerThatIsNotThereIsNobodys(t *testing.T) {
	w := prepared(t, 1, 100)
	c := w.consumers.(*localConsumers).list[0]
	for _, producer := range []uint32{0, 1, 77} {
		body := make([]byte, 100)
		stamp, rest := wire.Split(body)
		sum := wire.Prepare(stamp, rest, w.plan.Run)
		wire.Stamp(stamp, wire.MakeID(producer, probeBit), clock.Now(), clock.Now(), sum)
		c.Deliver([]driver.Received{{Payload: body}})
	}
	if n := len(w.probes.seen); n != 1 || !w.probes.seen[0].Load() {
		t.Errorf("%d producers are looked for, the first seen %v", n, w.probes.seen[0].Load())
	}
}

func TestMoreProducersThanFourShareAThread(t *testing.T) {
	for n, shared := range map[int]bool{1: false, 4: false, 5: true} {
		sleepers := newSleepers(n, new(coalescing).gap)
		s := sleepers.next()
		if _, own := s.(*clock.Sleeper); own == shared {
			t.Errorf("of %d producers each sleeps on %T", n, s)
		}
		s.Close()
		sleepers.close()
	}
}

func TestWhatAClientSendsAgainIsCounted(t *testing.T) {
	d := &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		var ids []uint32
		for _, m := range batch {
			ids = append(ids, m.Slot)
		}
		p.receipts.(driver.Resends).Resent(ids[:1]) // of probes, too, which no trial counts
		p.deliver(batch)
		p.done(batch, nil)
		return nil
	}}
	plan := simple(1, 1)
	plan.InFlight = 10
	w := ready(t, d, plan)
	sends := 0
	send := d.send
	d.send = func(p *scriptProducer, ctx context.Context, batch []driver.Message) error {
		sends++
		return send(p, ctx, batch)
	}
	out := w.Run(t.Context(), Load{Messages: 100, Drain: 20 * time.Second})
	if m := out.Measured; m.Resent != int64(sends) || sends == 0 || m.Sent != 100 || !m.Balanced() {
		t.Errorf("one message of each of %d batches was sent again: %+v", sends, m)
	}
}
