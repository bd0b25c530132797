// Package lab runs the repetitions of a study one after the other and turns each into a record. It is the only package that
// knows all the others: specs, brokers, agents, the search and the store.
//
// For each repetition it takes a broker from the pool or starts one, connects producers and consumers, runs one or more trials
// (runTrial) while it meters all processes, judges them (judge), and states what makes their numbers deserve less trust (doubts).
// Whatever happens on the way, the repetition ends as a record that says so.
package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// Options say where and how a study runs.
type Options struct {
	Host  *provision.Host // nil where no point starts a broker
	Store *store.Store
	// Append keeps a record, whatever has become of ctx; nil: in the store.
	Append func(ctx context.Context, r store.Record) error
	Again  bool // run what is stored already
	// Enough is asked before each repetition whether its point needs no more of them. If nil, all are run.
	Enough func(ctx context.Context, run study.Run) bool
	// Lease is after how long other runners with the same store take over the repetition of one that has died. If 0, it is
	// store.Lease.
	Lease time.Duration
	Keep  bool      // leave the brokers' directories behind
	Tool  string    // version of this program
	Log   io.Writer // client libraries' own log lines
	Watch func(Event)
	// NewAgent makes the agent of a point; nil means one in this process.
	NewAgent func() agent.Agent
	// AgentsHere returns the agents' processes on this machine: they do not disturb the measurement, as other processes do. If
	// nil, there are none.
	AgentsHere func() []int
	// Meters are agents whose processes listen on addresses of an attached broker; nil: there are none.
	Meters func(ctx context.Context, addresses []string) []agent.Meter
}

// Event says what goes on. Events are sent from one goroutine at a time.
type Event struct {
	Kind   EventKind
	Run    study.Run
	Done   int // repetitions finished, skipped ones included
	Total  int
	Stage  string         // what happens now: "starting kafka 4.3.1", "short trial at 12,000/s"
	Target float64        // offered rate; 0 in closed loop
	Sample *worker.Sample // while a trial runs
	CPU    Cores
	Agents []AgentCores  // that the load runs on; none: it runs in this process
	Left   time.Duration // estimate for everything that is still to do
	Record *store.Record // when a repetition has ended
	Shared bool          // of one that is skipped: another runner did it while this one ran
}

// ClosedLoop reports whether the trial under way sends as fast as it can, or into a backlog. Its latency is not one under a load.
func (e Event) ClosedLoop() bool { return e.Target == 0 || e.Run.Point.Spec.ClosedLoop() }

// Cores are processor cores in use over the last half second.
type Cores struct {
	Broker, Generator, BrokerUser, BrokerSystem float64

	Sides *store.SidesTick // of the generator; nil where it is one process
}

// AgentCores are the cores that an agent's process used over the last half second.
type AgentCores struct {
	Name  string
	Cores float64
}

// EventKind says what an Event is about.
type EventKind int

// The kinds of events.
const (
	Began   EventKind = iota // a repetition
	Staged                   // another stage of it
	Sampled                  // a momentary view of a trial
	Ended                    // a repetition, with its record
	Skipped                  // a repetition that the store already has
	Spared                   // a repetition that isn't needed: its point is known closely enough
)

// Tally counts how the repetitions of a run ended.
type Tally struct {
	OK, Failed, Void, Refused, Aborted, Skipped int
	Spared                                      int // not needed any more
	Unstarted                                   int // of Failed: the broker could not be installed, started or reached
	Lost                                        int // of Aborted: an agent was lost
}

