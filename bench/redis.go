package main

import (
	"context"
	"fmt"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/maker"
	"github.com/brokermark/brokermark/internal/provision"
)

const (
	redisKept = 100_000   // entries that stay in a stream without readers
	redisPerf = 1_000_000 // messages that redis-benchmark sends for a second of measured time, about what it reaches
)

// redisLog are the settings under which a server writes its log without waiting for the disk.
var redisLog = map[string]any{"appendonly": "yes", "appendfsync": "no"}

func (b *bench) redisPeak(ctx context.Context) error {
	return b.with(ctx, provision.Options{Broker: "redis"}, func(in *provision.Instance) error {
		r := &peakRun{
			b: b, broker: "redis", bareName: "bare go-redis", address: in.Addresses()[0],
			plan: loopPlan{Client: "redis", Window: plainWindow},
			sets: atLeastOnce(fmt.Sprintf("client.pipeline=%d", pipelined), fmt.Sprintf("client.COUNT=%d", pipelined)),
		}
		return r.compare(ctx, section{
			Title: "Redis Streams, 100 B, memory",
			Settings: fmt.Sprintf("1 stream; 1 producer, pipelines of %d XADD; 1 consumer of a group, XREADGROUP COUNT %d, every message acknowledged "+
				"(Brokermark also removes from the stream what is acknowledged); produce only: the stream keeps about %d entries (MAXLEN ~)",
				pipelined, pipelined, redisKept),
		}, []contender{
			{"redis-benchmark (produce only)", r.redisBenchmark},
			r.produceOnly("topicConfig.trim=none", fmt.Sprintf("topicConfig.MAXLEN=%d", redisKept)),
		})
	})
}

// redisBenchmark runs the server's own tool. It makes one pipeline and sends the same bytes again and again.
func (r *peakRun) redisBenchmark(ctx context.Context) (sample, error) {
	messages := int64(redisPerf*r.b.measure.Seconds()) / pipelined * pipelined
	p := maker.Point{
		Topic: "redis-benchmark", Producers: 1, Messages: messages, Guarantee: driver.Guarantee{Delivery: driver.AtLeastOnce, Acks: driver.AcksLeader},
		Client: map[string]any{"pipeline": pipelined}, Kept: map[string]any{"MAXLEN": redisKept},
	}
	c, err := r.tool(ctx, "redis-benchmark", p)
	if err != nil {
		return sample{}, err
	}
	w, err := watch(ctx, nil, c.Path, c.Args...)
	if err != nil {
		return sample{}, err
	}
	f, err := w.figures("redis-benchmark", p)
	if err != nil {
		return sample{}, err
	}
	return w.sample(float64(messages), f.SendRate), nil
}
