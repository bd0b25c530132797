package fleet

import (
	"runtime/debug"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/provision"
)

// usageMeter reads what a process has used so far. Agents of one process share it, and agents that ask at the same time share one
// reading. A reading opens a file of the kernel for each thread of the process, and each agent adds a thread: if each of 1,000 agents
// in one process took its own readings, these would cost 80 s of CPU time per trial.
type usageMeter struct {
	read func() agent.Reading // the reading's time is when it begins

	mu   sync.Mutex
	last agent.Reading
}

// Read returns a reading that began after the call of Read.
func (m *usageMeter) Read() agent.Reading {
	called := now()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last.At < called {
		m.last = m.read()
	}
	return m.last
}

// ownUsage meters this process.
var ownUsage = usageMeter{read: func() agent.Reading {
	r := agent.Reading{At: now(), Used: provision.SelfUsage(), Queued: ownQueue.Delay()}
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	r.GC = gc.PauseTotal
	return r
}}

var ownQueue provision.Queue

// gauge takes the readings of one trial: when the measured phase begins, when it ends, and after the drain. A reading that was taken
// stays.
type gauge struct {
	meter   *usageMeter
	pending sync.WaitGroup
	over    chan struct{} // closed by finish

	mu     sync.Mutex
	meters meters
}

func newGauge() *gauge { return &gauge{meter: &ownUsage, over: make(chan struct{})} }

// schedule takes the readings of a measured phase that begins at from on this process's clock and lasts for length. If length is 0,
// the phase ends when markUntil is called.
func (g *gauge) schedule(from int64, length time.Duration) {
	g.pending.Go(func() {
		if !g.sleepUntil(from) {
			return
		}
		g.take(&g.meters.Begin)
		if length > 0 && g.sleepUntil(from+int64(length)) {
			g.markUntil()
		}
	})
}

// markUntil takes the reading at the end of the measured phase.
func (g *gauge) markUntil() { g.take(&g.meters.Until) }

// finish takes the last reading and returns all of them.
func (g *gauge) finish() *meters {
	close(g.over)
	g.pending.Wait()
	g.take(&g.meters.End)
	return &g.meters
}

func (g *gauge) take(r *agent.Reading) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r.At == 0 {
		*r = g.meter.Read()
	}
}

// sleepUntil returns false if the trial was over before the time.
func (g *gauge) sleepUntil(t int64) bool {
	select {
	case <-time.After(time.Duration(t - now())):
		return true
	case <-g.over:
		return false
	}
}
