package reports

import (
	"fmt"
	"math"
	"time"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/storetest"
	"github.com/brokermark/brokermark/internal/study"
)

// product makes the records of a head-to-head of one broker.
type product struct{ storetest.Product }

var products = func() []product {
	var products []product
	for _, p := range storetest.Products {
		products = append(products, product{p})
	}
	return products
}()

// demo is what a head-to-head of two sizes, two guarantees and two fixed rates stores, with what goes wrong in
// practice: refusals, an old version, a void run, lost messages, an interrupted attempt that was repeated.
func demo(repeats int) []store.Record {
	var records []store.Record
	add := func(r store.Record) {
		r.ID = int64(len(records) + 1)
		r.Began = storetest.Began.Add(time.Duration(len(records)) * time.Minute)
		r.Ended = r.Began.Add(21 * time.Second)
		records = append(records, r)
	}
	for repetition := 1; repetition <= repeats; repetition++ {
		for _, size := range []study.Size{100, 1024} {
			for _, delivery := range []string{"at-most-once", "at-least-once"} {
				for _, p := range products {
					for _, rate := range []float64{0, 1000, 20_000} {
						r := p.record(size, delivery, rate, repetition)
						if repetition == 1 && p.Name == "kafka" && size == 100 && rate == 1000 {
							aborted := r
							aborted.Status, aborted.Reason, aborted.Result = store.Aborted, "interrupted", nil
							add(aborted)
						}
						add(r)
					}
				}
			}
		}
	}
	return records
}

// record is one repetition: of a search where rate is 0, else of that rate.
func (p product) record(size study.Size, delivery string, rate float64, repetition int) store.Record {
	measure := "rate"
	if rate == 0 {
		measure = "sustainable"
	}
	r := p.Record(size, measure, repetition)
	r.PointID = fmt.Sprintf("%s-%d-%s-%s-%.0f", p.Name, size, delivery, measure, rate)
	r.Label = fmt.Sprintf("%s %s %s", p.Name, size, delivery)
	r.Axes = map[string]string{"broker": p.Name, "messageSize": size.String(), "delivery": delivery, "measure": measure, "load.rate": fmt.Sprint(rate)}
	r.Spec.Delivery, r.Spec.Load.Rate = delivery, rate
	if p.Name == "nats" && delivery == "at-least-once" {
		r.Status, r.Reason = store.Refused, fmt.Sprintf("delivery: %s is not supported: core NATS keeps no copy of a message", delivery)
		return r
	}
	r.Result = p.result(size, rate, repetition)
	switch {
	case p.Name == "rabbitmq" && rate == 20_000 && size == 1024:
		late := remark.Of("the generator was %.1f ms late at p99, allowed are 1.0 ms", 3+float64(repetition)/10)
		r.Status, r.Reason, r.Figures = store.Void, late.Text, late.Figures
	case p.Name == "jetstream" && rate == 20_000 && size == 1024 && delivery == "at-least-once" && repetition == 2:
		r.Status, r.Reason = store.Failed, "3 confirmed messages were lost, at-least-once allows none"
		r.Result.Books.Lost, r.Result.Books.LostAcked = 3, 3
		r.Result.Books.Received -= 3
		r.Result.Streams = []store.Stream{{Topic: "bm-0", Subscription: "sub-0", Books: r.Result.Books, LostRanges: [][2]int64{{17, 18}, {99_120, 99_120}}}}
	}
	return r
}

func (p product) result(size study.Size, rate float64, repetition int) *store.Result {
	drift := 1 + 0.02*float64((repetition*7)%5-2) // the repetitions differ by a few per cent
	sustains := p.Sustains * drift / math.Sqrt(float64(size)/100)
	offered := rate
	if rate == 0 {
		offered = sustains
	}
	sent := int64(offered * 10)
	result := &store.Result{Measurement: store.Measurement{
		Books:   store.Books{Due: sent, Sent: sent, Acked: sent, Expected: sent, Received: sent},
		Seconds: 10, OfferedRate: offered, PublishRate: offered, ReceiveRate: offered, PayloadSize: float64(size),
		Latency: store.Latency{
			EndToEnd: p.latency(offered, sustains, drift, 1), EndToEndService: p.latency(offered, sustains, drift, 0.98),
			Publish: p.latency(offered, sustains, drift, 0.8), Service: p.latency(offered, sustains, drift, 0.78), Lag: p.latency(offered, sustains, drift, 0.02),
		},
		Cost: store.Cost{
			BrokerKnown: true, BrokerUserSeconds: p.BrokerCPU * 0.7 * drift * float64(sent) / 1e6, BrokerSystemSeconds: p.BrokerCPU * 0.3 * drift * float64(sent) / 1e6,
			BrokerRSSBytes: p.RSS, BrokerDiskWriteBytes: sent * int64(size), GeneratorUserSeconds: p.ClientCPU * float64(sent) / 1e6, Messages: sent, Bytes: sent * int64(size),
		},
	}}
	if rate == 0 {
		limited := store.Limits{
			{Cause: "broker-thread", Seen: "one thread of the broker, worker-1, at 97 % of a core", Reached: true},
			{Cause: "cpu", Seen: "the machine's 2 cores, of which broker (1.1) and generator (0.6) used 1.7"},
		}
		result.Sustainable = &store.Sustainable{HeldNs: 20e9, Low: sustains, High: sustains * 1.05, Limits: limited, Trials: []store.Trial{
			{Kind: "probe", Rate: sustains * 1.3, Verdict: "pass", PublishRate: sustains * 1.3, ReceiveRate: sustains * 1.2, EndToEndP50: 9e6, EndToEndP99: 40e6, Seconds: 2},
			{
				Kind: "short", Rate: sustains * 1.05, Verdict: "fail", Reason: "the backlog grows by 2.1 % of the rate, allowed is 1 %", PublishRate: sustains * 1.05, ReceiveRate: sustains,
				BacklogSlope: sustains * 0.021, EndToEndP50: 12e6, EndToEndP99: 90e6, Seconds: 3,
			},
			{Kind: "confirm", Rate: sustains, Verdict: "pass", PublishRate: sustains, ReceiveRate: sustains, EndToEndP50: 4e6, EndToEndP99: 11e6, Seconds: 6},
		}}
	}
	return result
}

// latency grows with utilization as a queue's does, with a tail of ten times the median.
func (p product) latency(rate, sustains, drift, factor float64) hist.Snapshot {
	h := hist.New()
	median := p.P50 * drift * factor / max(0.1, 1-rate/(sustains*1.1))
	for i := range 1000 {
		h.Record(int64(median * (0.5 + float64(i)/1000 + math.Pow(float64(i)/1000, 60)*9)))
	}
	return h.Snapshot()
}
