package lab

import (
	"context"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/worker"
)

// How a broker is warmed up: at a first rate for a step, then at twice the rate as long as the broker keeps up.
const (
	warmStep      = 500 * time.Millisecond
	warmFirstRate = 1000.0 // messages per second
	warmFactor    = 2
)

// warmBroker drives a broker that was started here for as long as the spec's brokerWarmup says, and counts none of the messages: its
// code is compiled while it runs, and its caches are empty. A shared broker is warmed up once. The rate rises as long as the broker
// keeps up, and else falls to the rate that came through, so that nothing piles up.
func (b *bench) warmBroker(ctx context.Context) error {
	warm := b.lab.pool.warm
	if b.spec.BrokerWarmup == 0 || warm[b.instance] {
		return nil
	}
	end := clock.Now() + int64(b.spec.BrokerWarmup)
	rate := warmFirstRate
	for now := clock.Now(); now < end; now = clock.Now() {
		arrivals, err := b.arrivals(rate)
		if err != nil {
			return err
		}
		t := b.runTrial(ctx, "warming up "+b.spec.Broker, rate, worker.Load{
			Schedule: arrivals, Duration: min(warmStep, time.Duration(end-now)), Drain: time.Duration(b.spec.Drain), Settle: settle, Brisk: true,
		})
		if t.Err != nil {
			return t.Err
		}
		if through := b.throughput(t); through < keptUpShare*rate {
			rate = max(through, 1)
		} else {
			rate *= warmFactor
		}
	}
	warm[b.instance] = true
	return nil
}
