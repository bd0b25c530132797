package store

import (
	"math"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/ledger"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/study"
)

// Result holds what a repetition measured. Its Measurement is that of the point's own load or, for a search, that of the reported
// trial. The other fields are nil for kinds of measurement without such figures.
type Result struct {
	Measurement
	Sustainable *Sustainable `json:"sustainable,omitempty"`
	Curve       []CurvePoint `json:"curve,omitempty"`
	Knee        *Knee        `json:"knee,omitempty"` // of a curve; nil if its rates show no knee
	Count       *Count       `json:"count,omitempty"`
	Backlog     *Backlog     `json:"backlog,omitempty"`
	Read        *Read        `json:"read,omitempty"`
	Pipeline    *Pipeline    `json:"pipeline,omitempty"`
	// Given are figures that were not measured here, in base units by the keys of metrics: the figures of a published record, or
	// those that Tool printed.
	Given map[string]float64 `json:"given,omitempty"`
	Tool  *Tool              `json:"tool,omitempty"` // nil unless a tool of the broker's maker was the generator
}

// Read holds what was read from a topic to which other programs publish.
type Read struct {
	Messages int64  `json:"messages"`       // over all subscriptions
	Bytes    int64  `json:"bytes"`          // of payload
	Held     *int64 `json:"held,omitempty"` // number of messages that the broker reported for a topic that is read from its start; nil if it doesn't report it
}

// Tool is a load generator of the broker's maker. Only the cost, from its start to its end, and the broker's own count are measured here.
type Tool struct {
	Name      string   `json:"name"`
	Version   string   `json:"version"`
	Arguments []string `json:"arguments"`
	Printed   []string `json:"printed,omitempty"` // its last lines
	// BrokerPublished is the number of messages that the broker counted; nil if it reports none.
	BrokerPublished *int64 `json:"broker_published,omitempty"`
}

// Measurement is one measured phase. Rates are messages per second, times nanoseconds, sizes bytes.
type Measurement struct {
	Books       Books    `json:"books"`
	Streams     []Stream `json:"streams,omitempty"` // those that lost, duplicated, reordered or corrupted messages
	Seconds     float64  `json:"seconds"`           // length of the measured phase, drain left out
	OfferedRate float64  `json:"offered_rate,omitempty"`
	PublishRate float64  `json:"publish_rate"` // acked per second of the measured phase
	ReceiveRate float64  `json:"receive_rate"` // received per second by all subscriptions together
	// Throughput is the rate of a closed loop: messages per second that every subscription received (without subscriptions: that
	// were confirmed) from the start of the measured phase until 99 % of them had come. 0 for other loads.
	Throughput  float64 `json:"throughput,omitempty"`
	PayloadSize float64 `json:"payload_size"` // mean bytes
	Latency     Latency `json:"latency"`
	// ClockBoundNs is the error, either way, of a latency between two agents, because the offset of their clocks is known only
	// that well. 0 if all had one clock.
	ClockBoundNs int64        `json:"clock_bound_ns,omitempty"`
	Cost         Cost         `json:"cost"`
	Pauses       *Pauses      `json:"pauses,omitempty"` // nil in imported records
	Series       []Tick       `json:"series,omitempty"`
	Faults       []FaultEvent `json:"faults,omitempty"`
	Outage       *Outage      `json:"outage,omitempty"` // nil without faults
	// Listened says for how long late duplicates could be seen; nil unless there were faults and the guarantee forbids duplicates.
	Listened *Listened `json:"listened,omitempty"`
	// BacklogMax is the largest backlog, in messages, of all samples from the start of the measured phase on, including those that
	// Series leaves out. nil if nothing was sampled, and in imported records.
	BacklogMax    *int64     `json:"backlog_max,omitempty"`
	Corrected     *Corrected `json:"corrected,omitempty"` // nil if nothing was received, and in imported records
	Limits        Limits     `json:"limits,omitempty"`    // of a closed loop, and of a load of which less came through than was offered; Sustainable has the limits of a search
	WarmupSeconds float64    `json:"warmup_seconds"`      // as measured, not as in the spec
}

// Books count messages.
type Books = ledger.Books

