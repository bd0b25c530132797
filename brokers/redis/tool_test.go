package redis

import (
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/maker"
)

func TestAPointBecomesTheCommandLineOfRedisBenchmark(t *testing.T) {
	point := func(edit func(*maker.Point)) maker.Point {
		p := maker.Point{
			Addresses: []string{"127.0.0.1:6379"}, Topic: "t", Partitions: 1, Producers: 3, Messages: 600, Size: 4,
			Guarantee: driver.Guarantee{Delivery: driver.AtLeastOnce, Acks: driver.AcksLeader, Persistence: driver.Log, Replicas: 1},
		}
		edit(&p)
		return p
	}
	for want, edit := range map[string]func(*maker.Point){
		"-h 127.0.0.1 -p 6379 -c 3 -P 1 -n 600 --csv XADD t * d xxxx": func(*maker.Point) {},
		"-P 200 -n 600":                  func(p *maker.Point) { p.Client = map[string]any{"pipeline": 200} },
		"XADD t MAXLEN ~ 50000 * d xxxx": func(p *maker.Point) { p.Kept = map[string]any{"MAXLEN": 50_000} },
		"XADD t * d xxxx":                func(p *maker.Point) { p.Kept = map[string]any{"MAXLEN": 0} },
	} {
		args, err := redisBenchmarkArguments(point(edit))
		if got := strings.Join(args, " "); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
	for want, edit := range map[string]func(*maker.Point){
		"measure is not":             func(p *maker.Point) { p.Messages = 0 },
		"load.rate: 100":             func(p *maker.Point) { p.Rate = 100 },
		"subscriptionsPerTopic: 1":   func(p *maker.Point) { p.Subscriptions = []string{"s0"} },
		"delivery: at-most-once":     func(p *maker.Point) { p.Guarantee.Delivery = driver.AtMostOnce },
		"acks: quorum":               func(p *maker.Point) { p.Guarantee.Acks, p.Guarantee.Replicas = driver.AcksQuorum, 3 },
		"inFlight.messages: 9":       func(p *maker.Point) { p.InFlight, p.Windowed = 9, true },
		"messageSize: 131072":        func(p *maker.Point) { p.Size = 128 << 10 },
		"count.messages: 2147483648": func(p *maker.Point) { p.Messages = 1 << 31 },
		"count.messages: 600":        func(p *maker.Point) { p.Client = map[string]any{"pipeline": 7} },
		"client.pipeline: 0":         func(p *maker.Point) { p.Client = map[string]any{"pipeline": 0} },
		"client.COUNT is not":        func(p *maker.Point) { p.Client = map[string]any{"COUNT": 5} },
		"partitionsPerTopic: 2":      func(p *maker.Point) { p.Partitions = 2 },
	} {
		if _, err := redisBenchmarkArguments(point(edit)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

func TestTheRowOfRedisBenchmarkIsRead(t *testing.T) {
	const (
		head = `"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"`
		row  = `"XADD bm-e1277671-1-a23c-0 * d xxxx","320000.00","0.301","0.152","0.175","0.439","3.455","11.847"`
	)
	read := func(lines ...string) (maker.Figures, error) { return redisBenchmark().Figures(maker.Point{}, lines) }
	f, err := read(head, row)
	if err != nil || f.SendRate != 320_000 || f.Publish["mean"] != 301e3 || f.Publish["p99"] != 3455e3 || f.Publish["max"] != 11847e3 || f.EndToEnd != nil {
		t.Errorf("%+v, %v", f, err)
	}
	for _, line := range []string{"", "Error from server: WRONGTYPE Operation against a key holding the wrong kind of value", row + `,"1"`} {
		if f, err := read(head, line); err == nil {
			t.Errorf("%+v of %s", f, line)
		}
	}
}
