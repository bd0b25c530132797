package fleet

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
)

// Fleet is a set of agents that work for this process.
type Fleet struct {
	nc    *nats.Conn
	me    Info
	wait  time.Duration
	say   func(string, ...any)
	size  int
	auto  bool // it grows, and goes on with fewer where one was lost
	names []string

	clockServer *clockServer // nil: clocks are compared over the control channel

	mu     sync.Mutex
	agents []*remote // those that run loads, in the order of their names
	meters []*remote // those that meter the broker's processes
}

// Gathering says which agents a fleet takes and how long it waits for them.
type Gathering struct {
	Agents int
	Auto   bool          // Agents is the initial number: it grows if the agents limit what is measured
	Names  []string      // of the agents to take; none: any that are there
	Wait   time.Duration // for agents that are not there yet
	Build  string
	Say    func(format string, args ...any)
}

// Meeting is a connection to a control server, where a run and agents meet.
type Meeting struct {
	nc      *nats.Conn
	control *Control // nil: another process has the control server
}

// Reach connects to the control server c of this process, or, if c is nil, to the one at a. It waits for that one until ctx ends.
func Reach(ctx context.Context, c *Control, a Address, token string, say func(string, ...any)) (*Meeting, error) {
	var nc *nats.Conn
	var err error
	if c != nil {
		nc, err = c.connect()
	} else {
		nc, err = a.connect(ctx, token, rand.Text(), say)
	}
	if err != nil {
		return nil, err
	}
	return &Meeting{nc, c}, nil
}

// Close ends the connection.
func (m *Meeting) Close() { m.nc.Close() }

// List returns the status of all agents at the control server, sorted by name.
func (m *Meeting) List(ctx context.Context) ([]Status, error) { return list(ctx, m.nc) }

// Gather claims agents and waits for those that are missing. The caller closes the fleet even after an error, which names the
// agents that came.
func (m *Meeting) Gather(ctx context.Context, g Gathering) (*Fleet, error) {
	f := &Fleet{nc: m.nc, me: Self("", g.Build), wait: g.Wait, say: g.Say, size: g.Agents, auto: g.Auto, names: g.Names}
	var err error
	if f.clockServer, err = m.clockServer(); err != nil {
		g.Say("agents' clocks are compared over the control channel, which is less precise: %v", err)
	}
	return f, f.complete(ctx)
}

// clockServer starts a clock server at an address of this process that agents reach.
func (m *Meeting) clockServer() (*clockServer, error) {
	token := rand.Text()
	if m.control == nil {
		host := hostOf(m.nc.LocalAddr())
		s, err := newClockServer(host, 0, token)
		if s != nil {
			s.host = host
		}
		return s, err
	}
	s, err := newClockServer(m.control.host, m.control.port, token)
	if err != nil { // another program has the port
		return newClockServer(m.control.host, 0, token)
	}
	return s, nil
}

// Here returns the processes of agents on this machine, as far as they are in the same PID namespace.
func (f *Fleet) Here() (pids []int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range slices.Concat(f.agents, f.meters) {
		if r.info.PIDs == f.me.PIDs {
			pids = append(pids, r.info.PID)
		}
	}
	return pids
}

// Close frees all agents.
func (f *Fleet) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range slices.Concat(f.agents, f.meters) {
		r.leave()
	}
	f.agents, f.meters = nil, nil
	if f.clockServer != nil {
		f.clockServer.close()
		f.clockServer = nil
	}
}

// complete claims agents until the fleet has its size. Agents that were lost have been dropped before.
func (f *Fleet) complete(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	within, cancel := context.WithTimeout(ctx, f.wait)
	defer cancel()
	said := false
	var refused []string
	for {
		f.agents = f.leaveSilent(f.agents, "; another may take its place")
		if why := f.claim(within); within.Err() == nil { // else it had no time to find out
			refused = why
		}
		if f.auto && len(f.agents) > 0 {
			f.size = len(f.agents)
		}
		if len(f.agents) == f.size {
			return nil
		}
		if !said {
			said = true
			f.say("waiting for %d of %d agents", f.size-len(f.agents), f.size)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-within.Done():
			return f.incomplete(refused)
		case <-time.After(beatEvery):
		}
	}
}

