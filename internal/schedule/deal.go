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
// process as well, independent of all others, and each client can make its own without going through everybody's.
type Deal struct {
	Clients, Producers int // 0 < Clients ≤ Producers
}

// each returns how many producers client c has.
func (d Deal) each(c int) int { return (d.Producers - c + d.Clients - 1) / d.Clients }

// Share returns the part of s that client c sends: all arrivals of its producers, in order. It panics unless
// 0 ≤ c < Clients ≤ Producers.
func (d Deal) Share(s Schedule, c int) Schedule {
	if c < 0 || c >= d.Clients || d.Clients > d.Producers {
		panic(fmt.Sprintf("schedule: client %d of %d for %d producers", c, d.Clients, d.Producers))
	}
	switch p, random := s.(poisson); {
	case random:
		return p.part(d, c)
	case d.Producers%d.Clients == 0: // the clients take turns as well
		return Share(s, c, d.Clients)
	}
	return dealt{s, int64(c), int64(d.Clients), int64(d.Producers)}
}

// Limits returns, for each client, how many of the first total arrivals of s are its own. s is nil in a closed loop, where
// no message has a time.
func (d Deal) Limits(s Schedule, total int64) []int64 {
	if p, random := s.(poisson); random && d.Clients > 1 {
		return p.parts(d).first(total)
	}
	limits := make([]int64, d.Clients)
	for c := range limits {
		limits[c] = dealt{nil, int64(c), int64(d.Clients), int64(d.Producers)}.of(total)
	}
	return limits
}

// Counter counts the arrivals before an offset.
type Counter interface{ Count(d int64) int64 }

// Counter returns a counter of all clients' arrivals of s, for one goroutine that asks for later and later offsets.
func (d Deal) Counter(s Schedule) Counter {
	if p, random := s.(poisson); random && d.Clients > 1 {
		return p.parts(d)
	}
	return Sequential(s)
}

// Turns says which of a client's producers sends which arrival.
type Turns struct {
	producers uint64
	random    bool
	seed      uint64
}

// Turns returns the turns of client c's producers, for the arrivals of Share(s, c).
func (d Deal) Turns(s Schedule, c int) Turns {
	t := Turns{producers: uint64(d.each(c))}
	if p, random := s.(poisson); random && t.producers > 1 {
		t.random, t.seed = true, mix(p.part(d, c).seed+1)
	}
	return t
}

// Of returns the index of the producer, among the client's, that sends arrival i of the client's share.
func (t Turns) Of(i int64) int {
	if !t.random {
		return int(uint64(i) % t.producers)
	}
	k, _ := bits.Mul64(mix(t.seed^uint64(i)), t.producers)
	return int(k)
}

// dealt is the share of a client that has more or fewer producers than others. Its arrivals come in rounds: in each round
// of n arrivals every producer has one.
type dealt struct {
	whole         Schedule
	c, clients, n int64 // client c of clients; n producers
}

// each returns how many producers the client has.
func (d dealt) each() int64 { return (d.n - d.c + d.clients - 1) / d.clients }

// of returns how many of the first total arrivals are the client's: those of whole rounds and those of the last one.
func (d dealt) of(total int64) int64 {
	return total/d.n*d.each() + max(0, (total%d.n-d.c+d.clients-1)/d.clients)
}

func (d dealt) At(i int64) int64 {
	each := d.each()
	round := i / each
	if round >= math.MaxInt64/d.n {
		return Never
	}
	return d.whole.At(round*d.n + d.c + i%each*d.clients)
}

func (d dealt) Count(at int64) int64 { return d.of(d.whole.Count(at)) }
func (d dealt) Rate(t int64) float64 { return d.whole.Rate(t) * float64(d.each()) / float64(d.n) }
func (d dealt) sequential() Schedule {
	return dealt{Sequential(d.whole), d.c, d.clients, d.n}
}
