package schedule

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// share returns the arrivals of one client's producers. Independent Poisson processes together are a Poisson process whose
// rate is the sum of theirs, and dealing its arrivals out at random gives independent ones back (Kingman, Poisson
// Processes, 1993, sections 2.2 and 5.1). So each client makes its own arrivals from a seed of its own, which no other client
// has, whatever the number of clients.
func (p poisson) share(d Deal, client int) poisson {
	if d.Clients == 1 {
		return p
	}
	p.rate *= float64(d.producersOf(client)) / float64(d.Producers)
	p.seed = Mix(p.seed) ^ Mix(uint64(d.Clients)<<32|uint64(client))
	p.bits = min(blockBits, max(leastBits, bits.Len(uint(mostInBlocks/d.Clients))-1))
	return p
}

// A Poisson process keeps blocks of 2^bits arrivals in memory (walk.go). The more clients there are, the smaller they are.
const (
	mostInBlocks = 1 << 16 // arrivals in one block of each client together
	leastBits    = 4       // but a block has at least 2^leastBits arrivals
)

// superposed counts the arrivals of many Poisson processes together, one for each client. After Count(50), processes with
// arrivals at 10, 40, 70 and at 20, 60 ns have counted 2 and 1, sum 3, and next 70 and 60.
type superposed struct {
	rate      float64 // of all together, messages per second
	processes []process
	sum       int64 // of all counted
	countedTo int64 // the offset before which arrivals are counted
}

// process is one of them. It keeps when its next arrival is, so that it is asked only if that has come.
type process struct {
	*walk         // the client's arrivals: At(i) is the offset of arrival i, Count(d) is how many lie before d
	counted int64 // its arrivals before countedTo
	next    int64 // the offset of the first arrival that is not counted
}

func (p poisson) superpose(d Deal) *superposed {
	s := &superposed{rate: p.rate, processes: make([]process, d.Clients)}
	for client := range s.processes {
		s.processes[client].walk = p.share(d, client).walk()
	}
	s.rewind()
	return s
}

// Count returns the number of arrivals strictly before offset d. To ask for an earlier offset is to begin again, unless it
// is the start.
func (s *superposed) Count(d int64) int64 {
	if d <= 0 {
		return 0
	}
	if d < s.countedTo {
		s.rewind()
	}
	s.countedTo = d
	for k := range s.processes {
		if p := &s.processes[k]; p.next < d {
			n := p.Count(d)
			s.sum += n - p.counted
			p.counted, p.next = n, p.At(n)
		}
	}
	return s.sum
}

// rewind forgets the counts.
func (s *superposed) rewind() {
	s.sum, s.countedTo = 0, 0
	for k := range s.processes {
		p := &s.processes[k]
		p.counted, p.next = 0, p.At(0)
	}
}

// limits returns how many of the first total arrivals are each client's. Of arrivals at the same nanosecond, those of the
// first client come first. If fewer than total ever come, the first client gets the missing ones.
//
// Most arrivals are only counted: those that come before a span of time in which arrival number total is expected, give or take
// 8 standard deviations and 64 arrivals. Those in the span are dealt out one by one. If the span turns out to be wrong, it grows,
// until it is all of time.
func (s *superposed) limits(total int64) []int64 {
	if total <= 0 {
		return make([]int64, len(s.processes))
	}
	expected := float64(total)
	margin := 64 + 8*math.Sqrt(expected)
	for {
		limits, inSpan := s.limitsIn(s.expectedAt(expected-margin), s.expectedAt(expected+margin), total)
		if inSpan {
			return limits
		}
		margin *= 4
	}
}

// limitsIn returns limits(total) if arrival number total, or the end of time, lies between two offsets; else inSpan is false.
func (s *superposed) limitsIn(from, to, total int64) (limits []int64, inSpan bool) {
	limits = s.countEach(from)
	left := total - s.Count(from) // to be dealt out
	if left < 0 {
		return nil, false // it lies before the span
	}
	if s.Count(to) < total && to < Never {
		return nil, false // it lies after the span
	}
	for _, a := range s.arrivalsBetween(limits, s.countEach(to)) {
		if left > 0 {
			limits[a.client]++
			left--
		}
	}
	limits[0] += left // never come
	return limits, true
}

// countEach returns how many arrivals of each client lie before offset d.
func (s *superposed) countEach(d int64) []int64 {
	counts := make([]int64, len(s.processes))
	if d <= 0 {
		return counts
	}
	s.Count(d) // sets counted
	for client, p := range s.processes {
		counts[client] = p.counted
	}
	return counts
}

// expectedAt returns the offset before which n arrivals are expected, from 0 to Never.
func (s *superposed) expectedAt(n float64) int64 {
	at := n / s.rate * 1e9
	if at >= float64(Never) {
		return Never
	}
	return int64(max(at, 0))
}

type arrival struct {
	at     int64
	client int
}

// arrivalsBetween returns the arrivals of each client from number first[client] to the one before end[client], all in the
// order of time. Those at the same nanosecond are in the order of clients.
func (s *superposed) arrivalsBetween(first, end []int64) []arrival {
	var arrivals []arrival
	for client, p := range s.processes {
		for i := first[client]; i < end[client]; i++ {
			arrivals = append(arrivals, arrival{p.At(i), client})
		}
	}
	slices.SortStableFunc(arrivals, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
	return arrivals
}
