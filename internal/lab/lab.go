// Package lab runs the repetitions of a study one after the other and turns each into a record. It is the only package
// that knows all the others: specs, brokers, agents, the search and the store. For example, a study that compares two
// brokers at three message sizes has six points, each with a spec of its own. With three repetitions, Run gets 18 runs
// and appends 18 records.
//
// For each repetition, a bench takes a broker from the pool or starts one, connects producers and consumers, runs one
// or more trials (runTrial) while it meters all processes, judges them (judge), and adds doubts: reasons to trust their
// numbers less. Every repetition ends as a record, also one that failed or was interrupted.
package lab

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// Options say where and how a study runs. Host and Store aside, all may be left zero: withDefaults says what then holds.
type Options struct {
	Host  *provision.Host // starts brokers and other processes; nil if no point needs one
	Store *store.Store
	// Append keeps a record, also if ctx has ended. If nil, Store keeps it.
	Append func(ctx context.Context, r store.Record) error
	Again  bool // also run repetitions that the store already has
	// Enough is called before each repetition and reports whether its point needs no more of them. If nil, all are run.
	Enough func(ctx context.Context, run study.Run) bool
	// Lease is after how long other runners with the same store take over the repetition of one that has died. If 0, it
	// is store.Lease.
	Lease time.Duration
	Keep  bool // keep the brokers' directories
	// Profiles is a folder for what the brokers' own profilers find; "": they aren't asked.
	Profiles string
	Tool     string    // version of this program
	Log      io.Writer // log lines of client libraries; nil to drop them
	// Watch is called with every event, from one goroutine at a time. It must not block for long.
	Watch func(Event)
	// NewAgent returns the agent that drives a point. If nil, the agent is in this process.
	NewAgent func() agent.Agent
	// AgentsHere returns the agents' processes on this machine. They take part in the measurement, so their use of the
	// machine counts as no disturbance. If nil, there are none.
	AgentsHere func() []int
	// Meters returns agents that meter the processes that serve addresses of an attached broker. If nil, there are none.
	Meters func(ctx context.Context, addresses []string) []agent.Meter
}

// withDefaults returns the options with a default for each that is nil or 0, except for Host and Store.
func (o Options) withDefaults() Options {
	o.Log, o.Lease = cmp.Or(o.Log, io.Discard), cmp.Or(o.Lease, store.Lease)
	if o.Watch == nil {
		o.Watch = func(Event) {}
	}
	if o.Enough == nil {
		o.Enough = func(context.Context, study.Run) bool { return false }
	}
	if o.AgentsHere == nil {
		o.AgentsHere = func() []int { return nil }
	}
	if o.Meters == nil {
		o.Meters = func(context.Context, []string) []agent.Meter { return nil }
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
	return o
}

// Run runs repetitions in the order given and appends a record as each one ends. When ctx ends, it records the
// repetition under way, if there is one, as aborted, cleans up and returns ctx's error. All other errors are of the
// store, which can keep no more records.
func Run(ctx context.Context, runs []study.Run, o Options) (Tally, error) {
	o = o.withDefaults()
	brokers := &pool{host: o.Host, keep: o.Keep, profiles: o.Profiles, warmedUp: map[*provision.Instance]bool{}}
	l := &lab{options: o, machine: HostFacts(), total: len(runs), pool: brokers}
	defer l.pool.close()
	if flushes, err := provision.WatchFlushes(); err == nil { // otherwise, for others than root, flushes are not known
		l.flushes = flushes
		defer flushes.Close()
	}
	for _, run := range runs {
		l.pace.rest += study.EstimateSeconds(run.Point.Spec)
	}
	err := l.readDone(ctx, runs)
	if err == nil {
		err = l.runAll(ctx, runs)
	}
	return l.tally, err
}

// lab is the state of one call of Run.
type lab struct {
	options Options
	machine store.Host // this machine, as records describe it
	total   int        // repetitions of this run
	ended   int        // how many of them have ended, skipped ones included
	// done are the repetitions that were stored when the run began, by the point's ID and the repetition's number.
	done   map[string]map[int]store.Status
	claims *store.Claims // nil if the store doesn't take any
	pool   *pool
	// flushes counts flushes of files by process; nil if the kernel does not report them.
	flushes  *provision.Flushes
	tally    Tally
	pace     pace        // estimates how long the rest of the run takes
	searched []neighbour // points whose sustainable rate this run has found
}

// runAll runs the repetitions that are not done. Then it looks again at those that other runners had claimed, until
// they are done or their runners have died.
func (l *lab) runAll(ctx context.Context, runs []study.Run) error {
	for {
		var held []study.Run
		for _, run := range runs {
			isHeld, err := l.runUnclaimed(ctx, run)
			if err != nil {
				return err
			}
			if isHeld {
				held = append(held, run)
			}
		}
		if len(held) == 0 {
			return nil
		}
		runs = held
		l.pool.close()
		if err := l.await(ctx, held); err != nil {
			return err
		}
	}
}

// runUnclaimed runs a repetition unless it is done, not needed, or held by another runner: it reports whether one holds
// it. A repetition that has not begun when ctx ends leaves no record.
func (l *lab) runUnclaimed(ctx context.Context, run study.Run) (held bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if !l.doneBefore(run) && l.options.Enough(ctx, run) {
		l.tally.Spared++
		l.finish(run, Event{Kind: Spared})
		return false, nil
	}
	standing, release := l.claim(ctx, run)
	switch standing {
	case store.Held:
		return true, nil
	case store.Done:
		l.tally.Skipped++
		l.finish(run, Event{Kind: Skipped, Shared: !l.doneBefore(run)}) // Shared: another runner did it meanwhile
		return false, nil
	}
	defer release()
	if err := ctx.Err(); err != nil {
		return false, err
	}
	return false, l.runOne(ctx, run)
}

// runOne runs a repetition and appends its record.
func (l *lab) runOne(ctx context.Context, run study.Run) error {
	l.watch(run, Event{Kind: Began})
	began := time.Now()
	r, started := l.repetition(ctx, run)
	l.pace.ran(run, time.Since(began))
	if err := l.options.Append(ctx, r); err != nil {
		return fmt.Errorf("record of %s: %w", run.Point.Label, err)
	}
	l.tally.count(r.Status, started, ctx.Err() != nil)
	l.finish(run, Event{Kind: Ended, Record: &r})
	return ctx.Err()
}
