// Package worker runs one shard of a trial: it owns the producers and consumers of one driver, paces the sends, stamps the
// messages and tells package measure what happens to them. It knows nothing of searches, processes or records.
//
// A worker connects once and then runs one trial after the other:
//
//	w, err := worker.Prepare(ctx, driver, plan) // connects, and probes every route
//	out := w.Run(ctx, worker.Load{Schedule: s, Warmup: worker.Warmup{For: 2 * time.Second}, Duration: 10 * time.Second, Drain: 5 * time.Second})
//	// out.Measured.Balanced() holds: each message was sent or not, and confirmed, refused or unresolved
//	err = w.Close()
//
// A message goes round like this. A producer takes a free slot when the message is due, stamps its payload, books it as sent
// and hands it to the client. The client completes the slot (Done), which books the confirmation, and the slot is free
// again. A consumer reads identity and times from the payload and books the delivery.
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
	// Clients is how many client connections the producers share: producer i uses client i mod Clients. 0: each has its own.
	// Those that share a client share its window, too.
	Clients    int
	Delay      Delay // of every consumer
	Payload    Payload
	Keys       Keys
	KeyOrdered bool // order is promised per key, not per producer
	InFlight   int  // messages per producer
	Bytes      int  // payload bytes in flight per producer; lowers InFlight where messages are large
	// ConsumeLater leaves the consumers off until a backlog trial starts them: it is to be filled first.
	ConsumeLater bool
	// Part says of which larger plan this is a part; nil: of none.
	Part *Part
	// Run tells the messages of this point from those of others on the same broker.
	Run uint16
	// Procs limits how many threads run Go code at once during a trial (GOMAXPROCS); 0: as many as there are cores.
	Procs int
	// Connect bounds everything Prepare waits for, probing included.
	Connect time.Duration
	// Beyond is what there is to know of other workers that share streams with this one; nil: none does.
	Beyond *Beyond
}

// clients is how many clients the producers have.
func (p Plan) clients() int {
	if p.Clients == 0 {
		return len(p.Producers)
	}
	return min(p.Clients, len(p.Producers))
}

// producers is one past the largest ID of a producer.
func (p Plan) producers() int {
	n := 0
	if p.Beyond != nil {
		n = p.Beyond.Producers
	}
	for _, one := range p.Producers {
		n = max(n, one.ID+1)
	}
	return n
}

// Producer is one producer and the topic it sends to.
type Producer struct {
	ID    int // unique over the whole run, below wire.Producers
	Topic int // index into Plan.Topology.Topics
}

// Load is one trial. Exactly one of Duration and Messages ends it. All of it is data that another process can be told, except the
// Hooks, which stay with the caller.
type Load struct {
	Hooks    `json:"-"`
	Start    int64             // when the schedule begins, ns on the clock's axis; 0: as soon as everything is ready
	Schedule schedule.Schedule // over all producers; nil: closed loop, as fast as the in-flight window allows
	// Before is what is sent during the warm-up where Schedule, a shape over time, is to begin with the measured phase;
	// nil: Schedule begins with the warm-up.
	Before   schedule.Schedule
	Window   int // closed loop: at most this many in flight per producer; 0: as the plan says
	Warmup   Warmup
	Duration time.Duration // of the measured phase
	Messages int64         // over all producers
	Drain    time.Duration // allowance, after the last send, for everything to be confirmed and received
	// Settle goes on waiting after a drain that failed, so that what is still under way doesn't burden the next
	// trial; the outcome stays undrained. It ends when nothing has come for some seconds.
	Settle time.Duration
	// Brisk ends the drain as well when nothing has come for some seconds: a search has more trials to run.
	Brisk bool
	// Backlog, where not nil, makes this a backlog trial: Messages are sent with the consumers off, then the
	// consumers are connected and drain them. Plan.ConsumeLater must be set.
	Backlog *Backlog
	// Lossy ends the drain early when nothing has arrived for a second: at most once, what isn't there won't come.
	Lossy bool
	// About is a rate, in messages per second, that decides how many threads are used instead of Schedule's: the trials of
	// one search all use as many. 0: Schedule decides.
	About float64
	// Streams asks for every ledger, not only those that show a fault.
	Streams bool
	// Elsewhere are the producers of other workers that send to this one's consumers, where Plan.Beyond says that there are some.
	Elsewhere []Elsewhere
}

// Hooks are what the caller of a trial wants to be told or asked while it runs. Each may be nil.
type Hooks struct {
	// Measuring is called once with the time at which the measured phase begins, at that time or a moment before.
	Measuring func(at int64)
	// Sent is called once when the last message has been sent; of a backlog, when it is filled.
	Sent func()
	// Hopeless is asked about ten times a second during the measured phase, with all samples so far; when it says yes the
	// phase ends there. It must not keep the samples.
	Hopeless func([]Sample) bool
	// Observe receives a sample about ten times a second, from one goroutine.
	Observe func(Sample)
	// Everywhere is asked in the drain, every few milliseconds, what all workers that share streams with this one have counted by
	// now, this one included, whose counts it is told, and whether one of them still sends. Without it a worker drains its own.
	Everywhere func(own measure.Count) (all measure.Count, sending bool)
	// MeasureFrom is asked in a warm-up that is Told, every few milliseconds, when the measured phase begins; 0: not yet.
	MeasureFrom func() int64
	// Filled is called when a backlog is filled, and blocks until it may be drained. It returns an error if that is never.
	Filled func(ctx context.Context) error
}

