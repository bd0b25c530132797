package results

import (
	"fmt"
	"iter"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/store"
)

// FlatRecord is one load of a record as a flat JSON object: always all keys, in this order, null where something was not
// measured or is not known. Times are nanoseconds, rates messages per second.
type FlatRecord struct {
	Broker                 string   `json:"broker"`
	Label                  string   `json:"label"` // a keyword of jq: Point has the same value
	Point                  string   `json:"point"` // the label
	Load                   string   `json:"load"`  // "rate 1k/s"; a curve has an object for each of its rates
	Status                 string   `json:"status"`
	Reason                 string   `json:"reason"`       // "" when ok
	Doubts                 []string `json:"doubts"`       // "code: sentence"
	OfferedRate            *float64 `json:"offered_rate"` // null without a schedule
	Due                    *int64   `json:"due"`          // by the schedule: sent + unsent
	Unsent                 *int64   `json:"unsent"`       // due, and never handed to the client
	Sent                   *int64   `json:"sent"`
	Acked                  *int64   `json:"acked"`
	Failed                 *int64   `json:"failed"`     // reported as failed by the client
	Unresolved             *int64   `json:"unresolved"` // neither confirmed nor failed when the run ended
	Resent                 *int64   `json:"resent"`
	Received               *int64   `json:"received"`
	Lost                   *int64   `json:"lost"`
	LostAcked              *int64   `json:"lost_acked"` // confirmed by the broker and yet lost
	Duplicated             *int64   `json:"duplicated"`
	Reordered              *int64   `json:"reordered"`
	Corrupted              *int64   `json:"corrupted"`
	PublishRate            *float64 `json:"publish_rate"`
	ReceiveRate            *float64 `json:"receive_rate"`
	Throughput             *float64 `json:"throughput"`   // of a closed loop until 99 % had come
	PublishMBs             *float64 `json:"publish_mb_s"` // 10^6 bytes of payload per second
	ReceiveMBs             *float64 `json:"receive_mb_s"`
	ProducerRate           *float64 `json:"producer_rate"`    // publish_rate over the number of producers
	ConsumerRate           *float64 `json:"consumer_rate"`    // receive_rate over the number of consumers
	BacklogMax             *int64   `json:"backlog_max"`      // largest backlog from the start of the measured phase on
	SustainableLow         *float64 `json:"sustainable_low"`  // 0: no rate passed
	SustainableHigh        *float64 `json:"sustainable_high"` // null also when no rate failed
	KneeRate               *float64 `json:"knee_rate"`        // of a curve: what came through before its mean latency jumps
	EndToEndMin            *int64   `json:"e2e_min_ns"`
	EndToEndMean           *int64   `json:"e2e_mean_ns"`
	EndToEndP50            *int64   `json:"e2e_p50_ns"`
	EndToEndP90            *int64   `json:"e2e_p90_ns"`
	EndToEndP95            *int64   `json:"e2e_p95_ns"`
	EndToEndP99            *int64   `json:"e2e_p99_ns"`
	EndToEndP999           *int64   `json:"e2e_p999_ns"`
	EndToEndMax            *int64   `json:"e2e_max_ns"`
	PublishMin             *int64   `json:"publish_min_ns"`
	PublishMean            *int64   `json:"publish_mean_ns"`
	PublishP50             *int64   `json:"publish_p50_ns"`
	PublishP95             *int64   `json:"publish_p95_ns"`
	PublishP99             *int64   `json:"publish_p99_ns"`
	PublishMax             *int64   `json:"publish_max_ns"`
	ServiceMean            *int64   `json:"service_mean_ns"` // from the actual send to the acknowledgement, as the next two
	ServiceP50             *int64   `json:"service_p50_ns"`
	ServiceP99             *int64   `json:"service_p99_ns"`
	EndToEndServiceMin     *int64   `json:"e2e_service_min_ns"` // from the actual send to the receipt, as the next five
	EndToEndServiceMean    *int64   `json:"e2e_service_mean_ns"`
	EndToEndServiceP50     *int64   `json:"e2e_service_p50_ns"`
	EndToEndServiceP95     *int64   `json:"e2e_service_p95_ns"`
	EndToEndServiceP99     *int64   `json:"e2e_service_p99_ns"`
	EndToEndServiceMax     *int64   `json:"e2e_service_max_ns"`
	MeanOfSeconds          *int64   `json:"mean_of_seconds_ns"` // mean of one-second means, from send to receipt
	CorrectedMean          *int64   `json:"corrected_mean_ns"`  // from send to receipt, corrected by the mean gap between a producer's sends
	CorrectedP99           *int64   `json:"corrected_p99_ns"`
	LagP99                 *int64   `json:"lag_p99_ns"`
	PauseP99               *int64   `json:"pause_p99_ns"` // how late a thread woke that only sleeps: own pauses of the machine
	PauseMax               *int64   `json:"pause_max_ns"`
	BrokerCPUPerMillion    *float64 `json:"broker_cpu_s_per_million"`
	GeneratorCPUPerMillion *float64 `json:"generator_cpu_s_per_million"`
	BrokerRSSBytes         *int64   `json:"broker_rss_bytes"`
	BrokerDiskWriteBytes   *int64   `json:"broker_disk_write_bytes"`
	BrokerDiskReadBytes    *int64   `json:"broker_disk_read_bytes"`     // from a disk, not from the page cache
	BrokerFlushesPerMsg    *float64 `json:"broker_flushes_per_message"` // calls of fsync, fdatasync and msync
	BrokerCPUUser          *float64 `json:"broker_cpu_user_pct"`        // of one core, measured phase
	BrokerCPUSystem        *float64 `json:"broker_cpu_system_pct"`
	TotalSeconds           *float64 `json:"total_s"`                    // of a count: first send to last delivery
	DrainRate              *float64 `json:"drain_rate"`                 // of a backlog
	ProducerCPUPerMillion  *float64 `json:"producer_cpu_s_per_million"` // of the generator, where its consumers had a process of their own, as the next seven
	ProducerCPUUser        *float64 `json:"producer_cpu_user_pct"`      // of one core, measured phase
	ProducerCPUSystem      *float64 `json:"producer_cpu_system_pct"`
	ProducerRSSBytes       *int64   `json:"producer_rss_bytes"`
	ConsumerCPUPerMillion  *float64 `json:"consumer_cpu_s_per_million"`
	ConsumerCPUUser        *float64 `json:"consumer_cpu_user_pct"`
	ConsumerCPUSystem      *float64 `json:"consumer_cpu_system_pct"`
	ConsumerRSSBytes       *int64   `json:"consumer_rss_bytes"`
	RelayCPUPerMillion     *float64 `json:"relay_cpu_s_per_million"` // of all relays, as the next
	RelayRSSBytes          *int64   `json:"relay_rss_bytes"`
	ResponseMin            *int64   `json:"response_min_ns"` // of a pipeline: from a request's sending to its answer, as the next four
	ResponseMean           *int64   `json:"response_mean_ns"`
	ResponseP50            *int64   `json:"response_p50_ns"`
	ResponseP99            *int64   `json:"response_p99_ns"`
	ResponseMax            *int64   `json:"response_max_ns"`
	QueueMax               *int64   `json:"queue_max"`                 // of a pipeline: the most that the broker said to hold
	ServerCPUPerRequest    *float64 `json:"server_cpu_us_per_request"` // of a pipeline: all its servers
	ConsumerCPUMax         *float64 `json:"consumer_cpu_max_pct"`      // of a pipeline: of one core, in half a second
	Began                  *string  `json:"began"`                     // RFC 3339 with nanoseconds
	PointID                string   `json:"point_id"`
	ClosedLoop             bool     `json:"closed_loop"`    // the latencies say how full the client's window or the backlog was
	ClockBound             *int64   `json:"clock_bound_ns"` // by how much each end-to-end latency may be off, either way; 0: one clock took both times

	// Goals are the answers to all goals of a search; empty if there was none. SustainableLow and SustainableHigh answer the first.
	Goals []FlatGoal `json:"goals"`
}

