package pulsar

import (
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/maker"
)

// toolPoint is a thousand messages per second for ten seconds.
func toolPoint(edit func(*maker.Point)) maker.Point {
	p := maker.Point{
		Addresses: []string{"a:6650", "b:6650"}, Topic: "t", Subscriptions: []string{"s0", "s1"}, Partitions: 1, Producers: 2, Consumers: 3,
		Rate: 1000, For: 10 * time.Second, Size: 100, InFlight: 30,
		Guarantee: driver.Guarantee{Delivery: driver.AtLeastOnce, Acks: driver.AcksLeader, Persistence: driver.Log, Replicas: 1},
	}
	if edit != nil {
		edit(&p)
	}
	return p
}

func TestAPointBecomesTheCommandLinesOfPulsarPerf(t *testing.T) {
	const topic = "persistent://public/brokermark-e3b98a4da31a/t"
	for want, edit := range map[string]func(*maker.Point){
		"produce --service-url pulsar://a:6650,b:6650 --stats-interval-seconds 1 --size 100 --num-producers 2 --rate 1000 --max-outstanding 30 --warmup-time 0": nil,
		"--num-messages 10000 " + topic + " consume --service-url pulsar://a:6650,b:6650 --stats-interval-seconds 1 --subscription-type Shared":                 nil,
		"--num-consumers 3 --num-subscriptions 2 --subscription-position Earliest --num-messages 20000 --subscriptions s0 --subscriptions s1 " + topic:          nil,
		"--rate 100000000 --max-outstanding 30 --warmup-time 0 --num-messages 7 per":                                                                            func(p *maker.Point) { p.Rate, p.For, p.Messages = 0, 0, 7 },
		"--warmup-time 0 --test-duration 10 " + topic: func(p *maker.Point) { p.Rate, p.Subscriptions = 0, nil },
		"--disable-batching --compression LZ4 --size": func(p *maker.Point) { p.Client = map[string]any{"batchingEnabled": false, "compressionType": "LZ4"} },
		"--batch-time-window 0.5 --batch-max-messages 9": func(p *maker.Point) {
			p.Client = map[string]any{"batchingMaxPublishDelay": "500us", "batchingMaxMessages": 9}
		},
		"--subscription-type Failover --receiver-queue-size 5 --acks-delay-millis 20": func(p *maker.Point) {
			p.Client = map[string]any{"subscriptionType": "Failover", "receiverQueueSize": 5, "ackGroupingTime": "20ms"}
		},
	} {
		args, err := pulsarPerfArguments(toolPoint(edit))
		if got := strings.Join(args, " "); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
	for want, edit := range map[string]func(*maker.Point){
		"delivery: at-most-once":          func(p *maker.Point) { p.Guarantee.Delivery = driver.AtMostOnce },
		"delivery: exactly-once":          func(p *maker.Point) { p.Guarantee.Delivery = driver.ExactlyOnce },
		"measure: peak":                   func(p *maker.Point) { p.Rate = 0 },
		"load.rate: 0.5":                  func(p *maker.Point) { p.Rate = 0.5 },
		"duration: 1.5s":                  func(p *maker.Point) { p.Rate, p.Subscriptions, p.For = 0, nil, 1500*time.Millisecond },
		"client.ackGroupingTime: 500µs":   func(p *maker.Point) { p.Client = map[string]any{"ackGroupingTime": "500us"} },
		"client.operationTimeout is not ": func(p *maker.Point) { p.Client = map[string]any{"operationTimeout": "1s"} },
	} {
		if _, err := pulsarPerfArguments(toolPoint(edit)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

func TestEachCommandOfPulsarPerfIsAProcess(t *testing.T) {
	for want, args := range map[string][]string{
		"java":     {produce, "--size", "1"},
		"together": {produce, "--size", "1", consume, "--num-consumers", "1"},
	} {
		c, err := pulsarPerfCommand("/install", "/temp", args)
		if err != nil || c.Path+c.Program != want || !strings.Contains(strings.Join(c.Args, " "), "-Djava.io.tmpdir=/temp") {
			t.Errorf("%+v, %v; want %s", c, err, want)
		}
	}
}

func TestTheSummariesOfPulsarPerfAreRead(t *testing.T) {
	const (
		producer  = "2026-11-29T12:19:58,127+0000 [perf-client-shutdown] INFO  org.apache.pulsar.testclient.PerformanceProducer - "
		consumer  = "2026-11-29T12:19:55,860+0000 [perf-client-shutdown] INFO  org.apache.pulsar.testclient.PerformanceConsumer - "
		sent      = producer + "Aggregated throughput stats --- 51035 records sent --- 5083.012 msg/s --- 3.878 Mbit/s "
		published = producer + "Aggregated latency stats --- Latency: mean:  29.076 ms - med:  23.522 - 95pct:  72.703 - 99pct: 168.129 - 99.9pct: 169.502 - 99.99pct: 169.597 - 99.999pct: 177.986 - Max: 177.986"
		received  = consumer + "Aggregated throughput stats --- 50000 records received --- 9454.300 msg/s --- 7.213 Mbit/s --- AckRate: 9454.110575463352  msg/s --- ack failed 0 msg"
		transfer  = consumer + "Aggregated latency stats --- Latency: mean: 707.936 ms - med: 800 - 95pct: 1001 - 99pct: 1013 - 99.9pct: 1033 - 99.99pct: 1033 - 99.999pct: 1033 - Max: 1033"
	)
	read := func(lines ...string) (maker.Figures, error) { return pulsarPerf().Figures(toolPoint(nil), lines) }
	f, err := read(received, transfer, sent, published)
	if err != nil || f.Sent != 51035 || f.SendRate != 5083.012 || f.ReceiveRate != 9454.3 || f.Publish["p99"] != 168.129e6 || f.Publish["max"] != 177.986e6 || f.EndToEnd["p50"] != 800e6 {
		t.Errorf("%+v, %v", f, err)
	}
	for _, lines := range [][]string{{sent, published}, {received, transfer}, {received, sent, published}, {}} {
		if f, err := read(lines...); err == nil {
			t.Errorf("%+v of %q", f, lines)
		}
	}
}
