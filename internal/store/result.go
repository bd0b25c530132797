package store

import (
	"slices"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/ledger"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/study"
)

// Result is what was measured: the point's own load, or the trial that the search reports, with what only some measures
// have.
type Result struct {
	Measurement
	Sustainable *Sustainable `json:"sustainable,omitempty"`
	Curve       []CurvePoint `json:"curve,omitempty"`
	Knee        *Knee        `json:"knee,omitempty"` // of a curve; nil where its rates don't show one, or in older records
	Count       *Count       `json:"count,omitempty"`
	Backlog     *Backlog     `json:"backlog,omitempty"`
	Pipeline    *Pipeline    `json:"pipeline,omitempty"` // of a pipeline
	// Given are the figures of a published record by the keys of metrics, in base units. Of such a record nothing else is known.
	Given map[string]float64 `json:"given,omitempty"`
}

// Measurement is one measured phase. Rates are messages per second, times nanoseconds, sizes bytes.
type Measurement struct {
	Books       Books    `json:"books"`
	Streams     []Stream `json:"streams,omitempty"` // one per producer, topic and subscription that shows a fault
	Seconds     float64  `json:"seconds"`           // length of the measured phase
	OfferedRate float64  `json:"offered_rate,omitempty"`
	PublishRate float64  `json:"publish_rate"` // acked per second of the measured phase
	ReceiveRate float64  `json:"receive_rate"` // received per second, all subscriptions
	// Throughput, of a closed loop, is messages per second that came to every subscription (were confirmed, where there
	// is none) from the start of the measured phase until 99 % of them had come; 0 in older records and of other loads.
	Throughput  float64 `json:"throughput,omitempty"`
	PayloadSize float64 `json:"payload_size"` // mean bytes
	Latency     Latency `json:"latency"`
	// ClockBoundNs is by how much a latency from one agent to another may be off, either way: as far as their clocks are known to
	// each other. 0: all had one clock.
	ClockBoundNs int64        `json:"clock_bound_ns,omitempty"`
	Cost         Cost         `json:"cost"`
	Pauses       *Pauses      `json:"pauses,omitempty"` // nil in records of before they were watched
	Series       []Tick       `json:"series,omitempty"`
	Faults       []FaultEvent `json:"faults,omitempty"`
	Outage       *Outage      `json:"outage,omitempty"` // where faults were asked for
	// BacklogMax is the largest backlog of all samples from the start of the measured phase on, also of those that are
	// not kept; nil in older records.
	BacklogMax    *int64     `json:"backlog_max,omitempty"`
	Corrected     *Corrected `json:"corrected,omitempty"` // nil where nothing was received, or in older records
	WarmupSeconds float64    `json:"warmup_seconds"`      // as it really was
}

// Books count messages.
type Books = ledger.Books

// Guarantee is what a spec asks of the broker.
func Guarantee(s study.Spec) ledger.Guarantee {
	return ledger.Guarantee{
		Delivery: s.Delivery, Persistence: s.Persistence, Acks: s.Acks, Replicas: s.Replicas, Ordering: s.Ordering, Counted: s.Pipeline != nil,
	}
}

// Promise judges books by the guarantee that a spec asks for, of a broker that fails over or doesn't.
func Promise(s study.Spec, failover bool, b Books) ledger.Verdict {
	var faults []string
	for _, f := range s.Faults {
		if !slices.Contains(s.Parts(), f.Node) { // what holds messages is the broker
			faults = append(faults, f.Do)
		}
	}
	g := Guarantee(s)
	g.Failover = failover
	return ledger.Keeps(g, faults, b)
}

// Stream is the ledger of one (producer, topic, subscription), with the first ranges of lost sequence numbers.
type Stream struct {
	Producer      int        `json:"producer"`
	Topic         string     `json:"topic"`
	Subscription  string     `json:"subscription"`
	Books         Books      `json:"books"`
	LostRanges    [][2]int64 `json:"lost_ranges,omitempty"` // first..last, inclusive
	LostRangesCut bool       `json:"lost_ranges_cut,omitempty"`
}

