package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
)

// Meters returns agents whose metered processes listen on the broker's addresses, at most one for each address. It claims new
// agents and drops lost ones.
func (f *Fleet) Meters(ctx context.Context, addresses []string) (list []agent.Meter) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.meters = slices.DeleteFunc(f.meters, func(m *meter) bool {
		err := m.r.checkHeard()
		if err != nil {
			f.say("%v", err)
			m.r.leave()
		}
		return err != nil
	})
	f.claimMeters(ctx)
	served := map[string]bool{}
	for _, m := range f.meters {
		var a metersReply
		if err := m.r.ask(ctx, meterEnd, metersQuestion{addresses}, &a); err != nil {
			f.say("%v", err)
			continue
		}
		a.Serves = slices.DeleteFunc(a.Serves, func(address string) bool { return served[address] || !slices.Contains(addresses, address) })
		if len(a.Serves) == 0 {
			continue
		}
		for _, address := range a.Serves {
			served[address] = true
		}
		if m.facts.Processes == "" {
			f.say("agent %s meters %s, which serves %s", m.r.info, a.Processes, strings.Join(a.Serves, ", "))
		}
		m.mu.Lock()
		m.facts.Processes, m.facts.Serves = a.Processes, a.Serves
		m.mu.Unlock()
		list = append(list, m)
	}
	return list
}

// claimMeters claims free agents that meter.
func (f *Fleet) claimMeters(ctx context.Context) {
	found, err := list(ctx, f.nc)
	if err != nil {
		f.say("looking for agents that meter: %v", err)
	}
	for _, s := range found {
		if s.Info.Meters == "" || slices.ContainsFunc(f.meters, func(m *meter) bool { return m.r.info.ID == s.Info.ID }) {
			continue
		}
		if why := s.Info.fits(f.me); why != "" {
			f.say("agent %s can't meter for this run: %s", s.Info, why)
			continue
		}
		r, err := take(ctx, f.nc, f.me, s.Info, f.say)
		if err != nil {
			f.say("%v", err)
			continue
		}
		r.clockServer = f.clockServer
		f.meters = append(f.meters, r.meter)
	}
}

// meter is the coordinator's side of a claimed agent that meters.
type meter struct {
	r     *remote
	facts agent.MeterFacts

	mu   sync.Mutex
	told []agent.Metered // by its clock, from the last one before Begin on
}

func newMeter(r *remote) *meter {
	return &meter{r: r, facts: agent.MeterFacts{Name: r.info.String(), Host: r.info.Host, Here: r.info.Machine == r.me.Machine}}
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
	return m.at(now() + m.facts.Offset - int64(toldAfter))
}

// at returns the usage at a time on the agent's clock. The caller holds the lock, and there is at least one reading.
func (m *meter) at(t int64) agent.Metered {
	i := sort.Search(len(m.told), func(i int) bool { return m.told[i].At >= t })
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
