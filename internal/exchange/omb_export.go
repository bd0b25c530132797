package exchange

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
)

// period is the time between two values of a list in an OMB result that says no other.
const period = 10 * time.Second

// longest is more than any measured phase takes.
const longest = 30 * 24 * time.Hour

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
	for _, t := range r.Result.Series {
		if t.OffsetNs > int64(longest) { // a list would have a value for each ten seconds until then
			return OMB{}, fmt.Errorf("repetition %d of point %s has a sample %v after its start; allowed: up to %v", r.Repetition, r.PointID, time.Duration(t.OffsetNs), longest)
		}
	}
	o := OMB{
		Workload: r.Label, Driver: r.Spec.Broker, MessageSize: int64(math.Round(r.Result.PayloadSize)),
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

// setRates fills in the lists over time from the samples of the measured phase. A single period has the rates of the record.
func (o *OMB) setRates(r store.Result) {
	failed := 0.0 // sends per second; when each of them failed isn't stored
	if r.Seconds > 0 {
		failed = float64(r.Books.Failed) / r.Seconds
	}
	ticks := periodsOf(r.Series)
	switch len(ticks) {
	case 0:
		ticks = []store.Tick{{PublishRate: r.PublishRate, ReceiveRate: r.ReceiveRate}}
	case 1: // the first sample also holds what came before the measured phase, since the last one of the warm-up
		ticks[0].PublishRate, ticks[0].ReceiveRate = r.PublishRate, r.ReceiveRate
	}
	for _, t := range ticks {
		o.PublishRate = append(o.PublishRate, t.PublishRate)
		o.ConsumeRate = append(o.ConsumeRate, t.ReceiveRate)
		o.PublishErrorRate = append(o.PublishErrorRate, failed)
		o.Backlog = append(o.Backlog, t.Backlog)
	}
}

// rateSums sum up a part of a period.
type rateSums struct {
	published, received float64       // rates, each multiplied by how long it lasted in ns
	length              time.Duration // of the part
	backlog             int64         // at its end
}

// periodsOf sums up the samples of the measured phase, one tick for each period, with the mean rates of the period and
// the backlog at its end. A sample has the rates since the one before, so that it may lie in several periods: with
// 100/s up to 24 s and 200/s up to 30 s, the periods have 100, 100, and (4·100 + 6·200)/10 = 160/s. A last period of
// less than a second is left out, unless it is the only one.
func periodsOf(series []store.Tick) []store.Tick {
	var sums []rateSums
	var summedUp time.Duration // how much of the measured phase
	for _, sample := range series {
		if sample.Phase != "measure" {
			continue
		}
		for sampleEnd := time.Duration(sample.OffsetNs); summedUp < sampleEnd; {
			i := int(summedUp / period)
			if i == len(sums) {
				sums = append(sums, rateSums{})
			}
			periodEnd := time.Duration(i+1) * period
			length := min(sampleEnd, periodEnd) - summedUp // of the part of the sample that lies in the period
			p := &sums[i]
			p.published += sample.PublishRate * float64(length)
			p.received += sample.ReceiveRate * float64(length)
			p.length += length
			p.backlog = sample.Backlog
			summedUp += length
		}
	}
	var ticks []store.Tick
	for _, p := range sums {
		if len(ticks) > 0 && p.length < time.Second { // only the last period is shorter than the others
			break
		}
		ticks = append(ticks, store.Tick{
			PublishRate: p.published / float64(p.length),
			ReceiveRate: p.received / float64(p.length),
			Backlog:     p.backlog,
		})
	}
	return ticks
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

// ombTicksPerHalf is how many rows of OMB's quantile tables halve the distance to 100 %.
const ombTicksPerHalf = 100

// setLatencies fills in latencies in milliseconds, and delays in microseconds.
func (o *OMB) setLatencies(l store.Latency) error {
	for _, f := range []struct {
		family, name string
		latency      hist.Snapshot
		unitNs       float64
	}{
		{"PublishLatency", "publish latency", l.Service, nanosPerMilli},
		{"EndToEndLatency", "end-to-end latency", l.EndToEndService, nanosPerMilli},
		{"PublishDelayLatency", "publish delay", l.Lag, nanosPerMicro},
	} {
		table, err := tableOf(f.latency, f.unitNs)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		fields := reflect.ValueOf(o).Elem()
		fields.FieldByName("Aggregated" + f.family + "Quantiles").Set(reflect.ValueOf(table))
		set := func(figure string, v float64) { // in its list over time, as the only value, and in the field for the whole run
			total, list := fields.FieldByName("Aggregated"+f.family+figure), fields.FieldByName(f.family+figure)
			total.Set(reflect.ValueOf(v).Convert(total.Type()))
			list.Set(reflect.Append(list, total))
		}
		set("Avg", f.latency.Mean()/f.unitNs)
		for figure, q := range ombFigures {
			set(figure, inUnit(f.latency.Quantile(q)/nanosPerMicro, f.unitNs))
		}
	}
	return nil
}

// ombFigures are the quantiles in the names of OMB's fields.
var ombFigures = map[string]float64{
	"50pct": 0.5, "75pct": 0.75, "95pct": 0.95, "99pct": 0.99, "999pct": 0.999, "9999pct": 0.9999, "99999pct": 0.99999, "Max": 1,
}

// inUnit is a time in units of unitNs nanoseconds. Like OMB's, it is of whole microseconds.
func inUnit(micros int64, unitNs float64) float64 { return float64(micros*nanosPerMicro) / unitNs }

// tableOf is a histogram of nanoseconds as a table of quantiles in units of unitNs nanoseconds.
func tableOf(s hist.Snapshot, unitNs float64) (Quantiles, error) {
	table := Quantiles{}
	if s.Count() == 0 {
		return table, nil
	}
	h, err := hdr(s, nanosPerMicro)
	if err != nil {
		return nil, err
	}
	for _, b := range h.CumulativeDistributionWithTicks(ombTicksPerHalf) {
		percent := 100 * float64(b.Count) / float64(h.TotalCount())
		if n := len(table); n > 0 && table[n-1].Percent == percent {
			table = table[:n-1] // a JSON object has each key once: the larger value counts
		}
		table = append(table, Quantile{Percent: percent, Value: inUnit(min(b.ValueAt, s.Max()/nanosPerMicro), unitNs)})
	}
	return table, nil
}

// periods are the ends of the periods that lists over time have values of, from the beginning of the measured phase: 10 s,
// 20 s and 25 s for a phase of 25 s.
type periods []time.Duration

// periods are ten seconds each, or as long as the file says. In a file that ToOMB wrote the last one ends with the measured phase.
func (o OMB) periods() periods {
	var ends periods
	each := cmp.Or(time.Duration(o.SampleRateMillis)*time.Millisecond, period)
	for i := range o.PublishRate {
		ends = append(ends, time.Duration(i+1)*each)
	}
	if o.Brokermark != nil {
		last := len(ends) - 1
		if end := time.Duration(o.Brokermark.Seconds * float64(time.Second)); end > time.Duration(last)*each {
			ends[last] = end
		}
	}
	return ends
}

func (p periods) length() time.Duration { return p[len(p)-1] }

// seconds is how long each of the first n periods was.
func (p periods) seconds(n int) []float64 {
	var seconds []float64
	var begin time.Duration
	for _, end := range p[:min(n, len(p))] {
		seconds = append(seconds, (end - begin).Seconds())
		begin = end
	}
	return seconds
}

// mean is that of values of the periods, each weighted by how long it was. It is 0 for an empty list: nothing was consumed.
func (p periods) mean(values []float64) float64 {
	seconds := p.seconds(len(values))
	if len(seconds) == 0 {
		return 0
	}
	return stat.Mean(values[:len(seconds)], seconds)
}

// failedSends is how many sends failed, by the rates of the periods or as the file counts them.
func (o OMB) failedSends() float64 {
	failed := 0.0
	for _, messages := range o.PublishFailed {
		failed += float64(messages)
	}
	for i, seconds := range o.periods().seconds(len(o.PublishErrorRate)) {
		failed += o.PublishErrorRate[i] * seconds
	}
	return failed
}
