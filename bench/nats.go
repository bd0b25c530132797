package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/brokermark/brokermark/internal/provision"
)

// natsRun is one running server.
type natsRun struct {
	b        *bench
	address  string
	bench    string // nats-bench
	messages int64  // of every run; 0 until the unrecorded one has told what takes the measured time
}

func (b *bench) natsPeak(ctx context.Context) error {
	program, err := built(ctx, b.host, nats.Version, natsBench)
	if err != nil {
		return err
	}
	return b.with(ctx, provision.Options{Broker: "nats"}, func(in *provision.Instance) error {
		n := &natsRun{b: b, address: in.Addresses()[0], bench: program}
		s := section{
			Title: "NATS core, 100 B",
			Settings: fmt.Sprintf("1 subject; 1 publisher, write buffer %d B (the client's default); 1 subscriber, at most %d messages waiting "+
				"(nats-bench: no limit, no latency taken)", nats.DefaultWriteBufSize, nats.DefaultSubPendingMsgsLimit),
		}
		return b.compare(ctx, s, []contender{
			{"bare nats.go", n.bare},
			{"Brokermark", n.through},
			{"nats-bench", n.peer},
		}, []target{
			{of: "Brokermark", against: "bare nats.go", rate: 0.9, cpu: 1.15},
			{of: "Brokermark", against: "nats-bench", rate: 0.9},
		}, nil)
	})
}

func (n *natsRun) bare(ctx context.Context) (sample, error) {
	s, err := n.b.bare(ctx, loopPlan{Client: "nats", Address: n.address, Name: "bench.bare", Messages: n.messages})
	if n.messages == 0 {
		n.messages = n.b.enough(s)
	}
	return s, err
}

func (n *natsRun) through(ctx context.Context) (sample, error) {
	return n.b.through(ctx, n.address, "nats", n.messages)
}

var natsBoth = regexp.MustCompile(`Pub/Sub stats: ([\d,]+) msgs/sec`)

// peer runs nats-bench. It is a Go program: there is nothing to warm up, and the processor time is of the whole
// process. Its first line counts every message twice, sent and received, over the time from the first to the last.
func (n *natsRun) peer(ctx context.Context) (sample, error) {
	w, err := watch(ctx, nil, n.bench, "-s", "nats://"+n.address, "-np", "1", "-ns", "1",
		"-n", strconv.FormatInt(n.messages, 10), "-ms", strconv.Itoa(messageSize), "bench.peer")
	if err != nil {
		return sample{}, err
	}
	s := sample{CPU: w.total.Seconds() / float64(n.messages) * 1e6, Memory: w.memory}
	for _, l := range w.lines {
		if m := natsBoth.FindStringSubmatch(l.text); m != nil {
			both, _ := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
			s.Rate = both / 2
		}
	}
	if s.Rate == 0 {
		return s, errors.New("nats-bench printed no rate")
	}
	s.Cores = s.CPU * s.Rate / 1e6
	return s, nil
}
