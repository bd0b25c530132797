package worker

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// collecting lets the heap of this process grow to a least size, until it is ended. Client libraries allocate for every message, and a
// generator has 10 to 20 MB in use: by the runtime's rule, to collect at twice that, collecting takes a fifth of its time. A heap with more
// than half of the least size in use is collected by that rule, so memory grows by no more than this. It is looked at after each collection.
type collecting struct {
	least  int64 // bytes
	mu     sync.Mutex
	before int // percent, as debug.SetGCPercent has it
	set    int
	ended  bool
}

// collectLess lets the heap grow to least bytes. Where the environment says when to collect, by GOGC, it changes nothing.
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

// adjust sets the percentage by what the last collection left in use, and looks again after the next one.
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
	runtime.AddCleanup(new([16]byte), func(struct{}) { c.adjust() }, struct{}{}) // nothing refers to it, so the next collection ends it
}

// percentFor returns by how many percent the heap may grow from what is in use to least, both in bytes: from 16 MiB to 64 MiB by 300 %.
func percentFor(inUse, least int64) int {
	const most = 1000 // of a process that has hardly begun
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
