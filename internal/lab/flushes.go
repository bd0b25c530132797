package lab

import (
	"maps"
	"slices"
	"sync"
)

// seen are the processes that a broker had at any time. Safe for use by several goroutines.
type seen struct {
	mu   sync.Mutex
	pids map[int]bool
}

// and adds processes, and answers with all.
func (s *seen) and(pids []int) []int {
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

// flushed is how often the broker's processes, ended ones included, have asked for their files to be flushed; unknown: -1.
func (b *bench) flushed() (calls, gaps int64) {
	if b.lab == nil || b.lab.flushes == nil {
		return -1, 0
	}
	return b.lab.flushes.Of(b.pids.and(b.meter.PIDs()))
}
