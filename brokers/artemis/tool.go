package artemis

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/maker"
	"github.com/brokermark/brokermark/internal/provision"
)

// artemisPerf returns the command perf of the program artemis, which comes with the server. It is started by the product's own script.
func artemisPerf() maker.Tool {
	server := recipe()
	return maker.Tool{
		Name:   "artemis-perf",
		Recipe: provision.Recipe{Product: "artemis", Versions: server.Versions[:1], Install: install},
		Command: func(install, temp string, args []string) (provision.Command, error) {
			return provision.Command{Path: filepath.Join(install, "bin", "artemis"), Args: args, Env: []string{"JAVA_ARGS_APPEND=-Djava.io.tmpdir=" + temp}}, nil
		},
		Arguments: artemisPerfArguments,
		Read:      readArtemisPerf,
	}
}

// artemisPerfArguments have the tool use the queue that our driver has declared, by the protocol that our driver speaks.
func artemisPerfArguments(p maker.Point) ([]string, error) {
	settled := p.Guarantee.Delivery == driver.AtMostOnce
	switch {
	case p.Guarantee.Delivery == driver.ExactlyOnce:
		return nil, driver.Unsupported("delivery: exactly-once", "the tool gives messages no identity; allowed: at-least-once, at-most-once")
	case p.Messages > 0:
		return nil, driver.Unsupported("measure: count", "the tool prints how many messages it sent, not in which time; use rate or peak")
	case settled && p.Rate == 0:
		return nil, driver.Unsupported("measure: peak", "with delivery: at-most-once nothing bounds how far the tool sends ahead; use rate")
	case settled && p.Windowed:
		return nil, driver.Unsupported(fmt.Sprintf("inFlight.messages: %d", p.InFlight), "with delivery: at-most-once nothing is confirmed, and the tool bounds nothing")
	case len(p.Subscriptions) > 1:
		return nil, driver.Unsupported(fmt.Sprintf("subscriptionsPerTopic: %d", len(p.Subscriptions)), "the tool makes subscriptions of its own where there are several; allowed: 0, 1")
	case p.Kept["routing-type"] == "multicast":
		return nil, driver.Unsupported("topicConfig.routing-type: multicast", "the tool uses one queue; allowed: anycast")
	}
	if err := maker.One("partitionsPerTopic", p.Partitions); err != nil {
		return nil, err
	}
	if err := p.Only("Credit"); err != nil {
		return nil, err
	}
	seconds, err := p.WholeSeconds()
	if err != nil {
		return nil, err
	}
	url := "amqp://" + p.Addresses[0] + "?jms.presettlePolicy.presettleAll=" + strconv.FormatBool(settled)
	if credit, ok := p.Client["Credit"]; ok {
		url += "&jms.prefetchPolicy.all=" + provision.Text(credit)
	}
	args := []string{"perf", "producer"}
	if len(p.Subscriptions) > 0 {
		args = []string{"perf", "client", "--consumers", strconv.Itoa(p.Consumers)}
	}
	args = append(args, "--verbose", "--protocol", "AMQP", "--url", url, "--producers", strconv.Itoa(p.Producers), "--message-size", strconv.Itoa(p.Size),
		"--duration", seconds)
	if p.Guarantee.Persistence != driver.Memory {
		args = append(args, "--persistent")
	}
	if !settled {
		args = append(args, "--max-pending", strconv.Itoa(p.InFlight))
	}
	if p.Rate > 0 {
		if _, err := p.EachRate(); err != nil { // the tool leaves out the rest of a division
			return nil, err
		}
		args = append(args, "--rate", strconv.FormatFloat(p.Rate, 'f', -1, 64))
	}
	return append(args, "queue://"+p.Topic), nil
}

var (
	artemisPerfResult   = regexp.MustCompile(`^--- result: +success *$`)
	artemisPerfSent     = regexp.MustCompile(`^--- total sent: +(\d+) *$`)
	artemisPerfDone     = regexp.MustCompile(`^--- total completed: *(\d+) *$`)
	artemisPerfReceived = regexp.MustCompile(`^--- total received: +(\d+) *$`)
	artemisPerfPublish  = regexp.MustCompile(`^--- aggregated send time: ` + artemisPerfLatency)
	artemisPerfTransfer = regexp.MustCompile(`^--- aggregated transfer time: ` + artemisPerfLatency)
)

// artemisPerfLatency is the end of a line with latencies in microseconds.
const artemisPerfLatency = ` +mean: +([\d.]+) us - 50\.00%: +([\d.]+) us - 90\.00%: +[\d.]+ us - 99\.00%: +([\d.]+) us - 99\.90%: +([\d.]+) us - 99\.99%: +[\d.]+ us - max: +([\d.]+) us *$`

// readArtemisPerf reads the summary, which is about all of the run. Its totals are over the time that was asked for: it prints no rate of
// all.
func readArtemisPerf(p maker.Point, o *maker.Output) maker.Figures {
	o.Last(artemisPerfResult)
	total := func(pattern *regexp.Regexp) int64 { return o.Count(o.Last(pattern)[1]) }
	latency := func(m []string) map[string]float64 { return o.Numbers(m[1:], 1e3, "mean", "p50", "p99", "p999", "max") }
	f := maker.Figures{
		Sent: total(artemisPerfSent), SendRate: float64(total(artemisPerfDone)) / p.For.Seconds(), Publish: latency(o.Last(artemisPerfPublish)),
	}
	if len(p.Subscriptions) > 0 {
		f.ReceiveRate, f.EndToEnd = float64(total(artemisPerfReceived))/p.For.Seconds(), latency(o.Last(artemisPerfTransfer))
	}
	return f
}
