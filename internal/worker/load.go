package worker

import (
	"context"
	"time"

	"github.com/brokermark/brokermark/internal/busiest"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/schedule"
)

// Load describes one trial: a warm-up, a measured phase that Duration or Messages ends (exactly one is set), and a drain, in
// which nothing new is sent. For example, with a Schedule of 1,000/s, a Warmup of 5 s and a Duration of 10 s, 15,000 messages are
// sent, and 10,000 of them are measured. All of it can be sent to another process as data, except the Hooks.
type Load struct {
	Hooks `json:"-"`

	Start    int64             // when the first schedule begins, ns on the clock's axis; 0: as soon as everything is ready
	Schedule schedule.Schedule // over all producers; nil: closed loop, as fast as the in-flight window allows
	// Before is the schedule of the warm-up, before Schedule, which then begins with the measured phase. nil: Schedule begins
	// with the warm-up.
	Before schedule.Schedule
	Window int // closed loop: the most unconfirmed messages per client; 0: Plan.InFlight
	// RateForThreads, in messages per second, replaces the rate of Schedule where the number of threads is chosen. The trials of
	// a search have different schedules but pass the same rate, so that all run on as many threads. 0: Schedule decides.
	RateForThreads float64

	Warmup   Warmup
	Duration time.Duration // of the measured phase
	Messages int64         // over all producers
	// Backlog makes this a backlog trial: Messages are sent first, then the consumers of Plan.Lagging, which must not be empty,
	// are connected and receive them.
	Backlog *Backlog

	Drain time.Duration // how long, after the last send, everything may take to be confirmed and received
	// Settle is how long, after the last send, a trial waits for messages under way, so that they don't burden the next trial.
	// Those that come later than Drain are overdue all the same (Outcome.Drained, Overdue). This wait ends when nothing has come
	// for some seconds. It has no effect unless it is longer than Drain.
	Settle time.Duration
	Brisk  bool // the drain ends, too, when nothing has come for some seconds: a search has more trials to run
	// Listen is how long the trial goes on receiving redeliveries after the drain (Outcome.Listened).
	Listen time.Duration
	Lossy  bool // the drain ends, too, when nothing has come for a second: with at most once, lost messages never come

	Streams bool            // Outcome.Streams has the ledgers of all streams; false: of those with faults
	Peers   []PeerProducers // the producers of other workers that send to this one's consumers; only with Plan.Peers
}

// Warmup is the length of a warm-up. For example, {For: 5 * time.Second} takes five seconds, and {Auto: true, For: 5 *
// time.Second, Max: time.Minute} takes until rate and median latency are steady (SteadyState), but at least five seconds and at
// most a minute.
type Warmup struct {
	Auto bool          // it ends when rate and latency are steady
	For  time.Duration // its length, or if Auto is set, the least
	Max  time.Duration // the greatest length if Auto is set
	// Coordinated leaves the end of an automatic warm-up to Hooks.MeasureFrom. It is for several workers, none of which sees all
	// samples.
	Coordinated bool
}

// Backlog describes how a backlog is drained: until a share of it has been received (Ratio), or for a time (For).
type Backlog struct {
	Ratio float64 // the share of its deliveries, above 0 and up to 1; 0: For decides
	// For is how long the backlog is drained if Ratio is 0. Without Meanwhile, draining ends earlier when nothing is left.
	For time.Duration
	// Meanwhile is the schedule at which the producers go on sending while the consumers drain; nil: they send nothing.
	Meanwhile schedule.Schedule
}

// Hooks are called while a trial runs. Each may be nil, except MeasureFrom with Warmup.Coordinated.
type Hooks struct {
	// Measuring is called once with the time at which the measured phase begins, at that time or a moment before.
	Measuring func(at int64)
	// Sent is called once when the last message has been sent; in a backlog trial, when the backlog is filled.
	Sent func()
	// Drained is called once when the drain is over, if the trial listens on after it.
	Drained func()
	// Filled is called when a backlog is filled, and blocks until it may be drained. An error ends the trial.
	Filled func(ctx context.Context) error
	// Observe receives a sample about ten times a second, from one goroutine.
	Observe func(Sample)
	// Hopeless is called about ten times a second during the measured phase, with all samples so far. If it returns true, the
	// phase ends there. It must not keep the samples.
	Hopeless func([]Sample) bool
	// MeasureFrom is called every few milliseconds of a warm-up that is Coordinated. It returns when the measured phase begins;
	// 0: that is not decided yet.
	MeasureFrom func() int64
	// CountAll is called every few milliseconds of the drain if workers share streams, with the counts of this worker. It returns
	// the sum of the counts of all these workers, and whether another one still sends. Without it, a worker waits for its own
	// messages only.
	CountAll func(own measure.Count) (all measure.Count, sending bool)
}

