// Package lab runs the repetitions of a study one after the other and turns each into a record. It is the only
// package that knows everyone: specs, brokers, agents, the search and the store.
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
	Again  bool      // run what is stored already
	Keep   bool      // leave the brokers' directories behind
	Tool   string    // version of this program
	Log    io.Writer // client libraries' own log lines
	Watch  func(Event)
	// NewAgent makes the agent of a point; nil means one in this process.
	NewAgent func() agent.Agent
}

// Event tells whoever watches what goes on. It is sent from one goroutine at a time.
type Event struct {
	Kind   EventKind
	Run    study.Run
	Done   int // repetitions finished, skipped ones included
	Total  int
	Stage  string         // what happens now: "starting kafka 4.3.1", "short trial at 12,000/s"
	Target float64        // offered rate; 0 in closed loop
	Sample *worker.Sample // while a trial runs
	CPU    Cores
	Left   time.Duration // estimate for everything that is still to do
	Record *store.Record // when a repetition has ended
}

// ClosedLoop tells that the trial under way sends as fast as it can, or into a backlog: it has no latency under a load.
func (e Event) ClosedLoop() bool { return e.Target == 0 || e.Run.Point.Spec.ClosedLoop() }

// Cores are processor cores in use over the last half second.
type Cores struct{ Broker, Generator, BrokerUser, BrokerSystem float64 }

// EventKind is what an Event tells.
type EventKind int

// The kinds of events.
const (
	Began   EventKind = iota // a repetition
	Staged                   // another stage of it
	Sampled                  // a momentary view of a trial
	Ended                    // a repetition, with its record
	Skipped                  // a repetition that the store already has
)

// Tally counts how the repetitions of a run ended.
type Tally struct {
	OK, Failed, Void, Refused, Aborted, Skipped int
	Unstarted                                   int // of Failed: the broker could not be installed, started or reached
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
		o.NewAgent = func() agent.Agent { return &agent.Local{} }
	}
	if o.Append == nil {
		o.Append = func(ctx context.Context, r store.Record) error {
			_, err := o.Store.Append(context.WithoutCancel(ctx), r)
			return err
		}
	}
	l := &lab{Options: o, host: HostFacts(), runs: runs, pool: newPool(o.Host, o.Keep)}
	defer l.pool.close()
	done, err := l.stored(ctx)
	if err != nil {
		return l.tally, err
	}
	for i, run := range runs {
		if done[run.Point.ID][run.Repetition] && !o.Again {
			l.tally.Skipped++
			l.watch(i+1, run, Event{Kind: Skipped})
			continue
		}
		l.watch(i, run, Event{Kind: Began})
		began := time.Now()
		r, unstarted := l.repetition(ctx, i, run)
		l.spent(run, time.Since(began))
		// A first Ctrl-C ends ctx, but what was measured is kept all the same.
		if err := o.Append(ctx, r); err != nil {
			return l.tally, fmt.Errorf("record of %s: %w", run.Point.Label, err)
		}
		l.count(r, unstarted)
		l.watch(i+1, run, Event{Kind: Ended, Record: &r})
		if err := ctx.Err(); err != nil {
			return l.tally, err
		}
		l.pool.release(runs[i+1:])
	}
	return l.tally, nil
}

type lab struct {
	Options
	host  store.Host
	runs  []study.Run
	pool  *pool
	tally Tally
	pace  pace
	found []neighbour
}

// stored tells which repetitions need not run again.
func (l *lab) stored(ctx context.Context) (map[string]map[int]bool, error) {
	ids := map[string]bool{}
	for _, r := range l.runs {
		ids[r.Point.ID] = true
	}
	var list []string
	for id := range ids {
		list = append(list, id)
	}
	have, err := l.Store.Done(ctx, list)
	if err != nil {
		return nil, err
	}
	done := map[string]map[int]bool{}
	for id, reps := range have {
		done[id] = map[int]bool{}
		for n := range reps {
			done[id][n] = true
		}
	}
	return done, nil
}

func (l *lab) watch(done int, run study.Run, e Event) {
	e.Run, e.Done, e.Total = run, done, len(l.runs)
	e.Left = l.pace.left(l.runs[done:])
	l.Watch(e)
}

func (l *lab) count(r store.Record, unstarted bool) {
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
	}
}

// pace corrects the specs' time estimates by what repetitions really took.
type pace struct{ estimated, took float64 }

func (l *lab) spent(run study.Run, took time.Duration) {
	l.pace.estimated += study.EstimateSeconds(run.Point.Spec)
	l.pace.took += took.Seconds()
}

func (p pace) left(runs []study.Run) time.Duration {
	var seconds float64
	for _, r := range runs {
		seconds += study.EstimateSeconds(r.Point.Spec)
	}
	if p.estimated > 0 {
		seconds *= p.took / p.estimated
	}
	return time.Duration(seconds * 1e9)
}

// errStart marks what kept a broker from running at all.
type errStart struct{ error }

func (e errStart) Unwrap() error { return e.error }

func startFailed(err error) bool { return errors.As(err, new(errStart)) }
