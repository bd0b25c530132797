package lab

import (
	"maps"
	"slices"
	"sync"
)

// seen is the set of processes that a broker had at any time. It may be used by several goroutines.
type seen struct {
	mu   sync.Mutex
	pids map[int]bool
}

// add adds processes and returns all of the set.
func (s *seen) add(pids []int) []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pids == nil {
		s.pids = map[int]bool{}
	}
	for _, pid := range pids {
		s.pids[pid] = true
	}
	return slices.Collect(maps.Keys(s.pids))
}

// flushed returns how often the broker's processes, ended ones included, have flushed files, and how often the kernel could not
// count that.
func (b *bench) flushed() (flushes, gaps int64) {
	if b.lab == nil || b.lab.flushes == nil {
		return unknownFlushes, 0
	}
	return b.lab.flushes.Of(b.pids.add(b.meter.PIDs()))
}
