package lab

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
)

// away adds up agents that meter an attached broker on its hosts.
type away []agent.Meter

// metersFor are the agents that meter the broker, and the addresses that none of their processes serves.
func (b *bench) metersFor(ctx context.Context) (rest []string) {
	rest = slices.Clone(b.spec.Attach)
	if b.lab == nil || b.lab.Meters == nil {
		return rest
	}
	b.away = b.lab.Meters(ctx, rest)
	for _, m := range b.away {
		rest = slices.DeleteFunc(rest, func(a string) bool { return slices.Contains(m.Facts().Serves, a) })
	}
	return rest
}

// String names who meters what.
func (a away) String() string {
	var parts []string
	for _, m := range a {
		f := m.Facts()
		parts = append(parts, fmt.Sprintf("%s, by agent %s", f.Processes, f.Name))
	}
	return strings.Join(parts, "; ")
}

// here tells that everything it meters is on this machine.
func (a away) here() bool {
	return len(a) > 0 && !slices.ContainsFunc(a, func(m agent.Meter) bool { return !m.Facts().Here })
}

// begin has the agents' clocks asked for, before a load.
func (a away) begin(ctx context.Context) (err error) {
	for _, m := range a {
		if e := m.Begin(ctx); e != nil && err == nil {
			err = e
		}
	}
	return err
}

// together are readings of the same moment by several agents.
func together(list []agent.Metered) (sum agent.Metered) {
	for _, m := range list {
		sum.Used = sum.Used.Plus(m.Used)
		sum.Gaps += m.Gaps
		if sum.Flushes += m.Flushes; m.Flushes < 0 {
			sum.Flushes = -1 << 62 // not counted somewhere: not counted
		}
		sum.PIDs = append(sum.PIDs, m.PIDs...)
	}
	sum.Flushes = max(sum.Flushes, -1)
	return sum
}

// latest is what each had read a moment ago.
func (a away) latest() (list []agent.Metered) {
	for _, m := range a {
		list = append(list, m.Latest())
	}
	return list
}

// at is what each had read at times in order; an error: one of the agents can't tell.
func (a away) at(times ...int64) ([][]agent.Metered, error) {
	ctx, cancel := context.WithTimeout(context.Background(), describeTime) // agents that are lost say so long before
	defer cancel()
	of := make([][]agent.Metered, len(times))
	for _, m := range a {
		list, err := m.At(ctx, times...)
		if err != nil {
			return nil, err
		}
		for i := range list {
			of[i] = append(of[i], list[i])
		}
	}
	return of, nil
}

// sum adds what agents have read elsewhere to what was read here.
func (r *reading) sum(elsewhere []agent.Metered) {
	all := together(slices.Concat(r.here, elsewhere))
	r.broker, r.flushes, r.flushGaps = all.Used, all.Flushes, all.Gaps
	r.roots = append(r.roots, all.PIDs...)
}

// settle replaces what agents had told by the moments of readings by what they had read at them.
func (m *metering) settle(t *trial, readings ...*reading) {
	b := m.bench
	if len(b.away) == 0 {
		return
	}
	err := m.unclocked
	var elsewhere [][]agent.Metered
	if err == nil {
		var times []int64
		for _, r := range readings {
			times = append(times, r.at)
		}
		elsewhere, err = b.away.at(times...)
	}
	if err != nil {
		m.unknown = true
		for _, r := range readings {
			r.broker = provision.Usage{}
		}
		t.Doubts = append(t.Doubts, doubtOf("meter-lost", remark.Of("what the broker cost is not known: %s", err)))
		return
	}
	for i, r := range readings {
		r.sum(elsewhere[i])
	}
	b.record.Meters = nil
	for _, one := range b.away {
		f := one.Facts()
		b.record.Meters = append(b.record.Meters, store.Meter{
			Name: f.Name, Host: f.Host, Processes: f.Processes, Addresses: f.Serves, ClockOffsetNs: f.Offset, ClockBoundNs: f.Bound,
		})
	}
}