// Latency holds whole histograms, in nanoseconds.
type Latency struct {
	EndToEnd        hist.Snapshot `json:"e2e"`           // received − intended
	EndToEndService hist.Snapshot `json:"e2e_service"`   // received − sent
	Publish         hist.Snapshot `json:"publish"`       // acked − intended
	Service         hist.Snapshot `json:"service"`       // acked − sent
	Lag             hist.Snapshot `json:"lag"`           // sent − intended
	GeneratorLag    hist.Snapshot `json:"generator_lag"` // the part of lag not caused by back-pressure
}

// Corrected is latency from send to receipt (from send to acknowledgement where nobody subscribes) as HdrHistogram's
// copyCorrectedForCoordinatedOmission has it: beside a value above the expected interval stand those that the messages
// would have had that were not sent meanwhile.
type Corrected struct {
	IntervalNs int64   `json:"interval_ns"` // the mean gap between sends of one producer
	MeanNs     float64 `json:"mean_ns"`
	P99Ns      int64   `json:"p99_ns"`
}

// Sustainable is the outcome of the search. Low and High are the bounds of its first goal.
type Sustainable struct {
	Low    float64      `json:"low"`             // highest rate that passed, confirmed by long trials; 0: none did
	High   float64      `json:"high"`            // lowest rate that failed; 0: none did
	Goals  []GoalResult `json:"goals,omitempty"` // nil in records of before there were several
	Trials []Trial      `json:"trials"`
	Limit  string       `json:"limit"` // what ran out: generator | latency | consumer-delay | cpu | client-window | client-send | unknown
}

// GoalResult answers one goal of a search (MLRsearch, docs/method.md).
type GoalResult struct {
	LatencyNs   int64   `json:"latency_ns,omitempty"` // bound at Quantile; 0: none
	Quantile    float64 `json:"quantile,omitempty"`
	Low         float64 `json:"low"`                    // relevant lower bound; 0: none
	High        float64 `json:"high"`                   // relevant upper bound; 0: none
	Conditional float64 `json:"conditional_throughput"` // what came through at Low
	Undecided   string  `json:"undecided,omitempty"`    // why a bound is unknown, or both are wider apart than asked
}

// Trial is one timed run of load inside a search.
type Trial struct {
	Kind         string  `json:"kind"` // probe | short | confirm
	Rate         float64 `json:"rate"`
	Verdict      string  `json:"verdict"` // pass | fail | void; for the first goal
	Reason       string  `json:"reason,omitempty"`
	PublishRate  float64 `json:"publish_rate"`
	ReceiveRate  float64 `json:"receive_rate"`
	BacklogSlope float64 `json:"backlog_slope"` // upper 95 % bound, messages per second
	EndToEndP50  int64   `json:"e2e_p50_ns"`
	EndToEndP99  int64   `json:"e2e_p99_ns"`
	Seconds      float64 `json:"seconds"`
	// Others are the verdicts for the other goals, in their order.
	Others []string `json:"others,omitempty"`
}

// CurvePoint is one fixed rate of a curve: a whole measurement with counts, doubts, cost and samples of its own. Of
// records written before it was one, only the rates, the latency and the cost are known.
type CurvePoint struct {
	Fraction float64         `json:"fraction,omitempty"` // of the sustainable rate; 0 where rates were given
	Rate     float64         `json:"rate"`
	Status   Status          `json:"status"`
	Reason   string          `json:"reason,omitempty"`
	Figures  []remark.Figure `json:"reason_figures,omitempty"` // of the reason
	Doubts   []Doubt         `json:"doubts,omitempty"`
	Measurement
}

// Knee is where the mean latency of a curve jumps (docs/method.md), as one reads it off a plot.
type Knee struct {
	Rate     float64 `json:"rate"`                // the most that came through per second before it
	JumpedAt float64 `json:"jumped_at,omitempty"` // the rate offered at which it had jumped; 0: it didn't, but no more came through
}

