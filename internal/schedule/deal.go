package schedule

import (
	"fmt"
	"math"
)

// Dealt is what client c of clients sends of s where n producers take turns, arrival i being producer i mod n's, and
// producer k is one of client k mod clients': all arrivals of these producers, in order. It panics unless
// 0 ≤ c < clients ≤ n.
func Dealt(s Schedule, c, clients, n int) Schedule {
	if c < 0 || c >= clients || clients > n {
		panic(fmt.Sprintf("schedule: client %d of %d for %d producers", c, clients, n))
	}
	if n%clients == 0 { // the clients take turns as well
		return Share(s, c, clients)
	}
	return dealt{s, int64(c), int64(clients), int64(n)}
}

// Deal is how many of the first total arrivals are client c's; see Dealt.
func Deal(total int64, c, clients, n int) int64 {
	return dealt{nil, int64(c), int64(clients), int64(n)}.of(total)
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
