package page_test

import (
	"fmt"
	"io"
	"math"
	"time"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/page"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/storetest"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/reports"
)

// product makes the records of a sweep of one broker.
type product struct{ storetest.Product }

var products = func() []product {
	var products []product
	for _, p := range storetest.Products {
		products = append(products, product{p})
	}
	return products
}()

// sweep is what a study of four brokers, two sizes and two guarantees stores: a curve, a fixed rate with a fault, and
// what goes wrong in practice.
func sweep(repeats int) []store.Record {
	var records []store.Record
	for repetition := 1; repetition <= repeats; repetition++ {
		for _, size := range []study.Size{100, 1024} {
			for _, delivery := range []string{"at-most-once", "at-least-once"} {
				for _, p := range products {
					records = append(records, p.curve(size, delivery, repetition), p.rate(size, delivery, 20_000, repetition))
					if p.Name == "kafka" && size == 100 {
						records = append(records, p.paused(size, delivery, repetition))
					}
				}
			}
		}
	}
	return numbered(records)
}

func numbered(records []store.Record) []store.Record {
	for i := range records {
		records[i].Began = storetest.Began.Add(time.Duration(i) * time.Minute)
		records[i].Ended = records[i].Began.Add(21 * time.Second)
	}
	return records
}

func (p product) record(size study.Size, delivery, measure string, rate float64, repetition int) store.Record {
	r := p.Record(size, measure, repetition)
	r.Study, r.PointID = "sizes", fmt.Sprintf("%s-%d-%s-%s-%.0f", p.Name, size, delivery, measure, rate)
	r.Label, r.Axes["delivery"] = fmt.Sprintf("%s %s %s", p.Name, size, delivery), delivery
	r.Spec.Delivery, r.Spec.Load.Rate = delivery, rate
	r.Settings.Server, r.Versions.Client = map[string]any{"log.dirs": "data"}, "client@v1.2.3"
	if p.Name == "nats" && delivery == "at-least-once" {
		r.Status, r.Reason = store.Refused, fmt.Sprintf("delivery: %s is not supported: core NATS keeps no copy of a message", delivery)
	}
	return r
}

func (p product) capacity(size study.Size, repetition int) (rate, drift float64) {
	drift = 1 + 0.02*float64((repetition*7)%5-2)
	return p.Sustains * drift / math.Sqrt(float64(size)/100), drift
}

func (p product) curve(size study.Size, delivery string, repetition int) store.Record {
	r := p.record(size, delivery, "curve", 0, repetition)
	r.Spec.Curve.Fractions = []float64{0.1, 0.25, 0.5, 0.75, 0.9}
	if r.Status == store.Refused {
		return r
	}
	top, drift := p.capacity(size, repetition)
	r.Result = p.result(size, top, top, drift)
	r.Result.Sustainable = &store.Sustainable{HeldNs: 20e9, Low: top, High: top * 1.05, Limits: store.Limits{{Cause: "cpu", Seen: "the machine's 2 cores, of which broker (1.2) and generator (0.7) used 1.9", Reached: true}}, Trials: []store.Trial{
		{Kind: "probe", Rate: top * 1.3, Verdict: "pass", PublishRate: top * 1.3, EndToEndP50: 9e6, EndToEndP99: 40e6, Seconds: 2},
		{Kind: "short", Rate: top * 1.05, Verdict: "fail", Reason: "the backlog grows", PublishRate: top * 1.02, EndToEndP50: 12e6, EndToEndP99: 90e6, Seconds: 3},
		{Kind: "confirm", Rate: top, Verdict: "pass", PublishRate: top, EndToEndP50: 4e6, EndToEndP99: 11e6, Seconds: 6},
	}}
	for _, f := range r.Spec.Curve.Fractions {
		at := p.result(size, f*top, top, drift)
		at.PublishRate, at.ReceiveRate = f*top, f*top
		c := store.CurvePoint{Fraction: f, Rate: f * top, Status: store.OK, Measurement: at.Measurement}
		if p.Name == "jetstream" && f == 0.9 && size == 1024 {
			c.Status, c.Reason = store.Void, "the generator was 3.1 ms late at p99, allowed are 1.0 ms"
		}
		r.Result.Curve = append(r.Result.Curve, c)
	}
	return r
}

func (p product) rate(size study.Size, delivery string, rate float64, repetition int) store.Record {
	r := p.record(size, delivery, "rate", rate, repetition)
	if r.Status == store.Refused {
		return r
	}
	top, drift := p.capacity(size, repetition)
	r.Result = p.result(size, rate, top, drift)
	switch {
	case p.Name == "rabbitmq" && size == 1024:
		late := remark.Of("the generator was %.1f ms late at p99, allowed are 1.0 ms", 3+float64(repetition)/10)
		r.Status, r.Reason, r.Figures = store.Void, late.Text, late.Figures
	case p.Name == "jetstream" && size == 1024 && delivery == "at-least-once" && repetition == 2:
		r.Status, r.Reason = store.Failed, "3 confirmed messages were lost, at-least-once allows none"
		r.Result.Books.Lost, r.Result.Books.LostAcked = 3, 3
		r.Result.Books.Received -= 3
	}
	return r
}