// Run runs repetitions in the order given, appending a record as each one ends. It blocks. When ctx ends, the
// repetition under way is recorded as aborted, everything is cleaned up and ctx's error returned. Other errors mean
// that the store could not be used: nothing more could have been kept.
func Run(ctx context.Context, runs []study.Run, o Options) (Tally, error) {
	if o.Watch == nil {
		o.Watch = func(Event) {}
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	if o.NewAgent == nil {
		o.NewAgent = func() agent.Agent { return &agent.Local{Log: o.Log} }
	}
	if o.Append == nil {
		o.Append = func(ctx context.Context, r store.Record) error {
			_, err := o.Store.Append(context.WithoutCancel(ctx), r)
			return err
		}
	}
	l := &lab{Options: o, host: HostFacts(), total: len(runs), pool: newPool(o.Host, o.Keep)}
	defer l.pool.close()
	if f, err := provision.WatchFlushes(); err == nil {
		l.flushes = f
		defer f.Close()
	}
	for _, run := range runs {
		l.pace.rest += study.EstimateSeconds(run.Point.Spec)
	}
	if err := l.share(ctx, runs); err != nil {
		return l.tally, err
	}
	return l.tally, l.all(ctx, runs)
}

// all runs the repetitions that are not done. Then it goes through those again that other runners had claimed, until they are done
// or their runners have died.
func (l *lab) all(ctx context.Context, runs []study.Run) error {
	for {
		var held []study.Run
		for i, run := range runs {
			if l.Enough != nil && !l.doneBefore(run) && l.Enough(ctx, run) {
				l.tally.Spared++
				l.finish(run, Event{Kind: Spared})
				continue
			}
			standing, release := l.claim(ctx, run)
			switch standing {
			case store.Done:
				l.tally.Skipped++
				l.finish(run, Event{Kind: Skipped, Shared: !l.doneBefore(run)})
			case store.Held:
				held = append(held, run)
			case store.Claimed:
				err := l.one(ctx, run)
				release()
				if err != nil {
					return err
				}
			}
			l.pool.release(held, runs[i+1:])
		}
		if held == nil {
			return nil
		}
		runs = held
		if err := l.await(ctx, held); err != nil {
			return err
		}
	}
}

// one runs a repetition and keeps its record.
func (l *lab) one(ctx context.Context, run study.Run) error {
	l.watch(run, Event{Kind: Began})
	began := time.Now()
	r, unstarted := l.repetition(ctx, run)
	l.spent(run, time.Since(began))
	// A first Ctrl-C ends ctx, but what was measured is kept all the same.
	if err := l.Append(ctx, r); err != nil {
		return fmt.Errorf("record of %s: %w", run.Point.Label, err)
	}
	l.count(r, unstarted, ctx.Err() == nil)
	l.finish(run, Event{Kind: Ended, Record: &r})
	return ctx.Err()
}

type lab struct {
	Options
	host   store.Host
	total  int                             // repetitions
	ended  int                             // of them, skipped ones included
	done   map[string]map[int]store.Status // when the run began
	claims *store.Claims                   // nil: the store doesn't take any
	pool   *pool
	// flushes counts flushes of files by process; nil where the kernel does not tell.
	flushes *provision.Flushes
	tally   Tally
	pace    pace
	found   []neighbour
}

func (l *lab) watch(run study.Run, e Event) {
	e.Run, e.Done, e.Total, e.Left = run, l.ended, l.total, l.pace.left()
	l.Watch(e)
}

// finish reports the end of a repetition.
func (l *lab) finish(run study.Run, e Event) {
	l.ended++
	l.pace.rest -= study.EstimateSeconds(run.Point.Spec)
	l.watch(run, e)
}

func (l *lab) count(r store.Record, unstarted, lost bool) {
	switch r.Status {
	case store.OK:
		l.tally.OK++
	case store.Failed:
		l.tally.Failed++
		if unstarted {
			l.tally.Unstarted++
		}
	case store.Void:
		l.tally.Void++
	case store.Refused:
		l.tally.Refused++
	case store.Aborted:
		l.tally.Aborted++
		if lost {
			l.tally.Lost++
		}
	}
}

// pace corrects the estimates of how long repetitions take by how long they took. All values are seconds.
type pace struct {
	estimated, took float64 // for the repetitions that were run
	rest            float64 // estimated for those that are still to do
}

func (l *lab) spent(run study.Run, took time.Duration) {
	l.pace.estimated += study.EstimateSeconds(run.Point.Spec)
	l.pace.took += took.Seconds()
}

func (p pace) left() time.Duration {
	seconds := max(0, p.rest)
	if p.estimated > 0 {
		seconds *= p.took / p.estimated
	}
	return time.Duration(seconds * 1e9)
}

// errStart is the error of a broker that could not be installed, started or reached: there was nothing to measure.
type errStart struct{ error }

func (e errStart) Unwrap() error { return e.error }

func startFailed(err error) bool { return errors.As(err, new(errStart)) }
