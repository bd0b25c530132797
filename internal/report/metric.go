package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
)

// Better says which direction of a metric is the better one.
type Better int

// Directions.
const (
	Neither Better = iota
	Higher
	Lower
)

// Metric is one figure of a record, the same under the same key in every report and format.
type Metric struct {
	Key    string
	Name   string
	Unit   Unit
	Better Better
	Of     func(r store.Record) float64 // NaN where not measured or not known
}

// Metrics lists every figure of a record.
var Metrics = []Metric{
	{"sent", "sent", Count, Neither, books(func(b store.Books) int64 { return b.Sent })},
	{"acked", "acked", Count, Neither, books(func(b store.Books) int64 { return b.Acked })},
	{"resent", "resent", Count, Lower, books(func(b store.Books) int64 { return b.Resent })},
	{"received", "received", Count, Neither, books(func(b store.Books) int64 { return b.Received })},
	{"lost", "lost", Count, Lower, books(func(b store.Books) int64 { return b.Lost })},
	{"lost_acked", "lost after ack", Count, Lower, books(func(b store.Books) int64 { return b.LostAcked })},
	{"duplicated", "duplicated", Count, Lower, books(func(b store.Books) int64 { return b.Duplicated })},
	{"reordered", "reordered", Count, Lower, books(func(b store.Books) int64 { return b.Reordered })},
	{"corrupted", "corrupted", Count, Lower, books(func(b store.Books) int64 { return b.Corrupted })},
	{"publish_rate", "published", PerSecond, Higher, result(func(r *store.Result) float64 { return r.PublishRate })},
	{"receive_rate", "received", PerSecond, Higher, result(func(r *store.Result) float64 { return r.ReceiveRate })},
	{"sustainable_low", "sustainable", PerSecond, Higher, result(sustainableLow)},
	{"sustainable_high", "sustainable, failing", PerSecond, Higher, result(sustainableHigh)},
	{"e2e_p50_ns", "e2e p50", Nanoseconds, Lower, quantile(endToEnd, 0.5)},
	{"e2e_p90_ns", "e2e p90", Nanoseconds, Lower, quantile(endToEnd, 0.9)},
	{"e2e_p95_ns", "e2e p95", Nanoseconds, Lower, quantile(endToEnd, 0.95)},
	{"e2e_p99_ns", "e2e p99", Nanoseconds, Lower, quantile(endToEnd, 0.99)},
	{"e2e_p999_ns", "e2e p99.9", Nanoseconds, Lower, quantile(endToEnd, 0.999)},
	{"e2e_max_ns", "e2e max", Nanoseconds, Lower, quantile(endToEnd, 1)},
	{"publish_p50_ns", "publish p50", Nanoseconds, Lower, quantile(publish, 0.5)},
	{"publish_p99_ns", "publish p99", Nanoseconds, Lower, quantile(publish, 0.99)},
	{"service_p50_ns", "service p50", Nanoseconds, Lower, quantile(service, 0.5)},
	{"service_p99_ns", "service p99", Nanoseconds, Lower, quantile(service, 0.99)},
	{"lag_p99_ns", "lag p99", Nanoseconds, Lower, quantile(lag, 0.99)},
	{"broker_cpu_s_per_million", "broker CPU", CPUSeconds, Lower, result(func(r *store.Result) float64 { return BrokerCPU(r.Cost) })},
	{"generator_cpu_s_per_million", "generator CPU", CPUSeconds, Lower, result(func(r *store.Result) float64 { return GeneratorCPU(r.Cost) })},
	{"broker_rss_bytes", "broker memory", Bytes, Lower, broker(func(c store.Cost) int64 { return c.BrokerRSSBytes })},
	{"broker_disk_write_bytes", "broker disk writes", Bytes, Lower, broker(func(c store.Cost) int64 { return c.BrokerDiskWriteBytes })},
	{"total_s", "total time", Seconds, Lower, result(totalSeconds)},
	{"drain_rate", "drained", PerSecond, Higher, result(drainRate)},
}

// MetricByKey finds a metric; an unknown key is answered with the keys there are.
func MetricByKey(key string) (Metric, error) {
	var keys []string
	for _, m := range Metrics {
		if m.Key == key {
			return m, nil
		}
		keys = append(keys, m.Key)
	}
	return Metric{}, fmt.Errorf("unknown metric %q; known: %s", key, strings.Join(keys, ", "))
}

// BrokerCPU is CPU-seconds of the broker's processes per million messages; NaN when it wasn't metered.
func BrokerCPU(c store.Cost) float64 {
	if !c.BrokerKnown || c.Messages == 0 {
		return math.NaN()
	}
	return c.PerMillion(c.BrokerUserSeconds + c.BrokerSystemSeconds)
}

// GeneratorCPU is CPU-seconds of the load generator per million messages; NaN without messages.
func GeneratorCPU(c store.Cost) float64 {
	if c.Messages == 0 {
		return math.NaN()
	}
	return c.PerMillion(c.GeneratorUserSeconds + c.GeneratorSystemSeconds)
}

func result(of func(*store.Result) float64) func(store.Record) float64 {
	return func(r store.Record) float64 {
		if r.Result == nil {
			return math.NaN()
		}
		return of(r.Result)
	}
}

// books is unknown where nothing was counted, as in results of other tools: no loss known isn't no loss.
func books(of func(store.Books) int64) func(store.Record) float64 {
	return result(func(r *store.Result) float64 {
		if r.Books == (store.Books{}) {
			return math.NaN()
		}
		return float64(of(r.Books))
	})
}

func broker(of func(store.Cost) int64) func(store.Record) float64 {
	return result(func(r *store.Result) float64 {
		if !r.Cost.BrokerKnown {
			return math.NaN()
		}
		return float64(of(r.Cost))
	})
}

func quantile(of func(store.Latency) hist.Snapshot, q float64) func(store.Record) float64 {
	return result(func(r *store.Result) float64 { return Quantile(of(r.Latency), q) })
}

// Quantile is NaN for an empty histogram, unlike the histogram's own.
func Quantile(s hist.Snapshot, q float64) float64 {
	if s.Count() == 0 {
		return math.NaN()
	}
	return float64(s.Quantile(q))
}

func endToEnd(l store.Latency) hist.Snapshot { return l.EndToEnd }
func publish(l store.Latency) hist.Snapshot  { return l.Publish }
func service(l store.Latency) hist.Snapshot  { return l.Service }
func lag(l store.Latency) hist.Snapshot      { return l.Lag }

func sustainableLow(r *store.Result) float64 {
	if r.Sustainable == nil {
		return math.NaN()
	}
	return r.Sustainable.Low // 0 is a finding: no rate passed
}

func sustainableHigh(r *store.Result) float64 {
	if r.Sustainable == nil || r.Sustainable.High == 0 {
		return math.NaN()
	}
	return r.Sustainable.High
}

func totalSeconds(r *store.Result) float64 {
	if r.Count == nil {
		return math.NaN()
	}
	return r.Count.TotalSeconds
}

func drainRate(r *store.Result) float64 {
	if r.Backlog == nil {
		return math.NaN()
	}
	return r.Backlog.DrainRate
}
