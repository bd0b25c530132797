package exchange

import (
	"fmt"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
)

// ombTicksPerHalf is how many rows of OMB's quantile tables halve the distance to 100 %.
const ombTicksPerHalf = 100

// setLatencies fills in latencies in milliseconds, and delays in microseconds.
func (o *OMB) setLatencies(l store.Latency) error {
	publish, err := summaryOf(l.Service, nanosPerMilli)
	if err != nil {
		return fmt.Errorf("publish latency: %w", err)
	}
	endToEnd, err := summaryOf(l.EndToEndService, nanosPerMilli)
	if err != nil {
		return fmt.Errorf("end-to-end latency: %w", err)
	}
	delay, err := summaryOf(l.Lag, nanosPerMicro)
	if err != nil {
		return fmt.Errorf("publish delay: %w", err)
	}
	o.setPublish(publish)
	o.setEndToEnd(endToEnd)
	o.setDelay(delay)
	return nil
}

// summary is a histogram as OMB writes it: the mean, some percentiles, the maximum, and a table of quantiles.
type summary struct {
	mean, p50, p75, p95, p99, p999, p9999, p99999, max float64
	quantiles                                          Quantiles
}

// summaryOf sums up a histogram of nanoseconds in a unit of unitNs nanoseconds. Like OMB's, its percentiles are whole
// microseconds.
func summaryOf(s hist.Snapshot, unitNs float64) (summary, error) {
	inUnit := func(micros int64) float64 { return float64(micros*nanosPerMicro) / unitNs }
	quantile := func(q float64) float64 { return inUnit(s.Quantile(q) / nanosPerMicro) }
	sum := summary{
		mean: s.Mean() / unitNs, p50: quantile(0.5), p75: quantile(0.75), p95: quantile(0.95), p99: quantile(0.99),
		p999: quantile(0.999), p9999: quantile(0.9999), p99999: quantile(0.99999), max: quantile(1), quantiles: Quantiles{},
	}
	if s.Count() == 0 {
		return sum, nil
	}
	h, err := hdr(s, nanosPerMicro)
	if err != nil {
		return sum, err
	}
	for _, b := range h.CumulativeDistributionWithTicks(ombTicksPerHalf) {
		percent := 100 * float64(b.Count) / float64(h.TotalCount())
		if n := len(sum.quantiles); n > 0 && sum.quantiles[n-1].Percent == percent {
			sum.quantiles = sum.quantiles[:n-1] // a JSON object has each key once: the larger value counts
		}
		value := inUnit(min(b.ValueAt, s.Max()/nanosPerMicro))
		sum.quantiles = append(sum.quantiles, Quantile{Percent: percent, Value: value})
	}
	return sum, nil
}

// fill writes a figure into its list over time, as the only value, and into the field for the whole run.
func fill[T float64 | int64](overTime *[]T, total *T, v float64) {
	*overTime, *total = []T{T(v)}, T(v)
}

func (o *OMB) setPublish(s summary) {
	fill(&o.PublishLatencyAvg, &o.AggregatedPublishLatencyAvg, s.mean)
	fill(&o.PublishLatency50pct, &o.AggregatedPublishLatency50pct, s.p50)
	fill(&o.PublishLatency75pct, &o.AggregatedPublishLatency75pct, s.p75)
	fill(&o.PublishLatency95pct, &o.AggregatedPublishLatency95pct, s.p95)
	fill(&o.PublishLatency99pct, &o.AggregatedPublishLatency99pct, s.p99)
	fill(&o.PublishLatency999pct, &o.AggregatedPublishLatency999pct, s.p999)
	fill(&o.PublishLatency9999pct, &o.AggregatedPublishLatency9999pct, s.p9999)
	fill(&o.PublishLatency99999pct, &o.AggregatedPublishLatency99999pct, s.p99999)
	fill(&o.PublishLatencyMax, &o.AggregatedPublishLatencyMax, s.max)
	o.AggregatedPublishLatencyQuantiles = s.quantiles
}

func (o *OMB) setEndToEnd(s summary) {
	fill(&o.EndToEndLatencyAvg, &o.AggregatedEndToEndLatencyAvg, s.mean)
	fill(&o.EndToEndLatency50pct, &o.AggregatedEndToEndLatency50pct, s.p50)
	fill(&o.EndToEndLatency75pct, &o.AggregatedEndToEndLatency75pct, s.p75)
	fill(&o.EndToEndLatency95pct, &o.AggregatedEndToEndLatency95pct, s.p95)
	fill(&o.EndToEndLatency99pct, &o.AggregatedEndToEndLatency99pct, s.p99)
	fill(&o.EndToEndLatency999pct, &o.AggregatedEndToEndLatency999pct, s.p999)
	fill(&o.EndToEndLatency9999pct, &o.AggregatedEndToEndLatency9999pct, s.p9999)
	fill(&o.EndToEndLatency99999pct, &o.AggregatedEndToEndLatency99999pct, s.p99999)
	fill(&o.EndToEndLatencyMax, &o.AggregatedEndToEndLatencyMax, s.max)
	o.AggregatedEndToEndLatencyQuantiles = s.quantiles
}

func (o *OMB) setDelay(s summary) {
	fill(&o.PublishDelayLatencyAvg, &o.AggregatedPublishDelayLatencyAvg, s.mean)
	fill(&o.PublishDelayLatency50pct, &o.AggregatedPublishDelayLatency50pct, s.p50)
	fill(&o.PublishDelayLatency75pct, &o.AggregatedPublishDelayLatency75pct, s.p75)
	fill(&o.PublishDelayLatency95pct, &o.AggregatedPublishDelayLatency95pct, s.p95)
	fill(&o.PublishDelayLatency99pct, &o.AggregatedPublishDelayLatency99pct, s.p99)
	fill(&o.PublishDelayLatency999pct, &o.AggregatedPublishDelayLatency999pct, s.p999)
	fill(&o.PublishDelayLatency9999pct, &o.AggregatedPublishDelayLatency9999pct, s.p9999)
	fill(&o.PublishDelayLatency99999pct, &o.AggregatedPublishDelayLatency99999pct, s.p99999)
	fill(&o.PublishDelayLatencyMax, &o.AggregatedPublishDelayLatencyMax, s.max)
	o.AggregatedPublishDelayLatencyQuantiles = s.quantiles
}
