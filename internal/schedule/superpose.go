package schedule

import (
	"math"
	"math/bits"
	"slices"
)

// part is the arrivals of client c's producers. Independent Poisson processes together are one whose rate is the sum of
// theirs, and to deal its arrivals at random gives just these processes (Kingman, Poisson Processes, 1993, sections 2.2
// and 5.1). So every client makes its own arrivals from its own seed, and none of the others'.
func (p poisson) part(d Deal, c int) poisson {
	if d.Clients == 1 {
		return p
	}
	p.rate *= float64(d.each(c)) / float64(d.Producers)
	p.seed = mix(p.seed) ^ mix(uint64(d.Clients)<<32|uint64(c))
	p.bits = min(blockBits, max(leastBits, bits.Len(uint(mostInBlocks/d.Clients))-1))
	return p
}

// Many clients make smaller blocks: together they hold so many arrivals, or so few bits' worth each.
const (
	mostInBlocks = 1 << 16
	leastBits    = 4
)

// superposed counts the arrivals of many Poisson processes together. It keeps when each will have its next one, so that
// it looks only at those that have had any since it was last asked.
type superposed struct {
	rate    float64
	parts   []*walk
	next    []int64 // when each part has its first arrival that was not counted
	counted []int64 // arrivals of each part
	sum     int64
	at      int64 // up to where they were counted
}

func (p poisson) parts(d Deal) *superposed {
	s := &superposed{rate: p.rate, counted: make([]int64, d.Clients)}
	for c := range d.Clients {
		w := p.part(d, c).walk()
		s.parts, s.next = append(s.parts, w), append(s.next, w.At(0))
	}
	return s
}

// Count is the number of arrivals strictly before offset d. To go back costs as much as to begin again.
func (s *superposed) Count(d int64) int64 {
	if d <= 0 {
		return 0 // and the place is kept
	}
	s.count(d)
	return s.sum
}

// count brings the counts to d ≥ 0.
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
