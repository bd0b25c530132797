// Package store keeps the records of finished repetitions and reads them back. Records are appended as each
// repetition ends and never edited. It knows neither how they were measured nor how they will be shown.
package store

import (
	"slices"
	"time"

	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/study"
)

// Schema is the version of Record's JSON form. A record of another version is refused.
const Schema = 1

// Status is how a repetition ended.
type Status string

// The ways a repetition can end.
const (
	OK        Status = "ok"
	Failed    Status = "failed"    // the broker or the guarantee failed
	Void      Status = "void"      // the generator, not the broker, limited the number
	Refused   Status = "refused"   // the broker can't do what the spec asks
	Aborted   Status = "aborted"   // interrupted; not counted as done on resume
	Published Status = "published" // nothing was run: the record holds the figures of a publication
)

// The place of a message's identity and times if its payload comes from a file: beside the payload, or instead of its first bytes.
const (
	InHeader = "header"
	InBody   = "body"
)

// KindPublished is the kind of a record that holds the figures of a publication; a measured one has no kind.
const KindPublished = "published"

// Record is the stored outcome of one repetition of one point.
type Record struct {
	Schema     int               `json:"schema"`
	Kind       string            `json:"kind,omitempty"` // "": measured
	ID         int64             `json:"id,omitempty"`   // given by the store, rising in the order of appending
	PointID    string            `json:"point_id"`
	Study      string            `json:"study"`
	Scale      string            `json:"scale,omitempty"` // at which the study was run, such as "quick" (study.SmokeTest); "" in older records
	Label      string            `json:"label"`
	Axes       map[string]string `json:"axes,omitempty"` // this point's values on the axes of its study
	Repetition int               `json:"repetition"`     // 1..repeats
	Seed       int64             `json:"seed,omitempty"` // seed of all that it drew at random (docs/method.md); below 2^53; 0 in older records
	Status     Status            `json:"status"`
	Reason     string            `json:"reason,omitempty"`         // a sentence, whenever Status is not ok
	Figures    []remark.Figure   `json:"reason_figures,omitempty"` // of the reason
	Doubts     []Doubt           `json:"doubts,omitempty"`
	Began      time.Time         `json:"began"`
	Ended      time.Time         `json:"ended"`
	Spec       study.Spec        `json:"spec"` // complete
	Settings   Settings          `json:"settings"`
	Identity   string            `json:"identity,omitempty"` // of payloads from files: InHeader or InBody, where identity and times of their messages were; "" if payloads were made up
	Versions   Versions          `json:"versions"`
	Host       Host              `json:"host"`
	Failover   bool              `json:"failover,omitempty"` // the deployment has another node that takes over when the leader is gone
	Agents     []Agent           `json:"agents,omitempty"`   // that ran producers and consumers; empty: a process on Host did
	Meters     []Meter           `json:"meters,omitempty"`   // agents that metered an attached broker
	Growth     []Growth          `json:"growth,omitempty"`   // when agents were added, with --agents auto
	Result     *Result           `json:"result,omitempty"`   // nil if nothing was measured
	Source     string            `json:"source,omitempty"`   // of an imported record: the digest of its file; of a published one: its table and page
}

// Doubt is a stated reason why the numbers of a record deserve less trust. Package doubt registers the kinds of doubts.
type Doubt struct {
	Code string `json:"code"` // of its kind, e.g. "unbalanced-books", "old-version", "shared-cores"
	Text string `json:"text"` // what was seen: one sentence with the figures
	// Share is the largest share of a figure that the doubt may affect, 0 to 1: 0.12 if up to 1.2 of 10 ms may be the generator's
	// own. 0: not known.
	Share float64 `json:"share,omitempty"`
	// Quantiles are those of the latency that the doubt affects, rising; empty if it affects all or other figures.
	Quantiles []float64 `json:"quantiles,omitempty"`
}

// DoubtOf makes a doubt of a kind. text is a sentence with what was seen, without a period.
func DoubtOf(kind *doubt.Kind, text string) Doubt {
	return Doubt{Code: kind.Code(), Text: remark.Of("%s", text).Text}
}

// Kind is the doubt's kind. It is registered unless another version stored the doubt.
func (d Doubt) Kind() *doubt.Kind {
	kind, _ := doubt.Lookup(d.Code)
	return kind
}

// Is reports whether the doubt is of a kind.
func (d Doubt) Is(kind *doubt.Kind) bool { return d.Code == kind.Code() }

// Same reports whether two doubts have the same code and text.
func (d Doubt) Same(o Doubt) bool { return d.Code == o.Code && d.Text == o.Text }

