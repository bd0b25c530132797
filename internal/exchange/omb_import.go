package exchange

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/hist"
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
	end := ended(name, o.EndTime, written)
	began := end.Add(-periods.length())
	if t, err := time.Parse(ombTime, o.BeginTime); err == nil && t.Before(end) {
		began = t
	}
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
		Axes:       map[string]string{"broker": spec.Broker, "workload": o.Workload}, // names tell workloads of equal specs apart
		Spec:       spec,
		Versions:   store.Versions{Tool: ImportTool},
		Began:      began,
		Ended:      end,
		Doubts:     o.doubts(name, data),
		Source:     digest(data),
		Result:     o.result(periods),
	}, nil
}

var unfitForBroker = regexp.MustCompile(`[^a-z0-9._]+`)

// brokerOf is the name in our records of a broker that OMB measured: "omb:kafka".
func brokerOf(driver string) string {
	return "omb:" + strings.Trim(unfitForBroker.ReplaceAllString(strings.ToLower(driver), "-"), "-")
}

// spec is the work as far as the file describes it.
func (o OMB) spec() study.Spec {
	measure := study.MeasureImported
	if o.closedLoop() {
		measure = study.MeasureImportedClosedLoop
	}
	return study.Spec{
		Broker: brokerOf(o.Driver), Topics: o.Topics, PartitionsPerTopic: o.Partitions, SubscriptionsPerTopic: o.SubscriptionsPerTopic,
		ProducersPerTopic: o.ProducersPerTopic, ConsumerPerSubscription: study.Consumers{o.ConsumersPerTopic},
		MessageSize: study.Sizes{{Size: study.Size(o.MessageSize), Weight: 1}}, Measure: measure,
		Delivery: unknown, Persistence: unknown, Acks: unknown, Ordering: unknown, TLS: unknown,
		KeyDistributor: cmp.Or(o.KeyDistributor, unknown), Isolation: unknown, Load: study.Load{Shape: unknown, Rate: o.asked()},
	}
}

// asked is the rate that the file says was asked for; 0 if it says none, or as much as goes.
func (o OMB) asked() float64 {
	if o.ProducerRate > 0 && o.ProducerRate < study.FlatOut {
		return o.ProducerRate
	}
	return 0
}

// closedLoop reports whether the file says that its load was a closed loop. Files of other tools don't say so.
func (o OMB) closedLoop() bool { return o.Brokermark != nil && o.Brokermark.ClosedLoop }

