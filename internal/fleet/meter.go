package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/provision"
)

// Meters returns agents whose metered processes listen on the broker's addresses, at most one for each address. It claims new
// agents and drops lost ones.
func (f *Fleet) Meters(ctx context.Context, addresses []string) (list []agent.Meter) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.meters = f.leaveSilent(f.meters, "")
	f.claimMeters(ctx)
	unserved := slices.Clone(addresses)
	for _, r := range f.meters {
		var a metersReply
		if err := r.ask(ctx, meterEnd, metersQuestion{addresses}, &a); err != nil {
			f.say("%v", err)
			continue
		}
		serves := slices.DeleteFunc(a.Serves, func(address string) bool { return !slices.Contains(unserved, address) })
		if len(serves) == 0 {
			continue
		}
		unserved = slices.DeleteFunc(unserved, func(address string) bool { return slices.Contains(serves, address) })
		m := r.meter
		if m.facts.Processes == "" {
			f.say("agent %s meters %s, which serves %s", r.info, a.Processes, strings.Join(serves, ", "))
		}
		m.mu.Lock()
		m.facts.Processes, m.facts.Serves = a.Processes, serves
		m.mu.Unlock()
		list = append(list, m)
	}
	return list
}

// claimMeters claims the free agents that meter.
func (f *Fleet) claimMeters(ctx context.Context) {
	found, err := list(ctx, f.nc)
	if err != nil {
		f.say("looking for agents that meter: %v", err)
	}
	for _, s := range found {
		if s.Info.Meters == "" || has(f.meters, s.Info) {
			continue
		}
		r, err := f.take(ctx, s.Info, "meter")
		if err != nil {
			f.say("%v", err)
			continue
		}
		f.meters = append(f.meters, r)
	}
}

// meter is the coordinator's side of a claimed agent that meters.
type meter struct {
	r     *remote
	facts agent.MeterFacts

	mu   sync.Mutex
	told []agent.Metered // by its clock, from the last one before Begin on
}

// hear appends readings, which come in the order of their times.
func (m *meter) hear(list []agent.Metered) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, one := range list {
		if m.r.info.PIDs != m.r.me.PIDs {
			one.PIDs = nil // numbers of another machine or namespace
		}
		m.told = append(m.told, one)
	}
}

func (m *meter) Facts() agent.MeterFacts {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.facts
}

// Begin measures the offset of the agent's clock and drops earlier readings but the last.
func (m *meter) Begin(ctx context.Context) error {
	stand, err := m.r.clock(ctx)
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.facts.Offset, m.facts.Bound = stand.Ns, stand.Bound
	m.told = slices.Clone(m.told[max(0, len(m.told)-1):])
	m.mu.Unlock()
	return m.await(ctx, func() bool { return len(m.told) > 0 })
}

// await blocks until enough returns true. It calls enough with the lock held.
func (m *meter) await(ctx context.Context, enough func() bool) error {
	look := time.NewTicker(beatEvery / 10)
	defer look.Stop()
	for {
		m.mu.Lock()
		done := enough()
		m.mu.Unlock()
		if done {
			return nil
		}
		if err := m.r.checkHeard(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
		}
	}
}

// toldAfter is the largest age of a reading when it arrives.
const toldAfter = beatEvery + 2*gaugeEvery

func (m *meter) Latest() agent.Metered {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.told) == 0 {
		return agent.Metered{Flushes: agent.NotCounted}
	}
	return m.at(clock.Now() + m.facts.Offset - int64(toldAfter))
}

// at returns the usage at a time on the agent's clock. The caller holds the lock, and there is at least one reading.
func (m *meter) at(t int64) agent.Metered {
	i, _ := slices.BinarySearchFunc(m.told, t, func(one agent.Metered, t int64) int { return cmp.Compare(one.At, t) })
	switch i {
	case 0:
		return m.told[0]
	case len(m.told):
		return m.told[i-1]
	}
	return agent.Between(m.told[i-1], m.told[i], t)
}

func (m *meter) At(ctx context.Context, times ...int64) (used []agent.Metered, err error) {
	last := times[len(times)-1]
	if err := m.await(ctx, func() bool { return len(m.told) > 0 && m.told[len(m.told)-1].At >= last+m.facts.Offset }); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	first := times[0] + m.facts.Offset
	if m.told[0].At > first {
		return nil, errors.New("it had not begun to meter when the measured phase began")
	}
	for _, one := range m.told {
		if one.Gone && one.At >= first {
			return nil, fmt.Errorf("agent %s: a process that it meters has ended", m.r.info)
		}
	}
	for _, t := range times {
		used = append(used, m.at(t+m.facts.Offset))
	}
	return used, nil
}

// gaugeEvery is how often an agent reads the meters of a broker's processes during a run.
const gaugeEvery = 100 * time.Millisecond

// metersQuestion asks which of a broker's addresses the metered processes serve, and metersReply is the answer.
type (
	metersQuestion struct{ Addresses []string }
	metersReply    struct {
		Processes string
		Serves    []string
	}
)

// serves answers which addresses the metered processes listen on.
func (a *joined) serves(q metersQuestion) metersReply {
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	return metersReply{a.Meter.String(), a.Meter.Serves(ctx, q.Addresses)}
}

// readings collects a session's readings until a beat carries them.
type readings struct {
	of      *provision.Foreign
	flushes *provision.Flushes // nil if the kernel does not report them
	end     func()
	pids    map[int]bool // processes that the broker had at any time

	mu     sync.Mutex
	untold []agent.Metered
}

// read starts to read the meters.
func read(of *provision.Foreign) *readings {
	r := &readings{of: of, pids: map[int]bool{}}
	if f, err := provision.WatchFlushes(); err == nil {
		r.flushes = f
	}
	r.once()
	r.end = clock.Repeat(gaugeEvery, r.once)
	return r
}

func (r *readings) once() {
	m := agent.Metered{At: clock.Now(), Used: r.of.Sample(), Flushes: agent.NotCounted, PIDs: r.of.PIDs(), Gone: r.of.Gone()}
	if r.flushes != nil {
		for _, pid := range m.PIDs {
			r.pids[pid] = true
		}
		m.Flushes, m.Gaps = r.flushes.Of(slices.Collect(maps.Keys(r.pids)))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.untold = append(r.untold, m)
}

// unsent returns the readings since the last call.
func (r *readings) unsent() []agent.Metered {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.untold
	r.untold = nil
	return list
}

func (r *readings) close() {
	r.end()
	if r.flushes != nil {
		r.flushes.Close()
	}
}
