package main

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

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

const pipelined = 500 // commands

// redisLoop is go-redis as its users write it: pipelines of XADD, a consumer of a group that acknowledges what each
// XREADGROUP has brought.
func redisLoop(ctx context.Context, p loopPlan, b *books, started func()) error {
	in := redis.NewClient(&redis.Options{Addr: p.Address})
	defer in.Close()
	out := redis.NewClient(&redis.Options{Addr: p.Address})
	defer out.Close()
	if err := in.XGroupCreateMkStream(ctx, p.Name, "s0", "0").Err(); err != nil {
		return err
	}
	defer in.Del(context.WithoutCancel(ctx), p.Name)
	started()
	go redisConsume(ctx, in, p.Name, b)
	ring := bodies(pipelined, p.Size) // a command is encoded when its pipeline is sent
	for i, began := int64(0), time.Now(); p.more(ctx, i, began); {
		pipeline := out.Pipeline()
		for _, body := range ring {
			if !p.more(ctx, i, began) {
				break
			}
			stamp(body, time.Now())
			pipeline.XAdd(ctx, &redis.XAddArgs{Stream: p.Name, Values: []any{"d", body}})
			i++
		}
		n := pipeline.Len()
		if _, err := pipeline.Exec(ctx); ctx.Err() != nil { // the time is over
			return nil
		} else if err != nil {
			return err
		}
		b.published.Add(int64(n))
	}
	<-ctx.Done()
	return nil
}

func redisConsume(ctx context.Context, in *redis.Client, stream string, b *books) {
	ids := make([]string, 0, pipelined)
	for {
		read, err := in.XReadGroup(ctx, &redis.XReadGroupArgs{
			Group: "s0", Consumer: "c0", Streams: []string{stream, ">"}, Count: pipelined, Block: time.Second,
		}).Result()
		if err == redis.Nil {
			continue
		}
		if err != nil {
			return // a lost connection shows at the producer
		}
		ids = ids[:0]
		for _, m := range read[0].Messages {
			payload, _ := m.Values["d"].(string)
			b.arrived([]byte(payload))
			ids = append(ids, m.ID)
		}
		in.XAck(ctx, stream, "s0", ids...)
	}
}
