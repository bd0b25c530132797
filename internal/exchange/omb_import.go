package exchange

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// ImportTool is the tool's version in records of other tools' numbers.
const ImportTool = "openmessaging-benchmark"

// unknown is a setting that a result file doesn't hold.
const unknown = "unknown"

// ombTime is the time in the names that OMB gives its files.
const ombTime = "2006-01-02-15-04-05"

// FromOMB makes a record of an OMB result file. Its broker is called "omb:kafka", so that no selection and no verdict
// takes it for a measurement of Kafka, and its doubts say how the numbers differ from ours. The guarantee, the
// subscriptions and the load asked for are unknown, unless like is the spec of a point that was given the same work.
// written is when the file was, for names without a time. A file that ToOMB wrote keeps its record's status, reason and
// doubts.
func FromOMB(path string, data []byte, written time.Time, like *study.Spec) (store.Record, error) {
	name := filepath.Base(path)
	r, err := recordOf(name, data, written, like)
	if err != nil {
		return store.Record{}, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// recordOf is FromOMB without the name of the file in its errors.
func recordOf(name string, data []byte, written time.Time, like *study.Spec) (store.Record, error) {
	o, err := decodeOMB(data)
	if err != nil {
		return store.Record{}, err
	}
	spec := o.spec()
	if like != nil {
		if err := o.agrees(*like); err != nil {
			return store.Record{}, err
		}
		spec = *like
		spec.Broker = brokerOf(o.Driver)
		spec.Version, spec.Attach = "", nil
	}
	spec.Name, spec.Label = "", o.Workload
	pointID, err := pointOf(spec, o)
	if err != nil {
		return store.Record{}, err
	}
	periods := o.periods()
	end := ended(name, written)
	began := end.Add(-periods.length())
	status, reason := store.OK, "" // OMB writes no file of a run that failed
	if own := o.Brokermark; own != nil {
		status, reason = own.Status, own.Reason
		if !own.Began.IsZero() && !own.Ended.IsZero() {
			began, end = own.Began, own.Ended
		}
	}
	return store.Record{
		Schema:     store.Schema,
		Study:      "imported",
		Label:      o.Workload,
		PointID:    pointID,
		Repetition: 1,
		Status:     status,
		Reason:     reason,
		Axes:       map[string]string{"broker": spec.Broker},
		Spec:       spec,
		Versions:   store.Versions{Tool: ImportTool},
		Began:      began,
		Ended:      end,
		Doubts:     o.doubts(name, data),
		Source:     digest(data),
		Result:     o.result(periods),
	}, nil
}

// periods are the ends of the periods that lists over time have values of, from the beginning of the measured phase.
type periods []time.Duration

// periods are ten seconds each. In a file that ToOMB wrote the last one ends with the measured phase.
func (o OMB) periods() periods {
	var ends periods
	for i := range o.PublishRate {
		ends = append(ends, time.Duration(i+1)*period)
	}
	if o.Brokermark != nil {
		last := len(ends) - 1
		if end := time.Duration(o.Brokermark.Seconds * float64(time.Second)); end > time.Duration(last)*period {
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

// withResults are the ends of a repetition that may have results, so that it can be exported.
var withResults = []store.Status{store.OK, store.Failed, store.Void, store.Aborted}

// decodeOMB reads a result file, and ignores fields that it doesn't know: other versions of OMB have others.
func decodeOMB(data []byte) (OMB, error) {
	var o OMB
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&o); err != nil {
		return o, fmt.Errorf("not a result of the OpenMessaging Benchmark: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return o, errors.New("not a result of the OpenMessaging Benchmark: something follows its closing brace")
	}
	switch {
	case o.Driver == "" || len(o.PublishRate) == 0:
		return o, errors.New("not a result of the OpenMessaging Benchmark: it has no driver or no publishRate")
	case len(o.AggregatedPublishLatencyQuantiles) == 0 && len(o.AggregatedEndToEndLatencyQuantiles) == 0:
		return o, errors.New("the run wasn't finished: it has no aggregated quantiles")
	case o.Brokermark != nil && !slices.Contains(withResults, o.Brokermark.Status):
		return o, fmt.Errorf("brokermark.status is %q; allowed are %q", o.Brokermark.Status, withResults)
	}
	if at := nullIn(data); at != "" {
		return o, fmt.Errorf("%s is null; allowed: a number, or none there", at)
	}
	if own := o.Brokermark; own != nil && (own.Seconds < 0 || own.Seconds > mostSeconds) {
		return o, fmt.Errorf("brokermark.seconds: %v, allowed are 0 to %v", own.Seconds, mostSeconds)
	}
	return o, o.checkNumbers()
}

// mostSeconds is more than any run took: 30 years.
const mostSeconds = 1e9

// nullIn names the first null in a list or a table of a file, which Go reads as 0; empty if there is none. A list that is null as a
// whole is as good as left out.
func nullIn(data []byte) string {
	var o map[string]any
	if err := json.Unmarshal(data, &o); err != nil {
		return "" // has been said
	}
	for _, key := range slices.Sorted(maps.Keys(o)) {
		switch value := o[key].(type) {
		case []any:
			if i := slices.Index(value, nil); i >= 0 {
				return fmt.Sprintf("%s[%d]", key, i)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(value)) {
				if value[name] == nil {
					return key + "." + name
				}
			}
		}
	}
	return ""
}

// checkNumbers refuses numbers that no run can have had. Only those are looked at that the import uses; the tables of
// quantiles were checked as they were decoded.
func (o OMB) checkNumbers() error {
	var backlog []float64
	for _, messages := range o.Backlog {
		backlog = append(backlog, float64(messages))
	}
	for _, f := range []struct {
		key    string
		values []float64
	}{
		{"messageSize", []float64{float64(o.MessageSize)}},
		{"topics", []float64{float64(o.Topics)}},
		{"partitions", []float64{float64(o.Partitions)}},
		{"producersPerTopic", []float64{float64(o.ProducersPerTopic)}},
		{"consumersPerTopic", []float64{float64(o.ConsumersPerTopic)}},
		{"publishRate", o.PublishRate},
		{"publishErrorRate", o.PublishErrorRate},
		{"consumeRate", o.ConsumeRate},
		{"backlog", backlog},
		{"endToEndLatency50pct", o.EndToEndLatency50pct},
		{"endToEndLatency99pct", o.EndToEndLatency99pct},
	} {
		for _, v := range f.values {
			if v < 0 || v > mostImported {
				return fmt.Errorf("%s: %v, allowed are 0 to %v", f.key, v, mostImported)
			}
		}
	}
	return nil
}

var unfitForBroker = regexp.MustCompile(`[^a-z0-9._]+`)

// brokerOf is the name in our records of a broker that OMB measured: "omb:kafka".
func brokerOf(driver string) string {
	return "omb:" + strings.Trim(unfitForBroker.ReplaceAllString(strings.ToLower(driver), "-"), "-")
}

// spec is the work as far as the file describes it.
func (o OMB) spec() study.Spec {
	return study.Spec{
		Broker: brokerOf(o.Driver), Topics: o.Topics, PartitionsPerTopic: o.Partitions,
		ProducersPerTopic: o.ProducersPerTopic, ConsumerPerSubscription: study.Consumers{o.ConsumersPerTopic},
		MessageSize: study.Sizes{{Size: study.Size(o.MessageSize), Weight: 1}}, Measure: "imported",
		Delivery: unknown, Persistence: unknown, Acks: unknown, Ordering: unknown, TLS: unknown,
		KeyDistributor: unknown, Isolation: unknown, Load: study.Load{Shape: unknown},
	}
}

// agrees returns an error if the file contradicts a spec. Of messages of several sizes a file holds the mean of those sent, which may
// be any between the smallest and the largest.
func (o OMB) agrees(s study.Spec) error {
	size := min(max(o.MessageSize, int64(s.MessageSize.Smallest())), int64(s.MessageSize.Largest())) // the nearest that s allows
	for _, f := range []struct {
		name       string
		file, spec int64
	}{
		{"messageSize", o.MessageSize, size},
		{"topics", int64(o.Topics), int64(s.Topics)},
		{"partitionsPerTopic", int64(o.Partitions), int64(s.PartitionsPerTopic)},
		{"producersPerTopic", int64(o.ProducersPerTopic), int64(s.ProducersPerTopic)},
		{"consumerPerSubscription", int64(o.ConsumersPerTopic), int64(s.ConsumerPerSubscription.Largest())},
	} {
		if f.file != f.spec {
			return fmt.Errorf("%s is %d in the file and %d in the point it is said to be like", f.name, f.file, f.spec)
		}
	}
	return nil
}

// pointOf identifies the work of a result, so that several files of it are repetitions of one point.
func pointOf(s study.Spec, o OMB) (string, error) {
	spec, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("identify the point: %w", err)
	}
	sum := sha256.Sum256(append(spec, o.Workload+"\x00"+o.Driver...))
	return fmt.Sprintf("omb-%x", sum[:6]), nil
}

// digest identifies a file's contents.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return fmt.Sprintf("%x", sum[:8])
}

// SameSource tells whether two records were made of the same file.
func SameSource(a, b store.Record) bool { return a.Source != "" && a.Source == b.Source }

// doubts say how the numbers differ from ours, and what isn't known. A file that ToOMB wrote brings the record's own doubts along.
func (o OMB) doubts(name string, data []byte) []store.Doubt {
	var doubts []store.Doubt
	add := func(code, text string) { doubts = append(doubts, store.Doubt{Code: code, Text: text}) }
	file := fmt.Sprintf("%s (sha256 %s…)", inLine(name), digest(data))
	if own := o.Brokermark; own != nil {
		add("imported", fmt.Sprintf("exported by brokermark from repetition %d of point %s: %s", own.Repetition, inLine(own.PointID), file))
	} else {
		add("imported", "numbers of the OpenMessaging Benchmark, not measured by brokermark: "+file)
		add("omb-end-to-end", "end-to-end latency comes from the message's own timestamp, with most drivers in whole milliseconds, and samples "+
			"of 0 are left out: every percentile is too high where many messages take less than a millisecond")
	}
	if o.Brokermark != nil && o.Brokermark.ClosedLoop {
		add("omb-latency", "latency is that of a closed loop: it says how full the client's window or the backlog was, and is no latency "+
			"under a load")
	} else {
		add("omb-latency", "latency is counted from the actual send, so a stall is charged to the few messages that were sent into it; "+
			"latency from the intended time is unknown")
	}
	add("omb-no-ledger", "the file has no account of each message: loss, duplicates and order are unknown")
	add("omb-rebuilt", "histograms are rebuilt from the published quantile tables, their counts from the mean rates")
	add("omb-unstated", "the file doesn't say the guarantee, subscriptions, load asked for, versions or host")
	if failed := o.failedSends(); failed > 0 && !o.Brokermark.doubts("failed-sends") {
		add("failed-sends", fmt.Sprintf("about %.0f sends failed", failed))
	}
	if o.Brokermark != nil {
		for _, d := range o.Brokermark.Doubts {
			if !slices.ContainsFunc(doubts, func(known store.Doubt) bool { return known.Code == d.Code }) {
				doubts = append(doubts, d)
			}
		}
	}
	return doubts
}

// failedSends is how many sends failed by the rates of the periods.
func (o OMB) failedSends() float64 {
	failed := 0.0
	for i, seconds := range o.periods().seconds(len(o.PublishErrorRate)) {
		failed += o.PublishErrorRate[i] * seconds
	}
	return failed
}

// doubts tells whether the record had a doubt with a code. It had none if there is no record.
func (o *Origin) doubts(code string) bool {
	return o != nil && slices.ContainsFunc(o.Doubts, func(d store.Doubt) bool { return d.Code == code })
}

// timeInName finds the time in the names that OMB gives its files.
var timeInName = regexp.MustCompile(`(\d{4}-\d{2}-\d{2}-\d{2}-\d{2}-\d{2})\.json$`)

// ended is when the run ended: the time in the file's name, which is read as UTC, or else that of the file.
func ended(name string, written time.Time) time.Time {
	if m := timeInName.FindStringSubmatch(name); m != nil {
		if t, err := time.Parse(ombTime, m[1]); err == nil {
			return t
		}
	}
	return written.UTC()
}

// result is the measurement. Histograms are rebuilt from the tables of quantiles, and their counts from the mean rates.
func (o OMB) result(p periods) *store.Result {
	seconds, published, consumed := p.length().Seconds(), p.mean(o.PublishRate), p.mean(o.ConsumeRate)
	messages := func(rate float64) int64 { return max(1, int64(math.Round(rate*seconds))) }
	sent, received := messages(published), messages(consumed)
	r := &store.Result{Measurement: store.Measurement{
		Seconds: seconds, PublishRate: published, ReceiveRate: consumed, PayloadSize: float64(o.MessageSize),
		Latency: store.Latency{
			EndToEndService: o.AggregatedEndToEndLatencyQuantiles.snapshot(received, nanosPerMilli),
			Service:         o.AggregatedPublishLatencyQuantiles.snapshot(sent, nanosPerMilli),
			Lag:             o.AggregatedPublishDelayLatencyQuantiles.snapshot(sent, nanosPerMicro), // empty in old versions
		},
	}}
	for i, rate := range o.PublishRate {
		r.Series = append(r.Series, store.Tick{
			OffsetNs:    int64(p[i]),
			Phase:       "measure",
			PublishRate: rate,
			ReceiveRate: valueAt(o.ConsumeRate, i),
			EndToEndP50: int64(valueAt(o.EndToEndLatency50pct, i) * nanosPerMilli),
			EndToEndP99: int64(valueAt(o.EndToEndLatency99pct, i) * nanosPerMilli),
			Backlog:     valueAt(o.Backlog, i),
		})
	}
	return r
}

// valueAt is the i-th value of a list that may be shorter than the run. It is 0 if there is none, as for anything unknown.
func valueAt[T float64 | int64](list []T, i int) T {
	if i < len(list) {
		return list[i]
	}
	return 0
}
