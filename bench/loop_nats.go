package main

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
)

// natsLoop is nats.go as its users write it: a connection each, a callback in a queue group, the client's own
// limits of what may wait.
func natsLoop(ctx context.Context, p loopPlan, b *books, started func()) error {
	options := []nats.Option{nats.WriteBufferSize(nats.DefaultWriteBufSize)}
	in, err := nats.Connect("nats://"+p.Address, options...)
	if err != nil {
		return err
	}
	defer in.Close()
	sub, err := in.QueueSubscribe(p.Name, "s0", func(m *nats.Msg) {
		b.arrived(m.Data)
	})
	if err != nil {
		return err
	}
	if err := sub.SetPendingLimits(nats.DefaultSubPendingMsgsLimit, -1); err != nil {
		return err
	}
	if err := in.Flush(); err != nil {
		return err
	}
	out, err := nats.Connect("nats://"+p.Address, options...)
	if err != nil {
		return err
	}
	defer out.Close()
	started()
	body := bodies(1, p.Size)[0] // copied by Publish
	for i, began := int64(0), time.Now(); p.more(ctx, i, began); i++ {
		stamp(body, time.Now())
		if err := out.Publish(p.Name, body); err != nil {
			return err
		}
		b.published.Add(1)
	}
	<-ctx.Done()
	return nil
}
