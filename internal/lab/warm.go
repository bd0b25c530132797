package lab

import (
	"context"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/worker"
)

// How a broker is warmed up: a load for so long, and then twice as much where it followed.
const (
	warmFor   = 500 * time.Millisecond
	warmFrom  = 1000.0 // messages per second
	warmTimes = 2
)

// warmBroker drives a broker that was started here for as long as the spec says, once, and counts nothing of it: its code is
// compiled while it runs, its caches are empty. The load rises as long as the broker follows, and falls to what came through
// where it didn't, so that nothing piles up.
func (b *bench) warmBroker(ctx context.Context) error {
	warm := b.lab.pool.warm
	if b.spec.BrokerWarmup == 0 || warm[b.instance] {
		return nil
	}
	began := clock.Now()
	left := func() time.Duration { return time.Duration(b.spec.BrokerWarmup) - time.Duration(clock.Now()-began) }
	for rate := warmFrom; left() > 0; {
		s, err := b.arrivals(rate)
		if err != nil {
			return err
		}
		t := b.runTrial(ctx, "warming up "+b.spec.Broker, rate, worker.Load{
			Schedule: s, Duration: min(warmFor, left()), Drain: time.Duration(b.spec.Drain), Settle: settle, Brisk: true,
		})
		if t.Err != nil {
			return t.Err
		}
		if through := b.throughput(t); through < 0.9*rate {
			rate = max(through, 1)
		} else {
			rate *= warmTimes
		}
	}
	warm[b.instance] = true
	return nil
}
