package fleet

import (
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

// Fleet is a number of agents that work for this process.
type Fleet struct {
	nc    *nats.Conn
	me    Info
	wait  time.Duration
	say   func(string, ...any)
	size  int
	auto  bool // it grows, and goes on with fewer where one was lost
	names []string

	dial *sundial // nil: clocks are compared over the control channel

	mu     sync.Mutex
	agents []*remote
	meters []*meter
}

// Gathering says how a fleet comes together.
type Gathering struct {
	Agents int
	Auto   bool          // Agents is where it begins: it grows where they limit what is measured
	Names  []string      // of the agents to take; none: whoever is there
	Wait   time.Duration // for agents that are not there yet
	Build  string
	Say    func(format string, args ...any)
}

// Meeting is a connection to a control server, where a run and agents meet.
type Meeting struct {
	nc      *nats.Conn
	control *Control // nil: another process has the control server
}

// Reach connects to the control server c of this process, or where that is nil to the one at a, for which it waits until ctx ends.
func Reach(ctx context.Context, c *Control, a Address, token string, say func(string, ...any)) (*Meeting, error) {
	var nc *nats.Conn
	var err error
	if c != nil {
		nc, err = c.connect()
	} else {
		nc, err = a.connect(ctx, token, say)
	}
	if err != nil {
		return nil, err
	}
	return &Meeting{nc, c}, nil
}

// Close ends the connection.
func (m *Meeting) Close() { m.nc.Close() }

// List asks all agents who they are and how they are doing, in order of their names.
func (m *Meeting) List(ctx context.Context) ([]Status, error) { return list(ctx, m.nc) }

// Gather claims agents. It waits for them, and fails saying which ones it found; the fleet is to be closed all the same.
func (m *Meeting) Gather(ctx context.Context, g Gathering) (*Fleet, error) {
	f := &Fleet{nc: m.nc, me: Self("", g.Build), wait: g.Wait, say: g.Say, size: g.Agents, auto: g.Auto, names: g.Names}
	var err error
	if f.dial, err = m.sundial(); err != nil {
		g.Say("agents' clocks are compared over the control channel, which tells less: %v", err)
	}
	return f, f.complete(ctx)
}

// sundial answers where agents reach this process.
func (m *Meeting) sundial() (*sundial, error) {
	token := rand.Text()
	if m.control == nil {
		host := hostOf(m.nc.LocalAddr())
		s, err := newSundial(host, 0, token)
		if s != nil {
			s.host = host
		}
		return s, err
	}
	s, err := newSundial(m.control.host, m.control.port, token)
	if err != nil { // another program has the port
		return newSundial(m.control.host, 0, token)
	}
	return s, nil
}

// Here are the agents' processes on this machine, as far as it knows them by their numbers.
func (f *Fleet) Here() (pids []int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.agents {
		if r.info.PIDs == f.me.PIDs {
			pids = append(pids, r.info.PID)
		}
	}
	for _, m := range f.meters {
		if m.r.info.PIDs == f.me.PIDs {
			pids = append(pids, m.r.info.PID)
		}
	}
	return pids
}

// Close lets the agents go.
func (f *Fleet) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.agents {
		r.leave()
	}
	for _, m := range f.meters {
		m.r.leave()
	}
	f.agents, f.meters = nil, nil
	if f.dial != nil {
		f.dial.close()
		f.dial = nil
	}
}

// complete claims as many agents as there are to be. Those that were lost in a trial have been dropped before.
func (f *Fleet) complete(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	within, cancel := context.WithTimeout(ctx, f.wait)
	defer cancel()
	said := false
	var refused []string
	for {
		f.forget()
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

// forget drops agents that went away while nobody asked anything of them: others may take their place, or they themselves again.
func (f *Fleet) forget() {
	f.agents = slices.DeleteFunc(f.agents, func(r *remote) bool {
		err := r.silent()
		if err == nil {
			return false
		}
		f.say("%v; another may take its place", err)
		r.leave()
		return true
	})
}

// incomplete says who is there and who isn't.
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

// absent are the names of agents that are wanted and aren't there.
func (f *Fleet) absent() (names []string) {
	for _, name := range f.names {
		if !slices.ContainsFunc(f.agents, func(r *remote) bool { return r.info.Name == name }) {
			names = append(names, name)
		}
	}
	return names
}

// ErrIncomplete is that fewer agents came than a run wants.
type ErrIncomplete struct{ text string }

func (e *ErrIncomplete) Error() string { return e.text }

// claim takes agents that nobody has, and says why it couldn't take others.
func (f *Fleet) claim(ctx context.Context) (refused []string) {
	found, err := list(ctx, f.nc)
	if err != nil {
		return []string{err.Error()}
	}
	for _, s := range found {
		if len(f.agents) == f.size {
			return nil
		}
		if s.Info.Meters != "" || slices.ContainsFunc(f.agents, func(r *remote) bool { return r.info.ID == s.Info.ID }) {
			continue
		}
		if len(f.names) > 0 && !slices.Contains(f.absent(), s.Info.Name) {
			continue
		}
		if why := s.Info.fits(f.me); why != "" {
			refused = append(refused, fmt.Sprintf("agent %s can't work for this run: %s", s.Info, why))
			continue
		}
		r, err := take(ctx, f.nc, f.me, s.Info, f.say)
		if err != nil {
			refused = append(refused, err.Error())
			continue
		}
		r.dial = f.dial
		f.agents = append(f.agents, r)
	}
	return refused
}

// drop forgets an agent that was lost.
func (f *Fleet) drop(lost *remote) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := slices.Index(f.agents, lost); i >= 0 { // else Close was first
		f.agents = slices.Delete(f.agents, i, i+1)
		lost.leave()
	}
}

// listTime is how long agents have to answer who they are.
const listTime = 300 * time.Millisecond

func list(ctx context.Context, nc *nats.Conn) ([]Status, error) {
	inbox := nc.NewRespInbox()
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
	slices.SortFunc(all, func(a, b Status) int {
		return strings.Compare(a.Info.Name+"\x00"+a.Info.ID, b.Info.Name+"\x00"+b.Info.ID)
	})
	return all, nil
}

// hostOf is the host of host:port.
func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}
