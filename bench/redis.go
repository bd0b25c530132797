package main

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/provision"
)

const (
	redisKept = 100_000   // entries that stay in a stream which nobody reads
	redisPerf = 1_000_000 // messages that redis-benchmark sends for a second of measured time, about what it reaches
)

// redisLog are the settings under which a server writes its log without waiting for the disk.
var redisLog = map[string]any{"appendonly": "yes", "appendfsync": "no"}

func (b *bench) redisPeak(ctx context.Context) error {
	install, err := b.host.Install(ctx, "redis", "")
	if err != nil {
		return err
	}
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
			{"redis-benchmark (produce only)", func(ctx context.Context) (sample, error) { return r.redisBenchmark(ctx, install) }},
			r.produceOnly("topicConfig.trim=none", fmt.Sprintf("topicConfig.MAXLEN=%d", redisKept)),
		})
	})
}

// redisBenchmark runs the server's own tool, out of the tree of packages that the server comes from. It makes one
// pipeline and sends the same bytes again and again.
func (r *peakRun) redisBenchmark(ctx context.Context, install string) (sample, error) {
	messages := int(redisPerf * r.b.measure.Seconds())
	host, port, err := net.SplitHostPort(r.address)
	if err != nil {
		return sample{}, err
	}
	c, err := provision.TreeCommand(install, "usr/bin/redis-benchmark", "-h", host, "-p", port, "-c", "1", "-P", strconv.Itoa(pipelined),
		"-n", strconv.Itoa(messages), "--csv", "XADD", "redis-benchmark", "MAXLEN", "~", strconv.Itoa(redisKept), "*", "d", strings.Repeat("x", messageSize))
	if err != nil {
		return sample{}, err
	}
	w, err := watch(ctx, nil, c.Path, c.Args...)
	if err != nil {
		return sample{}, err
	}
	var rate float64
	for _, l := range w.lines {
		if columns := strings.Split(l.text, `","`); len(columns) > 1 { // name and rate; a head goes before
			rate, _ = strconv.ParseFloat(columns[1], 64)
		}
	}
	if rate == 0 {
		return sample{}, fmt.Errorf("redis-benchmark printed no rate\n%s", w.errors)
	}
	return w.sample(float64(messages), rate), nil
}
