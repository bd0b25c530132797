package exchange

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
)

// period is the time between two values of a list in an OMB result.
const period = 10 * time.Second

// ombTicksPerHalf is how many rows of OMB's quantile tables halve the distance to 100 %.
const ombTicksPerHalf = 100

const ombNote = "Publish latency is acked − sent, end-to-end latency received − sent and delay sent − intended, as OMB " +
	"defines them; latency from the intended time is only in brokermark's own formats. Lists of latencies have one value, " +
	"of the whole run."

// ToOMB writes a record as an OMB result. Latencies are those from the actual send, as OMB's. Lists of rates have a
// value for each ten seconds. Lists of latencies have a single one, because distributions of single periods aren't
// stored.
func ToOMB(r store.Record) (OMB, error) {
	if r.Result == nil {
		return OMB{}, fmt.Errorf("repetition %d of point %s holds no result (%s)", r.Repetition, r.PointID, r.Status)
	}
	if c := r.Spec.ConsumerPerSubscription; len(c) > 1 {
		return OMB{}, fmt.Errorf("repetition %d of point %s has %s consumers; that format has one number for all subscriptions",
			r.Repetition, r.PointID, c)
	}
	o := OMB{
		Workload: r.Label, Driver: r.Spec.Broker, MessageSize: int64(r.Result.PayloadSize),
		Topics: r.Spec.Topics, Partitions: r.Spec.PartitionsPerTopic, ProducersPerTopic: r.Spec.ProducersPerTopic,
		ConsumersPerTopic: r.Spec.ConsumerPerSubscription.Largest(),
		Brokermark: &Origin{
			PointID: r.PointID, Repetition: r.Repetition, Status: r.Status, Reason: r.Reason, Doubts: r.Doubts,
			Began: r.Began, Ended: r.Ended, Seconds: r.Result.Seconds, ClosedLoop: r.Spec.ClosedLoop(), Note: ombNote,
		},
	}
	o.setRates(*r.Result)
	if err := o.setLatencies(r.Result.Latency); err != nil {
		return OMB{}, fmt.Errorf("repetition %d of point %s: %w", r.Repetition, r.PointID, err)
	}
	return o, nil
}

// setRates fills in the lists over time from the samples of the measured phase or, without samples, from its totals.
func (o *OMB) setRates(r store.Result) {
	failed := 0.0 // sends per second; when each of them failed isn't stored
	if r.Seconds > 0 {
		failed = float64(r.Books.Failed) / r.Seconds
	}
	ticks := periodsOf(r.Series)
	if ticks == nil {
		ticks = []store.Tick{{PublishRate: r.PublishRate, ReceiveRate: r.ReceiveRate}}
	}
	for _, t := range ticks {
		o.PublishRate = append(o.PublishRate, t.PublishRate)
		o.ConsumeRate = append(o.ConsumeRate, t.ReceiveRate)
		o.PublishErrorRate = append(o.PublishErrorRate, failed)
		o.Backlog = append(o.Backlog, t.Backlog)
	}
}

// periodsOf sums up the samples of the measured phase, one tick for each period, with the mean rates of the period and
// the backlog at its end. A sample has the rates since the one before, so that it may lie in several periods: with
// 100/s up to 24 s and 200/s up to 30 s, the periods have 100, 100, and (4·100 + 6·200)/10 = 160/s. A last period of
// less than a second is left out.
func periodsOf(series []store.Tick) []store.Tick {
	var periods []store.Tick
	var end time.Duration // of the part of the measured phase that is summed up
	for _, sample := range series {
		if sample.Phase != "measure" {
			continue
		}
		sampleEnd := time.Duration(sample.OffsetNs)
		for end < sampleEnd {
			periodBegin := end.Truncate(period)
			if end == periodBegin {
				periods = append(periods, store.Tick{})
			}
			p := &periods[len(periods)-1]
			covered := end - periodBegin // of this period, by the samples before
			end = min(sampleEnd, periodBegin+period)
			added := end - periodBegin - covered // by this sample
			p.PublishRate = weightedMean(p.PublishRate, covered, sample.PublishRate, added)
			p.ReceiveRate = weightedMean(p.ReceiveRate, covered, sample.ReceiveRate, added)
			p.Backlog = sample.Backlog
		}
	}
	rest := end % period
	isCutOff := 0 < rest && rest < time.Second
	if isCutOff && len(periods) > 1 {
		periods = periods[:len(periods)-1]
	}
	return periods
}

// weightedMean is the mean of two rates, each weighted by how long it lasted.
func weightedMean(a float64, aLasted time.Duration, b float64, bLasted time.Duration) float64 {
	return (a*float64(aLasted) + b*float64(bLasted)) / float64(aLasted+bLasted)
}

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

// maxLabel is how many letters of a label a file name has.
const maxLabel = 60

var unfitForFile = regexp.MustCompile(`[^\pL\pN._-]+`)

// FileName is OMB's name for the file of a record, safe for any file system and different for every record:
// "label-broker-2026-03-01-08-08-07-3-12.json". Without a label it begins with the broker.
func FileName(r store.Record) string {
	label := strings.Trim(unfitForFile.ReplaceAllString(r.Label, "-"), "-.")
	if runes := []rune(label); len(runes) > maxLabel {
		label = string(runes[:maxLabel])
	}
	if label != "" {
		label += "-"
	}
	return fmt.Sprintf("%s%s-%s-%d-%d.json", label, unfitForFile.ReplaceAllString(r.Spec.Broker, "-"),
		r.Began.UTC().Format(ombTime), r.Repetition, r.ID)
}
