package results

import (
	"math"
	"time"

	"github.com/brokermark/brokermark/internal/store"
)

// FlatRecord is one load of a record as a flat JSON object: always all keys, in this order, null where something was not
// measured or is not known. Times are nanoseconds, rates messages per second.
type FlatRecord struct {
	Broker                 string   `json:"broker"`
	Label                  string   `json:"label"`
	Load                   string   `json:"load"` // what was measured; of a curve there is an object for each of its rates
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
	SustainableLow         *float64 `json:"sustainable_low"`  // 0: no rate passed
	SustainableHigh        *float64 `json:"sustainable_high"` // null also when no rate failed
	EndToEndP50            *int64   `json:"e2e_p50_ns"`
	EndToEndP90            *int64   `json:"e2e_p90_ns"`
	EndToEndP95            *int64   `json:"e2e_p95_ns"`
	EndToEndP99            *int64   `json:"e2e_p99_ns"`
	EndToEndP999           *int64   `json:"e2e_p999_ns"`
	EndToEndMax            *int64   `json:"e2e_max_ns"`
	PublishP50             *int64   `json:"publish_p50_ns"`
	PublishP99             *int64   `json:"publish_p99_ns"`
	ServiceP50             *int64   `json:"service_p50_ns"`
	ServiceP99             *int64   `json:"service_p99_ns"`
	LagP99                 *int64   `json:"lag_p99_ns"`
	PauseP99               *int64   `json:"pause_p99_ns"` // how late a thread woke that only sleeps: own pauses of the machine
	PauseMax               *int64   `json:"pause_max_ns"`
	BrokerCPUPerMillion    *float64 `json:"broker_cpu_s_per_million"`
	GeneratorCPUPerMillion *float64 `json:"generator_cpu_s_per_million"`
	BrokerRSSBytes         *int64   `json:"broker_rss_bytes"`
	BrokerDiskWriteBytes   *int64   `json:"broker_disk_write_bytes"`
	Began                  *string  `json:"began"` // RFC 3339 with nanoseconds
	PointID                string   `json:"point_id"`
	ClosedLoop             bool     `json:"closed_loop"` // the latencies say how full the client's window or the backlog was

	// Goals are the answers to all goals of a search, the first of which stands above as well; empty where there was none.
	Goals []FlatGoal `json:"goals"`
}

// Flat flattens a record: one object for each load that was measured in it.
func Flat(r store.Record) []FlatRecord {
	var out []FlatRecord
	for _, l := range Loads(r) {
		out = append(out, flatRecord(l))
	}
	return out
}

func flatRecord(l Load) FlatRecord {
	r := l.Record
	f := FlatRecord{
		Broker: r.Spec.Broker, Label: r.Label, Load: l.Name, Status: string(r.Status), Reason: r.Reason, Doubts: []string{}, PointID: r.PointID, ClosedLoop: ClosedLoop(r.Spec),
		Goals: flatGoals(r),
	}
	for _, d := range r.Doubts {
		f.Doubts = append(f.Doubts, d.Code+": "+d.Text)
	}
	if !r.Began.IsZero() {
		began := r.Began.Format(time.RFC3339Nano)
		f.Began = &began
	}
	whole := map[string]**int64{
		"due": &f.Due, "unsent": &f.Unsent, "sent": &f.Sent, "acked": &f.Acked, "failed": &f.Failed, "unresolved": &f.Unresolved,
		"resent": &f.Resent, "received": &f.Received, "lost": &f.Lost, "lost_acked": &f.LostAcked,
		"duplicated": &f.Duplicated, "reordered": &f.Reordered, "corrupted": &f.Corrupted,
		"e2e_p50_ns": &f.EndToEndP50, "e2e_p90_ns": &f.EndToEndP90, "e2e_p95_ns": &f.EndToEndP95,
		"e2e_p99_ns": &f.EndToEndP99, "e2e_p999_ns": &f.EndToEndP999, "e2e_max_ns": &f.EndToEndMax,
		"publish_p50_ns": &f.PublishP50, "publish_p99_ns": &f.PublishP99,
		"service_p50_ns": &f.ServiceP50, "service_p99_ns": &f.ServiceP99, "lag_p99_ns": &f.LagP99,
		"pause_p99_ns": &f.PauseP99, "pause_max_ns": &f.PauseMax,
		"broker_rss_bytes": &f.BrokerRSSBytes, "broker_disk_write_bytes": &f.BrokerDiskWriteBytes,
	}
	real := map[string]**float64{
		"offered_rate": &f.OfferedRate, "publish_rate": &f.PublishRate, "receive_rate": &f.ReceiveRate,
		"sustainable_low": &f.SustainableLow, "sustainable_high": &f.SustainableHigh,
		"broker_cpu_s_per_million": &f.BrokerCPUPerMillion, "generator_cpu_s_per_million": &f.GeneratorCPUPerMillion,
	}
	for _, m := range Metrics {
		v := m.recorded(r)
		if math.IsNaN(v) || math.IsInf(v, 0) { // JSON has no word for either
			continue
		}
		if p := whole[m.Key]; p != nil {
			n := int64(v)
			*p = &n
		} else if p := real[m.Key]; p != nil {
			*p = &v
		}
	}
	return f
}
