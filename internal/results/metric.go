package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/suggest"
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
	Key    string // for machines; ends with the unit where there is one
	Name   string // for people
	Head   string // over a column of figures, if Name is too long; see Column
	About  string // further words to Name, for pages and figures that have room for them
	Unit   unit.Unit
	Better Better
	Of     func(r store.Record) float64 // NaN if it was not measured or is not known

	// Books counts the metric's messages, also those of a single stream; nil for metrics that don't count messages.
	Books func(store.Books) int64
	// Histogram names the LatencyKind that the metric is read from by Read; "" for metrics of no histogram.
	Histogram string
	Read      func(hist.Snapshot) float64

	raw func(r store.Record) float64 // latencies: Of without regard to closed loops; see latencyMetric
}

// Metrics lists every figure of a record: the one place that says how a figure is called, in which unit it is, and how it
// comes from the record. Everything else names its key.
var Metrics = givenToo(append([]Metric{
	{Key: "offered_rate", Name: "offered", Unit: unit.PerSecond, Better: Neither, Of: result(offeredRate)},
	scheduled("due", "due", Neither, func(b store.Books) int64 { return b.Due }),
	scheduled("unsent", "never sent", Lower, func(b store.Books) int64 { return b.Unsent }).headed("never\nsent"),
	counted("sent", "sent", Neither, func(b store.Books) int64 { return b.Sent }),
	counted("acked", "acked", Neither, func(b store.Books) int64 { return b.Acked }),
	counted("failed", "failed", Lower, func(b store.Books) int64 { return b.Failed }),
	counted("unresolved", "unresolved", Lower, func(b store.Books) int64 { return b.Unresolved }).headed("unres."),
	counted("resent", "resent", Lower, func(b store.Books) int64 { return b.Resent }),
	counted("received", "received", Neither, func(b store.Books) int64 { return b.Received }),
	counted("lost", "lost", Lower, func(b store.Books) int64 { return b.Lost }),
	counted("lost_acked", "lost after ack", Lower, func(b store.Books) int64 { return b.LostAcked }).headed("lost\nafter ack"),
	counted("duplicated", "duplicated", Lower, func(b store.Books) int64 { return b.Duplicated }).headed("dup."),
	counted("reordered", "reordered", Lower, func(b store.Books) int64 { return b.Reordered }).headed("reord."),
	counted("corrupted", "corrupted", Lower, func(b store.Books) int64 { return b.Corrupted }).headed("corr."),
	{Key: "publish_rate", Name: "published", Unit: unit.PerSecond, Better: Higher, Of: result(publishRate)},
	{Key: "receive_rate", Name: "received", Unit: unit.PerSecond, Better: Higher, Of: result(receiveRate)},
	{Key: "throughput", Name: "throughput", Unit: unit.PerSecond, Better: Higher, Of: throughput},
	{Key: "publish_mb_s", Name: "published MB/s", Unit: unit.None, Better: Higher, Of: result(megabytes(publishRate))},
	{Key: "receive_mb_s", Name: "received MB/s", Unit: unit.None, Better: Higher, Of: result(megabytes(receiveRate))},
	{Key: "producer_rate", Name: "per producer", Unit: unit.PerSecond, Better: Higher, Of: producerRate},
	{Key: "consumer_rate", Name: "per consumer", Unit: unit.PerSecond, Better: Higher, Of: consumerRate},
	{Key: "backlog_max", Name: "largest backlog", Unit: unit.None, Better: Lower, Of: result(known(func(r *store.Result) *int64 { return r.BacklogMax }))},
	{Key: "sustainable_low", Name: "sustainable", Unit: unit.PerSecond, Better: Higher, Of: result(sustainableLow)},
	{Key: "sustainable_high", Name: "sustainable, failing", Unit: unit.PerSecond, Better: Higher, Of: result(sustainableHigh)},
	{Key: "knee_rate", Name: "before the knee", Unit: unit.PerSecond, Better: Higher, Of: result(kneeRate)},
	latencyMetric("e2e_min_ns", "e2e min", "e2e", 0),
	meanMetric("e2e_mean_ns", "e2e mean", "e2e"),
	latencyMetric("e2e_p50_ns", "e2e p50", "e2e", 0.5),
	latencyMetric("e2e_p90_ns", "e2e p90", "e2e", 0.9),
	latencyMetric("e2e_p95_ns", "e2e p95", "e2e", 0.95),
	latencyMetric("e2e_p99_ns", "e2e p99", "e2e", 0.99),
	latencyMetric("e2e_p999_ns", "e2e p99.9", "e2e", 0.999),
	latencyMetric("e2e_max_ns", "e2e max", "e2e", 1),
	latencyMetric("publish_min_ns", "publish min", "publish", 0),
	meanMetric("publish_mean_ns", "publish mean", "publish"),
	latencyMetric("publish_p50_ns", "publish p50", "publish", 0.5),
	latencyMetric("publish_p95_ns", "publish p95", "publish", 0.95),
	latencyMetric("publish_p99_ns", "publish p99", "publish", 0.99),
	latencyMetric("publish_max_ns", "publish max", "publish", 1),
	meanMetric("service_mean_ns", "service mean", "service"),
	latencyMetric("service_p50_ns", "service p50", "service", 0.5),
	latencyMetric("service_p99_ns", "service p99", "service", 0.99),
	latencyMetric("e2e_service_min_ns", "e2e from send, min", "e2e_service", 0),
	meanMetric("e2e_service_mean_ns", "e2e from send, mean", "e2e_service"),
	latencyMetric("e2e_service_p50_ns", "e2e from send, p50", "e2e_service", 0.5),
	latencyMetric("e2e_service_p95_ns", "e2e from send, p95", "e2e_service", 0.95),
	latencyMetric("e2e_service_p99_ns", "e2e from send, p99", "e2e_service", 0.99),
	latencyMetric("e2e_service_max_ns", "e2e from send, max", "e2e_service", 1),
	latency("mean_of_seconds_ns", "mean of one-second means", meanOfSeconds),
	latency("corrected_mean_ns", "corrected mean", corrected(func(c *store.Corrected) float64 { return c.MeanNs })),
	latency("corrected_p99_ns", "corrected p99", corrected(func(c *store.Corrected) float64 { return float64(c.P99Ns) })),
	latencyMetric("lag_p99_ns", "lag p99", "lag", 0.99),
	{Key: "pause_p99_ns", Name: "own pauses p99", Head: "own pauses\np99", Unit: unit.Nanoseconds, Better: Lower, Of: pauses(func(p *store.Pauses) float64 { return Quantile(p.Late, 0.99) })},
	{Key: "pause_max_ns", Name: "own pauses max", Head: "own pauses\nmax", Unit: unit.Nanoseconds, Better: Lower, Of: pauses(func(p *store.Pauses) float64 { return float64(p.LongestNs) })},
	{Key: "broker_cpu_s_per_million", Name: "broker CPU", Head: "CPU\nbroker", About: "seconds per million messages", Unit: unit.CPUSeconds, Better: Lower, Of: result(func(r *store.Result) float64 { return BrokerCPU(r.Cost) })},
	{Key: "generator_cpu_s_per_million", Name: "generator CPU", Head: "CPU\nclient", About: "seconds per million messages", Unit: unit.CPUSeconds, Better: Lower, Of: result(func(r *store.Result) float64 { return GeneratorCPU(r.Cost) })},
	{Key: "broker_rss_bytes", Name: "broker memory", Head: "memory\nbroker", About: "largest resident set", Unit: unit.Bytes, Better: Lower, Of: broker(func(c store.Cost) int64 { return c.BrokerRSSBytes })},
	{Key: "broker_disk_write_bytes", Name: "broker disk writes", Unit: unit.Bytes, Better: Lower, Of: broker(func(c store.Cost) int64 { return c.BrokerDiskWriteBytes })},
	{Key: "broker_disk_read_bytes", Name: "broker disk reads", Unit: unit.Bytes, Better: Lower, Of: result(known(func(r *store.Result) *int64 { return r.Cost.BrokerDiskReadBytes }))},
	{Key: "broker_flushes_per_message", Name: "broker flushes", Head: "flushes\nper msg", About: "to disk per message", Unit: unit.None, Better: Neither, Of: result(flushesPerMessage)},
	{Key: "broker_cpu_user_pct", Name: "broker CPU, user, % of a core", Unit: unit.None, Better: Lower, Of: brokerPercent(func(s *store.Shares) float64 { return s.BrokerUser })},
	{Key: "broker_cpu_system_pct", Name: "broker CPU, system, % of a core", Unit: unit.None, Better: Lower, Of: brokerPercent(func(s *store.Shares) float64 { return s.BrokerSystem })},
	{Key: "total_s", Name: "total time", Head: "total\ntime", Unit: unit.Seconds, Better: Lower, Of: result(totalSeconds)},
	{Key: "drain_rate", Name: "drained", Unit: unit.PerSecond, Better: Higher, Of: result(drainRate)},
}, append(sideMetrics, pipelineMetrics...)...))

