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

// producersOf returns how many producers a client has: c, c + Clients, c + 2·Clients and so on.
func (d Deal) producersOf(client int) int { return (d.Producers - client + d.Clients - 1) / d.Clients }

// Share returns the part of s that a client sends: all arrivals of its producers, in order. It panics unless
// 0 ≤ client < Clients ≤ Producers.
func (d Deal) Share(s Schedule, client int) Schedule {
	if client < 0 || client >= d.Clients || d.Clients > d.Producers {
		panic(fmt.Sprintf("schedule: client %d of %d for %d producers", client, d.Clients, d.Producers))
	}
	if p, random := s.(poisson); random {
		return p.share(d, client)
	}
	if d.Producers%d.Clients == 0 { // the clients take turns as well
		return Share(s, client, d.Clients)
	}
	return dealt{whole: s, rounds: d.roundsOf(client)}
}

// Limits returns, for each client, how many of the first total arrivals of s are its own. s is nil in a closed loop, where
// no message has a time.
func (d Deal) Limits(s Schedule, total int64) []int64 {
	if p, random := s.(poisson); random && d.Clients > 1 {
		return p.superpose(d).limits(total)
	}
	limits := make([]int64, d.Clients)
	for client := range limits {
		limits[client] = d.roundsOf(client).ownAmong(total)
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
		t.random, t.seed = true, mix(p.share(d, client).seed+1)
	}
	return t
}

// Of returns the index of the producer, among the client's, that sends arrival i of the client's share.
func (t Turns) Of(i int64) int {
	if !t.random {
		return int(uint64(i) % t.producers)
	}
	k, _ := bits.Mul64(mix(t.seed^uint64(i)), t.producers) // random · producers / 2^64
	return int(k)
}

// rounds say which arrivals a client sends. In each round every producer has one arrival. With 2 clients and 5 producers, a
// round has 5 arrivals, and those of client 0 are its arrivals 0, 2 and 4.
type rounds struct {
	client, clients int64
	perRound        int64 // arrivals in a round
	ownPerRound     int64 // those of the client
}

func (d Deal) roundsOf(client int) rounds {
	return rounds{
		client: int64(client), clients: int64(d.Clients),
		perRound: int64(d.Producers), ownPerRound: int64(d.producersOf(client)),
	}
}

// ownAmong returns how many of the first total arrivals are the client's: those of whole rounds and those of the last one.
func (r rounds) ownAmong(total int64) int64 {
	inLastRound := (total%r.perRound - r.client + r.clients - 1) / r.clients // rounded up
	return total/r.perRound*r.ownPerRound + inLastRound
}

// dealt is the share of a client if some clients have more producers than others.
type dealt struct {
	whole Schedule
	rounds
}

func (d dealt) At(i int64) int64 {
	round, inRound := i/d.ownPerRound, i%d.ownPerRound // inRound counts the client's own arrivals
	if round >= math.MaxInt64/d.perRound {
		return Never
	}
	return d.whole.At(round*d.perRound + d.client + inRound*d.clients)
}

func (d dealt) Count(at int64) int64 { return d.ownAmong(d.whole.Count(at)) }

func (d dealt) Rate(t int64) float64 {
	return d.whole.Rate(t) * float64(d.ownPerRound) / float64(d.perRound)
}

func (d dealt) sequential() Schedule { return dealt{Sequential(d.whole), d.rounds} }
