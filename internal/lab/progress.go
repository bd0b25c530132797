package lab

import (
	"time"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// Event reports progress of a run: a repetition begins, enters another stage, is sampled, or ends. Progress lines, the live view and
// metrics are made from events alone.
type Event struct {
	Kind   EventKind
	Run    study.Run
	Done   int // repetitions finished, skipped ones included
	Total  int
	Stage  string         // the current step: "starting kafka 4.3.1", "short trial at 12,000/s"
	Target float64        // offered rate, messages per second; 0 in a closed loop
	Sample *worker.Sample // nil unless Kind is Sampled
	CPU    Cores
	Agents []AgentCores  // the agents that the load runs on; empty if it runs in this process
	Left   time.Duration // estimate for all repetitions that are still to do
	Record *store.Record // nil unless Kind is Ended
	Shared bool          // the skipped repetition was done by another runner while this one ran
}

// ClosedLoop reports whether the trial under way has no schedule, or fills a backlog. Then its latency says nothing about a load.
func (e Event) ClosedLoop() bool { return e.Target == 0 || e.Run.Point.Spec.ClosedLoop() }

// Cores are processor cores in use over the last half second. Broker is the sum of BrokerUser and, for the time in the kernel,
// BrokerSystem.
type Cores struct {
	Broker, Generator, BrokerUser, BrokerSystem float64

	Sides *store.SidesTick // of the generator; nil if both sides are one process
}

// AgentCores are the cores that an agent's process used over the last half second.
type AgentCores struct {
	Name  string
	Cores float64
}

// EventKind is what an Event reports.
type EventKind int

// The kinds of events.
const (
	Began   EventKind = iota // a repetition began
	Staged                   // the repetition entered another stage
	Sampled                  // a running trial was sampled
	Ended                    // a repetition ended and has its record
	Skipped                  // the store already has the repetition
	Spared                   // the repetition isn't needed: its point is known closely enough
)

// watch reports an event of a repetition.
func (l *lab) watch(run study.Run, e Event) {
	e.Run, e.Done, e.Total, e.Left = run, l.ended, l.total, l.pace.left()
	l.options.Watch(e)
}

// finish reports the end of a repetition.
func (l *lab) finish(run study.Run, e Event) {
	l.ended++
	l.pace.rest -= study.EstimateSeconds(run.Point.Spec)
	l.watch(run, e)
}

// Tally counts how the repetitions of a run ended.
type Tally struct {
	OK, Failed, Void, Refused, Aborted, Skipped int
	Spared                                      int // not needed any more
	Unstarted                                   int // of Failed: the broker could not be installed, started or reached
	Lost                                        int // of Aborted: an agent or the consumers' process was lost
}

// Add counts the repetitions of another run as well.
func (t *Tally) Add(o Tally) {
	t.OK, t.Failed, t.Void, t.Refused = t.OK+o.OK, t.Failed+o.Failed, t.Void+o.Void, t.Refused+o.Refused
	t.Aborted, t.Skipped, t.Spared = t.Aborted+o.Aborted, t.Skipped+o.Skipped, t.Spared+o.Spared
	t.Unstarted, t.Lost = t.Unstarted+o.Unstarted, t.Lost+o.Lost
}

// count counts a repetition that was run. started is false if its broker could not be started; interrupted is true if the user
// ended the run.
func (t *Tally) count(status store.Status, started, interrupted bool) {
	switch status {
	case store.OK:
		t.OK++
	case store.Failed:
		t.Failed++
		if !started {
			t.Unstarted++
		}
	case store.Void:
		t.Void++
	case store.Refused:
		t.Refused++
	case store.Aborted:
		t.Aborted++
		if !interrupted {
			t.Lost++
		}
	}
}

// pace corrects estimates of how long repetitions take by how long earlier ones took. For example, if repetitions with an estimate of
// 100 s took 120 s, those with an estimate of 50 s that are left will take 60 s. All values are seconds.
type pace struct {
	estimated, took float64 // for the repetitions that were run
	rest            float64 // estimated for those that are still to do
}

// ran adds a repetition that was run.
func (p *pace) ran(run study.Run, took time.Duration) {
	p.estimated += study.EstimateSeconds(run.Point.Spec)
	p.took += took.Seconds()
}

// left estimates how long the repetitions that are still to do will take.
func (p *pace) left() time.Duration {
	rest := max(0, p.rest)
	if p.estimated > 0 {
		rest *= p.took / p.estimated
	}
	return time.Duration(rest * float64(time.Second))
}