// views are figures for those views that need them; exports and thresholds have those of Metrics.
var views = []Metric{
	counted("expected", "expected", Neither, func(b store.Books) int64 { return b.Expected }),
	{
		Key: "broker_disk_bytes_per_message", Name: "written", About: "to disk per message", Unit: unit.Bytes, Better: Lower,
		Of: result(func(r *store.Result) float64 {
			if c := r.Cost; c.BrokerKnown && c.Messages != 0 && c.BrokerDiskWriteBytes >= 0 {
				return float64(c.BrokerDiskWriteBytes) / float64(c.Messages)
			}
			return math.NaN()
		}),
	},
}

// FromSend are latencies as other tools count them, from the actual send; results imported from one have no others.
var FromSend = []string{"service_p50_ns", "service_p99_ns", "e2e_service_p50_ns", "e2e_service_p99_ns"}

// OnlyFromSend tells that a record has no other latencies than those.
func OnlyFromSend(r store.Record) bool {
	if r.Result == nil || ClosedLoop(r.Spec) {
		return false
	}
	l := r.Result.Latency
	return l.EndToEnd.Count() == 0 && l.Publish.Count() == 0 && l.EndToEndService.Count()+l.Service.Count() > 0
}

// CostMetrics are the keys of the metrics that charts show of the cost of a message.
var CostMetrics = []string{"broker_cpu_s_per_million", "generator_cpu_s_per_million", "broker_disk_bytes_per_message", "broker_rss_bytes"}

