package rabbitmq

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
		Addresses: []string{"127.0.0.1:5672"}, Topic: "t", Subscriptions: []string{"s0"}, Partitions: 1, Producers: 2, Consumers: 1,
		Rate: 1000, For: 10 * time.Second, Size: 100, InFlight: 30,
		Guarantee: driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Log},
	}
	if edit != nil {
		edit(&p)
	}
	return p
}

func TestAPointBecomesTheCommandLineOfPerfTest(t *testing.T) {
	for want, edit := range map[string]func(*maker.Point){
		"--queue t.s0 --exchange  --routing-key t.s0 --producers 2 --consumers 1 --size 100": nil,
		"--flag persistent --confirm 30 --rate 500 --time 10":                                nil,
		"--interval 1 --autoack --rate": func(p *maker.Point) {
			p.Guarantee = driver.Guarantee{Delivery: driver.AtMostOnce, Persistence: driver.Memory}
		},
		"--confirm 30 --pmessages 4 --cmessages 8":     func(p *maker.Point) { p.Rate, p.For, p.Messages = 0, 0, 8 },
		"--qos 7 --multi-ack-every 3 --rate 500":       func(p *maker.Point) { p.Client = map[string]any{"prefetch": 7, "ack.every": 3} },
		"--uri amqp://guest:guest@127.0.0.1:5672 --pr": nil,
	} {
		args, err := perfTestArguments(toolPoint(edit))
		if got := strings.Join(args, " "); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
	for want, edit := range map[string]func(*maker.Point){
		"subscriptionsPerTopic: 2":   func(p *maker.Point) { p.Subscriptions = []string{"a", "b"} },
		"partitionsPerTopic: 2":      func(p *maker.Point) { p.Partitions = 2 },
		"load.rate: 5":               func(p *maker.Point) { p.Rate = 5 },
		"count.messages: 5":          func(p *maker.Point) { p.Messages = 5 },
		"consumerPerSubscription: 2": func(p *maker.Point) { p.Messages, p.Consumers = 4, 2 },
		"duration: 1.5s":             func(p *maker.Point) { p.For = 1500 * time.Millisecond },
		"inFlight.messages: 30": func(p *maker.Point) {
			p.Guarantee.Delivery, p.Windowed = driver.AtMostOnce, true
		},
		"client.write.buffer is not s": func(p *maker.Point) { p.Client = map[string]any{"write.buffer": 0} },
	} {
		if _, err := perfTestArguments(toolPoint(edit)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

func TestTheSummaryOfPerfTestIsRead(t *testing.T) {
	const interval = "id: test-1, time 5.003 s, sent: 1000 msg/s, confirmed: 1000 msg/s, nacked: 0 msg/s, received: 1000 msg/s, " +
		"min/median/75th/95th/99th consumer latency: 226/520/681/48955/88685 µs, confirm latency: 161/525/638/11290/51212 µs"
	read := func(lines ...string) (maker.Figures, error) { return perfTest().Figures(toolPoint(nil), lines) }
	f, err := read(
		interval, "test stopped (Reached time limit)", "id: test-1, sending rate avg: 1,126 msg/s", "id: test-1, receiving rate avg: 1125 msg/s",
		"id: test-1, consumer latency min/median/75th/95th/99th 244/1522/38339/233786/272327 µs",
		"id: test-1, confirm latency min/median/75th/95th/99th 189/1527/10722/42071/53900 µs",
	)
	if err != nil || f.SendRate != 1126 || f.ReceiveRate != 1125 || f.EndToEnd["p50"] != 1522e3 || f.EndToEnd["p99"] != 272327e3 || f.Publish["p95"] != 42071e3 {
		t.Errorf("%+v, %v", f, err)
	}
	if f, err := read(interval); err == nil {
		t.Errorf("%+v of a run that was broken off", f)
	}
}
