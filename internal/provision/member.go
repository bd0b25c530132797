package provision

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"
)

// member is one node with the process that runs it now.
type member struct {
	node  *Node
	in    *Instance
	ports *ports // nil if another run of the tool reserved them

	turn sync.Mutex // one start, kill or restart at a time

	mu       sync.Mutex
	proc     *process // nil before the first start
	expected bool     // its end is no Death: it is not up yet, or was ended by us
	spent    Usage    // of processes that have ended
	counted  bool     // proc is part of spent
	seen     Usage    // proc's last live reading
}

// start launches the node and blocks until it is ready.
func (m *member) start(ctx context.Context) error {
	c, err := m.in.cluster.Recipe.Command(m.node)
	if err != nil {
		return err
	}
	j, err := m.node.job(c)
	if err != nil {
		return err
	}
	j.Home = m.node.Dir
	if err := m.node.limit(&j); err != nil {
		return err
	}
	log, err := os.OpenFile(m.node.LogPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, privateFile)
	if err != nil {
		return err
	}
	defer log.Close()
	locks := m.in.locks()
	if m.ports != nil {
		locks = append(locks, m.ports.locks...)
	}
	p, err := launch(j, log, locks)
	if err != nil {
		return fmt.Errorf("start %s: %w", c.name(), err)
	}
	m.adopt(p)
	go m.watch(p)
	if err := m.in.save(); err != nil {
		return err
	}
	if m.in.cluster.Recipe.Ends {
		return nil
	}
	ready := func(ctx context.Context) error { return m.in.cluster.Recipe.Ready(ctx, m.node) }
	return m.in.until(ctx, m.node.ID, []*member{m}, ready)
}

func (m *member) adopt(p *process) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.proc, m.expected, m.counted, m.seen = p, true, false, Usage{}
}

// watch waits for the process tree's end, books what it used, and reports an unexpected end.
func (m *member) watch(p *process) {
	<-p.ended
	m.mu.Lock()
	if m.proc == p {
		m.book(p.fate)
	}
	surprise := m.proc == p && !m.expected
	m.mu.Unlock()
	if surprise {
		select {
		case m.in.deaths <- Death{Node: m.node.ID, At: time.Now(), Reason: p.fate.String(), Log: m.tail(tailLines)}:
		default: // there is no listener
		}
	}
}

func (m *member) current() *process {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.proc
}

func (m *member) expect(end bool) *process {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expected = end
	return m.proc
}

func (m *member) stop(ctx context.Context) {
	m.turn.Lock()
	defer m.turn.Unlock()
	m.end(ctx)
}

// end stops the node gracefully while ctx and the grace period last, then by force. The caller holds m.turn.
func (m *member) end(ctx context.Context) {
	p := m.expect(true)
	if p == nil || p.dead() {
		return
	}
	limited, cancel := context.WithTimeout(ctx, stopDeadline)
	defer cancel()
	if limited.Err() == nil {
		if stop := m.in.cluster.Recipe.Stop; stop != nil {
			thaw(p.Supervisor.PID) // a paused broker can't handle signals
			pid, signal, err := stop(m.node)
			if err == nil {
				err = p.signal(pid, signal)
			}
			if err != nil {
				m.in.host.log("stop %s node %d: %v", m.in.ID(), m.node.ID, err)
				p.terminate()
			}
		} else {
			p.terminate()
		}
	}
	if p.wait(limited) != nil {
		p.kill()
	}
}

func (m *member) death(p *process) error {
	return &ErrDied{Broker: m.in.Broker(), Node: m.node.ID, Reason: p.fate.String(), Log: m.tail(tailLines)}
}

func (m *member) tail(n int) []string { return tailOf(m.node.LogPath(), n) }

// arm makes every further end of a node a Death; it returns an error if a node has already ended.
func (in *Instance) arm() error {
	if in.cluster.Recipe.Ends {
		return in.save()
	}
	for _, m := range in.members {
		if p := m.expect(false); p.dead() {
			return m.death(p)
		}
	}
	return in.save()
}
