package worker

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// leastHeap is what the heap may grow to before it is collected, in bytes, also if little of it is in use. Client libraries allocate for
// every message, and a generator has 10 to 20 MB in use: by the runtime's rule, to collect at twice that, collecting takes a fifth of its
// time. A heap with more than half of leastHeap in use is collected by that rule, so memory grows by no more than this.
const leastHeap = 64 << 20

// collecting lets the heap of this process grow to leastHeap, until it is ended. How much is in use is looked at after each collection.
type collecting struct {
	mu     sync.Mutex
	before int // percent, as debug.SetGCPercent has it
	set    int
	ended  bool
}

// collectLess begins that. Where the environment says when to collect, by GOGC, it changes nothing.
func collectLess() *collecting {
	c := &collecting{ended: os.Getenv("GOGC") != ""}
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
	percent := percentFor(int64(inUse[0].Value.Uint64()))
	if math.Abs(float64(percent-c.set)) > float64(c.set)/10 { // it stops the process for some microseconds
		debug.SetGCPercent(percent)
		c.set = percent
	}
	runtime.AddCleanup(new([16]byte), func(struct{}) { c.adjust() }, struct{}{}) // nothing refers to it, so the next collection ends it
}

// percentFor returns by how many percent the heap may grow from what is in use, in bytes. Of 16 MiB, it may grow to 64 MiB: by 300 %.
func percentFor(inUse int64) int {
	const most = 1000 // of a process that has hardly begun
	return int(min(most, max(byDefault, 100*leastHeap/max(1, inUse)-100)))
}

func (c *collecting) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.ended = true
		debug.SetGCPercent(c.before)
	}
}
