// Package storetest makes records for tests of code that reads a store: every kind of measurement and every status. It knows
// nothing of how real records are made.
package storetest

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// Product is a broker with the figures that these records pretend to have measured, at 100 B.
type Product struct {
	Name, Version, Client string
	Sustains              float64 // messages per second
	P50                   float64 // nanoseconds end to end, without load
	BrokerCPU, ClientCPU  float64 // seconds per million
	RSS                   int64
}

// Products are the brokers of Demo.
var Products = []Product{
	{"kafka", "4.3.1", "github.com/twmb/franz-go@v1.22.2", 812_000, 2.1e6, 1.9, 0.61, 700 << 20},
	{"rabbitmq", "3.10.8", "github.com/rabbitmq/amqp091-go@v1.16.0", 46_000, 0.9e6, 21.5, 17.2, 180 << 20},
	{"nats", "2.15.2", "github.com/nats-io/nats.go@v1.55.0", 1_150_000, 0.21e6, 0.55, 0.66, 22 << 20},
	{"jetstream", "2.15.2", "github.com/nats-io/nats.go@v1.55.0", 96_000, 0.6e6, 8.4, 4.1, 95 << 20},
}

// Began is the time of the first record.
var Began = time.Date(2026, 3, 1, 9, 0, 0, 123456789, time.UTC)

// Hostile is a label as an attacker would choose it.
const Hostile = `=cmd|'/c calc'!A0 <script>alert(1)</script> "quoted" & \ / * ? [x]:y`

// Demo returns the records of a study of four brokers and two sizes, with three repetitions: searches, curves, a fixed rate with
// a fault, refusals, void and failed runs, lost messages, and a hostile label. The records are the same every time; the data
// below the slice is shared and must not be changed.
func Demo() []store.Record { return slices.Clone(demo()) }

var demo = sync.OnceValue(func() []store.Record {
	var records []store.Record
	add := func(r store.Record) {
		r.ID = int64(len(records) + 1)
		r.Began = Began.Add(time.Duration(len(records)) * time.Minute)
		r.Ended = r.Began.Add(21 * time.Second)
		records = append(records, r)
	}
	for repetition := 1; repetition <= 3; repetition++ {
		for _, size := range []study.Size{100, 1024} {
			for _, p := range Products {
				add(p.search(size, repetition))
				add(p.curve(size, repetition))
			}
		}
		for _, p := range Products {
			add(p.fixed(repetition))
		}
	}
	return records
})

// Records are a source that ignores filters: its reader has to select.
type Records []store.Record

