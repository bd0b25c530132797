package results

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/suggest"
	"github.com/brokermark/brokermark/internal/unit"
)

// Metrics lists every figure of a record that exports and thresholds know. Its tables are the only place that defines a figure's
// name, unit, and how it is read from a record. All other code uses its key.
var Metrics = slices.Concat(
	scheduleMetrics, countMetrics, rateMetrics, latencyMetrics, delayMetrics, costMetrics, durationMetrics, backlogMetrics, sideMetrics,
	pipelineMetrics,
)

// reportMetrics are shown by some reports only. Exports and thresholds don't have them.
var reportMetrics = []Metric{
	counted(KeyExpected, "expected", Neither, func(b store.Books) int64 { return b.Expected }),
	{
		Key: KeyBrokerDiskPerMessage, Name: "written", About: "to disk per message", Unit: unit.Bytes, Better: Lower,
		measured: func(r store.Record) float64 { return divided(brokerDiskWrites(r), r.Result.Cost.Messages) },
	},
}

// headlines are the keys of the main metric of each kind of measurement.
var headlines = map[string]string{
	study.MeasureSustainable: KeySustainableLow, study.MeasureCurve: KeySustainableLow, study.MeasurePeak: KeyThroughput,
	study.MeasureRate: KeyEndToEndP99, study.MeasureCount: KeyTotalSeconds, study.MeasureBacklog: KeyDrainRate, study.MeasureRead: KeyReceiveRate,
}

// Headline is the main metric of a kind of measurement. ok is false for kinds without one, such as imported results.
func Headline(measure string) (m Metric, ok bool) {
	key, ok := headlines[measure]
	if !ok {
		return Metric{}, false
	}
	return MustMetric(key), true
}

// HeadlineOf is the metric by which points of one kind of measurement are ranked: the latency of publishing if nothing is received.
func HeadlineOf(points []Point) (m Metric, ok bool) {
	m, ok = Headline(points[0].Spec.Measure)
	if m.Key == KeyEndToEndP99 && !slices.ContainsFunc(points, func(p Point) bool { return !p.PublishesOnly() }) {
		m = MustMetric(KeyPublishP99)
	}
	return m, ok
}

// PublishesOnly reports whether there is no consumer, so that only publishing has a latency.
func (p Point) PublishesOnly() bool {
	return p.Spec.SubscriptionsPerTopic == 0 && p.Spec.ProducersPerTopic > 0
}

// MetricByKey finds a metric by its key, as programs do, also one of reportMetrics. The error for an unknown key is an
// ErrUnknownMetric.
func MetricByKey(key string) (Metric, error) {
	for _, among := range [][]Metric{Metrics, reportMetrics} {
		if i := slices.IndexFunc(among, func(m Metric) bool { return m.Key == key }); i >= 0 {
			return among[i], nil
		}
	}
	return Metric{}, &ErrUnknownMetric{Name: key, known: MetricKeys()}
}

// ErrUnknownMetric is the error for an unknown metric name.
type ErrUnknownMetric struct {
	Name  string
	known []string
}

// Error names the few metrics with the most similar names: there are too many to list all.
func (e *ErrUnknownMetric) Error() string {
	if meant := suggest.Containing(e.Name, e.known); meant != "" {
		return fmt.Sprintf("unknown metric %q; did you mean %q?", e.Name, meant)
	}
	return fmt.Sprintf("unknown metric %q; closest: %s", e.Name, strings.Join(suggest.ClosestFew(e.Name, e.known, 3), ", "))
}

// MustMetric is MetricByKey for the keys of this package. It panics on any other.
func MustMetric(key string) Metric {
	m, err := MetricByKey(key)
	if err != nil {
		panic("results: " + err.Error())
	}
	return m
}

// MetricKeys lists the keys of Metrics in their order.
func MetricKeys() []string { return lists.Map(Metrics, func(m Metric) string { return m.Key }) }

// MetricNamed finds a metric as people write it: by its key, or by that without its unit, such as "e2e_p99" (see Short). The
// error for an unknown name is an ErrUnknownMetric.
func MetricNamed(name string) (Metric, error) {
	var known []string
	for _, m := range Metrics {
		if name == m.Key || name == m.Short() {
			return m, nil
		}
		known = append(known, m.Short())
	}
	return Metric{}, &ErrUnknownMetric{Name: name, known: known}
}

// scheduleMetrics describe the load of the schedule.
var scheduleMetrics = []Metric{
	{Key: KeyOfferedRate, Name: "offered", Unit: unit.PerSecond, Better: Neither, Doc: "null without a schedule", measured: offeredRate},
	counted(KeyDue, "due", Neither, func(b store.Books) int64 { return b.Due }).documented("by the schedule: sent + unsent"),
	counted(KeyUnsent, "never sent", Lower, func(b store.Books) int64 { return b.Unsent }).headed("never\nsent").documented("due, and never handed to the client"),
}

// countMetrics count messages by their outcome.
var countMetrics = []Metric{
	counted(KeySent, "sent", Neither, func(b store.Books) int64 { return b.Sent }),
	counted(KeyAcked, "acked", Neither, func(b store.Books) int64 { return b.Acked }),
	counted(KeyFailed, "failed", Lower, func(b store.Books) int64 { return b.Failed }).documented("reported as failed by the client"),
	counted(KeyUnresolved, "unresolved", Lower, func(b store.Books) int64 { return b.Unresolved }).headed("unres.").documented("neither confirmed nor failed when the run ended"),
	counted(KeyResent, "resent", Lower, func(b store.Books) int64 { return b.Resent }),
	counted(KeyReceived, "received", Neither, func(b store.Books) int64 { return b.Received }),
	counted(KeyLost, "lost", Lower, func(b store.Books) int64 { return b.Lost }),
	counted(KeyLostAcked, "lost after ack", Lower, func(b store.Books) int64 { return b.LostAcked }).headed("lost\nafter ack").documented("confirmed by the broker and yet lost"),
	counted(KeyDropped, "dropped by the client", Lower, func(b store.Books) int64 { return b.Dropped }).headed("dropped by\nthe client").documented("in the generator's process; what never came is in lost, too"),
	counted(KeyDuplicated, "duplicated", Lower, func(b store.Books) int64 { return b.Duplicated }).headed("dup."),
	counted(KeyReordered, "reordered", Lower, func(b store.Books) int64 { return b.Reordered }).headed("reord."),
	counted(KeyCorrupted, "corrupted", Lower, func(b store.Books) int64 { return b.Corrupted }).headed("corr."),
}

// counted is a metric that counts messages, so that it is summed over repetitions.
func counted(key, name string, better Better, count func(store.Books) int64) Metric {
	return Metric{
		Key: key, Name: name, Unit: unit.Count, Better: better,
		count: func(b store.Books) float64 { return float64(count(b)) },
	}
}

// offeredRate is unknown without a schedule: a closed loop offers as much as the broker accepts.
func offeredRate(r store.Record) float64 {
	return knownIf(r.Result.OfferedRate > 0, r.Result.OfferedRate)
}
