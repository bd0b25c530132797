package worker

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

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
