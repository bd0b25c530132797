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

// faults does what the spec asks to the broker's processes, at offsets from the start of the measured phase.
type faults struct {
	bench  *bench
	events []store.FaultEvent
	done   sync.WaitGroup
	cancel context.CancelFunc
	began  sync.Once
	missed []string // that the run was over before
}

func newFaults(b *bench) *faults { return &faults{bench: b, cancel: func() {}} }

// act is one thing to do.
type act struct {
	at   time.Duration
	do   string
	node string
}

// acts spells the spec's faults out: a pause with a length ends in a resume, a kill in a restart.
func acts(list []study.Fault) []act {
	var out []act
	for _, f := range list {
		out = append(out, act{time.Duration(f.At), f.Do, f.Node})
		if f.For > 0 {
			after := map[string]string{"pause": "resume", "kill": "restart"}[f.Do]
			out = append(out, act{time.Duration(f.At + f.For), after, f.Node})
		}
	}
	slices.SortStableFunc(out, func(a, b act) int { return cmp.Compare(a.at, b.at) })
	return out
}

// begin starts the timetable; the measured phase begins at from on the clock's axis.
func (f *faults) begin(ctx context.Context, from int64) {
	if len(f.bench.spec.Faults) == 0 || f.bench.instance == nil {
		return
	}
	f.began.Do(func() {
		acting := ctx // the end of the trial doesn't cut short a restart that has begun
		ctx, f.cancel = context.WithCancel(ctx)
		f.done.Go(func() {
			hit := map[string][]int{} // "leader" means the one that was hit, not the one that leads by then
			for _, a := range acts(f.bench.spec.Faults) {
				select {
				case <-time.After(time.Duration(from + int64(a.at) - clock.Now())):
				case <-ctx.Done():
				}
				if ctx.Err() == nil {
					f.do(acting, from, a, hit)
				} else {
					f.miss(a)
				}
			}
		})
	})
}

func (f *faults) do(ctx context.Context, from int64, a act, hit map[string][]int) {
	in, target := f.bench.at(cmp.Or(a.node, "1"))
	nodes := hit[a.node]
	var err error
	if a.do == "pause" || a.do == "kill" || nodes == nil {
		nodes, err = in.NodeOf(ctx, target)
		hit[a.node] = nodes
	}
	if err != nil {
		f.events = append(f.events, store.FaultEvent{OffsetNs: clock.Now() - from, Do: a.do, Err: err.Error()})
		return
	}
	verbs := map[string]func(context.Context, int) error{
		"pause": in.Pause, "resume": in.Resume, "kill": in.Kill, "restart": in.Restart,
	}
	for _, n := range nodes {
		e := store.FaultEvent{OffsetNs: clock.Now() - from, Do: a.do, Node: n}
		if in != f.bench.instance {
			e.Part = a.node
		}
		if err := verbs[a.do](ctx, n); err != nil {
			e.Err = err.Error()
		}
		f.events = append(f.events, e)
	}
}

// at is where a fault's node is: the broker, the relays, or the part of a pipeline that has this name, and which node of it.
func (b *bench) at(node string) (*provision.Instance, string) {
	name, number, _ := strings.Cut(node, "-")
	if b.relays != nil && name == study.PartRelay {
		return b.relays, number
	}
	if b.pipeline != nil {
		if in := b.pipeline.instances()[name]; in != nil {
			return in, cmp.Or(number, "1")
		}
	}
	return b.instance, node
}

// miss notes a fault that the run was over before; to end one that never began is no loss.
func (f *faults) miss(a act) {
	if a.do == "kill" || a.do == "pause" {
		f.missed = append(f.missed, fmt.Sprintf("%s at %s", a.do, a.at))
	}
}

// doubts says which of the faults did not happen as asked.
func (f *faults) doubts() (d doubts) {
	missed := f.missed
	for _, e := range f.events {
		if e.Err != "" {
			missed = append(missed, fmt.Sprintf("%s at %s: %s", e.Do, ms(e.OffsetNs), e.Err))
		}
	}
	if len(missed) > 0 {
		d.add("faults-missed", "not everything was done to the broker that was asked for: %s", strings.Join(missed, ", "))
	}
	return d
}

// end waits for what is being done, skips the rest and returns what happened.
func (f *faults) end() ([]store.FaultEvent, []store.Doubt) {
	f.cancel()
	f.done.Wait()
	return f.events, f.doubts()
}