// Each reads all records.
func (all Records) Each(context.Context, store.Filter) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		for _, r := range all {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// Empty returns sets of records that leave a figure or a sheet almost empty.
func Empty() map[string][]store.Record {
	p := Products[0]
	void := p.fixed(1)
	void.Status, void.Reason = store.Void, "the generator was 3.1 ms late at p99, allowed are 1.0 ms"
	bare := p.fixed(1)
	bare.Status, bare.Reason, bare.Result = store.Aborted, "interrupted", nil
	return map[string][]store.Record{
		"nothing": nil, "one point": {p.fixed(1)}, "only void": {void}, "nothing measured": {bare},
	}
}

// Record is a repetition that ended ok, without a result yet.
func (p Product) Record(size study.Size, measure string, repetition int) store.Record {
	r := store.Record{
		Schema: store.Schema, Study: "head-to-head", Repetition: repetition, Status: store.OK,
		PointID: fmt.Sprintf("%s-%d-%s", p.Name, size, measure), Label: fmt.Sprintf("%s %s", p.Name, size),
		Axes: map[string]string{"broker": p.Name, "messageSize": size.String()},
		Spec: study.Spec{
			Broker: p.Name, Version: p.Version, Nodes: 1, TLS: "off",
			Delivery: "at-least-once", Persistence: "log", Replicas: 1, Acks: "leader", Ordering: "unordered",
			Topics: 1, PartitionsPerTopic: 1, ProducersPerTopic: 1, SubscriptionsPerTopic: 1, ConsumerPerSubscription: study.Consumers{1},
			MessageSize: study.Sizes{{Size: size, Weight: 1}}, KeyDistributor: "NO_KEY", Measure: measure,
			Load: study.Load{Shape: "constant"}, Duration: study.Duration(10 * time.Second), Drain: study.Duration(5 * time.Second), Seed: 1, Isolation: "shared",
			InFlight: study.InFlight{Messages: 10_000, Bytes: 16 << 20},
		},
		Settings: store.Settings{Client: map[string]any{"window": 1024.0}},
		Versions: store.Versions{Broker: p.Version, Client: p.Client, Tool: "0.1.0", Go: "go1.26.8"},
		Host:     store.Host{Name: "bench-1", OS: "linux", Kernel: "6.12.9", CPU: "AMD EPYC 9B45", Cores: 2, MemoryBytes: 8 << 30, Clock: "tsc"},
	}
	if p.Name == "rabbitmq" {
		r.Doubts = append(r.Doubts, store.Doubt{Code: "old-version", Text: "RabbitMQ 3.10.8 is of 2022, two major versions behind"})
	}
	return r
}

// search refuses 1 KiB on NATS, as if it weren't supported.
func (p Product) search(size study.Size, repetition int) store.Record {
	r := p.Record(size, "sustainable", repetition)
	if p.Name == "nats" && size == 1024 {
		r.Status, r.Reason = store.Refused, "delivery: at-least-once is not supported: core NATS keeps no copy of a message"
		return r
	}
	top := p.top(size) * drift(repetition)
	r.Result = p.result(size, top, top, repetition)
	r.Result.Sustainable = &store.Sustainable{HeldNs: 20e9, Low: top, High: top * 1.05, Limits: store.Limits{{Cause: "cpu", Seen: "the machine's 2 cores, of which broker (1.2) and generator (0.7) used 1.9", Reached: true}}, Trials: []store.Trial{
		{Kind: "probe", Rate: top * 1.3, Verdict: "pass", PublishRate: top * 1.3, ReceiveRate: top * 1.2, EndToEndP50: 9e6, EndToEndP99: 40e6, Seconds: 2},
		{Kind: "short", Rate: top * 1.05, Verdict: "fail", Reason: "the backlog grows by 2.1 % of the rate, allowed is 1 %", PublishRate: top * 1.05, ReceiveRate: top, BacklogSlope: top * 0.021, EndToEndP50: 12e6, EndToEndP99: 90e6, Seconds: 3},
		{Kind: "confirm", Rate: top, Verdict: "pass", PublishRate: top, ReceiveRate: top, EndToEndP50: 4e6, EndToEndP99: 11e6, Seconds: 6},
	}}
	return r
}

// curve has a void point in the middle of RabbitMQ's curve at 1 KiB.
func (p Product) curve(size study.Size, repetition int) store.Record {
	r := p.Record(size, "curve", repetition)
	r.Spec.Curve.Fractions = []float64{0.1, 0.3, 0.5, 0.7, 0.9, 1}
	top := p.top(size) * drift(repetition)
	var points []store.CurvePoint
	for _, f := range r.Spec.Curve.Fractions {
		at := p.result(size, f*p.top(size), top, repetition)
		c := store.CurvePoint{Fraction: f, Rate: f * p.top(size), Status: store.OK, Measurement: at.Measurement}
		if p.Name == "rabbitmq" && size == 1024 && f == 0.5 {
			c.Status, c.Reason = store.Void, "the generator was 3.1 ms late at p99, allowed are 1.0 ms"
		}
		points = append(points, c)
		r.Result = at // as the last rate left it
	}
	r.Result.Curve = points
	return r
}

// fixed is 20,000/s at 100 B with a killed broker; RabbitMQ's are void, JetStream loses messages the second time.
func (p Product) fixed(repetition int) store.Record {
	r := p.Record(100, "rate", repetition)
	r.Spec.Load.Rate, r.Spec.Ordering = 20_000, "ordered"
	r.Spec.Faults = []study.Fault{{At: study.Duration(4 * time.Second), Do: "kill", For: study.Duration(time.Second)}}
	r.Axes["load.rate"] = "20000"
	r.Result = p.result(100, 20_000, p.top(100)*drift(repetition), repetition)
	r.Result.Series = series(20_000, p.P50)
	r.Result.WarmupSeconds = 2
	r.Result.Faults = []store.FaultEvent{{OffsetNs: 4e9, Do: "kill", Node: 1}, {OffsetNs: 5e9, Do: "restart", Node: 1}}
	switch {
	case p.Name == "rabbitmq":
		late := remark.Of("the generator was %.1f ms late at p99, allowed are 1.0 ms", 3+float64(repetition)/10)
		r.Status, r.Reason, r.Figures = store.Void, late.Text, late.Figures
	case p.Name == "jetstream" && repetition == 2:
		r.Status, r.Reason = store.Failed, "3 confirmed messages were lost, at-least-once allows none"
		r.Result.Books.Lost, r.Result.Books.LostAcked = 3, 3
		r.Result.Books.Received -= 3
	case p.Name == "nats":
		r.Label = Hostile
	}
	return r
}

func (p Product) top(size study.Size) float64 { return p.Sustains / math.Sqrt(float64(size)/100) }

// drift makes repetitions differ by a few percent.
func drift(repetition int) float64 { return 1 + 0.02*float64((repetition*7)%5-2) }

func (p Product) result(size study.Size, rate, top float64, repetition int) *store.Result {
	sent := int64(rate * 10)
	d := drift(repetition)
	return &store.Result{Measurement: store.Measurement{
		Books: store.Books{Due: sent, Sent: sent, Acked: sent, Expected: sent, Received: sent}, Seconds: 10,
		OfferedRate: rate, PublishRate: rate, ReceiveRate: rate, PayloadSize: float64(size),
		Latency: store.Latency{
			EndToEnd: p.latency(rate, top, d), EndToEndService: p.latency(rate, top, 0.98*d), Publish: p.latency(rate, top, 0.8*d),
			Service: p.latency(rate, top, 0.78*d), Lag: p.latency(rate, top, 0.02*d), GeneratorLag: p.latency(rate, top, 0.01*d),
		},
		Cost: store.Cost{
			BrokerKnown: true, BrokerUserSeconds: p.BrokerCPU * 0.7 * d * float64(sent) / 1e6, BrokerSystemSeconds: p.BrokerCPU * 0.3 * d * float64(sent) / 1e6,
			BrokerRSSBytes: p.RSS, BrokerDiskWriteBytes: sent * int64(size), BrokerDataGrowthBytes: sent * int64(size),
			GeneratorUserSeconds: p.ClientCPU * 0.8 * float64(sent) / 1e6, GeneratorSystemSeconds: p.ClientCPU * 0.2 * float64(sent) / 1e6,
			GeneratorRSSBytes: 60 << 20, Seconds: 10, Messages: sent, Bytes: sent * int64(size),
		},
	}}
}

// latency grows with utilization as a queue's does, with a tail of ten times the median.
func (p Product) latency(rate, top, factor float64) hist.Snapshot {
	h := hist.New()
	median := p.P50 * factor / max(0.1, 1-rate/(top*1.1))
	for i := range 500 {
		share := (float64(i) + 0.5) / 500
		h.Record(int64(median * (0.5 + share + math.Pow(share, 60)*9)))
	}
	return h.Snapshot()
}

// series is two samples a second of 2 s warm-up, 10 s with a stall from 4 s to 5.5 s, and 1 s drain.
func series(rate, p50 float64) []store.Tick {
	var ticks []store.Tick
	var backlog float64
	for i := range 26 {
		at := float64(i)*0.5 - 2
		t := store.Tick{OffsetNs: int64(at * 1e9), Phase: "measure", BrokerCPU: 0.4 + 0.03*math.Sin(at), GeneratorCPU: 0.3 + 0.02*math.Cos(at)}
		send := rate * (1 + 0.01*math.Sin(3*at))
		switch {
		case at < 0:
			t.Phase = "warmup"
		case at > 10:
			t.Phase, send = "drain", 0
		}
		receive := min(send+backlog*2, 1.8*rate)
		if at >= 4 && at < 5.5 {
			receive = 0
			t.BrokerCPU = 0
		}
		backlog = max(0, backlog+(send-receive)/2)
		t.PublishRate, t.ReceiveRate, t.Backlog = min(send, receive), receive, int64(backlog)
		t.EndToEndP50 = int64(p50 + backlog/rate*1e9)
		t.EndToEndP99 = int64(p50*4 + backlog/rate*1.4e9)
		ticks = append(ticks, t)
	}
	return ticks
}