// Backlog is how a backlog is drained.
type Backlog struct {
	Ratio float64 // it counts as drained when this share of it has been received; 0: For decides
	// For, where Ratio is 0, is how long it drains; without Meanwhile it ends when nothing is left.
	For time.Duration
	// Meanwhile is what the producers go on sending while the consumers drain; nil: nothing.
	Meanwhile schedule.Schedule
}

// Drained is what draining a backlog took.
type Drained struct {
	Filled      int64 // messages confirmed before the consumers were connected
	FilledBytes int64 // payload sent until then
	FilledAt    int64 // when the last of them was confirmed, ns on the clock's axis
	// From, To is the time it took, ns on the clock's axis: from when all consumers were registered, or from the first
	// delivery where most of the backlog came before that, until the wanted share was reached.
	From, To int64
	Received int64 // deliveries in between
}

// Warmup is a fixed time, or automatic: until rate and median latency stop drifting, between For and Max.
type Warmup struct {
	Auto     bool
	For, Max time.Duration
	// Told leaves it to others, who know of several workers, to decide when an automatic warm-up is over (Hooks.MeasureFrom).
	Told bool
}

// Sample is a momentary view of a running trial.
type Sample struct {
	At      int64 // ns on the clock's axis
	Phase   measure.Phase
	Sending bool // false while draining
	Count   measure.Count
	Due     int64 // messages due by now by the schedule; those sent in closed loop
	// Backlog is what is due but not done: deliveries (due × subscriptions − received) or acknowledgements
	// (due − acked), whichever is more; what failed is not counted. It includes what waits in the generator for a
	// free slot, so a bounded client window can't hide a stalled broker.
	Backlog int64
	// Unconfirmed and Undelivered are due, haven't failed, and aren't confirmed or delivered (over all subscriptions).
	Unconfirmed, Undelivered int64
	EndToEnd                 Quantiles
	// FromSend is read as often as EndToEnd, and of the whole trial so far.
	FromSend Totals
	// Latency is set in every fifth sample that is passed to Load.Observe, nil elsewhere.
	Latency *Latency
}

// Latency are whole histograms of a trial so far, ns.
type Latency struct{ EndToEnd, Service hist.Snapshot }

// Quantiles of the messages received in the last half second, ns.
type Quantiles struct{ Count, P50, P99 int64 }

// Totals are a number of latencies and their sum, ns.
type Totals struct {
	Count int64
	Sum   float64
}

// Outcome is what a trial gave. Times are ns on the clock's axis.
type Outcome struct {
	Warmup, Measured measure.Books
	Histograms       measure.Histograms
	Streams          []measure.StreamBooks
	// Shard is everything that was counted, where workers share streams; the books above know only what was sent and received
	// here. nil where none do.
	Shard *measure.Shard
	Early measure.Early // deliveries that seem to have come before they were sent; of messages from other hosts
	// Unordered is for how many ledgers the order of messages that came to several workers isn't known; see measure.Trial.Unordered.
	Unordered int
	// ClockBound is how far latencies between hosts may be off, ns, as whoever related their clocks knows it; 0: none are.
	ClockBound   int64
	Start        int64 // of the schedule
	From, Until  int64 // the measured phase, by intended time
	FirstSent    int64 // as it really happened; 0: nothing was sent
	LastSent     int64
	LastReceived int64
	LastAcked    int64
	Backlog      Drained       // of a backlog trial
	Drained      bool          // everything sent was confirmed and received within the allowance
	Arriving     bool          // deliveries still came when the allowance was used up: what is missing may be late
	Overdue      int64         // deliveries that were missing then, where Settle waited for them
	Hopeless     bool          // Load.Hopeless ended the measured phase early
	Procs        int           // threads that may have run Go code at once (GOMAXPROCS)
	Blocked      time.Duration // time producers waited for a free slot, summed
	Sending      time.Duration // time producers spent inside the client, summed
	Producers    int
	BacklogMax   int64    // the largest of all samples from the start of the measured phase on
	Working      float64  // share of the time between its first and last message that the busiest consumer spent with Plan.Delay
	Samples      []Sample // SampleEvery apart; of long trials every second, fourth, …
	Pauses       Pauses
	// Undelivered and Unconfirmed are the longest times, beginning in the measured phase, in which messages were due and
	// none was delivered or confirmed, in no order.
	Undelivered, Unconfirmed []Stop
	SendErr                  error // why messages failed that are in the books as failed: of a Send, or of an acknowledgement
	Err                      error // why the trial ended before its time; what was measured until then stands
}