func (p product) paused(size study.Size, delivery string, repetition int) store.Record {
	r := p.rate(size, delivery, 10_000, repetition)
	r.Spec.Faults = []study.Fault{{At: study.Duration(4 * time.Second), Do: "pause", For: study.Duration(time.Second)}}
	r.Result.Faults = []store.FaultEvent{{OffsetNs: 4e9, Do: "pause", Node: 1}, {OffsetNs: 5e9, Do: "resume", Node: 1}}
	return r
}

func (p product) result(size study.Size, rate, top, drift float64) *store.Result {
	sent := int64(rate * 10)
	r := &store.Result{Measurement: store.Measurement{
		Books:   store.Books{Sent: sent, Acked: sent, Expected: sent, Received: sent},
		Seconds: 10, OfferedRate: rate, PublishRate: rate, ReceiveRate: rate, PayloadSize: float64(size),
		Latency: store.Latency{
			EndToEnd: p.latency(rate, top, drift, 1), Publish: p.latency(rate, top, drift, 0.8),
			Service: p.latency(rate, top, drift, 0.78), Lag: p.latency(rate, top, drift, 0.02),
		},
		Cost: store.Cost{
			BrokerKnown: true, BrokerUserSeconds: p.BrokerCPU * 0.7 * drift * float64(sent) / 1e6, BrokerSystemSeconds: p.BrokerCPU * 0.3 * drift * float64(sent) / 1e6,
			BrokerRSSBytes: p.RSS, BrokerDiskWriteBytes: sent * int64(size) * 11 / 10, GeneratorUserSeconds: 0.6 * float64(sent) / 1e6,
			Messages: sent, Bytes: sent * int64(size),
		},
	}}
	for i := -4; i < 24; i++ {
		phase, at, wobble := "measure", rate, 1+0.05*math.Sin(float64(i))
		if i < 0 {
			phase = "warmup"
		} else if i >= 20 {
			phase, at = "drain", 0
		}
		t := store.Tick{
			OffsetNs: int64(i) * 5e8, Phase: phase, PublishRate: at * wobble, ReceiveRate: at / wobble, Backlog: int64(rate / 500 * wobble),
			EndToEndP50: int64(p.P50 * wobble), EndToEndP99: int64(p.P50 * 9 * wobble), BrokerCPU: 0.8 * wobble, GeneratorCPU: 0.4 / wobble,
		}
		if i == 8 || i == 9 {
			t.Backlog, t.EndToEndP99, t.ReceiveRate = int64(rate), 1e9, 0
		}
		r.Series = append(r.Series, t)
	}
	return r
}

// latency grows with utilization as a queue's does, with a tail of ten times the median.
func (p product) latency(rate, top, drift, factor float64) hist.Snapshot {
	h := hist.New()
	median := p.P50 * drift * factor / max(0.1, 1-rate/(top*1.1))
	for i := range 3000 {
		h.Record(int64(median * (0.5 + float64(i)/3000 + math.Pow(float64(i)/3000, 60)*9)))
	}
	return h.Snapshot()
}

// linger is a sweep of one broker's settings, and of many points where a study is large.
func linger(lingers, batches, repeats int) []store.Record {
	var records []store.Record
	p := products[0]
	results := make([]store.Result, 8)
	for i := range results {
		results[i] = *p.result(100, 1000, 5000, 1)
		results[i].Latency = p.result(100, float64(i)*600+1, 5000, 1).Latency
	}
	for repetition := 1; repetition <= repeats; repetition++ {
		for l := range lingers {
			for b := range batches {
				r := p.record(100, "at-least-once", "rate", 1000, repetition)
				r.Study, r.PointID = "linger", fmt.Sprintf("linger-%d-%d", l, b)
				r.Axes = map[string]string{"client.linger.ms": fmt.Sprint(l), "client.batch.size": (study.Size(1024) << (b % 12)).String() + map[bool]string{true: fmt.Sprint("+", b)}[b >= 12]}
				r.Spec.Client = map[string]any{"linger.ms": l, "batch.size": b}
				result := results[(l+b+repetition)%len(results)]
				r.Result = &result
				r.Result.Cost.BrokerUserSeconds *= 1 + float64(l)/10 + float64(b)/7
				records = append(records, r)
			}
		}
	}
	return numbered(records)
}

// hostile is a store whose every text tries to become markup.
func hostile() []store.Record {
	const evil = `</script><script>document.title='owned'</script><img src=x onerror="document.title='owned'">"'&`
	records := sweep(2)[:16]
	for i := range records {
		r := &records[i]
		r.Label, r.Study, r.Host.Name, r.Spec.Name = evil, evil, evil, evil
		r.Axes["evil<b>"] = evil + fmt.Sprint(i%2)
		r.PointID += evil + fmt.Sprint(i%2)
		r.Reason = map[bool]string{true: evil}[r.Status != store.OK]
		r.Doubts = append(r.Doubts, store.Doubt{Code: "evil", Text: evil})
		if r.Result != nil && len(r.Result.Faults) > 0 {
			r.Result.Faults[0].Err = evil
		}
	}
	return records
}

// reportPage writes the page of a named report.
func reportPage(w io.Writer, name string, s page.Source) error {
	if name == reports.Default {
		return page.Summary(w, s)
	}
	r, err := reports.Lookup(name)
	if err != nil {
		return err
	}
	d, err := r.Build(s.Set)
	if err != nil {
		return err
	}
	return page.Document(w, d, s)
}
