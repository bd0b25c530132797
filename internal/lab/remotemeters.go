package lab

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/store"
)

// remoteMeters are agents on the machines of an attached broker. Each meters the broker's processes on its machine; the broker's cost
// is their sum. For example, of two nodes one used 3 s of its processor and the other 1 s: the broker used 4 s.
type remoteMeters []agent.Meter

// String names the processes and the agents that meter them.
func (r remoteMeters) String() string {
	var parts []string
	for _, m := range r {
		f := m.Facts()
		parts = append(parts, fmt.Sprintf("%s, by agent %s", f.Processes, f.Name))
	}
	return strings.Join(parts, "; ")
}

// allHere reports whether there are meters, and all of them meter processes of this machine.
func (r remoteMeters) allHere() bool {
	elsewhere := func(m agent.Meter) bool { return !m.Facts().Here }
	return len(r) > 0 && !slices.ContainsFunc(r, elsewhere)
}

// relateClocks finds out how far the agents' clocks are from this process's. It is called before each load, because readAt
// depends on it. It asks every agent, and returns the first error.
func (r remoteMeters) relateClocks(ctx context.Context) error {
	var first error
	for _, m := range r {
		if err := m.Begin(ctx); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// latest returns the last reading of each meter. It may be some hundred milliseconds old.
func (r remoteMeters) latest() []agent.Metered {
	var list []agent.Metered
	for _, m := range r {
		list = append(list, m.Latest())
	}
	return list
}

// readAt returns the readings of all meters at several rising times, in ns on the clock's axis: for each time a list with one reading
// of each meter. It blocks until the agents have sent them, or ctx ends.
func (r remoteMeters) readAt(ctx context.Context, times []int64) ([][]agent.Metered, error) {
	const timeout = 15 * time.Second // an agent that is lost reports it long before
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	readings := make([][]agent.Metered, len(times))
	for _, m := range r {
		list, err := m.At(ctx, times...)
		if err != nil {
			return nil, err
		}
		if len(list) != len(times) {
			return nil, fmt.Errorf("agent %s sent %d readings of its meter for %d times", m.Facts().Name, len(list), len(times))
		}
		for i := range list {
			readings[i] = append(readings[i], list[i])
		}
	}
	return readings, nil
}

// stored describes the meters for the record.
func (r remoteMeters) stored() []store.Meter {
	var list []store.Meter
	for _, m := range r {
		f := m.Facts()
		list = append(list, store.Meter{
			Name: f.Name, Host: f.Host, Processes: f.Processes, Addresses: f.Serves, ClockOffsetNs: f.Offset, ClockBoundNs: f.Bound,
		})
	}
	return list
}

// completeReadings makes the readings of a trial, which are in the order of time, exact: an agent sends what its meter read some
// hundred milliseconds late, so the readings hold what it had read before. If an agent was lost, or the clocks are not related
// (remoteErr), the broker's usage is unknown: it returns a doubt that says so.
func (m *metering) completeReadings(ctx context.Context, readings ...*reading) []store.Doubt {
	remote := m.bench.meters.remote
	if len(remote) == 0 {
		return nil
	}
	if m.remoteErr == nil {
		m.remoteErr = remote.complete(ctx, readings)
	}
	if m.remoteErr == nil {
		m.bench.record.Meters = remote.stored()
		return nil
	}
	for _, r := range readings {
		r.broker = brokerUsage{pids: r.broker.pids} // these still take part, so they are no disturbance
	}
	return []store.Doubt{store.DoubtOf(doubt.MeterLost, fmt.Sprintf("what the broker cost is not known: %s", m.remoteErr))}
}

// complete sets the broker's usage in each reading to what the meters of this machine and of the agents read at its time.
func (r remoteMeters) complete(ctx context.Context, readings []*reading) error {
	var times []int64
	for _, one := range readings {
		times = append(times, one.at)
	}
	exact, err := r.readAt(ctx, times)
	if err != nil {
		return err
	}
	for i, one := range readings {
		one.broker = sumOf(slices.Concat(one.here, exact[i]))
	}
	return nil
}
