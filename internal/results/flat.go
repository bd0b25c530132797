package results

import (
	"math"
	"reflect"
	"time"

	"github.com/brokermark/brokermark/internal/store"
)

// FlatRecord is one load of a record as a flat JSON object: always all keys, in this order, null where something was not
// measured or is not known. Times are nanoseconds, rates messages per second.
type FlatRecord struct {
	Broker string   `json:"broker"`
	Label  string   `json:"label"` // the label of the point
	Point  string   `json:"point"` // same as label, which is a keyword of jq
	Load   string   `json:"load"`  // "rate 1k/s"; a curve has an object for each of its rates
	Status string   `json:"status"`
	Reason string   `json:"reason"` // "" when ok
	Doubts []string `json:"doubts"` // "code: sentence"

	OfferedRate *float64 `json:"offered_rate"` // null without a schedule
	Due         *int64   `json:"due"`          // by the schedule: sent + unsent
	Unsent      *int64   `json:"unsent"`       // due, and never handed to the client
	Sent        *int64   `json:"sent"`
	Acked       *int64   `json:"acked"`
	Failed      *int64   `json:"failed"`     // reported as failed by the client
	Unresolved  *int64   `json:"unresolved"` // neither confirmed nor failed when the run ended
	Resent      *int64   `json:"resent"`
	Received    *int64   `json:"received"`
	Lost        *int64   `json:"lost"`
	LostAcked   *int64   `json:"lost_acked"` // confirmed by the broker and yet lost
	Dropped     *int64   `json:"dropped"`    // by the client library, in the generator's process; what never came is in lost, too
	Duplicated  *int64   `json:"duplicated"`
	Reordered   *int64   `json:"reordered"`
	Corrupted   *int64   `json:"corrupted"`

	PublishRate  *float64 `json:"publish_rate"`
	ReceiveRate  *float64 `json:"receive_rate"`
	Throughput   *float64 `json:"throughput"`   // of a closed loop until 99 % had come
	PublishMBs   *float64 `json:"publish_mb_s"` // 10^6 bytes of payload per second
	ReceiveMBs   *float64 `json:"receive_mb_s"`
	ProducerRate *float64 `json:"producer_rate"` // publish_rate over the number of producers
	ConsumerRate *float64 `json:"consumer_rate"` // receive_rate over the number of consumers
	BacklogMax   *int64   `json:"backlog_max"`   // largest backlog from the start of the measured phase on

	SustainableLow  *float64 `json:"sustainable_low"`    // 0: no rate passed
	SustainableHigh *float64 `json:"sustainable_high"`   // null also when no rate failed
	SustainableHeld *float64 `json:"sustainable_held_s"` // how long sustainable_low was held in one trial
	KneeRate        *float64 `json:"knee_rate"`          // of a curve: what came through before its mean latency jumps

	EndToEndMin  *int64 `json:"e2e_min_ns"`  // from the intended send to the receipt
	EndToEndMean *int64 `json:"e2e_mean_ns"` // from the intended send to the receipt
	EndToEndP50  *int64 `json:"e2e_p50_ns"`  // from the intended send to the receipt
	EndToEndP90  *int64 `json:"e2e_p90_ns"`  // from the intended send to the receipt
	EndToEndP95  *int64 `json:"e2e_p95_ns"`  // from the intended send to the receipt
	EndToEndP99  *int64 `json:"e2e_p99_ns"`  // from the intended send to the receipt
	EndToEndP999 *int64 `json:"e2e_p999_ns"` // from the intended send to the receipt
	EndToEndMax  *int64 `json:"e2e_max_ns"`  // from the intended send to the receipt

	PublishMin  *int64 `json:"publish_min_ns"`  // from the intended send to the ack
	PublishMean *int64 `json:"publish_mean_ns"` // from the intended send to the ack
	PublishP50  *int64 `json:"publish_p50_ns"`  // from the intended send to the ack
	PublishP95  *int64 `json:"publish_p95_ns"`  // from the intended send to the ack
	PublishP99  *int64 `json:"publish_p99_ns"`  // from the intended send to the ack
	PublishMax  *int64 `json:"publish_max_ns"`  // from the intended send to the ack

	ServiceMean *int64 `json:"service_mean_ns"` // from the actual send to the ack
	ServiceP50  *int64 `json:"service_p50_ns"`  // from the actual send to the ack
	ServiceP99  *int64 `json:"service_p99_ns"`  // from the actual send to the ack

	EndToEndServiceMin  *int64 `json:"e2e_service_min_ns"`  // from the actual send to the receipt
	EndToEndServiceMean *int64 `json:"e2e_service_mean_ns"` // from the actual send to the receipt
	EndToEndServiceP50  *int64 `json:"e2e_service_p50_ns"`  // from the actual send to the receipt
	EndToEndServiceP95  *int64 `json:"e2e_service_p95_ns"`  // from the actual send to the receipt
	EndToEndServiceP99  *int64 `json:"e2e_service_p99_ns"`  // from the actual send to the receipt
	EndToEndServiceMax  *int64 `json:"e2e_service_max_ns"`  // from the actual send to the receipt

	MeanOfSeconds *int64 `json:"mean_of_seconds_ns"` // mean of one-second means, actual send to receipt
	CorrectedMean *int64 `json:"corrected_mean_ns"`  // actual send to receipt, corrected by a producer's mean gap
	CorrectedP99  *int64 `json:"corrected_p99_ns"`   // actual send to receipt, corrected by a producer's mean gap

	LagP99   *int64 `json:"lag_p99_ns"`   // how late messages were sent
	PauseP99 *int64 `json:"pause_p99_ns"` // how late a thread woke that only sleeps
	PauseMax *int64 `json:"pause_max_ns"` // how late a thread woke that only sleeps, at most

	BrokerCPUPerMillion    *float64 `json:"broker_cpu_s_per_million"`
	GeneratorCPUPerMillion *float64 `json:"generator_cpu_s_per_million"`
	BrokerRSSBytes         *int64   `json:"broker_rss_bytes"`
	BrokerDiskWriteBytes   *int64   `json:"broker_disk_write_bytes"`
	BrokerDiskReadBytes    *int64   `json:"broker_disk_read_bytes"`     // from a disk, not from the page cache
	BrokerFlushesPerMsg    *float64 `json:"broker_flushes_per_message"` // calls of fsync, fdatasync and msync
	BrokerCPUUser          *float64 `json:"broker_cpu_user_pct"`        // of one core, measured phase
	BrokerCPUSystem        *float64 `json:"broker_cpu_system_pct"`      // of one core, measured phase

	TotalSeconds *float64 `json:"total_s"`    // of a count: first send to last delivery
	DrainRate    *float64 `json:"drain_rate"` // of a backlog

	ProducerCPUPerMillion *float64 `json:"producer_cpu_s_per_million"` // of producers with an own process
	ProducerCPUUser       *float64 `json:"producer_cpu_user_pct"`      // of one core, measured phase; of producers with an own process
	ProducerCPUSystem     *float64 `json:"producer_cpu_system_pct"`    // of one core, measured phase; of producers with an own process
	ProducerRSSBytes      *int64   `json:"producer_rss_bytes"`         // of producers with an own process

	ConsumerCPUPerMillion *float64 `json:"consumer_cpu_s_per_million"` // of consumers with an own process
	ConsumerCPUUser       *float64 `json:"consumer_cpu_user_pct"`      // of one core, measured phase; of consumers with an own process
	ConsumerCPUSystem     *float64 `json:"consumer_cpu_system_pct"`    // of one core, measured phase; of consumers with an own process
	ConsumerRSSBytes      *int64   `json:"consumer_rss_bytes"`         // of consumers with an own process

	RelayCPUPerMillion *float64 `json:"relay_cpu_s_per_million"` // of all relays
	RelayRSSBytes      *int64   `json:"relay_rss_bytes"`         // of all relays

	ResponseMin         *int64   `json:"response_min_ns"`           // of a pipeline: from a request's sending to its answer
	ResponseMean        *int64   `json:"response_mean_ns"`          // of a pipeline: from a request's sending to its answer
	ResponseP50         *int64   `json:"response_p50_ns"`           // of a pipeline: from a request's sending to its answer
	ResponseP99         *int64   `json:"response_p99_ns"`           // of a pipeline: from a request's sending to its answer
	ResponseMax         *int64   `json:"response_max_ns"`           // of a pipeline: from a request's sending to its answer
	QueueMax            *int64   `json:"queue_max"`                 // of a pipeline: the most that the broker said to hold
	ServerCPUPerRequest *float64 `json:"server_cpu_us_per_request"` // of a pipeline: all its servers
	ConsumerCPUMax      *float64 `json:"consumer_cpu_max_pct"`      // of a pipeline: of one core, in half a second

	Began      *string `json:"began"` // RFC 3339 with nanoseconds
	PointID    string  `json:"point_id"`
	ClosedLoop bool    `json:"closed_loop"`    // the latencies say how full the client's window or the backlog was
	ClockBound *int64  `json:"clock_bound_ns"` // error of e2e latencies, either way; 0: both times are of one clock
	// AtLeast are the keys of the latencies that are lower bounds, because messages never came.
	AtLeast []string `json:"at_least"`

	// Goals are the answers to all goals of a search; empty if there was none.
	// SustainableLow and SustainableHigh answer the first.
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

// flatRecord is one load of a repetition as a flat record. Every metric of Metrics is in the field that has its key in JSON.
func flatRecord(l RepetitionLoad) FlatRecord {
	r := l.Record
	f := FlatRecord{
		Broker: r.Spec.Broker, Label: r.Label, Point: r.Label, PointID: r.PointID, Load: l.Name, ClosedLoop: r.Spec.ClosedLoop(),
		Status: string(r.Status), Reason: r.Reason, Doubts: []string{}, AtLeast: []string{}, Goals: flatGoals(r),
	}
	for _, d := range r.Doubts {
		f.Doubts = append(f.Doubts, d.Code+": "+d.Text)
	}
	if r.Result != nil && r.Result.Latency.EndToEnd.Count() > 0 {
		bound := r.Result.ClockBoundNs
		f.ClockBound = &bound
	}
	if !r.Began.IsZero() {
		began := r.Began.Format(time.RFC3339Nano)
		f.Began = &began
	}
	figures := map[string]float64{} // by key
	for _, m := range Metrics {
		figures[m.Key] = m.AsRecorded().Of(r)
		if math.IsInf(m.AsRecorded().AtMost(r), 1) {
			f.AtLeast = append(f.AtLeast, m.Key)
		}
	}
	for _, field := range f.fields() {
		figure, isMetric := figures[field.key]
		if !isMetric || math.IsNaN(figure) || math.IsInf(figure, 0) { // JSON has neither NaN nor infinity: it stays null
			continue
		}
		switch p := field.pointer.(type) {
		case **float64:
			*p = &figure
		case **int64:
			whole := int64(math.Round(figure))
			*p = &whole
		}
	}
	return f
}

// flatField is a field of a FlatRecord: its key in JSON, such as "lost", and a pointer to it, such as a **int64.
type flatField struct {
	key     string
	pointer any
}

// fields lists the fields of f in the order of their keys in JSON.
func (f *FlatRecord) fields() []flatField {
	var fields []flatField
	for field, value := range reflect.ValueOf(f).Elem().Fields() {
		fields = append(fields, flatField{key: field.Tag.Get("json"), pointer: value.Addr().Interface()})
	}
	return fields
}
