package lab

import (
	"maps"
	"slices"
	"sync"
)

// flushed returns how often the broker's processes, ended ones included, have flushed files, and how often the kernel could not
// count that. The first is unknownFlushes if the kernel does not count at all.
func (b *bench) flushed() (flushes, gaps int64) {
	if b.lab.flushes == nil {
		return unknownFlushes, 0
	}
	return b.lab.flushes.Of(b.pids.add(b.meter.PIDs()))
}

// pidSet is a set of process ids. It may be used by several goroutines.
type pidSet struct {
	mu   sync.Mutex
	pids map[int]bool
}

// add adds processes and returns all processes of the set.
func (s *pidSet) add(pids []int) []int {
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
