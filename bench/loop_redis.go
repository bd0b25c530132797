package main

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

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
