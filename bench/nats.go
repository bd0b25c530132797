package main

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/brokermark/brokermark/internal/maker"
	"github.com/brokermark/brokermark/internal/provision"
)

func (b *bench) natsPeak(ctx context.Context) error {
	return b.with(ctx, provision.Options{Broker: "nats"}, func(in *provision.Instance) error {
		r := &peakRun{
			b: b, broker: "nats", bareName: "bare nats.go", address: in.Addresses()[0],
			plan: loopPlan{Client: "nats", Name: "bench.bare"}, // nothing is kept that the next run would find
		}
		peer := contender{"nats-bench", func(ctx context.Context) (sample, error) {
			c, err := r.tool(ctx, "nats-bench", maker.Point{Topic: "bench.peer", Producers: 1, Subscriptions: []string{"s0"}, Consumers: 1, Messages: r.messages})
			if err != nil {
				return sample{}, err
			}
			return r.goTool(ctx, c.Path, c.Args...)
		}}
		return r.compare(ctx, section{
			Title: "NATS core, 100 B",
			Settings: fmt.Sprintf("1 subject; 1 publisher, write buffer %d B (the client's default); 1 subscriber, at most %d messages waiting "+
				"(nats-bench: no limit, no latency taken)", nats.DefaultWriteBufSize, nats.DefaultSubPendingMsgsLimit),
		}, []contender{peer}, target{of: tunedProgram, against: peer.name, rate: 0.9})
	})
}

var natsBoth = regexp.MustCompile(`Pub/Sub stats: ([\d,]+) msgs/sec`)

// goTool runs nats-bench or stan-bench. They are Go programs: there is nothing to warm up, and the processor time is of the
// whole process. Their first line counts every message twice, sent and received, over the time from the first to the last:
// "Pub/Sub stats: 2,000,000 msgs/sec" is 1,000,000/s through the whole path.
func (r *peakRun) goTool(ctx context.Context, program string, args ...string) (sample, error) {
	w, err := watch(ctx, nil, program, args...)
	if err != nil {
		return sample{}, err
	}
	var rate float64
	for _, l := range w.lines {
		if m := natsBoth.FindStringSubmatch(l.text); m != nil {
			both, _ := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
			rate = both / 2
		}
	}
	if rate == 0 {
		return sample{}, fmt.Errorf("%s printed no rate", filepath.Base(program))
	}
	return w.sample(float64(r.messages), rate), nil
}
