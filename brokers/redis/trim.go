package redis

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/brokermark/brokermark/brokers/internal/socket"
)

// Each stream is checked once a second, but only so many streams in a second: the checks alone would keep the server busy.
const (
	trimEvery = time.Second
	trimMost  = 50
)

// startTrim trims streams for as long as a run lasts: XACK doesn't remove an entry.
func (d *session) startTrim() {
	if d.config.Topic.String("trim") == "none" {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	client := d.another()
	ended := make(chan struct{})
	all := slices.Concat(d.streams...)
	d.stopTrim, d.trimmed = cancel, ended
	closing := context.AfterFunc(ctx, func() { _ = client.Close() })
	go func() {
		defer close(ended)
		defer closing()
		for socket.Pause(ctx, trimEvery) == nil {
			for i, stream := range all {
				if i > 0 && i%trimMost == 0 {
					_ = socket.Pause(ctx, trimEvery)
				}
				if err := d.trim(ctx, client, stream); err != nil && ctx.Err() == nil {
					d.logf("trim %s: %v", stream, err)
					if cluster, ok := client.(*redis.ClusterClient); ok { // another node may have it now
						cluster.ReloadState(ctx)
					}
				}
			}
		}
	}()
}

func (d *session) endTrim() {
	d.stopTrim()
	if d.trimmed != nil {
		<-d.trimmed
	}
}

// trim removes the entries before the first one that some group has not acknowledged.
//
//	|--acknowledged by all--|--delivered, pending--|--not delivered--|
//	                        ^ oldest pending       ^ last delivered
func (d *session) trim(ctx context.Context, c redis.UniversalClient, stream string) error {
	oldest := ""
	for _, group := range d.subscriptions {
		// In this order: messages delivered between the two answers lie behind the first, so they are kept.
		groups, err := c.XInfoGroups(ctx, stream).Result()
		if err != nil {
			return err
		}
		pending, err := c.XPending(ctx, stream, group).Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
		at := ""
		for _, g := range groups {
			if g.Name == group {
				at = g.LastDeliveredID
			}
		}
		if pending != nil && pending.Count > 0 && before(pending.Lower, at) {
			at = pending.Lower
		}
		if oldest == "" || before(at, oldest) {
			oldest = at
		}
	}
	if oldest == "" || oldest == "0-0" {
		return nil
	}
	// Without LIMIT 0 one call removes 10,000 entries at most, less than a second brings.
	return c.Do(ctx, "xtrim", stream, "minid", "~", oldest, "limit", 0).Err()
}

// before compares two IDs: milliseconds-number.
func before(a, b string) bool {
	am, an := parts(a)
	bm, bn := parts(b)
	return am < bm || am == bm && an < bn
}

func parts(id string) (ms, n uint64) {
	left, right, _ := strings.Cut(id, "-")
	ms, _ = strconv.ParseUint(left, 10, 64)
	n, _ = strconv.ParseUint(right, 10, 64)
	return ms, n
}
