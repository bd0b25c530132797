package kafka

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/maker"
	"github.com/brokermark/brokermark/internal/provision"
)

// producerPerformance is kafka-producer-perf-test, which comes with the server. It only produces.
func producerPerformance() maker.Tool {
	server := recipe()
	return maker.Tool{
		Name:      "kafka-producer-perf-test",
		Recipe:    provision.Recipe{Product: "kafka", Versions: []provision.Version{{Name: server.Versions[0].Name, Needs: server.Versions[0].Needs}}, Install: install},
		Command:   producerPerformanceCommand,
		Arguments: producerPerformanceArguments,
		Read:      readProducerPerformance,
	}
}

// producerPerformanceCommand starts it with the memory and garbage collector of Kafka's own start script.
func producerPerformanceCommand(install, temp string, args []string) (provision.Command, error) {
	return provision.Command{Path: "java", Args: append([]string{
		"-Xmx512M", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "-XX:InitiatingHeapOccupancyPercent=35",
		"-XX:+ExplicitGCInvokesConcurrent", "-Djava.awt.headless=true", "-Djava.io.tmpdir=" + temp, "-cp", filepath.Join(install, "lib", "*"),
		"org.apache.kafka.tools.ProducerPerformance",
	}, args...)}, nil
}

// producerPerformanceSettings are the client settings that Java's producer has under the same names.
var producerPerformanceSettings = []string{
	"linger.ms", "batch.size", "buffer.memory", "compression.type", "max.in.flight.requests.per.connection", "enable.idempotence",
	"retries", "delivery.timeout.ms", "request.timeout.ms", "metadata.max.age.ms",
}

func producerPerformanceArguments(p maker.Point) ([]string, error) {
	const produces = "the tool only produces; allowed: 0"
	switch {
	case len(p.Subscriptions) > 0:
		return nil, driver.Unsupported(fmt.Sprintf("subscriptionsPerTopic: %d", len(p.Subscriptions)), produces)
	case p.Guarantee.Delivery == driver.ExactlyOnce:
		return nil, driver.Unsupported("delivery: exactly-once", "the tool's transactions leave records of their end unsent")
	case p.Windowed:
		return nil, driver.Unsupported(fmt.Sprintf("inFlight.messages: %d", p.InFlight), "Java's producer bounds bytes; client.buffer.memory does")
	case p.OrRate() == 0:
		return nil, driver.Unsupported("measure: peak", "the tool ends with a number of records; use measure: count, or rate")
	}
	if err := maker.One("producersPerTopic", p.Producers); err != nil {
		return nil, err
	}
	if err := p.Only(producerPerformanceSettings...); err != nil {
		return nil, err
	}
	throughput := "-1"
	if p.Rate > 0 {
		throughput = strconv.FormatFloat(p.Rate, 'f', -1, 64)
	}
	args := []string{
		"--topic", p.Topic, "--num-records", strconv.FormatInt(p.OrRate(), 10), "--record-size", strconv.Itoa(p.Size), "--throughput", throughput,
		"--reporting-interval", "1000",
	}
	for _, address := range p.Addresses {
		args = append(args, "--bootstrap-server", address)
	}
	args = append(args, "--command-property")
	properties := javaProducer(p)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		args = append(args, name+"="+properties[name])
	}
	return args, nil
}

// javaProducer are the properties that the guarantee needs, and those of the point.
func javaProducer(p maker.Point) map[string]string {
	all := p.Guarantee.Acks == driver.AcksQuorum
	properties := map[string]string{
		"acks":               map[driver.Acks]string{driver.AcksNone: "0", driver.AcksLeader: "1", driver.AcksQuorum: "all"}[p.Guarantee.Acks],
		"enable.idempotence": strconv.FormatBool(all && p.Guarantee.Delivery != driver.AtMostOnce),
	}
	if p.Guarantee.Delivery == driver.AtMostOnce {
		properties["retries"] = "0"
	}
	for name, value := range p.Client {
		if text := provision.Text(value); text != "auto" {
			properties[name] = text
		}
	}
	return properties
}

var producerPerformanceTotal = regexp.MustCompile(`^(\d+) records sent, ([\d.,]+) records/sec .*, ([\d.,]+) ms avg latency, ([\d.,]+) ms max latency, ` +
	`(\d+) ms 50th, (\d+) ms 95th, (\d+) ms 99th, (\d+) ms 99\.9th\.`)

func readProducerPerformance(_ maker.Point, o *maker.Output) maker.Figures {
	m := o.Last(producerPerformanceTotal)
	return maker.Figures{Sent: o.Count(m[1]), SendRate: o.Number(m[2]), Publish: o.Numbers(m[3:], 1e6, "mean", "max", "p50", "p95", "p99", "p999")}
}