// Guarantee is the guarantee that a spec asks for.
func Guarantee(s study.Spec) ledger.Guarantee {
	return ledger.Guarantee{
		Delivery: s.Delivery, Persistence: s.Persistence, Acks: s.Acks, Replicas: s.Replicas, Ordering: s.Ordering, Counted: s.Pipeline != nil,
	}
}

// Promise judges books by the guarantee of a spec. failover reports whether another node of the broker takes over when the leader is gone.
func Promise(s study.Spec, failover bool, b Books) ledger.Verdict {
	g := Guarantee(s)
	g.Failover = failover
	return ledger.Keeps(g, s.BrokerFaults(), b)
}

// Stream is the ledger of the messages of one producer to one topic, as one subscription received them.
type Stream struct {
	Producer      int        `json:"producer"`
	Topic         string     `json:"topic"`
	Subscription  string     `json:"subscription"`
	Books         Books      `json:"books"`
	LostRanges    [][2]int64 `json:"lost_ranges,omitempty"`     // first and last sequence number of each
	LostRangesCut bool       `json:"lost_ranges_cut,omitempty"` // there are more than are stored
}

// Latency holds the histograms of the measured phase, in nanoseconds.
type Latency struct {
	EndToEnd        hist.Snapshot `json:"e2e"`           // received − intended
	EndToEndService hist.Snapshot `json:"e2e_service"`   // received − sent
	Publish         hist.Snapshot `json:"publish"`       // acked − intended
	Service         hist.Snapshot `json:"service"`       // acked − sent
	Lag             hist.Snapshot `json:"lag"`           // sent − intended
	GeneratorLag    hist.Snapshot `json:"generator_lag"` // the part of Lag that the generator caused itself
}

// Corrected is latency from send to receipt (without subscriptions: to acknowledgement), corrected as by HdrHistogram's
// copyCorrectedForCoordinatedOmission: for each value above the expected interval, it adds the values of the messages that
// would have been sent meanwhile.
type Corrected struct {
	IntervalNs int64   `json:"interval_ns"` // the mean gap between sends of one producer
	MeanNs     float64 `json:"mean_ns"`
	P99Ns      int64   `json:"p99_ns"`
}

// Sustainable is the outcome of a search, in messages per second. Low and High are the bounds of its first goal.
type Sustainable struct {
	Low    float64      `json:"low"`             // highest rate that passed, confirmed by long trials; 0: none did
	High   float64      `json:"high"`            // lowest rate that failed; 0: none did
	HeldNs int64        `json:"held_ns"`         // length of the longest trial that passed at Low; 0: none did
	Goals  []GoalResult `json:"goals,omitempty"` // in the order of the spec
	Trials []Trial      `json:"trials"`
	Limits Limits       `json:"limits,omitempty"` // limits of the trial that failed at High
}

// Open reports whether Low is only a lower bound, because the generator or its client's Send reached its limit before the broker did.
func (s Sustainable) Open() bool { return s.Limits.Are("generator", "client-send") }

// GoalResult answers one goal of a search (MLRsearch, docs/method.md).
type GoalResult struct {
	LatencyNs   int64   `json:"latency_ns,omitempty"` // highest latency allowed at Quantile; 0: any
	Quantile    float64 `json:"quantile,omitempty"`
	Low         float64 `json:"low"`                    // relevant lower bound; 0: none
	HeldNs      int64   `json:"held_ns"`                // length of the longest trial that passed at Low
	High        float64 `json:"high"`                   // relevant upper bound; 0: none
	Conditional float64 `json:"conditional_throughput"` // messages per second that came through at Low
	Undecided   string  `json:"undecided,omitempty"`    // why a bound is unknown, or the two are further apart than the spec allows

	Figures []remark.Figure `json:"figures,omitempty"` // the figures in Undecided
}

// Trial is one timed run of load inside a search.
type Trial struct {
	Kind         string  `json:"kind"` // probe | short | confirm
	Rate         float64 `json:"rate"`
	Verdict      string  `json:"verdict"` // pass | fail | void; for the first goal
	Reason       string  `json:"reason,omitempty"`
	Broken       bool    `json:"broken,omitempty"` // the broker broke its promise
	PublishRate  float64 `json:"publish_rate"`
	ReceiveRate  float64 `json:"receive_rate"`
	BacklogSlope float64 `json:"backlog_slope"` // messages per second, upper 95 % bound
	EndToEndP50  int64   `json:"e2e_p50_ns"`
	EndToEndP99  int64   `json:"e2e_p99_ns"`
	Seconds      float64 `json:"seconds"`
	// Whether the quantiles are lower bounds, because messages never came.
	P50AtLeast bool `json:"e2e_p50_at_least,omitempty"`
	P99AtLeast bool `json:"e2e_p99_at_least,omitempty"`
	// Others are the verdicts for the other goals, in the order of Sustainable.Goals.
	Others []string `json:"others,omitempty"`
}

