package worker

import (
	"context"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/testkit"
)

// deliverAtOnce is a broker that takes no time.
func deliverAtOnce() *script {
	return &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		p.deliver(batch)
		p.done(batch, nil)
		return nil
	}}
}

func TestProducersBringNoMoreThanTheirWorkAllows(t *testing.T) {
	testkit.NotShort(t)
	const producers, delay = 3, 2 * time.Millisecond // 1,500/s
	for name, c := range map[string]struct {
		clients int
		load    Load
		sent    int64
		took    time.Duration
	}{
		"a closed loop":                   {0, Load{Messages: 1500}, 1500, time.Second},
		"a closed loop on one connection": {1, Load{Messages: 1500}, 1500, time.Second},
		"a schedule that is too fast":     {0, Load{Messages: 1500, Schedule: constant(t, 6000)}, 1500, time.Second},
		"too fast on one connection":      {1, Load{Messages: 1500, Schedule: constant(t, 6000)}, 1500, time.Second},
		"a schedule that they can follow": {0, Load{Messages: 1500, Schedule: constant(t, 750)}, 1500, 2 * time.Second},
		"a slow one on one connection":    {1, Load{Messages: 1500, Schedule: constant(t, 750)}, 1500, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			plan := simple(producers, 1)
			plan.ProducerDelay, plan.Clients = delay, c.clients
			c.load.Drain = 20 * time.Second
			out := ready(t, deliverAtOnce(), plan).Run(t.Context(), c.load)
			if out.Err != nil || out.Measured.Sent != c.sent {
				t.Fatalf("%d sent, %v", out.Measured.Sent, out.Err)
			}
			took := time.Duration(out.LastSent - out.Start)
			if took < c.took*99/100 || took > c.took*11/10 {
				t.Errorf("took %v, %v is the truth", took, c.took)
			}
			wantBusy := float64(c.sent) / producers * delay.Seconds() / c.took.Seconds()
			if out.Preparing < wantBusy*0.9 || out.Preparing > 1.001 {
				t.Errorf("working %.3f of the time, want %.3f", out.Preparing, wantBusy)
			}
			if c.load.Schedule == nil {
				return
			}
			h := out.Histograms
			if lag, own := time.Duration(h.Lag.Quantile(0.5)), time.Duration(h.GeneratorLag.Quantile(0.5)); lag < delay || own > delay/2 {
				t.Errorf("messages are sent %v after they were due at p50, of which the generator is held to have caused %v", lag, own)
			}
			if least := time.Duration(h.EndToEnd.Min()); least < delay*99/100 {
				t.Errorf("an end-to-end latency of %v leaves out the producer's work", least)
			}
		})
	}
}

// A producer that waits for the broker does not work meanwhile: with one place in the window and a broker that takes 3 ms, each message
// takes 5 ms.
func TestAProducerDoesNotWorkWhileTheClientHoldsIt(t *testing.T) {
	plan := simple(1, 1)
	plan.ProducerDelay, plan.InFlight = 2*time.Millisecond, 1
	d := deliverAtOnce()
	inner := d.send
	d.send = func(p *scriptProducer, ctx context.Context, batch []driver.Message) error {
		time.Sleep(3 * time.Millisecond)
		return inner(p, ctx, batch)
	}
	out := ready(t, d, plan).Run(t.Context(), Load{Messages: 200, Drain: 20 * time.Second})
	if took := time.Duration(out.LastSent - out.Start); out.Err != nil || took < 990*time.Millisecond {
		t.Errorf("200 messages took %v (%v), 1s is the least", took, out.Err)
	}
}

func TestUnsentMessagesWaitedForTheirProducersNotForTheGenerator(t *testing.T) {
	testkit.NotShort(t)
	plan := simple(2, 1)
	plan.ProducerDelay = 10 * time.Millisecond // 200/s of 1,000/s
	out := ready(t, deliverAtOnce(), plan).Run(t.Context(), Load{Schedule: constant(t, 1000), Duration: time.Second, Drain: 500 * time.Millisecond})
	if m := out.Measured; m.Due != 1000 || m.Sent < 250 || m.Sent > 320 || m.Sent+m.Unsent != m.Due {
		t.Fatalf("%+v, %v", m, out.Err)
	}
	if own := time.Duration(out.Histograms.GeneratorLag.Quantile(0.99)); own > 10*time.Millisecond {
		t.Errorf("the generator is held to have caused %v at p99", own)
	}
}
