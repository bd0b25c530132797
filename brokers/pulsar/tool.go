package pulsar

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/maker"
	"github.com/brokermark/brokermark/internal/provision"
)

// The commands of pulsar-perf in use; each is a process.
const (
	produce = "produce"
	consume = "consume"
)

// pulsarPerf is pulsar-perf, which comes with the server.
func pulsarPerf() maker.Tool {
	server := recipe()
	return maker.Tool{
		Name:      "pulsar-perf",
		Recipe:    provision.Recipe{Product: "pulsar", Versions: server.Versions[:1], Install: install},
		Command:   pulsarPerfCommand,
		Arguments: pulsarPerfArguments,
		Read:      readPulsarPerf,
	}
}

// pulsarPerfCommand starts produce and, if there are consumers, consume, with the options of Pulsar's own start script.
func pulsarPerfCommand(install, temp string, args []string) (provision.Command, error) {
	java := []string{
		"-Djava.io.tmpdir=" + temp, "-cp", filepath.Join(install, "conf") + ":" + filepath.Join(install, "lib", "*"),
		"-Djava.net.preferIPv4Stack=true", "-Dlog4j.configurationFile=log4j2.yaml", "-Dpulsar.log.appender=Console", "-Dpulsar.log.dir=" + temp,
		"-Dio.netty.tryReflectionSetAccessible=true", "-Dorg.apache.pulsar.shade.io.netty.tryReflectionSetAccessible=true",
		"--add-opens", "java.base/sun.net=ALL-UNNAMED", "--add-opens", "java.base/java.lang=ALL-UNNAMED", "--add-opens", "java.base/java.util.zip=ALL-UNNAMED",
		"--add-opens", "java.base/java.nio=ALL-UNNAMED", "--add-opens", "java.base/jdk.internal.misc=ALL-UNNAMED",
		"org.apache.pulsar.testclient.PulsarPerfTestTool", filepath.Join(install, "conf", "client.conf"),
	}
	at := slices.Index(args, consume)
	if at < 0 {
		return provision.Command{Path: "java", Args: slices.Concat(java, args)}, nil
	}
	return provision.Together(nil,
		provision.Step{Name: consume, Path: "java", Args: slices.Concat(java, args[at:]), Ends: true},
		provision.Step{Name: produce, Path: "java", Args: slices.Concat(java, args[:at]), Ends: true})
}

// asFastAsItCan is the rate if a point gives none: the tool's own default is 100/s.
const asFastAsItCan = 100_000_000

func pulsarPerfArguments(p maker.Point) ([]string, error) {
	messages := p.OrRate()
	switch {
	case p.Guarantee.Delivery != driver.AtLeastOnce:
		return nil, driver.Unsupported("delivery: "+string(p.Guarantee.Delivery), "the tool waits for every answer, and acknowledges what it has received; allowed: at-least-once")
	case messages == 0 && len(p.Subscriptions) > 0:
		return nil, driver.Unsupported("measure: peak", "the tool's consumers end with a number of messages; use measure: count, or rate")
	case p.Rate != float64(int32(p.Rate)):
		return nil, driver.Unsupported(fmt.Sprintf("load.rate: %v", p.Rate), "the tool takes whole numbers")
	}
	given, err := pulsarPerfSettings(p)
	if err != nil {
		return nil, err
	}
	both := []string{"--service-url", "pulsar://" + strings.Join(p.Addresses, ","), "--stats-interval-seconds", "1"} // the tool stops at the end of an interval
	address := "persistent://" + publicTenant + "/" + namespaceOf(driver.Topology{Topics: []driver.Topic{{Name: p.Topic}}}) + "/" + p.Topic
	rate := strconv.Itoa(int(cmp.Or(p.Rate, asFastAsItCan)))
	args := slices.Concat([]string{produce}, both, given[produce], []string{
		"--size", strconv.Itoa(p.Size), "--num-producers", strconv.Itoa(p.Producers), "--rate", rate,
		"--max-outstanding", strconv.Itoa(p.InFlight), "--warmup-time", "0",
	})
	if messages > 0 {
		args = append(args, "--num-messages", strconv.FormatInt(messages, 10))
	} else {
		seconds, err := p.WholeSeconds()
		if err != nil {
			return nil, err
		}
		args = append(args, "--test-duration", seconds)
	}
	args = append(args, address)
	n := len(p.Subscriptions)
	if n == 0 {
		return args, nil
	}
	args = slices.Concat(args, []string{consume}, both, given[consume], []string{
		"--num-consumers", strconv.Itoa(p.Consumers), "--num-subscriptions", strconv.Itoa(n),
		"--subscription-position", "Earliest", "--num-messages", strconv.FormatInt(messages*int64(n), 10),
	})
	for _, name := range p.Subscriptions {
		args = append(args, "--subscriptions", name)
	}
	return append(args, address), nil
}

