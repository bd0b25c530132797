package schedule

import (
	"fmt"
	"math"
	"math/bits"
)

// Deal says how a schedule is dealt out to clients. Producers take turns: arrival i belongs to producer i mod Producers. So
// do clients: producer k belongs to client k mod Clients.
//
// With 2 clients and 5 producers, client 0 has producers 0, 2 and 4, and sends arrivals 0, 2, 4, 5, 7, 9 and so on; client 1
// has producers 1 and 3, and sends arrivals 1, 3, 6, 8 and so on.
//
// The arrivals of a Poisson process belong to producers at random instead. Then the arrivals of each producer are a Poisson
// process as well, independent of all others, and each client can make its own (superpose.go) without going through all
// others.
type Deal struct {
	Clients, Producers int // 0 < Clients ≤ Producers
}

// Share returns the part of s that a client sends: all arrivals of its producers, in order. It panics unless
// 0 ≤ client < Clients ≤ Producers.
func (d Deal) Share(s Schedule, client int) Schedule {
	if client < 0 || client >= d.Clients || d.Clients > d.Producers {
		panic(fmt.Sprintf("schedule: client %d of %d for %d producers", client, d.Clients, d.Producers))
	}
	if d.Clients == 1 {
		return s
	}
	if p, random := s.(poisson); random {
		return p.share(d, client)
	}
	return dealt{whole: s, deal: d, client: client}
}

// Limits returns, for each client, how many of the first total arrivals of s are its own. s is nil in a closed loop, where
// no message has a time.
func (d Deal) Limits(s Schedule, total int64) []int64 {
	if p, random := s.(poisson); random && d.Clients > 1 {
		return p.superpose(d).limits(total)
	}
	limits := make([]int64, d.Clients)
	for client := range limits {
		limits[client] = d.ownAmong(total, client)
	}
	return limits
}

// Counter counts the arrivals before an offset.
type Counter interface{ Count(d int64) int64 }

// Counter returns a counter of all clients' arrivals of s, for one goroutine that asks for later and later offsets.
func (d Deal) Counter(s Schedule) Counter {
	if p, random := s.(poisson); random && d.Clients > 1 {
		return p.superpose(d)
	}
	return Sequential(s)
}

// producersOf returns how many producers a client has.
func (d Deal) producersOf(client int) int64 {
	return countEvery(int64(d.Producers), int64(client), int64(d.Clients))
}

// ownAmong returns how many of the first total arrivals are a client's, if producers take turns. With 2 clients and 5 producers,
// of the first 17 arrivals client 0 has 3·3 in the three whole rounds, and of the last two, 15 and 16, the first.
func (d Deal) ownAmong(total int64, client int) int64 {
	rounds, inLastRound := total/int64(d.Producers), total%int64(d.Producers)
	return rounds*d.producersOf(client) + countEvery(inLastRound, int64(client), int64(d.Clients))
}

// countEvery returns how many of the numbers 0 to n−1 are first, first + step, first + 2·step and so on: (n − first)/step,
// rounded up. first must be below step.
func countEvery(n, first, step int64) int64 { return (n - first + step - 1) / step }

// dealt is the share of a client whose producers take turns with all others.
type dealt struct {
	whole  Schedule
	deal   Deal
	client int
}

// At returns the offset of the client's arrival i. In each round, every producer has one arrival: with 2 clients and 5
// producers, arrival 4 of client 0 is its second in round 1, so it is arrival 5 + 2 = 7 of the whole.
func (s dealt) At(i int64) int64 {
	producers, own := int64(s.deal.Producers), s.deal.producersOf(s.client)
	round, inRound := i/own, i%own
	if round >= math.MaxInt64/producers {
		return Never
	}
	return s.whole.At(round*producers + int64(s.client) + inRound*int64(s.deal.Clients))
}

func (s dealt) Count(d int64) int64 { return s.deal.ownAmong(s.whole.Count(d), s.client) }

func (s dealt) Rate(t int64) float64 {
	return s.whole.Rate(t) * float64(s.deal.producersOf(s.client)) / float64(s.deal.Producers)
}

func (s dealt) sequential() Schedule { return dealt{Sequential(s.whole), s.deal, s.client} }

// Turns says which of a client's producers sends which arrival.
type Turns struct {
	producers uint64 // how many the client has
	random    bool   // false: they take turns
	seed      uint64 // if random
}

// Turns returns the turns of a client's producers, for the arrivals of Share(s, client).
func (d Deal) Turns(s Schedule, client int) Turns {
	t := Turns{producers: uint64(d.producersOf(client))}
	if p, random := s.(poisson); random && t.producers > 1 {
		t.random = true
		t.seed = Mix(p.share(d, client).seed + 1) // unrelated to the seed that its arrivals are made from
	}
	return t
}

// Of returns the index of the producer, among the client's, that sends arrival i of the client's share.
func (t Turns) Of(i int64) int {
	if t.producers == 1 { // of most clients, and a division takes as long as the rest of a message's pacing
		return 0
	}
	if !t.random {
		return int(uint64(i) % t.producers)
	}
	anyOf2To64 := Mix(t.seed ^ uint64(i))
	index, _ := bits.Mul64(anyOf2To64, t.producers) // the upper half of the product: anyOf2To64/2^64 · producers
	return int(index)
}