// Flat flattens a record: one object for each load that was measured in it.
func Flat(r store.Record) []FlatRecord {
	var flat []FlatRecord
	for _, l := range Loads(r) {
		flat = append(flat, flatRecord(l))
	}
	return flat
}

// FlatTable is the flat form of records as a table: study and repetition, the keys of FlatRecord, then the axes. A value is a
// string, a number or a bool; it is nil if nothing is known. Lists are joined, and an axis that a record doesn't have is "". The rows are
// made while they are read, and can be read again.
func FlatTable(records []store.Record) (header []string, rows iter.Seq[[]any]) {
	header = []string{"study", "repetition"}
	for field := range reflect.TypeFor[FlatRecord]().Fields() {
		header = append(header, field.Tag.Get("json"))
	}
	values := Values{}
	for _, r := range records {
		values.AddAll(r.Axes)
	}
	axes := sortedKeys(values)
	for _, axis := range axes {
		header = append(header, "axis."+axis)
	}
	return header, func(yield func([]any) bool) {
		for _, r := range records {
			for _, flat := range Flat(r) {
				row := []any{r.Study, r.Repetition}
				for _, field := range reflect.ValueOf(flat).Fields() {
					row = append(row, flatValue(field))
				}
				for _, axis := range axes {
					row = append(row, r.Axes[axis])
				}
				if !yield(row) {
					return
				}
			}
		}
	}
}

