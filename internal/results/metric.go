package results

import (
	"fmt"
	"math"
	"strings"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
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
	Unit   unit.Unit
	Better Better
	Of     func(r store.Record) float64 // NaN where not measured or not known

	raw func(r store.Record) float64 // latencies: Of without regard to closed loops; see latencyMetric
}

// Metrics lists every figure of a record.
var Metrics = givenToo([]Metric{
	{Key: "offered_rate", Name: "offered", Unit: unit.PerSecond, Better: Neither, Of: result(offeredRate)},
	{Key: "due", Name: "due", Unit: unit.Count, Better: Neither, Of: scheduled(func(b store.Books) int64 { return b.Due })},
	{Key: "unsent", Name: "never sent", Unit: unit.Count, Better: Lower, Of: scheduled(func(b store.Books) int64 { return b.Unsent })},
	{Key: "sent", Name: "sent", Unit: unit.Count, Better: Neither, Of: books(func(b store.Books) int64 { return b.Sent })},
	{Key: "acked", Name: "acked", Unit: unit.Count, Better: Neither, Of: books(func(b store.Books) int64 { return b.Acked })},
	{Key: "failed", Name: "failed", Unit: unit.Count, Better: Lower, Of: books(func(b store.Books) int64 { return b.Failed })},
	{Key: "unresolved", Name: "unresolved", Unit: unit.Count, Better: Lower, Of: books(func(b store.Books) int64 { return b.Unresolved })},
	{Key: "resent", Name: "resent", Unit: unit.Count, Better: Lower, Of: books(func(b store.Books) int64 { return b.Resent })},
	{Key: "received", Name: "received", Unit: unit.Count, Better: Neither, Of: books(func(b store.Books) int64 { return b.Received })},
	{Key: "lost", Name: "lost", Unit: unit.Count, Better: Lower, Of: books(func(b store.Books) int64 { return b.Lost })},
	{Key: "lost_acked", Name: "lost after ack", Unit: unit.Count, Better: Lower, Of: books(func(b store.Books) int64 { return b.LostAcked })},
	{Key: "duplicated", Name: "duplicated", Unit: unit.Count, Better: Lower, Of: books(func(b store.Books) int64 { return b.Duplicated })},
	{Key: "reordered", Name: "reordered", Unit: unit.Count, Better: Lower, Of: books(func(b store.Books) int64 { return b.Reordered })},
	{Key: "corrupted", Name: "corrupted", Unit: unit.Count, Better: Lower, Of: books(func(b store.Books) int64 { return b.Corrupted })},
	{Key: "publish_rate", Name: "published", Unit: unit.PerSecond, Better: Higher, Of: result(func(r *store.Result) float64 { return r.PublishRate })},
	{Key: "receive_rate", Name: "received", Unit: unit.PerSecond, Better: Higher, Of: result(func(r *store.Result) float64 { return r.ReceiveRate })},
	{Key: "publish_mb_s", Name: "published MB/s", Unit: unit.None, Better: Higher, Of: result(megabytes(func(r *store.Result) float64 { return r.PublishRate }))},
	{Key: "receive_mb_s", Name: "received MB/s", Unit: unit.None, Better: Higher, Of: result(megabytes(func(r *store.Result) float64 { return r.ReceiveRate }))},
	{Key: "producer_rate", Name: "per producer", Unit: unit.PerSecond, Better: Higher, Of: producerRate},
	{Key: "consumer_rate", Name: "per consumer", Unit: unit.PerSecond, Better: Higher, Of: consumerRate},
	{Key: "backlog_max", Name: "largest backlog", Unit: unit.None, Better: Lower, Of: result(known(func(r *store.Result) *int64 { return r.BacklogMax }))},
	{Key: "sustainable_low", Name: "sustainable", Unit: unit.PerSecond, Better: Higher, Of: result(sustainableLow)},
	{Key: "sustainable_high", Name: "sustainable, failing", Unit: unit.PerSecond, Better: Higher, Of: result(sustainableHigh)},
	{Key: "knee_rate", Name: "before the knee", Unit: unit.PerSecond, Better: Higher, Of: result(kneeRate)},
	latencyMetric("e2e_min_ns", "e2e min", endToEnd, 0),
	meanMetric("e2e_mean_ns", "e2e mean", endToEnd),
	latencyMetric("e2e_p50_ns", "e2e p50", endToEnd, 0.5),
	latencyMetric("e2e_p90_ns", "e2e p90", endToEnd, 0.9),
	latencyMetric("e2e_p95_ns", "e2e p95", endToEnd, 0.95),
	latencyMetric("e2e_p99_ns", "e2e p99", endToEnd, 0.99),
	latencyMetric("e2e_p999_ns", "e2e p99.9", endToEnd, 0.999),
	latencyMetric("e2e_max_ns", "e2e max", endToEnd, 1),
	latencyMetric("publish_min_ns", "publish min", publish, 0),
	meanMetric("publish_mean_ns", "publish mean", publish),
	latencyMetric("publish_p50_ns", "publish p50", publish, 0.5),
	latencyMetric("publish_p95_ns", "publish p95", publish, 0.95),
	latencyMetric("publish_p99_ns", "publish p99", publish, 0.99),
	latencyMetric("publish_max_ns", "publish max", publish, 1),
	meanMetric("service_mean_ns", "service mean", service),
	latencyMetric("service_p50_ns", "service p50", service, 0.5),
	latencyMetric("service_p99_ns", "service p99", service, 0.99),
	latencyMetric("e2e_service_min_ns", "e2e from send, min", endToEndService, 0),
	meanMetric("e2e_service_mean_ns", "e2e from send, mean", endToEndService),
	latencyMetric("e2e_service_p50_ns", "e2e from send, p50", endToEndService, 0.5),
	latencyMetric("e2e_service_p95_ns", "e2e from send, p95", endToEndService, 0.95),
	latencyMetric("e2e_service_p99_ns", "e2e from send, p99", endToEndService, 0.99),
	latencyMetric("e2e_service_max_ns", "e2e from send, max", endToEndService, 1),
	latency("mean_of_seconds_ns", "mean of one-second means", meanOfSeconds),
	latency("corrected_mean_ns", "corrected mean", corrected(func(c *store.Corrected) float64 { return c.MeanNs })),
	latency("corrected_p99_ns", "corrected p99", corrected(func(c *store.Corrected) float64 { return float64(c.P99Ns) })),
	latencyMetric("lag_p99_ns", "lag p99", lag, 0.99),
	{Key: "pause_p99_ns", Name: "own pauses p99", Unit: unit.Nanoseconds, Better: Lower, Of: pauses(func(p *store.Pauses) float64 { return Quantile(p.Late, 0.99) })},
	{Key: "pause_max_ns", Name: "own pauses max", Unit: unit.Nanoseconds, Better: Lower, Of: pauses(func(p *store.Pauses) float64 { return float64(p.LongestNs) })},
	{Key: "broker_cpu_s_per_million", Name: "broker CPU", Unit: unit.CPUSeconds, Better: Lower, Of: result(func(r *store.Result) float64 { return BrokerCPU(r.Cost) })},
	{Key: "generator_cpu_s_per_million", Name: "generator CPU", Unit: unit.CPUSeconds, Better: Lower, Of: result(func(r *store.Result) float64 { return GeneratorCPU(r.Cost) })},
	{Key: "broker_rss_bytes", Name: "broker memory", Unit: unit.Bytes, Better: Lower, Of: broker(func(c store.Cost) int64 { return c.BrokerRSSBytes })},
	{Key: "broker_disk_write_bytes", Name: "broker disk writes", Unit: unit.Bytes, Better: Lower, Of: broker(func(c store.Cost) int64 { return c.BrokerDiskWriteBytes })},
	{Key: "broker_disk_read_bytes", Name: "broker disk reads", Unit: unit.Bytes, Better: Lower, Of: result(known(func(r *store.Result) *int64 { return r.Cost.BrokerDiskReadBytes }))},
	{Key: "broker_cpu_user_pct", Name: "broker CPU, user, % of a core", Unit: unit.None, Better: Lower, Of: brokerPercent(func(s *store.Shares) float64 { return s.BrokerUser })},
	{Key: "broker_cpu_system_pct", Name: "broker CPU, system, % of a core", Unit: unit.None, Better: Lower, Of: brokerPercent(func(s *store.Shares) float64 { return s.BrokerSystem })},
	{Key: "total_s", Name: "total time", Unit: unit.Seconds, Better: Lower, Of: result(totalSeconds)},
	{Key: "drain_rate", Name: "drained", Unit: unit.PerSecond, Better: Higher, Of: result(drainRate)},
})