// Why is the reason as a sentence that can share a footnote with reasons that differ in their figures only.
func (r Record) Why() remark.Remark { return remark.Stored(r.Reason, r.Figures) }

// Took is how long the repetition took. It is 0 if it never began or was cut off.
func (r Record) Took() time.Duration {
	if r.Began.IsZero() || r.Ended.Before(r.Began) {
		return 0
	}
	return r.Ended.Sub(r.Began)
}

// Settings are the settings in force, defaults included, under their native names.
type Settings struct {
	Server map[string]any `json:"server,omitempty"`
	Client map[string]any `json:"client,omitempty"`
	Topic  map[string]any `json:"topic,omitempty"`
}

// Versions are the versions of all that takes part in a measurement.
type Versions struct {
	Broker  string `json:"broker"`            // as an attached broker reports it; may be empty
	Product string `json:"product,omitempty"` // the name that an attached broker reports
	Client  string `json:"client"`            // module@version
	TLS     string `json:"tls,omitempty"`     // as negotiated: "TLS 1.3, TLS_AES_128_GCM_SHA256"; empty without TLS
	Tool    string `json:"tool"`
	Go      string `json:"go"`
}

// Host is the machine that a repetition ran on.
type Host struct {
	Name        string `json:"name"`
	OS          string `json:"os"`
	Kernel      string `json:"kernel"`
	CPU         string `json:"cpu"`
	Cores       int    `json:"cores"`
	MemoryBytes int64  `json:"memory_bytes"`
	Clock       string `json:"clock"` // kernel clock source
}

// Meter is an agent that metered the processes of an attached broker on their host. The result's cost is that of all meters.
type Meter struct {
	Name          string   `json:"name"`
	Host          string   `json:"host"`
	Processes     string   `json:"processes"`
	Addresses     []string `json:"addresses"` // those of the spec that the metered processes serve
	ClockOffsetNs int64    `json:"clock_offset_ns"`
	ClockBoundNs  int64    `json:"clock_bound_ns"` // the metered time may begin and end earlier or later by up to this
}

// Growth records that a repetition continued with more agents.
type Growth struct {
	Agents  int             `json:"agents"` // from then on
	Reason  string          `json:"reason"` // why fewer would have limited the result
	Figures []remark.Figure `json:"reason_figures,omitempty"`
}

// Agent is a process that ran producers and consumers, with its figures of the last trial. Its clock was ClockOffsetNs ahead of
// the coordinator's, with an error of up to ClockBoundNs either way; both are 0 if it is the same clock.
type Agent struct {
	Name          string `json:"name"`
	Host          string `json:"host"`
	Cores         int    `json:"cores"`
	Producers     int    `json:"producers"`
	Consumers     int    `json:"consumers,omitempty"`
	ClockOffsetNs int64  `json:"clock_offset_ns"`
	ClockBoundNs  int64  `json:"clock_bound_ns"`
	// StartLateNs is how late it started, by its own clock.
	StartLateNs int64 `json:"start_late_ns"`
	// GeneratorLagP99Ns is how late it sent by its own fault, and CoresUsed how many cores its process used in the measured phase.
	GeneratorLagP99Ns int64   `json:"generator_lag_p99_ns"`
	CoresUsed         float64 `json:"cores_used"`
}

// Limit is a possible bottleneck of a load, and what was observed of it (docs/explain.md).
type Limit struct {
	// Cause is generator | latency | broker | producer-delay | consumer-delay | cpu-limit | io-limit | network | client | broker-thread | affinity | cpu |
	// disk | memory | client-window | client-send.
	Cause   string `json:"cause"`
	Seen    string `json:"seen"`              // a clause with the figures: "one thread of the broker, redis-server, at 98 % of a core"
	Reached bool   `json:"reached,omitempty"` // false: it is only the nearest to its limit of all that were checked
}

// Limits are the bottleneck of a load and the next one. They are empty if nothing was near its limit.
type Limits []Limit

// Are reports whether the bottleneck has one of these causes.
func (l Limits) Are(causes ...string) bool { return slices.Contains(causes, l.Cause()) }

// Cause is the cause of the bottleneck; empty if none was found.
func (l Limits) Cause() string {
	if len(l) == 0 || !l[0].Reached {
		return ""
	}
	return l[0].Cause
}

// String is a clause that names the bottleneck and the next one, or says that none was found.
func (l Limits) String() string {
	const none = "nothing that was looked at was at its limit"
	switch {
	case len(l) == 0:
		return none
	case !l[0].Reached:
		return none + "; nearest to it: " + l[0].Seen
	case len(l) == 1:
		return "the limit: " + l[0].Seen
	}
	return "the limit: " + l[0].Seen + "; next: " + l[1].Seen
}
