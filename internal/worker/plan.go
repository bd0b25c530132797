// Package worker runs trials with the producers and consumers of one driver: it paces the sends, stamps the messages and books in
// package measure what becomes of them. It knows nothing of searches or records.
//
// A worker connects once and then runs one trial after the other:
//
//	w, err := worker.Prepare(ctx, driver, plan) // connects, and probes every route
//	out := w.Run(ctx, worker.Load{Schedule: s, Warmup: worker.Warmup{For: 2 * time.Second}, Duration: 10 * time.Second, Drain: 5 * time.Second})
//	// out.Measured.Balanced() holds: each message was sent or not, and confirmed, refused or unresolved
//	err = w.Close()
//
// The way of a message: a producer takes a free slot when the message is due, stamps its payload, books it as sent and hands it to the
// client. The client completes the slot (Done), which books the confirmation and frees the slot. A consumer reads identity and times
// from the payload and books the delivery.
package worker

import (
	"context"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/schedule"
)

// Plan is everything that stays the same over the trials of a point.
type Plan struct {
	Topology  driver.Topology
	Producers []Producer
	Consumers []driver.ConsumerConfig
	// Clients is the number of client connections that the producers share, and with them their windows: producer i uses client
	// i mod Clients. 0: each producer has a client of its own.
	Clients    int
	Delay      Delay // of every consumer
	Payload    Payload
	Keys       Keys
	KeyOrdered bool // order is promised per key, not per producer
	InFlight   int  // the most unconfirmed messages per producer
	Bytes      int  // the most unconfirmed payload bytes per producer; lowers InFlight if messages are large
	// ConsumeLater leaves the consumers unconnected until a backlog trial has filled its backlog.
	ConsumeLater bool
	// Part is set if this plan is a part of a larger one.
	Part *Part
	// Run distinguishes the messages of this point from those of others on the same broker.
	Run uint16
	// Procs limits how many threads run Go code at once during a trial (GOMAXPROCS); 0: as many as there are cores.
	Procs int
	// Connect bounds the time that Prepare takes, probing included.
	Connect time.Duration
	// Peers is set if other workers share streams with this one.
	Peers *Peers
}

// clients returns the number of clients that the producers have.
func (p Plan) clients() int {
	if p.Clients == 0 {
		return len(p.Producers)
	}
	return min(p.Clients, len(p.Producers))
}

// producers returns one past the largest ID of a producer, those of workers that share streams included.
func (p Plan) producers() int {
	n := 0
	if p.Peers != nil {
		n = p.Peers.Producers
	}
	for _, producer := range p.Producers {
		n = max(n, producer.ID+1)
	}
	return n
}

// Producer is one producer and the topic it sends to.
type Producer struct {
	ID    int // unique over the whole run, below wire.Producers
	Topic int // index into Plan.Topology.Topics
}

// Load describes one trial. Exactly one of Duration and Messages ends it. All of it can be sent to another process as data, except the
// Hooks.
type Load struct {
	Hooks    `json:"-"`
	Start    int64             // when the schedule begins, ns on the clock's axis; 0: as soon as everything is ready
	Schedule schedule.Schedule // over all producers; nil: closed loop, as fast as the in-flight window allows
	// Before is the schedule of the warm-up. Schedule then begins with the measured phase. nil: Schedule begins with the warm-up.
	Before   schedule.Schedule
	Window   int // closed loop: the most unconfirmed messages per client; 0: Plan.InFlight
	Warmup   Warmup
	Duration time.Duration // of the measured phase
	Messages int64         // over all producers
	Drain    time.Duration // how long, after the last send, everything may take to be confirmed and received
	// Settle, counted like Drain, lets a trial wait longer than Drain for messages under way, so that they don't burden the next
	// trial. Its outcome is not drained all the same. The wait ends when nothing has come for some seconds.
	Settle time.Duration
	// Brisk ends the drain, too, when nothing has come for some seconds. Searches set it, because they have more trials to run.
	Brisk bool
	// Backlog makes this a backlog trial: Messages are sent first, then the consumers are connected and receive them. Plan.ConsumeLater
	// must be set.
	Backlog *Backlog
	// Lossy ends the drain when nothing has come for a second. It is for at most once, where lost messages never come.
	Lossy bool
	// RateForThreads replaces the rate of Schedule, in messages per second, in the choice of how many threads are used. The trials of a search
	// pass the same rate, so that all use as many. 0: Schedule decides.
	RateForThreads float64
	// Streams asks for the ledgers of all streams, not only of those with faults.
	Streams bool
	// PeerProducers lists the producers of other workers that send to this one's consumers. Plan.Peers must be set.
	Peers []PeerProducers
}

// Hooks are called while a trial runs. Each may be nil.
type Hooks struct {
	// Measuring is called once with the time at which the measured phase begins, at that time or a moment before.
	Measuring func(at int64)
	// Sent is called once when the last message has been sent; in a backlog trial, when the backlog is filled.
	Sent func()
	// Hopeless is called about ten times a second during the measured phase, with all samples so far. If it returns true, the phase
	// ends there. It must not keep the samples.
	Hopeless func([]Sample) bool
	// Observe receives a sample about ten times a second, from one goroutine.
	Observe func(Sample)
	// CountAll is called every few milliseconds of the drain if workers share streams, with the counts of this worker. It returns
	// the counts of all these workers together, and whether one of them still sends. Without it, a worker waits for its own messages.
	CountAll func(own measure.Count) (all measure.Count, sending bool)
	// MeasureFrom is called every few milliseconds of a warm-up with Coordinated. It returns when the measured phase begins; 0: that is not
	// decided yet.
	MeasureFrom func() int64
	// Filled is called when a backlog is filled, and blocks until it may be drained. An error ends the trial.
	Filled func(ctx context.Context) error
}

