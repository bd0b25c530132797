package lab

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// faultInjector pauses, kills, resumes and restarts nodes of the broker while a load runs, as the spec lists under faults. Each fault is
// one act or two, at times that count from the start of the measured phase, which follows the warm-up. For example,
// {at: 10s, do: kill, node: leader, for: 5s} kills the node that leads 10 s into that phase, and restarts the same node 5 s later.
type faultInjector struct {
	bench   *bench             // the repetition under way
	once    sync.Once          // of begin
	endLoad context.CancelFunc // leaves out the acts that are not due yet; nil before begin
	running sync.WaitGroup     // the goroutine that does the acts

	// These belong to the goroutine until it has ended.
	events []store.FaultEvent   // what was done
	hit    map[*study.Act][]int // the nodes that each act was taken on, also where it failed
	missed []string             // listed faults that were due only after the load had ended
}

// longestListen bounds how long a trial listens on for messages that the broker delivers again.
const longestListen = time.Minute

// listenFor returns how long a trial listens after its drain, and whether it looks for redeliveries: if the spec has faults and promises no
// duplicates. Trials of searches and of a broker's warm-up, which are brisk, never do.
func (b *bench) listenFor(load worker.Load) (time.Duration, bool) {
	if len(b.spec.Faults) == 0 || b.spec.Delivery == "at-least-once" || load.Brisk {
		return 0, false
	}
	const slack = time.Second // brokers look for acknowledgements that are overdue from time to time
	if b.redelivery == 0 {
		return 0, true
	}
	return min(b.redelivery+slack, longestListen), true
}

// begin starts to inject the faults. from is the start of the measured phase, ns on the clock's axis. It does not block. Only its
// first call counts, and it does nothing if the broker was not started here: such a point can't have faults.
func (f *faultInjector) begin(ctx context.Context, from int64) {
	if len(f.bench.spec.Faults) == 0 || f.bench.broker.instance == nil {
		return
	}
	f.once.Do(func() {
		var load context.Context
		load, f.endLoad = context.WithCancel(ctx)
		f.running.Go(func() { f.inject(ctx, load, from) })
	})
}

// inject does the acts one after the other. When load, a context of its own, ends, those that are not due yet are left out. An act that
// has begun is finished all the same, unless ctx ends: a restart that was cut short would leave no broker.
func (f *faultInjector) inject(ctx, load context.Context, from int64) {
	f.hit = map[*study.Act][]int{}
	for _, a := range study.Acts(f.bench.spec.Faults) {
		switch {
		case clock.Reach(from+int64(a.At), load.Done()) && load.Err() == nil:
			f.perform(ctx, from, a)
		case !a.Implied: // the end of a fault is not missed: its begin was left out as well, or the broker is stopped anyway
			f.missed = append(f.missed, fmt.Sprintf("%s at %s", a.Do, a.At))
		}
	}
}

// perform pauses, kills, resumes or restarts all nodes that an act is aimed at, and adds an event for each.
func (f *faultInjector) perform(ctx context.Context, from int64, a *study.Act) {
	instance, node := f.bench.faultTarget(cmp.Or(a.Node, "1"))
	event := store.FaultEvent{Do: a.Do}
	if instance != f.bench.broker.instance {
		event.Part = a.Node
	}
	nodes, err := f.targets(ctx, a, instance, node)
	if err != nil {
		event.OffsetNs, event.Err = clock.Now()-from, err.Error()
		f.events = append(f.events, event)
		return
	}
	f.hit[a] = nodes
	for _, n := range nodes {
		event.OffsetNs, event.Node, event.Err = clock.Now()-from, n, ""
		if err := doToNode(ctx, a.Do, instance, n); err != nil {
			event.Err = err.Error()
		}
		f.events = append(f.events, event)
	}
}

