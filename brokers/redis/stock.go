package redis

import (
	"context"
	"errors"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/brokermark/brokermark/internal/driver"
)

// stockReader reads as go-redis documents it: XReadGroup, whose result is a map for each message, then XAck of the messages.
type stockReader struct {
	client         redis.UniversalClient
	sink           driver.Sink
	came           driver.Batch
	fresh, pending redis.XReadGroupArgs // XREADGROUP of new messages, and of delivered and unacknowledged ones
}

func (d *session) stockReader(client redis.UniversalClient, streams []string, group, name string, s driver.Sink, headers []string) *stockReader {
	c := d.config.Client
	from := func(id string) redis.XReadGroupArgs {
		return redis.XReadGroupArgs{
			Group: group, Consumer: name, Count: c.Int("COUNT"), Block: c.Duration("BLOCK"), NoAck: d.config.Guarantee.Delivery == driver.AtMostOnce,
			Streams: slices.Concat(streams, slices.Repeat([]string{id}, len(streams))),
		}
	}
	return &stockReader{client: client, sink: s, came: driver.NewBatch(headers, 0), fresh: from(">"), pending: from("0")}
}

// read delivers n messages, or returns after a time without any.
func (r *stockReader) read(ctx context.Context, behind bool) (n int, err error) {
	args := r.fresh
	if behind {
		args = r.pending
	}
	came, err := r.client.XReadGroup(ctx, &args).Result()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	for _, stream := range came {
		var ids []string
		for _, m := range stream.Messages {
			if payload, ok := m.Values[payloadField].(string); ok { // otherwise it was trimmed before it could be read again
				r.came.Add([]byte(payload), func(name string) []byte { return driver.Text(m.Values, headerPrefix+name) })
			}
			ids = append(ids, m.ID)
		}
		if n += len(ids); len(ids) == 0 {
			continue
		}
		r.came.Deliver(r.sink)
		if !args.NoAck {
			if err := r.client.XAck(ctx, stream.Stream, args.Group, ids...).Err(); err != nil {
				return n, err
			}
		}
	}
	return n, err
}
