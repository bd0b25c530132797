package schedule

import (
	"fmt"
	"math"
	"math/bits"
)

// Deal says how a schedule is dealt to clients: n producers take turns, arrival i being producer i mod n's, and producer
// k is one of client k mod Clients'. The arrivals of a Poisson process belong to producers at random instead, so each
// producer is one as well, independent of all others; and nobody has to go through the arrivals of all.
type Deal struct {
	Clients, Producers int // 0 < Clients ≤ Producers
}

// each is how many producers client c has.
func (d Deal) each(c int) int { return (d.Producers - c + d.Clients - 1) / d.Clients }

// Share is what client c sends of s: all arrivals of its producers, in order. It panics unless 0 ≤ c < Clients ≤ Producers.
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

// Limits are how many of the first total arrivals of s are each client's. s is nil where nothing has a time.
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

// Counter counts all clients' arrivals of s for one goroutine that asks for offsets mostly in order.
func (d Deal) Counter(s Schedule) Counter {
	if p, random := s.(poisson); random && d.Clients > 1 {
		return p.parts(d)
	}
	return Sequential(s)
}

// Turns says whose turn it is among the producers of one client.
type Turns struct {
	producers uint64
	random    bool
	seed      uint64
}

// Turns says for the arrivals of Share(s, c), by index, which of client c's producers sends them.
func (d Deal) Turns(s Schedule, c int) Turns {
	t := Turns{producers: uint64(d.each(c))}
	if p, random := s.(poisson); random && t.producers > 1 {
		t.random, t.seed = true, mix(p.part(d, c).seed+1)
	}
	return t
}

// Of is the producer, among the client's, that sends arrival i.
func (t Turns) Of(i int64) int {
	if !t.random {
		return int(uint64(i) % t.producers)
	}
	k, _ := bits.Mul64(mix(t.seed^uint64(i)), t.producers)
	return int(k)
}

type dealt struct {
	whole         Schedule
	c, clients, n int64
}

// each is how many producers the client has.
func (d dealt) each() int64 { return (d.n - d.c + d.clients - 1) / d.clients }

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
