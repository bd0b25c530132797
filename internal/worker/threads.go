package worker

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/schedule"
)

// threadsFor returns how many threads may run Go code at once (GOMAXPROCS) during a trial: one if one can carry the load, and
// Plan.Procs otherwise.
//
// With more threads, every message wakes idle ones that look for work, find none and sleep again. At 1,000/s that was half of the
// generator's processor time, taken from cores that the broker needs. Threads that only sleep don't count.
func (w *Worker) threadsFor(l Load) int {
	all := clock.SetThreads(0) // reads the limit
	switch {
	case l.Schedule != nil && w.oneThreadSuffices(l):
		return 1
	case w.plan.Procs > 0:
		return min(w.plan.Procs, all)
	}
	return all
}

// oneThreadSuffices reports whether one thread can carry the worker's share of a load.
func (w *Worker) oneThreadSuffices(l Load) bool {
	m := messageWork{meanBytes: w.bodies.meanBytes, subscriptions: len(w.plan.Topology.Subscriptions)}
	if l.RateForThreads > 0 {
		return m.oneThreadCarries(w.plan.share() * l.RateForThreads)
	}
	return m.oneThreadCarriesAll(l.Schedule, w.plan.share())
}

// messageWork is how much work a message makes for the generator: it is sent once, and received by each subscription.
type messageWork struct {
	meanBytes     float64
	subscriptions int
}

// Up to these loads to one subscription, one thread does all the work of the generator with time to spare.
const (
	oneThreadRate  = 25_000   // messages per second
	oneThreadBytes = 50 << 20 // payload bytes per second
)

// oneThreadCarries reports whether one thread can carry a rate in messages per second. For example, 819/s to 60 subscriptions are
// 819·(1+60)/2 ≈ 24,980 messages/s to one subscription, which is below the limit.
func (m messageWork) oneThreadCarries(rate float64) bool {
	equivalent := rate * float64(1+m.subscriptions) / 2 // the rate to one subscription that is as much work
	return equivalent <= oneThreadRate && equivalent*m.meanBytes <= oneThreadBytes
}

// oneThreadCarriesAll reports whether one thread can carry a share of a schedule, from 0 to 1, all the time. It looks at the rate
// of the first minute only, every 100 ms; a ramp may rise after that.
func (m messageWork) oneThreadCarriesAll(s schedule.Schedule, share float64) bool {
	for at := time.Duration(0); at <= time.Minute; at += 100 * time.Millisecond {
		if !m.oneThreadCarries(share * s.Rate(int64(at))) {
			return false
		}
	}
	return true
}

// collecting lets the heap of this process grow to a least size until it is ended. Client libraries allocate for every message,
// while a generator has only 10 to 20 MB in use: with the runtime's rule, to collect at twice that, collections take a fifth of
// its time. Once more than half of the least size is in use, the runtime's rule applies, so memory grows by no more than the
// least size. The limit is adjusted after each collection.
type collecting struct {
	least  int64 // bytes
	mu     sync.Mutex
	before int // percent, as debug.SetGCPercent takes it
	set    int
	ended  bool
}

// collectLess lets the heap grow to least bytes. It changes nothing if the environment sets GOGC.
func collectLess(least int64) *collecting {
	c := &collecting{least: least, ended: os.Getenv("GOGC") != ""}
	if !c.ended {
		c.before = debug.SetGCPercent(byDefault)
		c.set = byDefault
		c.adjust()
	}
	return c
}

const byDefault = 100 // percent: collect when the heap is twice as large as what was in use

// adjust sets the percentage by the live heap of the last collection, and runs again after the next one.
func (c *collecting) adjust() {
	inUse := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(inUse)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	percent := percentFor(int64(inUse[0].Value.Uint64()), c.least)
	if math.Abs(float64(percent-c.set)) > float64(c.set)/10 { // it stops the process for some microseconds
		debug.SetGCPercent(percent)
		c.set = percent
	}
	runtime.AddCleanup(new([16]byte), func(struct{}) { c.adjust() }, struct{}{}) // nothing refers to it, so the next collection frees it
}

// percentFor returns the percentage by which the heap may grow from inUse to least, both in bytes: from 16 MiB to 64 MiB by 300 %.
func percentFor(inUse, least int64) int {
	const most = 1000 // for a process that has just begun
	return int(min(most, max(byDefault, 100*least/max(1, inUse)-100)))
}

func (c *collecting) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.ended = true
		debug.SetGCPercent(c.before)
	}
}