// CurvePoint is one fixed rate of a curve, with a measurement and doubts of its own.
type CurvePoint struct {
	Fraction float64         `json:"fraction,omitempty"` // of the sustainable rate; 0 if the spec gives rates
	Rate     float64         `json:"rate"`
	Offered  int             `json:"offered,omitempty"` // 1: the first of the curve that was offered; 0 in older records
	Status   Status          `json:"status"`
	Reason   string          `json:"reason,omitempty"`
	Figures  []remark.Figure `json:"reason_figures,omitempty"` // of the reason
	Doubts   []Doubt         `json:"doubts,omitempty"`
	Measurement
}

// KneeShare is the share of an offered rate that must come through, or be confirmed, for the rate to lie before a knee.
const KneeShare = 0.98

// Knee is the rate at which the mean latency of a curve jumps, as papers read it off a plot (docs/method.md).
type Knee struct {
	Rate     float64 `json:"rate"`                // highest rate that came through before the jump
	JumpedAt float64 `json:"jumped_at,omitempty"` // first offered rate after the jump; 0: throughput stopped growing without a jump
}

// Count is the time that a fixed number of messages took.
type Count struct {
	Messages       int64   `json:"messages"`
	Bytes          int64   `json:"bytes"`
	PublishSeconds float64 `json:"publish_seconds"` // first send to last ack
	TotalSeconds   float64 `json:"total_seconds"`   // first send to last delivery
}

// Backlog holds the times and rates, in messages per second, of filling and draining a backlog. If only some consumers have a backlog, its
// messages and the drain are theirs, and the latencies of the measurement are those of the other consumers during the drain.
type Backlog struct {
	Messages     int64   `json:"messages"`
	Bytes        int64   `json:"bytes"`
	FillSeconds  float64 `json:"fill_seconds"`
	FillRate     float64 `json:"fill_rate"`
	DrainSeconds float64 `json:"drain_seconds"`
	DrainRate    float64 `json:"drain_rate"`
	// End-to-end latency of consumers without a backlog while it was filled, and of those with one.
	FillingEndToEnd hist.Snapshot `json:"filling_e2e,omitzero"`
	LaggingEndToEnd hist.Snapshot `json:"lagging_e2e,omitzero"`
}

// Cost is what broker and generator used from the start of the measured phase to the end of the drain. The broker's figures are
// those of all its processes.
type Cost struct {
	BrokerUserSeconds      float64 `json:"broker_user_seconds"`
	BrokerSystemSeconds    float64 `json:"broker_system_seconds"`
	BrokerRSSBytes         int64   `json:"broker_rss_bytes"` // largest seen
	BrokerDiskWriteBytes   int64   `json:"broker_disk_write_bytes"`
	BrokerDiskReadBytes    *int64  `json:"broker_disk_read_bytes,omitempty"` // read from a disk, not from the page cache; nil: not known
	BrokerFlushes          *int64  `json:"broker_flushes,omitempty"`         // calls of fsync, fdatasync and msync; nil: not counted
	BrokerDataGrowthBytes  int64   `json:"broker_data_growth_bytes"`         // -1: not known
	BrokerKnown            bool    `json:"broker_known"`                     // false: the broker was not metered, and its figures mean nothing
	GeneratorUserSeconds   float64 `json:"generator_user_seconds"`
	GeneratorSystemSeconds float64 `json:"generator_system_seconds"`
	GeneratorRSSBytes      int64   `json:"generator_rss_bytes"`
	GeneratorGCPauseNs     int64   `json:"generator_gc_pause_ns"`
	Sides                  *Sides  `json:"sides,omitempty"`   // of the generator, if its consumers had a process of their own
	Relays                 *Side   `json:"relays,omitempty"`  // all relays together; they are not part of the generator
	Seconds                float64 `json:"seconds,omitempty"` // length of that time
	Shares                 *Shares `json:"shares,omitempty"`  // nil if the phase was too short
	Messages               int64   `json:"messages"`          // acknowledged messages of the measured phase, by which costs are divided
	Bytes                  int64   `json:"bytes"`             // of their payloads
}

