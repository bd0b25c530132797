package results

import (
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// latencyMetrics are latencies of messages, from their intended time and (service, from send) from the actual send. The quantiles
// 0 and 1 are the smallest and the largest latency.
var latencyMetrics = []Metric{
	endToEndLatency.metric(KeyEndToEndMin, "e2e min", quantile(0)),
	endToEndLatency.metric(KeyEndToEndMean, "e2e mean", mean),
	endToEndLatency.metric(KeyEndToEndP50, "e2e p50", quantile(0.5)),
	endToEndLatency.metric(KeyEndToEndP90, "e2e p90", quantile(0.9)),
	endToEndLatency.metric(KeyEndToEndP95, "e2e p95", quantile(0.95)),
	endToEndLatency.metric(KeyEndToEndP99, "e2e p99", quantile(0.99)),
	endToEndLatency.metric("e2e_p999_ns", "e2e p99.9", quantile(0.999)),
	endToEndLatency.metric(KeyEndToEndMax, "e2e max", quantile(1)),
	publishLatency.metric("publish_min_ns", "publish min", quantile(0)),
	publishLatency.metric(KeyPublishMean, "publish mean", mean),
	publishLatency.metric(KeyPublishP50, "publish p50", quantile(0.5)),
	publishLatency.metric("publish_p95_ns", "publish p95", quantile(0.95)),
	publishLatency.metric(KeyPublishP99, "publish p99", quantile(0.99)),
	publishLatency.metric("publish_max_ns", "publish max", quantile(1)),
	publishService.metric("service_mean_ns", "service mean", mean),
	publishService.metric(KeyServiceP50, "service p50", quantile(0.5)),
	publishService.metric(KeyServiceP99, "service p99", quantile(0.99)),
	endToEndService.metric("e2e_service_min_ns", "e2e from send, min", quantile(0)),
	endToEndService.metric(KeyEndToEndServiceMean, "e2e from send, mean", mean),
	endToEndService.metric(KeyEndToEndServiceP50, "e2e from send, p50", quantile(0.5)),
	endToEndService.metric("e2e_service_p95_ns", "e2e from send, p95", quantile(0.95)),
	endToEndService.metric(KeyEndToEndServiceP99, "e2e from send, p99", quantile(0.99)),
	endToEndService.metric("e2e_service_max_ns", "e2e from send, max", quantile(1)),
	fromSendFigure(KeyMeanOfSeconds, "mean of one-second means", meanOfSeconds).documented("from the actual send to the receipt"),
	// Includes the latencies of the messages that a producer would have sent while it waited for an answer (coordinated omission).
	fromSendFigure(KeyCorrectedMean, "corrected mean", func(r store.Record) float64 {
		return known(r.Result.Corrected, func(c *store.Corrected) float64 { return c.MeanNs })
	}).documented("from the actual send to the receipt, corrected by a producer's mean gap"),
	fromSendFigure(KeyCorrectedP99, "corrected p99", func(r store.Record) float64 {
		return known(r.Result.Corrected, func(c *store.Corrected) float64 { return float64(c.P99Ns) })
	}).documented("from the actual send to the receipt, corrected by a producer's mean gap"),
}

// delayMetrics are delays of the generator itself.
var delayMetrics = []Metric{
	sendLag.metric("lag_p99_ns", "lag p99", quantile(0.99)),
	{
		Key: KeyPauseP99, Name: "own pauses p99", Head: "own pauses\np99", Unit: unit.Nanoseconds, Better: Lower, Doc: "how late a thread woke that only sleeps",
		measured: func(r store.Record) float64 {
			return known(pausesOf(r), func(p *store.Pauses) float64 { return Quantile(p.Late, 0.99) })
		},
	},
	{
		Key: KeyPauseMax, Name: "own pauses max", Head: "own pauses\nmax", Unit: unit.Nanoseconds, Better: Lower, Doc: "how late a thread woke that only sleeps, at most",
		measured: func(r store.Record) float64 { // LongestNs is 0 if no pause was long enough for a standstill
			return known(pausesOf(r), func(p *store.Pauses) float64 { return float64(max(p.LongestNs, p.Late.Max())) })
		},
	},
}

// FromSend are the keys of latencies from the actual send, as other tools measure them. Imported results have no others.
var FromSend = []string{KeyServiceP50, KeyServiceP99, KeyEndToEndServiceP50, KeyEndToEndServiceP99}

// OnlyFromSend reports whether a record has only the latencies of FromSend.
func OnlyFromSend(r store.Record) bool {
	if r.Result == nil || r.Spec.ClosedLoop() {
		return false
	}
	if r.Result.Tool != nil {
		return slices.ContainsFunc(FromSend, func(key string) bool { return MustMetric(key).isGiven(r) })
	}
	l := r.Result.Latency
	return l.EndToEnd.Count() == 0 && l.Publish.Count() == 0 && l.EndToEndService.Count()+l.Service.Count() > 0
}

// fromSendFigure is a figure of the latency from the actual send to the receipt that is not read from a histogram.
func fromSendFigure(key, name string, measured func(store.Record) float64) Metric {
	return Metric{
		Key: key, Name: name, Unit: unit.Nanoseconds, Better: Lower, isLatency: true, acrossClocks: true, measured: measured,
	}
}

// meanOfSeconds is the mean of the mean latencies of each second of the measured phase, in nanoseconds, with equal weight for
// each second. RabbitMQ's PerfTest prints lines that give this mean. Seconds without messages have no mean. Ticks that are
// further apart than a second, in runs of more than an hour, count as a second each.
func meanOfSeconds(r store.Record) float64 {
	if r.Spec.Tails() { // its seconds include the filling
		return math.NaN()
	}
	type second struct{ sum, messages float64 }
	seconds := map[int64]second{} // by their number since the start of the phase
	for _, t := range r.Result.Series {
		if t.Phase != phaseMeasured || t.FromSendCount == 0 {
			continue
		}
		// A tick belongs to the second in which most of it lies: it ends some milliseconds after its offset.
		number := (t.OffsetNs - tickLength/2) / 1e9
		s := seconds[number]
		s.sum += t.FromSendNs * float64(t.FromSendCount)
		s.messages += float64(t.FromSendCount)
		seconds[number] = s
	}
	if len(seconds) == 0 {
		return math.NaN()
	}
	sumOfMeans := 0.0
	for _, number := range sortedKeys(seconds) { // in order, so that rounding is the same every time
		sumOfMeans += seconds[number].sum / seconds[number].messages
	}
	return sumOfMeans / float64(len(seconds))
}

// tickLength is the distance of ticks, in nanoseconds, in runs of less than half an hour.
const tickLength = 500e6

// pausesOf are the pauses of the generator's machine: how late a sleeping thread woke. They are nil if they were not watched.
func pausesOf(r store.Record) *store.Pauses {
	if !r.Result.Pauses.Watched() {
		return nil
	}
	return r.Result.Pauses
}