// Outcome is the result of a trial. Times are ns on the clock's axis; 0 is the time of an event that didn't happen. If Err is
// set, the trial ended early, and the other fields hold what was measured until then.
//
// For example, 1,000 messages/s are due for 10 s, and the broker takes only 900/s. Then the measured phase is From 0 s Until 10
// s, and Measured.Due is 10,000. LastSent is about 11.1 s, because messages that are late are sent all the same.
type Outcome struct {
	Err     error // why the trial ended early
	SendErr error // why messages failed: the first error of a Send or of an acknowledgement

	// Counts, latencies and ledgers.
	Warmup, Measured measure.Books
	// Histograms are of the measured phase. If some consumers lag, they hold the deliveries while the backlog drained, and
	// Filling holds the end-to-end latency of the other consumers before that.
	Histograms measure.Histograms
	Filling    hist.Snapshot
	Streams    []measure.StreamBooks
	Backlog    BacklogDrain // of a backlog trial

	// Times. A message belongs to the measured phase [From, Until) if it was intended to be sent in it.
	Start        int64 // of the schedule
	From, Until  int64
	FirstSent    int64 // when the first message was handed to the client, which may be later than it was intended to be sent
	LastSent     int64 // likewise
	LastReceived int64
	LastAcked    int64
	Ended        int64 // when the trial stopped waiting for messages

	// The end of the trial.
	Hopeless bool          // Load.Hopeless ended the measured phase early
	Drained  bool          // everything sent was confirmed and received within Load.Drain
	Arriving bool          // deliveries still came when the trial stopped waiting: missing messages may be late rather than lost
	Overdue  int64         // deliveries that were missing after Load.Drain, if the trial waited longer for them (Load.Settle, Load.Listen)
	Listened time.Duration // after the drain (Load.Listen); of several workers the least
	Dropped  int64         // deliveries that the client library dropped in the consumers' process (driver.Dropper)
	Others   int64         // messages of other runs and programs that came meanwhile

	// Over time.
	Samples    []Sample // SampleEvery apart; of long trials every second, fourth, eighth and so on
	BacklogMax int64    // the largest of all samples from the start of the measured phase on
	// The silences are the longest times in which messages were due and none was delivered, or none was confirmed (Silences).
	// They begin in the measured phase and are in no order.
	DeliverySilences     []Interval
	ConfirmationSilences []Interval
	Pauses               Pauses // in which the generator stood still

	// The generator's effort.
	Producers int // how many clients sent, each for one producer of the plan or more
	// Busiest is the goroutine that used most of a core in the measured phase; without a name if the phase was too short.
	Busiest   busiest.Goroutine
	Procs     int           // threads that may have run Go code at once (GOMAXPROCS)
	Held      time.Duration // of the measured phase, for which the broker said that it takes no messages; of the client held longest
	HeldWhy   string        // in the broker's words; empty unless Held
	Blocked   time.Duration // for which clients waited for a free slot, summed
	Sending   time.Duration // for which clients were inside Send of their library, summed
	Preparing float64       // share of the time from its first to its last message that the busiest producer spent with Plan.ProducerDelay
	Working   float64       // share of the time between its first and last message that the busiest consumer spent with Plan.Delay

	// Several workers or hosts. Shard is set if workers share streams: it holds everything that this worker counted. The books
	// above then miss messages that one worker sent and another one received (Plan.Joined).
	Shard *measure.Shard
	Early measure.Early // messages of other hosts that seem to have come before they were sent
	// Unordered is the number of ledgers for which the order of messages that came to several workers isn't known; see
	// measure.Trial.Unordered.
	Unordered int
	// ClockBound is how far latencies between hosts may be off, ns. The process that relates their clocks sets it; 0: all
	// messages stay on one host.
	ClockBound int64
}

// BacklogDrain is the result of draining a backlog. Times are ns on the clock's axis.
type BacklogDrain struct {
	Filled      int64 // messages confirmed before the consumers were connected; of topics that lag
	FilledBytes int64 // payload bytes sent until then
	FilledAt    int64 // when the last of these messages was confirmed
	// From is when the last consumer had registered; the first delivery, if most of the backlog came before that.
	From     int64
	To       int64 // when the wanted share had been received
	Received int64 // deliveries between From and To
}

// Sample is a momentary view of a running trial. For example, 100 messages are due by now, 90 have been confirmed and 1 has
// failed. Of the deliveries to 2 subscriptions, 150 have come. Then 9 messages are unconfirmed, 2·(100 - 1) - 150 = 48 deliveries
// are still to come, and the backlog is 48.
type Sample struct {
	At      int64 // ns on the clock's axis
	Phase   measure.Phase
	Sending bool // false while draining
	Count   measure.Count
	Due     int64 // messages due by now by the schedule; those sent in closed loop
	// Unconfirmed counts the messages that are due and neither confirmed nor failed. Undelivered counts the deliveries still to
	// come of messages that are due and haven't failed, over all subscriptions. Both include messages that wait in the generator
	// for a free slot, so a bounded client window can't hide a stalled broker. In one of several workers that share streams,
	// Undelivered may be below 0, because its consumers receive messages of the others. Only the sum over all workers has a
	// meaning then (Joint).
	Unconfirmed, Undelivered int64
	Backlog                  int64     // the larger of the two
	EndToEnd                 Quantiles // latencies of the messages received in the last half second
	FromSend                 Totals    // latencies from the actual send, of the whole trial so far; read as often as EndToEnd
	Latency                  *Latency  // set in every fifth sample that is passed to Hooks.Observe; else nil
}

// Latency holds the histograms of a trial so far, ns: from the intended time (EndToEnd) and from the actual send (Service) to
// receipt.
type Latency struct{ EndToEnd, Service hist.Snapshot }

// Quantiles are a number of latencies, and two quantiles of them in ns.
type Quantiles struct{ Count, P50, P99 int64 }

// Totals are a number of latencies and their sum in ns.
type Totals struct {
	Count int64
	Sum   float64
}
