package kafka

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
		Addresses: []string{"127.0.0.1:9092"}, Topic: "t", Partitions: 1, Producers: 1, Rate: 1000, For: 10 * time.Second, Size: 100, InFlight: 10_000,
		Guarantee: driver.Guarantee{Delivery: driver.AtLeastOnce, Acks: driver.AcksLeader, Persistence: driver.Log, Replicas: 1},
	}
	if edit != nil {
		edit(&p)
	}
	return p
}

func TestAPointBecomesTheCommandLineOfProducerPerformance(t *testing.T) {
	for want, edit := range map[string]func(*maker.Point){
		"--num-records 10000 --record-size 100 --throughput 1000": nil,
		"--num-records 7 --record-size 100 --throughput -1":       func(p *maker.Point) { p.Rate, p.For, p.Messages = 0, 0, 7 },
		"--command-property acks=1 enable.idempotence=false":      nil,
		"acks=all enable.idempotence=true linger.ms=5":            func(p *maker.Point) { p.Guarantee.Acks, p.Client = driver.AcksQuorum, map[string]any{"linger.ms": 5} },
		"acks=0 enable.idempotence=false retries=0":               func(p *maker.Point) { p.Guarantee.Acks, p.Guarantee.Delivery = driver.AcksNone, driver.AtMostOnce },
	} {
		args, err := producerPerformanceArguments(toolPoint(edit))
		if got := strings.Join(args, " "); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
	for want, edit := range map[string]func(*maker.Point){
		"measure: peak":                    func(p *maker.Point) { p.Rate = 0 },
		"subscriptionsPerTopic: 1":         func(p *maker.Point) { p.Subscriptions = []string{"s0"} },
		"producersPerTopic: 2":             func(p *maker.Point) { p.Producers = 2 },
		"delivery: exactly-once":           func(p *maker.Point) { p.Guarantee.Delivery = driver.ExactlyOnce },
		"inFlight.messages: 10000":         func(p *maker.Point) { p.Windowed = true },
		"client.fetch.min.bytes is not su": func(p *maker.Point) { p.Client = map[string]any{"fetch.min.bytes": 5} },
	} {
		if _, err := producerPerformanceArguments(toolPoint(edit)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

func TestTheTotalOfProducerPerformanceIsRead(t *testing.T) {
	const interval, total = "1001 records sent, 996.0 records/sec (0.09 MB/sec), 5.5 ms avg latency, 17.0 ms max latency.",
		"5000 records sent, 988.728495 records/sec (0.09 MB/sec), 44.81 ms avg latency, 742.00 ms max latency, 7 ms 50th, 262 ms 95th, 303 ms 99th, 304 ms 99.9th."
	read := func(lines ...string) (maker.Figures, error) {
		return producerPerformance().Figures(toolPoint(nil), lines)
	}
	f, err := read(interval, total, "a word of Java's")
	if err != nil || f.Sent != 5000 || f.SendRate != 988.728495 || f.Publish["p99"] != 303e6 || f.Publish["mean"] != 44.81e6 || f.ReceiveRate != 0 || f.EndToEnd != nil {
		t.Errorf("%+v, %v", f, err)
	}
	if f, err := read(interval); err == nil {
		t.Errorf("%+v of a run that was broken off", f)
	}
}