// DiskPerMessage is what the broker wrote for each message. It and FromSend are for the views that need them; exports and
// thresholds have those of Metrics.
var DiskPerMessage = Metric{
	Key: "broker_disk_bytes_per_message", Name: "written per message", Unit: unit.Bytes, Better: Lower,
	Of: result(func(r *store.Result) float64 {
		if c := r.Cost; c.BrokerKnown && c.Messages != 0 && c.BrokerDiskWriteBytes >= 0 {
			return float64(c.BrokerDiskWriteBytes) / float64(c.Messages)
		}
		return math.NaN()
	}),
}

// FromSend are latencies as other tools count them, from the actual send; results imported from one have no others.
var FromSend = []Metric{
	latencyMetric("service_p50_ns", "service p50", service, 0.5),
	latencyMetric("service_p99_ns", "service p99", service, 0.99),
	latencyMetric("e2e_service_p50_ns", "e2e from send, p50", endToEndService, 0.5),
	latencyMetric("e2e_service_p99_ns", "e2e from send, p99", endToEndService, 0.99),
}

// headlines are the metrics that kinds of measurement are made for.
var headlines = map[string]string{
	"sustainable": "sustainable_low", "curve": "sustainable_low", "peak": "publish_rate", "rate": "e2e_p99_ns",
	"count": "total_s", "backlog": "drain_rate",
}

// Headline is the metric that a kind of measurement is made for.
func Headline(measure string) (m Metric, ok bool) {
	key, ok := headlines[measure]
	if !ok {
		return Metric{}, false
	}
	return metric(key), true
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

// Over is m over repetitions: counts are summed, because a loss isn't averaged away; of everything else it is the median.
func (m Metric) Over(records []store.Record) Summary {
	values := m.Values(records)
	if m.Unit != unit.Count || len(values) == 0 {
		return Summarize(values)
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return Summary{N: len(values), Median: sum, Low: sum, High: sum}
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

// scheduled is unknown in records of before it was counted what was due, which is not the same as nothing.
func scheduled(of func(store.Books) int64) func(store.Record) float64 {
	return result(func(r *store.Result) float64 {
		if r.Books.Due == 0 {
			return math.NaN()
		}
		return float64(of(r.Books))
	})
}

// pauses are unknown in records of before they were watched.
func pauses(of func(*store.Pauses) float64) func(store.Record) float64 {
	return result(func(r *store.Result) float64 {
		if r.Pauses == nil {
			return math.NaN()
		}
		return of(r.Pauses)
	})
}

// offeredRate is unknown where there was no schedule.
func offeredRate(r *store.Result) float64 {
	if r.OfferedRate <= 0 {
		return math.NaN()
	}
	return r.OfferedRate
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

func endToEndService(l store.Latency) hist.Snapshot { return l.EndToEndService }

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