// Count is the total time for a number of messages.
type Count struct {
	Messages       int64   `json:"messages"`
	Bytes          int64   `json:"bytes"`
	PublishSeconds float64 `json:"publish_seconds"` // first send to last ack
	TotalSeconds   float64 `json:"total_seconds"`   // first send to last delivery
}

// Backlog is what filling and draining took.
type Backlog struct {
	Messages     int64   `json:"messages"`
	Bytes        int64   `json:"bytes"`
	FillSeconds  float64 `json:"fill_seconds"`
	FillRate     float64 `json:"fill_rate"`
	DrainSeconds float64 `json:"drain_seconds"`
	DrainRate    float64 `json:"drain_rate"`
}

// Cost is what the measured phase used. Broker figures cover its whole process tree.
type Cost struct {
	BrokerUserSeconds      float64 `json:"broker_user_seconds"`
	BrokerSystemSeconds    float64 `json:"broker_system_seconds"`
	BrokerRSSBytes         int64   `json:"broker_rss_bytes"` // largest seen
	BrokerDiskWriteBytes   int64   `json:"broker_disk_write_bytes"`
	BrokerDiskReadBytes    *int64  `json:"broker_disk_read_bytes,omitempty"` // from a disk, not from the page cache; nil: not known, also in older records
	BrokerFlushes          *int64  `json:"broker_flushes,omitempty"`         // calls of fsync, fdatasync and msync; nil: not counted, also in older records
	BrokerDataGrowthBytes  int64   `json:"broker_data_growth_bytes"`         // -1: not known
	BrokerKnown            bool    `json:"broker_known"`                     // false: in-process, or attached and not found on this machine
	GeneratorUserSeconds   float64 `json:"generator_user_seconds"`
	GeneratorSystemSeconds float64 `json:"generator_system_seconds"`
	GeneratorRSSBytes      int64   `json:"generator_rss_bytes"`
	GeneratorGCPauseNs     int64   `json:"generator_gc_pause_ns"`
	Sides                  *Sides  `json:"sides,omitempty"`   // the generator's, where its consumers had a process of their own
	Relays                 *Side   `json:"relays,omitempty"`  // all of them together, where there are any; no part of the generator
	Seconds                float64 `json:"seconds,omitempty"` // from the start of the measured phase to the end of the drain
	Shares                 *Shares `json:"shares,omitempty"`  // nil where the phase was too short to tell, or in older records
	Messages               int64   `json:"messages"`          // acked in the same phase: the divisor
	Bytes                  int64   `json:"bytes"`             // their payload bytes
}

// Sides are the producing and the consuming side of the generator, where they were processes of their own. Together they
// are the generator.
type Sides struct {
	Producing Side `json:"producing"`
	Consuming Side `json:"consuming"`
}

// Side is what one side used.
type Side struct {
	UserSeconds   float64 `json:"user_seconds"`
	SystemSeconds float64 `json:"system_seconds"`
	RSSBytes      int64   `json:"rss_bytes"` // largest seen
}

// SidesTick is what both sides used at a time.
type SidesTick struct {
	Producing SideTick `json:"producing"`
	Consuming SideTick `json:"consuming"`
}

// SideTick is how many cores a side used, and its memory.
type SideTick struct {
	User     float64 `json:"user"`
	System   float64 `json:"system"`
	RSSBytes int64   `json:"rss_bytes"`
}

// Shares are how many cores were in use while the load was offered, drain and settling left out.
type Shares struct {
	Seconds float64 `json:"seconds"` // what they are the mean of: the measured phase
	Broker  float64 `json:"broker"`  // 0 where the broker was not metered
	// BrokerUser and BrokerSystem are Broker's parts; both 0 in older records.
	BrokerUser   float64 `json:"broker_user,omitempty"`
	BrokerSystem float64 `json:"broker_system,omitempty"`
	Generator    float64 `json:"generator"`
	Relays       float64 `json:"relays,omitempty"`
	// Sides are Generator's parts where its consumers had a process of their own.
	Sides  *SidesTick `json:"sides,omitempty"`
	Others float64    `json:"others"` // other processes, and what the hypervisor took for other machines
}

