package rabbitmq

import (
	"context"
	"embed"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/maker"
	"github.com/brokermark/brokermark/internal/provision"
)

// locks are the SHA-256 of PerfTest's files.
//
//go:embed locks
var locks embed.FS

// perfTest is RabbitMQ's PerfTest, which Maven fetches.
func perfTest() maker.Tool {
	return maker.Tool{
		Name: "perf-test",
		Recipe: provision.Recipe{
			Versions: []provision.Version{{Name: "2.22.1", Needs: []provision.Need{
				{Command: "java", Apt: []string{"default-jre-headless"}}, {Command: "mvn", Apt: []string{"maven"}},
			}}},
			Install: func(ctx context.Context, i *provision.Install) error {
				return i.Maven(ctx, locks, "com.rabbitmq:perf-test:"+i.Version)
			},
		},
		Command: func(install, temp string, args []string) (provision.Command, error) {
			return provision.Command{Path: "java", Args: append([]string{"-Djava.io.tmpdir=" + temp, "-cp", filepath.Join(install, "lib", "*"), "com.rabbitmq.perf.PerfTest"}, args...)}, nil
		},
		Arguments: perfTestArguments,
		Read:      readPerfTest,
	}
}

// perfTestArguments make PerfTest use the queue that our driver has declared, through the default exchange.
func perfTestArguments(p maker.Point) ([]string, error) {
	switch {
	case p.Guarantee.Delivery == driver.ExactlyOnce:
		return nil, driver.Unsupported("delivery: exactly-once", "RabbitMQ has no such guarantee")
	case p.Guarantee.Delivery == driver.AtMostOnce && p.Windowed:
		return nil, driver.Unsupported(fmt.Sprintf("inFlight.messages: %d", p.InFlight), "with delivery: at-most-once nothing is confirmed, and the tool bounds nothing")
	case len(p.Subscriptions) != 1:
		return nil, driver.Unsupported(fmt.Sprintf("subscriptionsPerTopic: %d", len(p.Subscriptions)), "the tool uses one queue; allowed: 1")
	}
	if err := maker.One("partitionsPerTopic", p.Partitions); err != nil {
		return nil, err
	}
	if err := p.Only("prefetch", "ack.every"); err != nil {
		return nil, err
	}
	queue := p.Topic + "." + p.Subscriptions[0]
	args := []string{
		"--uri", "amqp://guest:guest@" + p.Addresses[0], "--predeclared", "--queue", queue, "--exchange", "", "--routing-key", queue,
		"--producers", strconv.Itoa(p.Producers), "--consumers", strconv.Itoa(p.Consumers), "--size", strconv.Itoa(p.Size), "--interval", "1",
	}
	if p.Guarantee.Persistence != driver.Memory {
		args = append(args, "--flag", "persistent")
	}
	if p.Guarantee.Delivery == driver.AtMostOnce {
		args = append(args, "--autoack")
	} else {
		args = append(args, "--confirm", strconv.Itoa(p.InFlight))
	}
	for _, o := range []struct{ setting, option string }{{"prefetch", "--qos"}, {"ack.every", "--multi-ack-every"}} {
		if value, ok := p.Client[o.setting]; ok {
			args = append(args, o.option, provision.Text(value))
		}
	}
	return perfTestLoad(args, p)
}

// perfTestLoad adds the load to the arguments: a rate or none, and a time or a number of messages.
func perfTestLoad(args []string, p maker.Point) ([]string, error) {
	if p.Rate > 0 {
		rate, err := p.EachRate()
		if err != nil {
			return nil, err
		}
		args = append(args, "--rate", rate)
	}
	if p.Messages == 0 {
		seconds, err := p.WholeSeconds()
		return append(args, "--time", seconds), err
	}
	messages, err := p.EachMessages()
	if err != nil {
		return nil, err
	}
	if p.Consumers > 1 {
		return nil, driver.Unsupported(fmt.Sprintf("consumerPerSubscription: %d", p.Consumers), "with measure: count each consumer of the tool waits for as many messages; allowed: 1")
	}
	return append(args, "--pmessages", messages, "--cmessages", strconv.FormatInt(p.Messages, 10)), nil
}

var (
	perfTestSending   = regexp.MustCompile(`, sending rate avg: ([\d.,]+) msg/s`)
	perfTestReceiving = regexp.MustCompile(`, receiving rate avg: ([\d.,]+) msg/s`)
	perfTestConsumer  = regexp.MustCompile(`, consumer latency min/median/75th/95th/99th (\d+)/(\d+)/\d+/(\d+)/(\d+) µs`)
	perfTestConfirm   = regexp.MustCompile(`, confirm latency min/median/75th/95th/99th (\d+)/(\d+)/\d+/(\d+)/(\d+) µs`)
)

// readPerfTest reads the summary, which covers the whole run.
func readPerfTest(p maker.Point, o *maker.Output) maker.Figures {
	latency := func(m []string) map[string]float64 { return o.Numbers(m[1:], 1e3, "min", "p50", "p95", "p99") }
	f := maker.Figures{
		SendRate: o.Number(o.Last(perfTestSending)[1]), ReceiveRate: o.Number(o.Last(perfTestReceiving)[1]), EndToEnd: latency(o.Last(perfTestConsumer)),
	}
	if p.Guarantee.Delivery != driver.AtMostOnce {
		f.Publish = latency(o.Last(perfTestConfirm))
	}
	return f
}
