package worker

import (
	"context"
	"time"

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