// Sides are the two processes of a generator whose consumers have a process of their own.
type Sides struct {
	Producing Side `json:"producing"`
	Consuming Side `json:"consuming"`
}

// Side is what one process used.
type Side struct {
	UserSeconds   float64 `json:"user_seconds"`
	SystemSeconds float64 `json:"system_seconds"`
	RSSBytes      int64   `json:"rss_bytes"` // largest seen
}

// SidesTick is the resource use of both sides at one time.
type SidesTick struct {
	Producing SideTick `json:"producing"`
	Consuming SideTick `json:"consuming"`
}

// SideTick is the number of cores and the memory that one side uses.
type SideTick struct {
	User     float64 `json:"user"`
	System   float64 `json:"system"`
	RSSBytes int64   `json:"rss_bytes"`
}

// Shares are the numbers of cores in use while load was offered, drain left out.
type Shares struct {
	Seconds float64 `json:"seconds"` // length of the measured phase, over which they are means
	Broker  float64 `json:"broker"`  // 0 if it wasn't metered; see Cost.BrokerKnown
	// BrokerUser and BrokerSystem add up to Broker.
	BrokerUser   float64 `json:"broker_user,omitempty"`
	BrokerSystem float64 `json:"broker_system,omitempty"`
	Generator    float64 `json:"generator"`
	Relays       float64 `json:"relays,omitempty"`
	// Sides add up to Generator. nil unless its consumers had a process of their own.
	Sides  *SidesTick `json:"sides,omitempty"`
	Others float64    `json:"others"` // of other processes, and those that the hypervisor gave to other machines
}

// Pauses say how long the generator's machine or process was stalled in the measured phase. A latency below that says nothing
// about the broker.
type Pauses struct {
	// Late is how late a thread that only sleeps woke, in nanoseconds. A pause longer than the sleep counts once for each delayed
	// wake-up, as in Gil Tene's jHiccup. Any latency may contain such a pause, at its send and at its receipt.
	Late            hist.Snapshot `json:"late"`
	Relays          hist.Snapshot `json:"relays,omitzero"`   // the same of all relays, which are processes of ours
	LongestNs       int64         `json:"longest_ns"`        // also of a pause after the phase, while its messages were under way
	LongestOffsetNs int64         `json:"longest_offset_ns"` // when it began, from the start of the measured phase
	GCPauseNs       int64         `json:"gc_pause_ns"`       // sum of the times for which the garbage collector stopped the process
	StolenSeconds   float64       `json:"stolen_seconds"`    // core time that the hypervisor gave to other machines (/proc/stat, steal)
	QueuedSeconds   float64       `json:"queued_seconds"`    // thread time ready to run and without a core (/proc/PID/schedstat)
}

// Watched reports whether pauses were watched for. Nothing watches in pipelines, whose client is a process of its own. It is
// false for a nil p.
func (p *Pauses) Watched() bool { return p != nil && (p.Late.Count() > 0 || p.LongestNs > 0) }

// Tick is one sample of a run over time.
type Tick struct {
	OffsetNs     int64   `json:"offset_ns"` // from the start of the measured phase; negative in the warm-up
	Phase        string  `json:"phase"`     // warmup | measure | drain
	PublishRate  float64 `json:"publish_rate"`
	ReceiveRate  float64 `json:"receive_rate"`
	Backlog      int64   `json:"backlog"`
	EndToEndP50  int64   `json:"e2e_p50_ns"`
	EndToEndP99  int64   `json:"e2e_p99_ns"`
	BrokerCPU    float64 `json:"broker_cpu"`              // cores
	GeneratorCPU float64 `json:"generator_cpu"`           // cores
	BrokerUser   float64 `json:"broker_user,omitempty"`   // cores; adds up to BrokerCPU with BrokerSystem
	BrokerSystem float64 `json:"broker_system,omitempty"` // cores
	// Sides add up to GeneratorCPU. nil unless the consumers had a process of their own.
	Sides *SidesTick `json:"sides,omitempty"`
	// FromSendNs is the mean latency from send to receipt (without subscriptions: to acknowledgement) of the FromSendCount messages
	// since the tick before.
	FromSendNs    float64 `json:"from_send_ns,omitempty"`
	FromSendCount int64   `json:"from_send_count,omitempty"`
}