// headlines are the metrics that kinds of measurement are made for.
var headlines = map[string]string{
	"sustainable": "sustainable_low", "curve": "sustainable_low", "peak": "throughput", "rate": "e2e_p99_ns",
	"count": "total_s", "backlog": "drain_rate",
}

// Headline is the metric that a kind of measurement is made for.
func Headline(measure string) (m Metric, ok bool) {
	key, ok := headlines[measure]
	if !ok {
		return Metric{}, false
	}
	return MustMetric(key), true
}

// MetricByKey finds a metric, also one that only views have; an unknown key is answered with the keys there are.
func MetricByKey(key string) (Metric, error) {
	for _, metrics := range [][]Metric{Metrics, views} {
		if i := slices.IndexFunc(metrics, func(m Metric) bool { return m.Key == key }); i >= 0 {
			return metrics[i], nil
		}
	}
	return Metric{}, fmt.Errorf("unknown metric %q; known: %s", key, strings.Join(MetricKeys(), ", "))
}

// MetricNamed finds a metric as people write it: by its key, by that without its unit, or as "sustainable".
func MetricNamed(name string) (Metric, error) {
	var known []string
	for _, m := range Metrics {
		if name == m.Key || name == m.Short() {
			return m, nil
		}
		known = append(known, m.Short())
	}
	return Metric{}, fmt.Errorf("unknown metric %q; known: %s%s", name, strings.Join(known, ", "), suggest.DidYouMean(name, known))
}

// Short is the key without its unit, unless the unit is what tells it from another (publish_mb_s).
func (m Metric) Short() string {
	if strings.HasSuffix(m.Key, "_mb_s") {
		return m.Key
	}
	for _, unit := range []string{"_s_per_million", "_ns", "_bytes", "_s", "_pct", "_low"} {
		if short, ok := strings.CutSuffix(m.Key, unit); ok {
			return short
		}
	}
	return m.Key
}

// MetricKeys lists the keys of Metrics in their order.
func MetricKeys() []string {
	var keys []string
	for _, m := range Metrics {
		keys = append(keys, m.Key)
	}
	return keys
}

// MustMetric is MetricByKey for keys in the program's own text.
func MustMetric(key string) Metric {
	m, err := MetricByKey(key)
	if err != nil {
		panic("results: " + err.Error())
	}
	return m
}

// Column is the column of a table that shows a metric.
func Column(key string) document.Column {
	m := MustMetric(key)
	return document.Column{Key: key, Name: cmp.Or(m.Head, m.Name), Unit: m.Unit}
}

// headed is m with a shorter name over its column.
func (m Metric) headed(head string) Metric {
	m.Head = head
	return m
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

// counted counts messages. It is unknown if nothing was counted, as in results of other tools: no loss known isn't no
// loss.
func counted(key, name string, better Better, count func(store.Books) int64) Metric {
	return Metric{
		Key: key, Name: name, Unit: unit.Count, Better: better,
		Of: result(func(r *store.Result) float64 {
			if r.Books == (store.Books{}) {
				return math.NaN()
			}
			return float64(count(r.Books))
		}),
		Books: count,
	}
}

// scheduled counts messages that were due. It is unknown in records of before that was counted, which is not the same as
// nothing.
func scheduled(key, name string, better Better, count func(store.Books) int64) Metric {
	m := counted(key, name, better, count)
	m.Of = result(func(r *store.Result) float64 {
		if r.Books.Due == 0 {
			return math.NaN()
		}
		return float64(count(r.Books))
	})
	return m
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

// offeredRate is unknown if there was no schedule.
func offeredRate(r *store.Result) float64 {
	if r.OfferedRate <= 0 {
		return math.NaN()
	}
	return r.OfferedRate
}

// broker is unknown if the broker's processes weren't found, or the kernel didn't tell (−1).
func broker(of func(store.Cost) int64) func(store.Record) float64 {
	return result(func(r *store.Result) float64 {
		if !r.Cost.BrokerKnown || of(r.Cost) < 0 {
			return math.NaN()
		}
		return float64(of(r.Cost))
	})
}

// Quantile is NaN for an empty histogram, unlike the histogram's own.
func Quantile(s hist.Snapshot, q float64) float64 {
	if s.Count() == 0 {
		return math.NaN()
	}
	return float64(s.Quantile(q))
}

func sustainableLow(r *store.Result) float64 {
	if r.Sustainable == nil {
		return math.NaN()
	}
	if r.Sustainable.Low == 0 && r.Sustainable.High == 0 {
		return math.NaN() // every trial was void
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