// agrees returns an error if the file contradicts a spec. Of messages of several sizes a file holds the mean of those
// sent, which may be any between the smallest and the largest.
func (o OMB) agrees(s study.Spec) error {
	smallest, largest := int64(s.MessageSize.Smallest()), int64(s.MessageSize.Largest())
	size := min(max(o.MessageSize, smallest), largest) // the nearest that s allows
	for _, f := range []struct {
		name       string
		file, spec int64
	}{
		{"messageSize", o.MessageSize, size},
		{"topics", int64(o.Topics), int64(s.Topics)},
		{"partitionsPerTopic", int64(o.Partitions), int64(s.PartitionsPerTopic)},
		{"producersPerTopic", int64(o.ProducersPerTopic), int64(s.ProducersPerTopic)},
		{"consumerPerSubscription", int64(o.ConsumersPerTopic), int64(s.ConsumerPerSubscription.Largest())},
		{"subscriptionsPerTopic", int64(cmp.Or(o.SubscriptionsPerTopic, s.SubscriptionsPerTopic)), int64(s.SubscriptionsPerTopic)},
	} {
		if f.file != f.spec {
			return fmt.Errorf("%s is %d in the file and %d in the point it is said to be like", f.name, f.file, f.spec)
		}
	}
	if o.closedLoop() && !s.ClosedLoop() {
		return fmt.Errorf("the file is of a closed loop, and the point it is said to be like measures %s", s.Measure)
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

// SameSource reports whether two records were made of the same file.
func SameSource(a, b store.Record) bool { return a.Source != "" && a.Source == b.Source }

// timeInName finds the time in the names that OMB gives its files.
var timeInName = regexp.MustCompile(`(\d{4}-\d{2}-\d{2}-\d{2}-\d{2}-\d{2})\.json$`)

// ended is when the run ended: as the file says, or the time in its name or, if that has none, that of the file. What it says and its name
// are local to a machine whose zone isn't known, and are read as UTC.
func ended(name, said string, written time.Time) time.Time {
	for _, text := range append([]string{said}, timeInName.FindStringSubmatch(name)...) {
		if t, err := time.Parse(ombTime, text); err == nil {
			return t
		}
	}
	return written.UTC()
}

// result is the measurement. Histograms are rebuilt from the tables of quantiles, and their counts
// from the mean rates. Where the rate is 0 or left out, they are as many as the table tells apart.
func (o OMB) result(p periods) *store.Result {
	seconds, published, consumed := p.length().Seconds(), p.mean(o.PublishRate), p.mean(o.ConsumeRate)
	rebuilt := func(q Quantiles, rate, unitNs float64) hist.Snapshot {
		n := int64(math.Round(rate * seconds))
		if n < 1 {
			n = q.least()
		}
		return q.snapshot(n, unitNs)
	}
	r := &store.Result{Measurement: store.Measurement{
		Seconds: seconds, PublishRate: published, ReceiveRate: consumed, PayloadSize: float64(o.MessageSize),
		Latency: store.Latency{
			EndToEndService: rebuilt(o.AggregatedEndToEndLatencyQuantiles, consumed, nanosPerMilli),
			Service:         rebuilt(o.AggregatedPublishLatencyQuantiles, published, nanosPerMilli),
			Lag:             rebuilt(o.AggregatedPublishDelayLatencyQuantiles, published, nanosPerMicro), // empty in old versions
		},
	}}
	for i, rate := range o.PublishRate {
		r.Series = append(r.Series, store.Tick{
			OffsetNs:    int64(p[i]),
			Phase:       "measure",
			PublishRate: rate,
			ReceiveRate: valueAt(o.ConsumeRate, i),
			EndToEndP50: int64(math.Round(valueAt(o.EndToEndLatency50pct, i) * nanosPerMilli)),
			EndToEndP99: int64(math.Round(valueAt(o.EndToEndLatency99pct, i) * nanosPerMilli)),
			Backlog:     max(0, valueAt(o.Backlog, i)),
		})
	}
	return r
}

// valueAt is the i-th value of a list that may be shorter than the run. It is 0 if there is none, since a
// store.Tick can't leave a value out.
func valueAt[T float64 | int64](list []T, i int) T {
	if i < len(list) {
		return list[i]
	}
	return 0
}

// doubts say how the numbers of a file differ from ours, and what isn't known. data is what the file holds. A file that
// ToOMB wrote brings the record's own doubts along.
func (o OMB) doubts(name string, data []byte) []store.Doubt {
	var doubts []store.Doubt
	add := func(kind *doubt.Kind, text string) { doubts = append(doubts, store.DoubtOf(kind, text)) }
	file := fmt.Sprintf("%s (sha256 %s…)", inLine(name), digest(data))
	if own := o.Brokermark; own != nil {
		add(doubt.Imported, fmt.Sprintf("exported by brokermark from repetition %d of point %s: %s",
			own.Repetition, inLine(own.PointID), file))
	} else {
		add(doubt.Imported, "numbers of the OpenMessaging Benchmark, not measured by brokermark: "+file)
		add(doubt.OMBEndToEnd, "end-to-end latency comes from the message's own timestamp, with most drivers in whole "+
			"milliseconds, and samples of 0 are left out: every percentile is too high where many messages take less than "+
			"a millisecond")
	}
	if o.closedLoop() {
		add(doubt.OMBLatency, "latency is that of a closed loop: it says how full the client's window or the backlog was, and "+
			"is no latency under a load")
	} else {
		add(doubt.OMBLatency, "latency is counted from the actual send, so a stall is charged to the few messages that were "+
			"sent into it; latency from the intended time is unknown")
	}
	add(doubt.OMBNoLedger, "the file has no account of each message: loss, duplicates and order are unknown")
	add(doubt.OMBRebuilt, "histograms are rebuilt from the published quantile tables, their counts from the mean rates")
	unsaid := []string{"guarantee"}
	if o.SubscriptionsPerTopic == 0 {
		unsaid = append(unsaid, "subscriptions")
	}
	if o.ProducerRate == 0 {
		unsaid = append(unsaid, "load asked for")
	}
	add(doubt.OMBUnstated, "the file doesn't say the "+strings.Join(append(unsaid, "versions or host"), ", "))
	if failed := o.failedSends(); failed > 0 && !o.Brokermark.doubts(doubt.FailedSends) {
		add(doubt.FailedSends, fmt.Sprintf("about %.0f sends failed", failed))
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

// doubts reports whether the record had a doubt of a kind. It had none if there is no record.
func (o *Origin) doubts(kind *doubt.Kind) bool {
	return o != nil && slices.ContainsFunc(o.Doubts, func(d store.Doubt) bool { return d.Is(kind) })
}
