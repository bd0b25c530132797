package redis

import (
	"fmt"
	"math"
	"net"
	"regexp"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/maker"
	"github.com/brokermark/brokermark/internal/provision"
)

// redisBenchmark is redis-benchmark, which comes with the server. It only produces.
func redisBenchmark() maker.Tool {
	server := recipe()
	return maker.Tool{
		Name:   "redis-benchmark",
		Recipe: provision.Recipe{Product: "redis", Versions: server.Versions[:1], Install: install},
		Command: func(install, _ string, args []string) (provision.Command, error) {
			return provision.TreeCommand(install, "usr/bin/redis-benchmark", args...)
		},
		Arguments: redisBenchmarkArguments,
		Read:      readRedisBenchmark,
	}
}

// mostArgument is the largest payload: the tool takes it as a command-line argument, whose length the kernel limits (MAX_ARG_STRLEN).
const mostArgument = 128<<10 - 1

// redisBenchmarkArguments make the tool add to the stream with a command of our own. Each of its connections writes a pipeline of
// the same command, reads all replies, and begins again.
func redisBenchmarkArguments(p maker.Point) ([]string, error) {
	pipeline, err := pipelineOf(p)
	switch g := p.Guarantee; {
	case err != nil:
		return nil, err
	case p.Messages == 0:
		return nil, driver.Unsupported("measure", "the tool sends a number of messages; allowed: measure: count")
	case p.Rate > 0:
		return nil, driver.Unsupported(fmt.Sprintf("load.rate: %v", p.Rate), "the tool sends as fast as it can; allowed: 0")
	case len(p.Subscriptions) > 0:
		return nil, driver.Unsupported(fmt.Sprintf("subscriptionsPerTopic: %d", len(p.Subscriptions)), "the tool only produces; allowed: 0")
	case g.Delivery == driver.AtMostOnce:
		return nil, driver.Unsupported("delivery: at-most-once", "the tool waits for every reply; allowed: at-least-once")
	case g.Acks == driver.AcksQuorum && g.Replicas > 1:
		return nil, driver.Unsupported("acks: quorum", "the tool can't wait for replicas; allowed: leader")
	case p.Windowed:
		return nil, driver.Unsupported(fmt.Sprintf("inFlight.messages: %d", p.InFlight), "the tool has as many in flight as client.pipeline says")
	case p.Size > mostArgument:
		return nil, driver.Unsupported(fmt.Sprintf("messageSize: %d", p.Size), "the tool takes the payload on its command line; allowed: up to %d", mostArgument)
	case p.Messages > math.MaxInt32:
		return nil, driver.Unsupported(fmt.Sprintf("count.messages: %d", p.Messages), "the tool counts up to %d", math.MaxInt32)
	case p.Messages%int64(pipeline) != 0:
		return nil, driver.Unsupported(fmt.Sprintf("count.messages: %d", p.Messages), "the tool sends whole pipelines, and client.pipeline is %d", pipeline)
	}
	if err := maker.One("partitionsPerTopic", p.Partitions); err != nil {
		return nil, err
	}
	if err := p.Only("pipeline"); err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(p.Addresses[0])
	if err != nil {
		return nil, err
	}
	args := []string{
		"-h", host, "-p", port, "-c", strconv.Itoa(p.Producers), "-P", strconv.Itoa(pipeline), "-n", strconv.FormatInt(p.Messages, 10), "--csv",
		"XADD", p.Topic,
	}
	if n := provision.Text(p.Kept["MAXLEN"]); p.Kept["MAXLEN"] != nil && n != "0" {
		args = append(args, "MAXLEN", "~", n)
	}
	return append(args, "*", "d", strings.Repeat("x", p.Size)), nil
}

// pipelineOf is the number of commands that the tool writes before it reads replies; 1 unless the spec sets it.
func pipelineOf(p maker.Point) (int, error) {
	given, ok := p.Client["pipeline"]
	if !ok {
		return 1, nil
	}
	n, err := strconv.Atoi(provision.Text(given))
	if err != nil || n < 1 {
		return 0, driver.Unsupported(fmt.Sprintf("client.pipeline: %v", given), "the tool takes a whole number of at least 1")
	}
	return n, nil
}

var (
	redisBenchmarkHead = regexp.MustCompile(`^"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"$`)
	redisBenchmarkRow  = regexp.MustCompile(`^"XADD [^"]*","([\d.]+)","([\d.]+)","([\d.]+)","([\d.]+)","([\d.]+)","([\d.]+)","([\d.]+)"$`)
)

func readRedisBenchmark(_ maker.Point, o *maker.Output) maker.Figures {
	o.Last(redisBenchmarkHead)
	m := o.Last(redisBenchmarkRow)
	return maker.Figures{SendRate: o.Number(m[1]), Publish: o.Numbers(m[2:], 1e6, "mean", "min", "p50", "p95", "p99", "max")}
}
