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

// faultInjector pauses, kills, resumes and restarts nodes of the broker while a load runs, as the spec lists under faults. Times count
// from the start of the measured phase, which follows the warm-up. For example, {at: 10s, do: kill, node: leader, for: 5s} kills the node
// that leads 10 s into that phase, and restarts the same node 5 s later.
type faultInjector struct {
	bench   *bench             // the repetition under way
	once    sync.Once          // of begin
	cancel  context.CancelFunc // leaves out the actions that are not due yet; nil before begin
	running sync.WaitGroup     // the goroutine that injects: events and missed are its own until it has ended
	events  []store.FaultEvent // what was done
	missed  []string           // listed faults that were due only after the load had ended
}

// faultAction is one thing to do to the nodes that a fault names.
type faultAction struct {
	at   time.Duration // from the start of the measured phase
	do   string        // pause | resume | kill | restart
	node string        // as the spec names it: a number, "leader", "all", or a part of a pipeline
	// implied is set if the spec does not list the action: it ends a fault that lasts for a time.
	implied bool
	// ends is the pause or kill that this action ends; nil if it begins a fault, or is a restart of a node that runs.
	ends  *faultAction
	nodes []int // that the action was taken on, also where it failed; empty before
}

// endOf names the action that ends a fault.
var endOf = map[string]string{"pause": "resume", "kill": "restart"}

// actionsOf returns a spec's faults as actions, by time. A fault that lasts for a time has two: {at: 10s, do: pause, for: 3s} is a
// pause at 10 s and a resume at 13 s. A resume or restart that the spec lists ends the last pause or kill of the same node before it
// that nothing else has ended, and what it has ended does not end once more when its time is over.
func actionsOf(list []study.Fault) []*faultAction {
	var actions []*faultAction
	for _, f := range list {
		begin := &faultAction{at: time.Duration(f.At), do: f.Do, node: f.Node}
		actions = append(actions, begin)
		if f.For > 0 {
			actions = append(actions, &faultAction{at: time.Duration(f.At + f.For), do: endOf[f.Do], node: f.Node, implied: true, ends: begin})
		}
	}
	slices.SortStableFunc(actions, func(a, b *faultAction) int { return cmp.Compare(a.at, b.at) })
	ended := map[*faultAction]bool{}
	due := actions[:0]
	for _, a := range actions {
		switch {
		case ended[a.ends]: // by a listed action
			continue
		case a.ends == nil:
			a.ends = a.lastOpen(due, ended) // nil if a begins a fault
		}
		if a.ends != nil {
			ended[a.ends] = true
		}
		due = append(due, a)
	}
	return due
}

// lastOpen returns the last of the earlier actions that a can end and that nothing has ended yet; nil if there is none.
func (a *faultAction) lastOpen(earlier []*faultAction, ended map[*faultAction]bool) *faultAction {
	for _, e := range slices.Backward(earlier) {
		if endOf[e.do] == a.do && e.node == a.node && !ended[e] {
			return e
		}
	}
	return nil
}

// begin starts to inject the faults. from is the start of the measured phase, ns on the clock's axis. It does not block. Only its
// first call counts, and it does nothing if the broker was not started here.
func (f *faultInjector) begin(ctx context.Context, from int64) {
	if len(f.bench.spec.Faults) == 0 || f.bench.broker.instance == nil {
		return
	}
	f.once.Do(func() {
		var waiting context.Context
		waiting, f.cancel = context.WithCancel(ctx)
		f.running.Go(func() { f.inject(ctx, waiting, from) })
	})
}

// inject takes the actions one after the other. When the context waiting ends, those that are not due yet are left out. An action that
// has begun has ctx and is finished: a restart that was cut short would leave no broker.
func (f *faultInjector) inject(ctx, waiting context.Context, from int64) {
	for _, a := range actionsOf(f.bench.spec.Faults) {
		select {
		case <-time.After(time.Duration(from + int64(a.at) - clock.Now())):
		case <-waiting.Done():
		}
		switch {
		case waiting.Err() == nil:
			f.act(ctx, from, a)
		case !a.implied: // the end of a fault is not missed: its begin was left out as well, or the broker is stopped anyway
			f.missed = append(f.missed, fmt.Sprintf("%s at %s", a.do, a.at))
		}
	}
}

// act takes an action on all nodes that it is aimed at and adds an event for each.
func (f *faultInjector) act(ctx context.Context, from int64, a *faultAction) {
	instance, node := f.bench.faultTarget(cmp.Or(a.node, "1"))
	event := store.FaultEvent{Do: a.do}
	if instance != f.bench.broker.instance {
		event.Part = a.node
	}
	var err error
	if a.nodes, err = a.targets(ctx, instance, node); err != nil {
		event.OffsetNs, event.Err = clock.Now()-from, err.Error()
		f.events = append(f.events, event)
		return
	}
	for _, n := range a.nodes {
		event.OffsetNs, event.Node, event.Err = clock.Now()-from, n, ""
		if err := a.takeOn(ctx, instance, n); err != nil {
			event.Err = err.Error()
		}
		f.events = append(f.events, event)
	}
}

// targets returns the nodes that an action is aimed at. The end of a fault is aimed at the nodes that its begin was taken on: if the
// leader was killed, another node leads by now. If the begin hit none, an implied end hits none, and a listed one looks for its node.
func (a *faultAction) targets(ctx context.Context, instance *provision.Instance, node string) ([]int, error) {
	if a.ends != nil && (a.implied || len(a.ends.nodes) > 0) {
		return a.ends.nodes, nil
	}
	return instance.NodeOf(ctx, node)
}

// takeOn takes an action on one node.
func (a *faultAction) takeOn(ctx context.Context, instance *provision.Instance, node int) error {
	switch a.do {
	case "pause":
		return instance.Pause(ctx, node)
	case "resume":
		return instance.Resume(ctx, node)
	case "kill":
		return instance.Kill(ctx, node)
	case "restart":
		return instance.Restart(ctx, node)
	}
	return fmt.Errorf("%s is no fault", a.do)
}

// faultTarget returns what runs the node that a fault names, and the name of the node there. "relay-2" is node 2 of the relays,
// "server-1" node 1 of a pipeline's servers; all other names are nodes of the broker.
func (b *bench) faultTarget(node string) (*provision.Instance, string) {
	part, number, _ := strings.Cut(node, "-")
	if b.clients.relays != nil && part == study.PartRelay {
		return b.clients.relays, cmp.Or(number, "1")
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

// end leaves out the actions that are still to come, blocks until the one under way has been taken, and returns what was done, with a
// doubt if an action failed or was left out.
func (f *faultInjector) end() ([]store.FaultEvent, []store.Doubt) {
	if f.cancel != nil {
		f.cancel()
	}
	f.running.Wait()
	missed := f.missed // and the actions that failed
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
