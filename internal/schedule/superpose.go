package schedule

import (
	"math"
	"math/bits"
	"slices"
)

// share returns the arrivals of one client's producers. Independent Poisson processes together are a Poisson process whose
// rate is the sum of theirs, and dealing its arrivals out at random gives independent ones back (Kingman, Poisson
// Processes, 1993, sections 2.2 and 5.1). So each client makes its own arrivals from a seed of its own.
func (p poisson) share(d Deal, client int) poisson {
	if d.Clients == 1 {
		return p
	}
	p.rate *= float64(d.producersOf(client)) / float64(d.Producers)
	p.seed = mix(p.seed) ^ mix(uint64(d.Clients)<<32|uint64(client))
	p.bits = min(blockBits, max(leastBits, bits.Len(uint(mostInBlocks/d.Clients))-1))
	return p
}

// Clients make smaller blocks the more there are, so that thousands of them don't fill the memory with arrivals.
const (
	mostInBlocks = 1 << 16 // arrivals in one block of each client together
	leastBits    = 4       // but a block has at least 2^leastBits arrivals
)

// superposed counts the arrivals of many Poisson processes together, one for each client. It keeps when each has its next
// arrival, so that it looks only at those with arrivals since it was last asked. After Count(50), two processes with arrivals at
// 10, 40, 70 and at 20, 60 ns have counted 2 and 1, sum 3, and next 70 and 60.
type superposed struct {
	rate      float64
	processes []*walk
	next      []int64 // by process: the offset of its first arrival that was not counted
	counted   []int64 // by process: its arrivals before countedTo
	sum       int64   // of counted
	countedTo int64   // the offset before which arrivals are counted
}

func (p poisson) superpose(d Deal) *superposed {
	s := &superposed{rate: p.rate, counted: make([]int64, d.Clients)}
	for client := range d.Clients {
		w := p.share(d, client).walk()
		s.processes, s.next = append(s.processes, w), append(s.next, w.At(0))
	}
	return s
}

// Count returns the number of arrivals strictly before offset d. To ask for an earlier offset is to begin again, unless it
// is the start.
func (s *superposed) Count(d int64) int64 {
	if d <= 0 {
		return 0
	}
	s.countTo(d)
	return s.sum
}

// countTo counts the arrivals before d.
func (s *superposed) countTo(d int64) {
	if d < s.countedTo {
		s.sum = 0
		for k, w := range s.processes {
			s.next[k], s.counted[k] = w.At(0), 0
		}
	}
	s.countedTo = d
	for k, at := range s.next {
		if at < d {
			n := s.processes[k].Count(d)
			s.sum += n - s.counted[k]
			s.next[k], s.counted[k] = s.processes[k].At(n), n
		}
	}
}

// limits returns how many of the first total arrivals are each process's. Of those at the same nanosecond, the first
// processes' come first.
func (s *superposed) limits(total int64) []int64 {
	limits := make([]int64, len(s.processes))
	if total <= 0 {
		return limits
	}
	last := s.at(total - 1)
	s.countTo(last)
	copy(limits, s.counted)
	missing := total - s.sum // arrivals at last itself
	for k, w := range s.processes {
		for ; missing > 0 && w.At(limits[k]) == last; missing-- {
			limits[k]++
		}
	}
	return limits
}

// at returns the offset of arrival i. It sorts the arrivals around the offset at which arrival i is expected, from 8 standard
// deviations and 64 arrivals before it to as many after it. If arrival i is not among them, it tries a wider range.
func (s *superposed) at(i int64) int64 {
	expected, margin := float64(i)/s.rate*1e9, (64+8*math.Sqrt(float64(i)))/s.rate*1e9
	for ; expected+margin < float64(Never/2); margin *= 4 {
		s.countTo(int64(max(0, expected-margin)))
		before, begin := s.sum, slices.Clone(s.counted)
		s.countTo(int64(expected + margin))
		if before > i || s.sum <= i {
			continue
		}
		var around []int64
		for k, w := range s.processes {
			for j := begin[k]; j < s.counted[k]; j++ {
				around = append(around, w.At(j))
			}
		}
		slices.Sort(around)
		return around[i-before]
	}
	return Never
}
