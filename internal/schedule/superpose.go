package schedule

import (
	"math"
	"math/bits"
	"slices"
)

// part returns the arrivals of client c's producers. Independent Poisson processes together are a Poisson process whose
// rate is the sum of theirs, and dealing its arrivals out at random gives independent ones back (Kingman, Poisson
// Processes, 1993, sections 2.2 and 5.1). So each client makes its own arrivals from a seed of its own.
func (p poisson) part(d Deal, c int) poisson {
	if d.Clients == 1 {
		return p
	}
	p.rate *= float64(d.each(c)) / float64(d.Producers)
	p.seed = mix(p.seed) ^ mix(uint64(d.Clients)<<32|uint64(c))
	p.bits = min(blockBits, max(leastBits, bits.Len(uint(mostInBlocks/d.Clients))-1))
	return p
}

// Clients make smaller blocks the more there are, so that thousands of them don't fill the memory with arrivals.
const (
	mostInBlocks = 1 << 16 // arrivals in one block of each client together
	leastBits    = 4       // but a block has at least 2^leastBits arrivals
)

// superposed counts the arrivals of many Poisson processes together. It keeps when each process has its next arrival, so
// that it looks only at processes with arrivals since it was last asked.
type superposed struct {
	rate    float64
	parts   []*walk
	next    []int64 // when each part has its first arrival that was not counted
	counted []int64 // arrivals of each part before at
	sum     int64   // of counted
	at      int64   // the offset up to which arrivals are counted
}

func (p poisson) parts(d Deal) *superposed {
	s := &superposed{rate: p.rate, counted: make([]int64, d.Clients)}
	for c := range d.Clients {
		w := p.part(d, c).walk()
		s.parts, s.next = append(s.parts, w), append(s.next, w.At(0))
	}
	return s
}

// Count returns the number of arrivals strictly before offset d. To ask for an earlier offset is to begin again.
func (s *superposed) Count(d int64) int64 {
	if d <= 0 {
		return 0 // without going back
	}
	s.count(d)
	return s.sum
}

// count counts up to d > 0.
func (s *superposed) count(d int64) {
	if d < s.at {
		s.sum = 0
		for k, w := range s.parts {
			s.next[k], s.counted[k] = w.At(0), 0
		}
	}
	s.at = d
	for k, at := range s.next {
		if at < d {
			n := s.parts[k].Count(d)
			s.sum += n - s.counted[k]
			s.next[k], s.counted[k] = s.parts[k].At(n), n
		}
	}
}

// first is how many of the first total arrivals are each part's; of those at the same nanosecond the lower parts' come
// first.
func (s *superposed) first(total int64) []int64 {
	limits := make([]int64, len(s.parts))
	if total <= 0 {
		return limits
	}
	last := s.when(total - 1)
	s.count(last)
	rest := total - s.sum
	copy(limits, s.counted)
	for k, w := range s.parts {
		for ; rest > 0 && w.At(limits[k]) == last; rest-- {
			limits[k]++
		}
	}
	return limits
}

// when is the offset of arrival i: it sorts those that come around the time it is expected at.
func (s *superposed) when(i int64) int64 {
	expected, margin := float64(i)/s.rate*1e9, (64+8*math.Sqrt(float64(i)))/s.rate*1e9
	for expected+margin < float64(Never/2) {
		from, to := int64(max(0, expected-margin)), int64(expected+margin)
		s.count(from)
		before, begin := s.sum, slices.Clone(s.counted)
		if s.count(to); before > i || s.sum <= i {
			margin *= 4
			continue
		}
		var around []int64
		for k, w := range s.parts {
			for j, end := begin[k], s.counted[k]; j < end; j++ {
				around = append(around, w.At(j))
			}
		}
		slices.Sort(around)
		return around[i-before]
	}
	return Never
}
