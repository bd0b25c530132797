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

// quantileTicks is how finely OMB writes its quantile tables.
const quantileTicks = 100

const ombNote = "Publish latency is acked − sent, end-to-end latency received − sent and delay sent − intended, as OMB defines them; " +
	"latency from the intended time is only in brokermark's own formats. Lists of latencies have one value, of the whole run."

// ToOMB says of a record what an OMB result says. Latencies are those from the actual send, as OMB's; lists of rates
// have a value for each ten seconds and lists of latencies a single one, because distributions of single periods
// aren't stored.
func ToOMB(r store.Record) (OMB, error) {
	if r.Result == nil {
		return OMB{}, fmt.Errorf("repetition %d of point %s holds no result (%s)", r.Repetition, r.PointID, r.Status)
	}
	if c := r.Spec.ConsumerPerSubscription; len(c) > 1 {
		return OMB{}, fmt.Errorf("repetition %d of point %s has %s consumers; that format has one number for all subscriptions", r.Repetition, r.PointID, c)
	}
	o := OMB{
		Workload: r.Label, Driver: r.Spec.Broker, MessageSize: int64(r.Result.PayloadSize),
		Topics: r.Spec.Topics, Partitions: r.Spec.PartitionsPerTopic, ProducersPerTopic: r.Spec.ProducersPerTopic,
		ConsumersPerTopic: r.Spec.ConsumerPerSubscription.Largest(),
		Brokermark:        &Origin{r.PointID, r.Repetition, r.Status, r.Reason, r.Doubts, ombNote},
	}
	o.rates(*r.Result)
	if err := o.latencies(r.Result.Latency); err != nil {
		return OMB{}, fmt.Errorf("repetition %d of point %s: %w", r.Repetition, r.PointID, err)
	}
	return o, nil
}

// latencies fills in the latencies: milliseconds, but for delays, which are in microseconds.
func (o *OMB) latencies(l store.Latency) error {
	publish, err := summaryOf(l.Service, nanosPerMilli)
	if err != nil {
		return err
	}
	endToEnd, err := summaryOf(l.EndToEndService, nanosPerMilli)
	if err != nil {
		return err
	}
	delay, err := summaryOf(l.Lag, nanosPerMicro)
	if err != nil {
		return err
	}
	o.publish(publish)
	o.endToEnd(endToEnd)
	o.delay(delay)
	return nil
}

// summary is a histogram as OMB writes it: mean, the percentiles it names, the maximum, the table.
type summary struct {
	mean, p50, p75, p95, p99, p999, p9999, p99999, max float64
	quantiles                                          Quantiles
}

// summaryOf sums up a histogram of nanoseconds in a unit of so many of them. Like OMB's, its values are whole microseconds.
func summaryOf(s hist.Snapshot, unit float64) (summary, error) {
	at := func(q float64) float64 { return float64(s.Quantile(q)/nanosPerMicro*nanosPerMicro) / unit }
	out := summary{s.Mean() / unit, at(0.5), at(0.75), at(0.95), at(0.99), at(0.999), at(0.9999), at(0.99999), at(1), Quantiles{}}
	if s.Count() == 0 {
		return out, nil
	}
	h, err := hdr(s, nanosPerMicro)
	if err != nil {
		return out, err
	}
	for _, b := range h.CumulativeDistributionWithTicks(quantileTicks) {
		q := Quantile{100 * float64(b.Count) / float64(h.TotalCount()), float64(min(b.ValueAt, s.Max()/nanosPerMicro)*nanosPerMicro) / unit}
		if n := len(out.quantiles); n > 0 && out.quantiles[n-1].Percent == q.Percent {
			out.quantiles[n-1] = q
			continue
		}
		out.quantiles = append(out.quantiles, q)
	}
	return out, nil
}

// rates fills the lists over time from the samples of the measured phase, or from its totals where there are none.
func (o *OMB) rates(r store.Result) {
	type bin struct{ publish, receive, samples float64 } // sums of rates, and how many
	var bins []bin                                       // a period each
	o.Backlog = []int64{}
	for _, t := range r.Series {
		if t.Phase != "measure" || t.OffsetNs < 0 {
			continue
		}
		for i := int(t.OffsetNs / int64(period)); len(bins) <= i; {
			bins = append(bins, bin{})
			o.Backlog = append(o.Backlog, 0)
		}
		b := &bins[len(bins)-1]
		b.publish, b.receive, b.samples = b.publish+t.PublishRate, b.receive+t.ReceiveRate, b.samples+1
		o.Backlog[len(bins)-1] = t.Backlog
	}
	failed := 0.0 // per second: when sends failed isn't stored
	if r.Seconds > 0 {
		failed = float64(r.Books.Failed) / r.Seconds
	}
	for _, b := range bins {
		n := max(b.samples, 1)
		o.PublishRate, o.ConsumeRate = append(o.PublishRate, b.publish/n), append(o.ConsumeRate, b.receive/n)
		o.PublishErrorRate = append(o.PublishErrorRate, failed)
	}
	if bins == nil {
		o.PublishRate, o.ConsumeRate, o.PublishErrorRate, o.Backlog = []float64{r.PublishRate}, []float64{r.ReceiveRate}, []float64{failed}, []int64{0}
	}
}