// flatValue is a field of FlatRecord as a value of a table.
func flatValue(field reflect.Value) any {
	if field.Kind() == reflect.Pointer {
		if field.IsNil() {
			return nil
		}
		return field.Elem().Interface()
	}
	switch value := field.Interface().(type) {
	case []string:
		return strings.Join(value, " | ")
	case []FlatGoal:
		var answers []string
		for _, g := range value {
			answers = append(answers, g.String())
		}
		return strings.Join(answers, " | ")
	default: // a string or a bool
		return value
	}
}

// flatFields are the indexes of the fields of FlatRecord by their keys. Every metric has a field.
var flatFields = func() map[string]int {
	fields := map[string]int{}
	for field := range reflect.TypeFor[FlatRecord]().Fields() {
		fields[field.Tag.Get("json")] = field.Index[0]
	}
	for _, m := range Metrics {
		if _, ok := fields[m.Key]; !ok {
			panic("results: a flat record has no field " + m.Key)
		}
	}
	return fields
}()

// flatRecord is one load of a repetition as a flat record: who and when from the record, and the value of every metric in the field with
// its key.
func flatRecord(l RepetitionLoad) FlatRecord {
	r := l.Record
	f := FlatRecord{
		Broker: r.Spec.Broker, Label: r.Label, Point: r.Label, PointID: r.PointID, Load: l.Name, ClosedLoop: r.Spec.ClosedLoop(),
		Status: string(r.Status), Reason: r.Reason, Doubts: []string{}, Goals: flatGoals(r),
	}
	for _, d := range r.Doubts {
		f.Doubts = append(f.Doubts, d.Code+": "+d.Text)
	}
	if r.Result != nil && r.Result.Latency.EndToEnd.Count() > 0 {
		f.ClockBound = &r.Result.ClockBoundNs
	}
	if !r.Began.IsZero() {
		began := r.Began.Format(time.RFC3339Nano)
		f.Began = &began
	}
	fields := reflect.ValueOf(&f).Elem()
	for _, m := range Metrics {
		v := m.AsRecorded().Of(r)
		if math.IsNaN(v) || math.IsInf(v, 0) { // the field stays null: JSON has neither
			continue
		}
		switch p := fields.Field(flatFields[m.Key]).Addr().Interface().(type) {
		case **int64:
			n := int64(v)
			*p = &n
		case **float64:
			*p = &v
		default:
			panic(fmt.Sprintf("results: the field %s of a flat record is a %T", m.Key, p))
		}
	}
	return f
}
