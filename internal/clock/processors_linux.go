//go:build linux && !portable

package clock

import (
	"runtime"
	"sync"
)

// A P is one of the runtime's processors: as many threads run Go code at once as there are Ps (GOMAXPROCS). A Sleeper may have
// a P of its own, which it keeps while it sleeps. For each such Sleeper the process has one P more than it would have, so that
// all other goroutines have as many as without Sleepers. Therefore only this file may set GOMAXPROCS.

// maxOwners is how many Sleepers may have a P of their own: one for a Watch, four for producers. Hundreds of sleeping Ps would
// cost more than they save.
const maxOwners = 5

// owners counts the Sleepers that have a P of their own.
var owners struct {
	sync.Mutex
	n int
}

// addP adds a P for a Sleeper. It returns false if maxOwners have one.
func addP() bool {
	owners.Lock()
	defer owners.Unlock()
	if owners.n == maxOwners {
		return false
	}
	owners.n++
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	return true
}

// removeP takes the P of a Sleeper away again.
func removeP() {
	owners.Lock()
	defer owners.Unlock()
	owners.n--
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) - 1)
}

// SetThreads lets n threads run Go code at once, beside those of Sleepers, and returns how many were allowed before. If n is 0
// it changes nothing. With 2 threads and 3 Sleepers that have a P, GOMAXPROCS is 5 and SetThreads(0) returns 2.
func SetThreads(n int) (before int) {
	owners.Lock()
	defer owners.Unlock()
	before = runtime.GOMAXPROCS(0) - owners.n
	if n > 0 {
		runtime.GOMAXPROCS(n + owners.n)
	}
	return before
}