// Pauses say how far the generator's machine and process stood still in the measured phase: below that, nothing is
// known of the broker.
type Pauses struct {
	// Late is how late a thread that only sleeps woke, ns; a pause longer than the distance of its wake-ups counts
	// once for each wake-up that it swallowed (Gil Tene's jHiccup). Any latency may contain a pause of this
	// distribution, on the sending and on the receiving side.
	Late            hist.Snapshot `json:"late"`
	LongestNs       int64         `json:"longest_ns"`
	LongestOffsetNs int64         `json:"longest_offset_ns"` // when it began, from the start of the measured phase
	GCPauseNs       int64         `json:"gc_pause_ns"`       // of which the garbage collector stopped the process, summed
	StolenSeconds   float64       `json:"stolen_seconds"`    // of all cores, by the hypervisor (/proc/stat, steal)
	QueuedSeconds   float64       `json:"queued_seconds"`    // threads of this process were ready and waited for a core (schedstat)
}

// Tick is one sample of the run. Offsets are from the start of the measured phase (negative in warm-up).
type Tick struct {
	OffsetNs     int64   `json:"offset_ns"`
	Phase        string  `json:"phase"` // warmup | measure | drain
	PublishRate  float64 `json:"publish_rate"`
	ReceiveRate  float64 `json:"receive_rate"`
	Backlog      int64   `json:"backlog"`
	EndToEndP50  int64   `json:"e2e_p50_ns"`
	EndToEndP99  int64   `json:"e2e_p99_ns"`
	BrokerCPU    float64 `json:"broker_cpu"`              // cores
	GeneratorCPU float64 `json:"generator_cpu"`           // cores
	BrokerUser   float64 `json:"broker_user,omitempty"`   // cores; with BrokerSystem the parts of BrokerCPU, both 0 in older records
	BrokerSystem float64 `json:"broker_system,omitempty"` // cores
	// Sides are GeneratorCPU's parts, with the memory of each, where the consumers had a process of their own.
	Sides *SidesTick `json:"sides,omitempty"`
	// FromSendNs is the mean of the latencies that came in since the tick before, from send to receipt (to
	// acknowledgement where nobody subscribes), FromSendCount their number; 0 in older records.
	FromSendNs    float64 `json:"from_send_ns,omitempty"`
	FromSendCount int64   `json:"from_send_count,omitempty"`
}

// FaultEvent is a fault as it really happened.
type FaultEvent struct {
	OffsetNs int64  `json:"offset_ns"`
	Do       string `json:"do"`
	Node     int    `json:"node"`
	Part     string `json:"part,omitempty"` // of a pipeline, by its name in the spec; empty: the broker
	Err      string `json:"err,omitempty"`
}

// Outage is the longest time, while load was due, in which the application saw nothing move. It is read from samples.
type Outage struct {
	ReceiveNs int64 `json:"receive_ns"`          // nothing was delivered
	PublishNs int64 `json:"publish_ns"`          // nothing was confirmed
	SampleNs  int64 `json:"sample_ns,omitempty"` // between two samples; 0 in older records: 20 ms, of pipelines 50 ms
}

// OutageSampleNs is the time between two of the samples that the outage was read from; 0 where none was.
func (r *Result) OutageSampleNs() int64 {
	switch {
	case r.Outage == nil:
		return 0
	case r.Outage.SampleNs > 0:
		return r.Outage.SampleNs
	case r.Pipeline != nil:
		return 50e6
	}
	return 20e6
}

// PerMillion scales seconds to seconds per million of the phase's messages; 0 when there were none.
func (c Cost) PerMillion(seconds float64) float64 {
	if c.Messages == 0 {
		return 0
	}
	return seconds * 1e6 / float64(c.Messages)
}