// targets returns the nodes that an act is aimed at. The end of a fault is aimed at the nodes that its begin was taken on: if the
// leader was killed, another node leads by now. If the begin hit none, an implied end hits none, and a listed one looks for its node.
func (f *faultInjector) targets(ctx context.Context, a *study.Act, instance *provision.Instance, node string) ([]int, error) {
	if hit := f.hit[a.Ends]; a.Ends != nil && (a.Implied || len(hit) > 0) {
		return hit, nil
	}
	return instance.NodeOf(ctx, node)
}

// doToNode does to one node what an act says.
func doToNode(ctx context.Context, do string, instance *provision.Instance, node int) error {
	switch do {
	case "pause":
		return instance.Pause(ctx, node)
	case "resume":
		return instance.Resume(ctx, node)
	case "kill":
		return instance.Kill(ctx, node)
	case "restart":
		return instance.Restart(ctx, node)
	}
	return fmt.Errorf("%s is no fault", do)
}

// faultTarget returns what runs the node that a fault names, and the name of the node there. "relay-2" is node 2 of the relays,
// "server-1" node 1 of a pipeline's servers; all other names are nodes of the broker.
func (b *bench) faultTarget(node string) (*provision.Instance, string) {
	part, number, _ := strings.Cut(node, "-")
	if b.clients.relays != nil && part == study.PartRelay {
		return b.clients.relays, cmp.Or(number, "1")
	}
	if b.clients.pipeline != nil {
		for _, candidate := range b.clients.pipeline.startedParts() {
			if candidate.name == part {
				return candidate.instance, cmp.Or(number, "1")
			}
		}
	}
	return b.broker.instance, node
}

// end leaves out the acts that are still to come, blocks until the one under way has been done, and returns what was done, with a
// doubt if an act failed or was left out.
func (f *faultInjector) end() ([]store.FaultEvent, []store.Doubt) {
	f.once.Do(func() {}) // a begin that is under way has returned by then, and a later one does nothing
	if f.endLoad != nil {
		f.endLoad()
	}
	f.running.Wait()
	missed := f.missed // and the acts that failed
	for _, e := range f.events {
		if e.Err != "" {
			missed = append(missed, fmt.Sprintf("%s at %s: %s", e.Do, told(e.OffsetNs), e.Err))
		}
	}
	var d doubts
	if len(missed) > 0 {
		d.add(doubt.FaultsMissed, "not everything was done to the broker that was asked for: %s", strings.Join(missed, ", "))
	}
	return f.events, d
}

// outage returns the longest times in which nothing was delivered, and nothing was confirmed, although messages were due. Times in
// which the generator itself stood still are left out: 3 s without a delivery, for 1 s of which it stood still, are an outage of 2 s.
func outage(t trial) *store.Outage {
	sending := commonStops(t, func(p agent.Part) bool { return p.Outcome.Producers > 0 })
	receiving := commonStops(t, func(p agent.Part) bool { return p.Outcome.LastReceived > 0 })
	// Nothing is delivered while all senders stand still, nor while all receivers do.
	return &store.Outage{
		ReceiveNs: longestSilence(t.DeliverySilences, sending.Union(receiving)),
		PublishNs: longestSilence(t.ConfirmationSilences, sending),
		SampleNs:  int64(t.SampleEvery),
	}
}

// commonStops returns when all agents of one side, producing or consuming, stood still at once. If there is none on that side, it
// returns when this process did, which then is the generator.
func commonStops(t trial, onSide func(agent.Part) bool) worker.Pauses {
	var common worker.Pauses
	agents := 0
	for _, p := range t.Parts {
		if !onSide(p) {
			continue
		}
		if agents == 0 {
			common.Stops = p.Outcome.Pauses.Stops
		} else {
			common.Stops = common.Intersect(p.Outcome.Pauses)
		}
		agents++
	}
	if agents == 0 {
		common.Stops = t.Pauses.Stops
	}
	return common
}

// longestSilence returns the longest silence in ns, without the generator's own stops in it; 0 if there was none.
func longestSilence(silences []worker.Interval, own worker.Pauses) int64 {
	var longest int64
	for _, s := range silences {
		longest = max(longest, s.To-s.From-own.StoodStill(s.From, s.To))
	}
	return longest
}