// Backlog describes how a backlog is drained.
type Backlog struct {
	Ratio float64 // the backlog counts as drained when this share of it has been received; 0: For decides
	// For is how long the backlog is drained if Ratio is 0. Without Meanwhile, draining ends earlier when nothing is left.
	For time.Duration
	// Meanwhile is the schedule at which the producers go on sending while the consumers drain; nil: they send nothing.
	Meanwhile schedule.Schedule
}

// Drained is the result of draining a backlog. Times are ns on the clock's axis.
type Drained struct {
	Filled      int64 // messages confirmed before the consumers were connected
	FilledBytes int64 // payload bytes sent until then
	FilledAt    int64 // when the last of these messages was confirmed
	// From is when the last consumer had registered; the first delivery, if most of the backlog came before that.
	From     int64
	To       int64 // when the wanted share had been received
	Received int64 // deliveries between From and To
}

// Warmup is the length of a warm-up: For, or if Auto is set, between For and Max, until rate and median latency stop drifting.
type Warmup struct {
	Auto     bool
	For, Max time.Duration
	// Coordinated leaves the end of an automatic warm-up to Hooks.MeasureFrom. It is for several workers, of which none sees all samples.
	Coordinated bool
}

// Sample is a momentary view of a running trial.
type Sample struct {
	At      int64 // ns on the clock's axis
	Phase   measure.Phase
	Sending bool // false while draining
	Count   measure.Count
	Due     int64 // messages due by now by the schedule; those sent in closed loop
	// Unconfirmed counts the messages that are due and neither confirmed nor failed; Undelivered the deliveries still to come of
	// messages that are due and haven't failed, over all subscriptions. Both include messages that wait in the generator for a free
	// slot, so a bounded client window can't hide a stalled broker.
	Unconfirmed, Undelivered int64
	Backlog                  int64     // the larger of the two
	EndToEnd                 Quantiles // latencies of the messages received in the last half second
	FromSend                 Totals    // latencies from the actual send, of the whole trial so far; read as often as EndToEnd
	// Latency is set in every fifth sample that is passed to Hooks.Observe.
	Latency *Latency
}

// Latency holds the histograms of a trial so far, ns.
type Latency struct{ EndToEnd, Service hist.Snapshot }

// Quantiles are a number of latencies, and two quantiles of them in ns.
type Quantiles struct{ Count, P50, P99 int64 }

// Totals are a number of latencies and their sum in ns.
type Totals struct {
	Count int64
	Sum   float64
}

// Outcome is the result of a trial. Times are ns on the clock's axis; 0 is the time of an event that didn't happen.
type Outcome struct {
	Warmup, Measured measure.Books
	Histograms       measure.Histograms // of the measured phase
	Streams          []measure.StreamBooks
	// Shard is set if workers share streams: it holds everything that this worker counted. The books above then miss messages that one
	// worker sent and another one received.
	Shard *measure.Shard
	Early measure.Early // messages of other hosts that seem to have come before they were sent
	// Unordered is the number of ledgers for which the order of messages that came to several workers isn't known; see
	// measure.Trial.Unordered.
	Unordered int
	// ClockBound is how far latencies between hosts may be off, ns. The process that relates their clocks sets it; 0: all messages stay
	// on one host.
	ClockBound   int64
	Start        int64 // of the schedule
	From, Until  int64 // the measured phase, by intended time
	FirstSent    int64 // as it really happened, like the three below
	LastSent     int64
	LastReceived int64
	LastAcked    int64
	Backlog      Drained       // of a backlog trial
	Drained      bool          // everything sent was confirmed and received within Load.Drain
	Arriving     bool          // deliveries still came when Load.Drain was used up: missing messages may be late
	Overdue      int64         // deliveries that were missing then, if the trial waited longer for them (Load.Settle)
	Hopeless     bool          // Load.Hopeless ended the measured phase early
	Procs        int           // threads that may have run Go code at once (GOMAXPROCS)
	Blocked      time.Duration // time producers waited for a free slot, summed
	Sending      time.Duration // time producers spent inside the client, summed
	Producers    int
	BacklogMax   int64    // the largest of all samples from the start of the measured phase on
	Working      float64  // share of the time between its first and last message that the busiest consumer spent with Plan.Delay
	Samples      []Sample // SampleEvery apart; of long trials every second, fourth, eighth …
	Pauses       Pauses
	// Undelivered and Unconfirmed are the longest times, beginning in the measured phase, in which messages were due and none was
	// delivered or confirmed. They are in no order.
	Undelivered, Unconfirmed []Interval
	SendErr                  error // why messages failed: the first error of a Send or of an acknowledgement
	Err                      error // why the trial ended early; the other fields hold what was measured until then
}