// pulsarPerfOptions are the client settings that the tool's commands have, with the tool's names.
var pulsarPerfOptions = []struct{ command, setting, option string }{
	{produce, "batchingMaxPublishDelay", "--batch-time-window"},
	{produce, "batchingMaxMessages", "--batch-max-messages"},
	{produce, "batchingMaxSize", "--batch-max-bytes"},
	{produce, "compressionType", "--compression"},
	{produce, "connectionsPerBroker", "--max-connections"},
	{consume, "connectionsPerBroker", "--max-connections"},
	{consume, "receiverQueueSize", "--receiver-queue-size"},
	{consume, "ackGroupingTime", "--acks-delay-millis"},
}

// pulsarPerfSettings are the options of each command for the point's client settings. The tool's default subscriptions are
// exclusive.
func pulsarPerfSettings(p maker.Point) (map[string][]string, error) {
	names := []string{"batchingEnabled", "subscriptionType", "webServiceUrl"} // the last one only concerns our driver
	for _, o := range pulsarPerfOptions {
		names = append(names, o.setting)
	}
	slices.Sort(names)
	if err := p.Only(slices.Compact(names)...); err != nil {
		return nil, err
	}
	v, err := driver.Decode(settings, driver.ClientScope, p.Client)
	if err != nil {
		return nil, err
	}
	shared := v.String("subscriptionType")
	if shared == "auto" {
		shared = "Shared"
	}
	given := map[string][]string{consume: {"--subscription-type", shared}}
	if !v.Bool("batchingEnabled") {
		given[produce] = []string{"--disable-batching"}
	}
	for _, o := range pulsarPerfOptions {
		if _, ok := p.Client[o.setting]; !ok {
			continue
		}
		text := provision.Text(v[o.setting])
		if d, ok := v[o.setting].(time.Duration); ok {
			text = strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', -1, 64)
			if d%time.Millisecond != 0 && o.command == consume {
				return nil, driver.Unsupported(fmt.Sprintf("client.%s: %s", o.setting, d), "the tool takes whole milliseconds")
			}
		}
		given[o.command] = append(given[o.command], o.option, text)
	}
	return given, nil
}

var (
	pulsarPerfSent     = regexp.MustCompile(`PerformanceProducer - Aggregated throughput stats --- (\d+) records sent --- ([\d.]+) msg/s `)
	pulsarPerfReceived = regexp.MustCompile(`PerformanceConsumer - Aggregated throughput stats --- (\d+) records received --- ([\d.]+) msg/s `)
	pulsarPerfPublish  = regexp.MustCompile(`PerformanceProducer - Aggregated latency stats ` + pulsarPerfLatency)
	pulsarPerfTransfer = regexp.MustCompile(`PerformanceConsumer - Aggregated latency stats ` + pulsarPerfLatency)
)

// pulsarPerfLatency is the end of a line with latencies in milliseconds.
const pulsarPerfLatency = `--- Latency: mean: +([\d.]+) ms - med: +([\d.]+) - 95pct: +([\d.]+) - 99pct: +([\d.]+) - 99\.9pct: +([\d.]+) - 99\.99pct: +[\d.]+ - .*Max: +([\d.]+)`

// readPulsarPerf reads the summaries, whose rates cover the whole life of the commands, connecting included.
func readPulsarPerf(p maker.Point, o *maker.Output) maker.Figures {
	latency := func(m []string) map[string]float64 {
		return o.Numbers(m[1:], 1e6, "mean", "p50", "p95", "p99", "p999", "max")
	}
	sent := o.Last(pulsarPerfSent)
	f := maker.Figures{Sent: o.Count(sent[1]), SendRate: o.Number(sent[2]), Publish: latency(o.Last(pulsarPerfPublish))}
	if len(p.Subscriptions) > 0 {
		f.ReceiveRate, f.EndToEnd = o.Number(o.Last(pulsarPerfReceived)[2]), latency(o.Last(pulsarPerfTransfer))
	}
	return f
}
