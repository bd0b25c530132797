package main

import (
	"context"
	"time"

	"github.com/nats-io/stan.go"
)

const (
	stanCluster = "test-cluster"
	stanWindow  = 1000 // unacknowledged messages
)

// stanLoop is stan.go as its users write it: a client each for producer and consumer, a durable queue group, every
// message acknowledged after its callback.
func stanLoop(ctx context.Context, p loopPlan, b *books, started func()) error {
	in, err := stan.Connect(stanCluster, p.Name+"-in", stan.NatsURL("nats://"+p.Address))
	if err != nil {
		return err
	}
	defer in.Close()
	deliver := func(m *stan.Msg) {
		b.arrived(m.Data)
		if !p.Plain {
			_ = m.Ack() // a lost connection shows at the producer
		}
	}
	if p.Plain {
		_, err = in.Subscribe(p.Name, deliver)
	} else {
		_, err = in.QueueSubscribe(p.Name, "s0", deliver, stan.DurableName("s0"), stan.SetManualAckMode(), stan.MaxInflight(stan.DefaultMaxInflight))
	}
	if err != nil {
		return err
	}
	out, err := stan.Connect(stanCluster, p.Name+"-out", stan.NatsURL("nats://"+p.Address), stan.MaxPubAcksInflight(p.Window))
	if err != nil {
		return err
	}
	defer out.Close()
	started()
	acked := func(_ string, err error) {
		if err == nil {
			b.published.Add(1)
		}
	}
	body := bodies(1, p.Size)[0] // copied by PublishAsync
	for i, began := int64(0), time.Now(); p.more(ctx, i, began); i++ {
		stamp(body, time.Now())
		if _, err := out.PublishAsync(p.Name, body, acked); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}
