// Package store keeps the records of finished repetitions and reads them back. Records are appended as each
// repetition ends and never edited. It knows nothing of how they were measured or how they will be shown.
package store

import (
	"time"

	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/study"
)

// Schema is the version of Record's JSON form.
const Schema = 1

// Status is how a repetition ended.
type Status string

// The ways a repetition can end.
const (
	OK      Status = "ok"
	Failed  Status = "failed"  // the broker or the guarantee failed
	Void    Status = "void"    // the generator, not the broker, limited the number
	Refused Status = "refused" // the broker can't do what the spec asks
	Aborted Status = "aborted" // interrupted; not counted as done on resume
	// Published records were not run: they hold the figures of a publication.
	Published Status = "published"
)

// KindPublished is the kind of a record that holds the figures of a publication; a measured one has no kind.
const KindPublished = "published"

// Record is the stored outcome of one repetition of one point.
type Record struct {
	Schema     int               `json:"schema"`
	Kind       string            `json:"kind,omitempty"` // "": measured
	ID         int64             `json:"id,omitempty"`   // given by the store, in order of appending
	PointID    string            `json:"point_id"`
	Study      string            `json:"study"`
	Label      string            `json:"label"`
	Axes       map[string]string `json:"axes,omitempty"` // the axis values that tell this point from its neighbours
	Repetition int               `json:"repetition"`     // 1..repeats
	Status     Status            `json:"status"`
	Reason     string            `json:"reason,omitempty"`         // a sentence, whenever Status is not ok
	Figures    []remark.Figure   `json:"reason_figures,omitempty"` // of the reason
	Doubts     []Doubt           `json:"doubts,omitempty"`
	Began      time.Time         `json:"began"`
	Ended      time.Time         `json:"ended"`
	Spec       study.Spec        `json:"spec"`     // complete
	Settings   Settings          `json:"settings"` // what was in force, defaults included
	Versions   Versions          `json:"versions"`
	Host       Host              `json:"host"`
	Failover   bool              `json:"failover,omitempty"` // another node leads when the one that did is gone; false in older records
	Agents     []Agent           `json:"agents,omitempty"`   // that ran producers and consumers; none: the process on Host did
	Meters     []Meter           `json:"meters,omitempty"`   // agents that metered an attached broker; none: the process on Host did, if anybody
	Growth     []Growth          `json:"growth,omitempty"`   // how the agents became more, with --agents auto
	Result     *Result           `json:"result,omitempty"`   // nil when nothing was measured
	Source     string            `json:"source,omitempty"`   // of an imported record: the digest of the file it was read from; of a published one: its table and page
}

// Doubt is a stated reason why the numbers of a record deserve less trust.
type Doubt struct {
	Code string `json:"code"` // e.g. "unbalanced-books", "old-version", "shared-cores"
	Text string `json:"text"` // one sentence with the figures
	// Figures are those of the text; records of before they were kept have none.
	Figures []remark.Figure `json:"figures,omitempty"`
}

// The codes of doubts that packages look for; docs/method.md lists all codes.
const (
	DoubtRateMissed   = "rate-missed"   // stands before all other doubts
	DoubtOrderUnknown = "order-unknown" // agents' clocks do not show in which order messages came: Books.Reordered is the least it can be
	DoubtBadRates     = "bad-levels"    // of a curve as a whole: some of its rates failed or are void
	DoubtLate         = "late"          // deliveries still came when the drain ended: missing messages may only be late
	DoubtPauses       = "pauses"        // the generator's process or machine stood still
	DoubtGeneratorLag = "generator-lag" // the generator itself sent late
)

// Remark is the doubt as a sentence that is joined with others of its kind.
func (d Doubt) Remark() remark.Remark { return remark.Stored(d.Text, d.Figures) }

// Same tells that two doubts say the same in the same words.
func (d Doubt) Same(o Doubt) bool { return d.Code == o.Code && d.Text == o.Text }

// Why is the reason as a sentence that is joined with others of its kind.
func (r Record) Why() remark.Remark { return remark.Stored(r.Reason, r.Figures) }

// Settings are the native settings in force.
type Settings struct {
	Server map[string]any `json:"server,omitempty"`
	Client map[string]any `json:"client,omitempty"`
	Topic  map[string]any `json:"topic,omitempty"`
}

// Versions says what was measured with what.
type Versions struct {
	Broker  string `json:"broker"`            // of an attached broker: as it says, or as its protocol tells; may be ""
	Product string `json:"product,omitempty"` // what an attached broker calls itself
	Client  string `json:"client"`            // module@version
	TLS     string `json:"tls,omitempty"`     // as negotiated: "TLS 1.3, TLS_AES_128_GCM_SHA256"
	Tool    string `json:"tool"`
	Go      string `json:"go"`
}

// Host is the machine.
type Host struct {
	Name        string `json:"name"`
	OS          string `json:"os"`
	Kernel      string `json:"kernel"`
	CPU         string `json:"cpu"`
	Cores       int    `json:"cores"`
	MemoryBytes int64  `json:"memory_bytes"`
	Clock       string `json:"clock"` // kernel clock source
}

// Meter is an agent on a host of an attached broker, which metered the broker's processes there. The cost of all is in the result.
type Meter struct {
	Name          string   `json:"name"`
	Host          string   `json:"host"`
	Processes     string   `json:"processes"`
	Addresses     []string `json:"addresses"` // of those that the spec names, which its processes serve
	ClockOffsetNs int64    `json:"clock_offset_ns"`
	ClockBoundNs  int64    `json:"clock_bound_ns"` // by so much the edges of the time in which the cost was taken are uncertain
}

// Growth is that a repetition went on with more agents.
type Growth struct {
	Agents  int             `json:"agents"` // from then on
	Reason  string          `json:"reason"` // why fewer were the limit
	Figures []remark.Figure `json:"reason_figures,omitempty"`
}

// Agent is a process that ran producers and consumers, on this host or another one, as it was in the last trial. Its clock was
// ClockOffsetNs ahead of the host's, give or take ClockBoundNs; both are 0 where it is the same clock.
type Agent struct {
	Name          string `json:"name"`
	Host          string `json:"host"`
	Cores         int    `json:"cores"`
	Producers     int    `json:"producers"`
	Consumers     int    `json:"consumers,omitempty"`
	ClockOffsetNs int64  `json:"clock_offset_ns"`
	ClockBoundNs  int64  `json:"clock_bound_ns"`
	// ClockKeptBy is what keeps its host's time of day (chrony, PTP, kernel), and ClockKeptNs how far off that is by its own account,
	// where producers and consumers of one topic are on different agents.
	ClockKeptBy string `json:"clock_kept_by,omitempty"`
	ClockKeptNs int64  `json:"clock_kept_ns,omitempty"`
	// StartLateNs is how long after the start that all were told it woke, by its own clock.
	StartLateNs int64 `json:"start_late_ns"`
	// GeneratorLagP99Ns is how late it sent by its own fault, at p99, and CoresUsed what its process used in the measured phase.
	GeneratorLagP99Ns int64   `json:"generator_lag_p99_ns"`
	CoresUsed         float64 `json:"cores_used"`
}