// publish fills in the publish latency, and endToEnd below the end-to-end latency: the format has a field for each figure of each.
func (o *OMB) publish(s summary) {
	o.PublishLatencyAvg, o.AggregatedPublishLatencyAvg = []float64{s.mean}, s.mean
	o.PublishLatency50pct, o.AggregatedPublishLatency50pct = []float64{s.p50}, s.p50
	o.PublishLatency75pct, o.AggregatedPublishLatency75pct = []float64{s.p75}, s.p75
	o.PublishLatency95pct, o.AggregatedPublishLatency95pct = []float64{s.p95}, s.p95
	o.PublishLatency99pct, o.AggregatedPublishLatency99pct = []float64{s.p99}, s.p99
	o.PublishLatency999pct, o.AggregatedPublishLatency999pct = []float64{s.p999}, s.p999
	o.PublishLatency9999pct, o.AggregatedPublishLatency9999pct = []float64{s.p9999}, s.p9999
	o.PublishLatency99999pct, o.AggregatedPublishLatency99999pct = []float64{s.p99999}, s.p99999
	o.PublishLatencyMax, o.AggregatedPublishLatencyMax = []float64{s.max}, s.max
	o.AggregatedPublishLatencyQuantiles = s.quantiles
}

func (o *OMB) endToEnd(s summary) {
	o.EndToEndLatencyAvg, o.AggregatedEndToEndLatencyAvg = []float64{s.mean}, s.mean
	o.EndToEndLatency50pct, o.AggregatedEndToEndLatency50pct = []float64{s.p50}, s.p50
	o.EndToEndLatency75pct, o.AggregatedEndToEndLatency75pct = []float64{s.p75}, s.p75
	o.EndToEndLatency95pct, o.AggregatedEndToEndLatency95pct = []float64{s.p95}, s.p95
	o.EndToEndLatency99pct, o.AggregatedEndToEndLatency99pct = []float64{s.p99}, s.p99
	o.EndToEndLatency999pct, o.AggregatedEndToEndLatency999pct = []float64{s.p999}, s.p999
	o.EndToEndLatency9999pct, o.AggregatedEndToEndLatency9999pct = []float64{s.p9999}, s.p9999
	o.EndToEndLatency99999pct, o.AggregatedEndToEndLatency99999pct = []float64{s.p99999}, s.p99999
	o.EndToEndLatencyMax, o.AggregatedEndToEndLatencyMax = []float64{s.max}, s.max
	o.AggregatedEndToEndLatencyQuantiles = s.quantiles
}

// delay is in whole microseconds.
func (o *OMB) delay(s summary) {
	o.PublishDelayLatencyAvg, o.AggregatedPublishDelayLatencyAvg = []float64{s.mean}, s.mean
	for _, v := range []struct {
		list *[]int64
		of   *int64
		is   float64
	}{
		{&o.PublishDelayLatency50pct, &o.AggregatedPublishDelayLatency50pct, s.p50},
		{&o.PublishDelayLatency75pct, &o.AggregatedPublishDelayLatency75pct, s.p75},
		{&o.PublishDelayLatency95pct, &o.AggregatedPublishDelayLatency95pct, s.p95},
		{&o.PublishDelayLatency99pct, &o.AggregatedPublishDelayLatency99pct, s.p99},
		{&o.PublishDelayLatency999pct, &o.AggregatedPublishDelayLatency999pct, s.p999},
		{&o.PublishDelayLatency9999pct, &o.AggregatedPublishDelayLatency9999pct, s.p9999},
		{&o.PublishDelayLatency99999pct, &o.AggregatedPublishDelayLatency99999pct, s.p99999},
		{&o.PublishDelayLatencyMax, &o.AggregatedPublishDelayLatencyMax, s.max},
	} {
		*v.of = int64(v.is)
		*v.list = []int64{int64(v.is)}
	}
	o.AggregatedPublishDelayLatencyQuantiles = s.quantiles
}

var unfit = regexp.MustCompile(`[^\pL\pN._-]+`)

// FileName is what OMB would call the file of r, made safe for any file system, and different for every record.
func FileName(r store.Record) string {
	label := strings.Trim(unfit.ReplaceAllString(r.Label, "-"), "-.")
	if runes := []rune(label); len(runes) > 60 {
		label = string(runes[:60])
	}
	return fmt.Sprintf("%s-%s-%s-%d-%d.json", label, unfit.ReplaceAllString(r.Spec.Broker, "-"),
		r.Began.UTC().Format("2006-01-02-15-04-05"), r.Repetition, r.ID)
}