// FaultEvent is an injected fault.
type FaultEvent struct {
	OffsetNs int64  `json:"offset_ns"`
	Do       string `json:"do"`
	Node     int    `json:"node"`
	Part     string `json:"part,omitempty"` // of a pipeline, by its name in the spec; empty: the broker
	Err      string `json:"err,omitempty"`
}

// Listened is how long a trial went on receiving after everything had come, or after its drain.
type Listened struct {
	Ns int64 `json:"ns"`
	// RedeliveryNs is the time after which the broker redelivers an unacknowledged message; 0: only when the connection closes.
	RedeliveryNs int64 `json:"redelivery_ns,omitempty"`
}

// Outage holds the longest times without a delivery and without a confirmation while load was due. They are read from samples.
type Outage struct {
	ReceiveNs int64 `json:"receive_ns"`          // without a delivery
	PublishNs int64 `json:"publish_ns"`          // without a confirmation
	SampleNs  int64 `json:"sample_ns,omitempty"` // between two samples
}

// PerMillion returns seconds per million messages; NaN without messages.
func (c Cost) PerMillion(seconds float64) float64 {
	if c.Messages == 0 {
		return math.NaN()
	}
	return seconds * 1e6 / float64(c.Messages)
}

// Pipeline holds the figures of an application around the broker. The books of its measurement count requests (sent), those
// answered with 201 (acked), rides in the consumer's state (received), and rides counted twice there (duplicated).
type Pipeline struct {
	WallSeconds float64       `json:"wall_seconds"`       // from the first request to the last answer
	Response    hist.Snapshot `json:"response"`           // from a request's sending to its answer, ns
	Retries     int64         `json:"retries"`            // requests that were posted again
	Redelivered int64         `json:"redelivered"`        // deliveries of rides that were counted already; those to a killed consumer are not known
	Balancer    string        `json:"balancer,omitempty"` // its name and version
	// QueueMax is the largest number of messages for the consumer that the broker reported; nil: it wasn't asked.
	QueueMax *int64 `json:"queue_max,omitempty"`
	// QueueBytes is the memory of the queue before the first request as the broker reported it; nil: it reports none.
	QueueBytes *int64 `json:"queue_bytes,omitempty"`
	// ConsumerCapacity is the smallest share of the time in which the consumer could have taken a message at once; nil: the
	// broker reports none.
	ConsumerCapacity *float64       `json:"consumer_capacity,omitempty"`
	Parts            []PipelinePart `json:"parts"`
	Series           []PipelineTick `json:"series,omitempty"`
}

// PipelinePart is what all processes of one part used.
type PipelinePart struct {
	Name          string  `json:"name"` // client | balancer | server | broker | consumer | state (the consumer's database)
	UserSeconds   float64 `json:"user_seconds"`
	SystemSeconds float64 `json:"system_seconds"`
	PeakCPU       float64 `json:"peak_cpu"`  // cores, mean of half a second
	RSSBytes      int64   `json:"rss_bytes"` // largest seen
}

// PipelineTick is one sample of the parts over time. Figures that the broker didn't report are nil.
type PipelineTick struct {
	OffsetNs      int64     `json:"offset_ns"`                // from the first request
	Queue         *int64    `json:"queue,omitempty"`          // messages not yet delivered or, if the broker can't tell, not yet acknowledged
	Unacked       *int64    `json:"unacked,omitempty"`        // delivered to the consumer and not acknowledged
	PublishedRate *float64  `json:"published_rate,omitempty"` // messages per second over about the last second, by the broker's count
	DeliveredRate *float64  `json:"delivered_rate,omitempty"` // to the consumer, likewise
	CPU           []float64 `json:"cpu"`                      // mean cores since the tick before, in the order of Parts
	RSSBytes      []int64   `json:"rss_bytes"`                // in the order of Parts
}

// Part finds a part by name.
func (p *Pipeline) Part(name string) (PipelinePart, bool) {
	for _, one := range p.Parts {
		if one.Name == name {
			return one, true
		}
	}
	return PipelinePart{}, false
}