// leaveSilent frees agents that have fallen silent since the last point, and returns the others. It reports them, with a
// clause about the consequence.
func (f *Fleet) leaveSilent(agents []*remote, clause string) []*remote {
	return slices.DeleteFunc(agents, func(r *remote) bool {
		err := r.checkHeard()
		if err != nil {
			f.say("%v%s", err, clause)
			r.leave()
		}
		return err != nil
	})
}

// incomplete returns an error that names the agents that came and those that did not.
func (f *Fleet) incomplete(refused []string) error {
	var there []string
	for _, r := range f.agents {
		there = append(there, r.info.String())
	}
	text := fmt.Sprintf("%d of %d agents came within %s", len(there), f.size, f.wait)
	if len(there) > 0 {
		text += ": " + strings.Join(there, ", ")
	}
	if absent := f.absent(); len(absent) > 0 {
		text += "; place names " + strings.Join(absent, ", ") + ", who did not come"
	}
	if len(refused) > 0 {
		text += "; " + strings.Join(refused, "; ")
	}
	return &ErrIncomplete{text}
}

// absent returns the names of wanted agents that the fleet lacks.
func (f *Fleet) absent() (names []string) {
	for _, name := range f.names {
		if !slices.ContainsFunc(f.agents, func(r *remote) bool { return r.info.Name == name }) {
			names = append(names, name)
		}
	}
	return names
}

// ErrIncomplete is the error of a run that got fewer agents than it wants.
type ErrIncomplete struct{ text string }

func (e *ErrIncomplete) Error() string { return e.text }

// claim claims free agents until the fleet has its size. It returns why it could not claim others.
func (f *Fleet) claim(ctx context.Context) (refused []string) {
	found, err := list(ctx, f.nc)
	if err != nil {
		return []string{err.Error()}
	}
	for _, s := range found {
		if len(f.agents) == f.size {
			return nil
		}
		wanted := len(f.names) == 0 || slices.Contains(f.absent(), s.Info.Name)
		if s.Info.Meters != "" || has(f.agents, s.Info) || !wanted {
			continue
		}
		r, err := f.take(ctx, s.Info, "work")
		if err != nil {
			refused = append(refused, err.Error())
			continue
		}
		f.agents = append(f.agents, r)
		slices.SortFunc(f.agents, func(a, b *remote) int { return compareInfos(a.info, b.info) })
	}
	return refused
}

// has reports whether an agent is among those that are claimed.
func has(claimed []*remote, agent Info) bool {
	return slices.ContainsFunc(claimed, func(r *remote) bool { return r.info.ID == agent.ID })
}

// compareInfos orders agents by name, so that each agent's part of a load does not depend on the order of joining.
func compareInfos(a, b Info) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
}

// drop removes a lost agent from the fleet.
func (f *Fleet) drop(lost *remote) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := slices.Index(f.agents, lost); i >= 0 { // Close may have removed it already
		f.agents = slices.Delete(f.agents, i, i+1)
		lost.leave()
	}
}

// listTime is how long agents have to answer a list.
const listTime = 300 * time.Millisecond

func list(ctx context.Context, nc *nats.Conn) ([]Status, error) {
	inbox := newInbox(nc)
	answers, err := nc.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answers.Unsubscribe() }()
	subject, err := micro.ControlSubject(micro.StatsVerb, service, "")
	if err != nil {
		return nil, err
	}
	if err := nc.PublishRequest(subject, inbox, nil); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	var all []Status
	for {
		m, err := answers.NextMsgWithContext(ctx)
		if errors.Is(err, nats.ErrNoResponders) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
			break
		}
		if err != nil {
			return nil, err
		}
		var stats micro.Stats
		var s Status
		if json.Unmarshal(m.Data, &stats) == nil && len(stats.Endpoints) > 0 && json.Unmarshal(stats.Endpoints[0].Data, &s) == nil && s.Info.ID != "" {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b Status) int { return compareInfos(a.Info, b.Info) })
	return all, nil
}

// hostOf returns the host of HOST:PORT, or the whole text if it has no port.
func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}
