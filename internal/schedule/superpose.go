package schedule

import (
	"cmp"
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

// A Poisson process keeps blocks of 2^bits arrivals in memory (poisson.go). The more clients there are, the smaller they are.
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
	*walk
	counted int64 // its arrivals before countedTo
	next    int64 // the offset of the first arrival that is not counted
}

func (p poisson) superpose(d Deal) *superposed {
	s := &superposed{rate: p.rate, processes: make([]process, d.Clients)}
	for client := range s.processes {
		w := p.share(d, client).walk()
		s.processes[client] = process{walk: w, next: w.At(0)}
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
		for k := range s.processes {
			p := &s.processes[k]
			p.counted, p.next = 0, p.At(0)
		}
	}
	s.countedTo = d
	for k := range s.processes {
		if p := &s.processes[k]; p.next < d {
			n := p.Count(d)
			s.sum += n - p.counted
			p.counted, p.next = n, p.At(n)
		}
	}
}

// limits returns how many of the first total arrivals are each client's. Of arrivals at the same nanosecond, those of the
// first client come first. If fewer than total ever come, the first client gets what is missing.
//
// It counts the arrivals until shortly before the last of them is expected, and deals out those around that time one by
// one: 8 standard deviations and 64 arrivals to either side, or more if the last one is not among them.
func (s *superposed) limits(total int64) []int64 {
	limits := make([]int64, len(s.processes))
	if total <= 0 {
		return limits
	}
	expected := float64(total)
	for margin := 64 + 8*math.Sqrt(expected); ; margin *= 4 {
		s.countTo(s.expectedAt(expected - margin))
		for client, p := range s.processes {
			limits[client] = p.counted
		}
		left := total - s.sum // to be dealt out
		s.countTo(s.expectedAt(expected + margin))
		if left < 0 || s.sum < total && s.countedTo < Never {
			continue
		}
		around := s.arrivalsFrom(limits)
		dealt := min(left, int64(len(around)))
		for _, a := range around[:dealt] {
			limits[a.client]++
		}
		limits[0] += left - dealt
		return limits
	}
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

// arrivalsFrom returns the counted arrivals of each client, from index first[client] on, in order.
func (s *superposed) arrivalsFrom(first []int64) []arrival {
	var arrivals []arrival
	for client, p := range s.processes {
		for i := first[client]; i < p.counted; i++ {
			arrivals = append(arrivals, arrival{p.At(i), client})
		}
	}
	slices.SortFunc(arrivals, func(a, b arrival) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.client, b.client)) })
	return arrivals
}
