package lab

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// faults injects the faults that a spec asks for, at their offsets from the start of the measured phase.
type faults struct {
	bench   *bench
	once    sync.Once // begin
	running sync.WaitGroup
	cancel  context.CancelFunc
	// events and missed belong to the injecting goroutine until end has waited for it.
	events []store.FaultEvent
	missed []string // faults that were due only after the run had ended
}

func newFaults(b *bench) *faults { return &faults{bench: b, cancel: func() {}} }

// faultAction is one thing to do to a node.
type faultAction struct {
	at   time.Duration // from the start of the measured phase
	do   string        // pause | resume | kill | restart
	node string        // as the spec names it: a number, "leader", "all", or a part of a pipeline
	// implied is set if the spec does not list the action: it ends a fault that lasts for a time.
	implied bool
	// hits are the nodes that a pause or kill has hit. The action that ends it is aimed at the same nodes: another one may lead
	// by then. It is nil if there is nothing to end, as with a restart of its own.
	hits *[]int
}

// ends names the fault that an action ends.
var ends = map[string]string{"resume": "pause", "restart": "kill"}

// actionsOf returns a spec's faults as actions, by time. A fault that lasts for a time has two: after a pause comes a resume, after a
// kill a restart. For example, {at: 10s, do: pause, for: 3s} is a pause at 10 s and a resume at 13 s.
func actionsOf(list []study.Fault) []faultAction {
	reversal := map[string]string{"pause": "resume", "kill": "restart"}
	var actions []faultAction
	for _, f := range list {
		begin := faultAction{at: time.Duration(f.At), do: f.Do, node: f.Node}
		if ends[f.Do] == "" {
			begin.hits = new([]int)
		}
		actions = append(actions, begin)
		if f.For > 0 {
			actions = append(actions, faultAction{at: time.Duration(f.At + f.For), do: reversal[f.Do], node: f.Node, implied: true, hits: begin.hits})
		}
	}
	slices.SortStableFunc(actions, func(a, b faultAction) int { return cmp.Compare(a.at, b.at) })
	for i, a := range actions {
		if a.hits != nil {
			continue
		}
		for _, earlier := range slices.Backward(actions[:i]) { // the last fault of the kind that a listed action ends
			if earlier.do == ends[a.do] && earlier.node == a.node {
				actions[i].hits = earlier.hits
				break
			}
		}
	}
	return actions
}

// begin starts to inject the faults. from is the start of the measured phase, ns on the clock's axis. It does not block. Only its
// first call counts, and it does nothing if the broker was not started here.
func (f *faults) begin(ctx context.Context, from int64) {
	if len(f.bench.spec.Faults) == 0 || f.bench.broker.instance == nil {
		return
	}
	f.once.Do(func() {
		var waiting context.Context
		waiting, f.cancel = context.WithCancel(ctx)
		f.running.Go(func() { f.inject(ctx, waiting, from) })
	})
}

// inject takes the actions one after the other. When waiting ends, those that are not due yet are left out; one that has begun is
// finished, or a restart would be cut short and leave no broker.
func (f *faults) inject(ctx, waiting context.Context, from int64) {
	for _, a := range actionsOf(f.bench.spec.Faults) {
		select {
		case <-time.After(time.Duration(from + int64(a.at) - clock.Now())):
		case <-waiting.Done():
		}
		if waiting.Err() != nil {
			f.miss(a)
			continue
		}
		f.act(ctx, from, a)
	}
}

// act takes an action on all nodes that it is aimed at and adds an event for each.
func (f *faults) act(ctx context.Context, from int64, a faultAction) {
	instance, name := f.bench.faultTarget(cmp.Or(a.node, "1"))
	var nodes []int
	if a.hits != nil {
		nodes = *a.hits // none yet if this begins a fault, or if the fault that this ends hit none
	}
	if len(nodes) == 0 && !a.implied {
		var err error
		if nodes, err = instance.NodeOf(ctx, name); err != nil {
			f.events = append(f.events, store.FaultEvent{OffsetNs: clock.Now() - from, Do: a.do, Err: err.Error()})
			return
		}
		if ends[a.do] == "" {
			*a.hits = nodes
		}
	}
	do := map[string]func(context.Context, int) error{
		"pause": instance.Pause, "resume": instance.Resume, "kill": instance.Kill, "restart": instance.Restart,
	}[a.do]
	for _, node := range nodes {
		e := store.FaultEvent{OffsetNs: clock.Now() - from, Do: a.do, Node: node}
		if instance != f.bench.broker.instance {
			e.Part = a.node
		}
		if err := do(ctx, node); err != nil {
			e.Err = err.Error()
		}
		f.events = append(f.events, e)
	}
}

// faultTarget returns what runs the node that a fault names, and the name of the node there. "relay-2" is node 2 of the relays,
// "server-1" node 1 of a pipeline's servers; all other names are nodes of the broker.
func (b *bench) faultTarget(node string) (*provision.Instance, string) {
	part, number, _ := strings.Cut(node, "-")
	if b.clients.relays != nil && part == study.PartRelay {
		return b.clients.relays, number
	}
	if b.clients.pipeline != nil {
		for _, candidate := range b.clients.pipeline.parts() {
			if candidate.name == part {
				return candidate.instance, cmp.Or(number, "1")
			}
		}
	}
	return b.broker.instance, node
}

// miss notes an action that was left out, if the spec lists it. What ends a fault is not missed: either the fault was left out as
// well, or the broker is stopped anyway.
func (f *faults) miss(a faultAction) {
	if !a.implied {
		f.missed = append(f.missed, fmt.Sprintf("%s at %s", a.do, a.at))
	}
}

// end leaves out the actions that are still to come, blocks until the one under way has been taken, and returns what happened, with
// a doubt if that is not all that was asked for.
func (f *faults) end() ([]store.FaultEvent, []store.Doubt) {
	f.cancel()
	f.running.Wait()
	missed := f.missed
	for _, e := range f.events {
		if e.Err != "" {
			missed = append(missed, fmt.Sprintf("%s at %s: %s", e.Do, ms(e.OffsetNs), e.Err))
		}
	}
	var d doubts
	if len(missed) > 0 {
		d.add("faults-missed", "not everything was done to the broker that was asked for: %s", strings.Join(missed, ", "))
	}
	return f.events, d
}
