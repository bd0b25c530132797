// Package worker runs trials with the producers and consumers of one driver: it paces the sends, stamps the messages, and books
// in package measure whether they were sent, confirmed and received. It knows nothing of searches or records.
//
// A worker connects once and then runs one trial after the other:
//
//	w, err := worker.Prepare(ctx, driver, plan) // connects, and sends probes until every subscription has seen every producer
//	out := w.Run(ctx, worker.Load{Schedule: s, Warmup: worker.Warmup{For: 2 * time.Second}, Duration: 10 * time.Second, Drain: 5 * time.Second})
//	// out.Measured.Balanced() holds: each message was sent or not, and confirmed, refused or unresolved
//	err = w.Close()
//
// The way of a message: when it is due, a client takes a free slot, stamps the message, books the message as sent and hands it to
// the broker's client library. When the broker has confirmed it, the library calls Done, which books the confirmation and frees
// the slot. A consumer reads identity and times from the stamp and books the delivery.
package worker

import (
	"slices"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/schedule"
)

// Plan is everything that stays the same over the trials of a point: a broker with its settings and a load, as one line of a
// study describes it.
type Plan struct {
	Topology  driver.Topology // topics and subscriptions
	Producers []Producer
	Consumers []driver.ConsumerConfig
	// Clients is the number of client connections that the producers share, and with them their windows: producer i uses client i
	// mod Clients. With 8 producers, 2 Clients and an InFlight of 100, each client has 4 producers and a window of 400
	// unconfirmed messages. 0: each producer has a client of its own.
	Clients       int
	ProducerDelay time.Duration // for which every producer works on each message before it sends it
	Delay         Delay         // of every consumer
	Lagging       Lagging       // consumers that are connected when a backlog trial has filled its backlog, not by Prepare

	Payload    Payload
	Headers    []driver.Header // of every message, beside its payload
	Keys       Keys
	KeyOrdered bool   // order is promised per key, not per producer
	Run        uint16 // distinguishes the messages of this point from those of others on the same broker

	InFlight int           // the most unconfirmed messages per producer
	Bytes    int           // the most unconfirmed payload bytes per producer; lowers InFlight if messages are large
	Procs    int           // the most threads that run Go code at once during a trial (GOMAXPROCS); 0: as many as there are cores
	Heap     int           // bytes that the heap may grow to in a trial before it is collected, unless GOGC is set; 0: as Go does by default
	Connect  time.Duration // bounds Prepare, probing included

	Part  *Part  // nil unless this plan is a part of a larger one
	Peers *Peers // nil unless other workers share streams with this one
}

// Producer is one producer and the topic it sends to.
type Producer struct {
	ID    int // unique over the whole run, below wire.MaxProducers
	Topic int // index into Plan.Topology.Topics
}

// clients returns the number of clients that the producers have.
func (p Plan) clients() int {
	if p.Clients == 0 {
		return len(p.Producers)
	}
	return min(p.Clients, len(p.Producers))
}

// producerIDs returns one past the largest ID of a producer, those of workers that share streams included.
func (p Plan) producerIDs() int {
	n := 0
	if p.Peers != nil {
		n = p.Peers.Producers
	}
	for _, producer := range p.Producers {
		n = max(n, producer.ID+1)
	}
	return n
}

// Part says which clients of a whole plan a plan has. A fleet divides a plan into one part for each agent (Plan.Split,
// Plan.Spread).
//
// A client of a part sends exactly what it would send in the whole plan. For example, 4 clients with one producer each send 100
// messages/s: client 0 at 0, 40, 80 ms, client 1 at 10, 50, 90 ms, and so on. A part with the clients 1 and 3 sends at 10, 30,
// 50, 70, 90 ms.
type Part struct {
	Clients []int         // by client of the part: its number in the whole plan; ascending
	Whole   schedule.Deal // how the whole plan deals its schedule out
}

// clientInWhole returns the number that client i of this plan has in the whole plan.
func (p *Plan) clientInWhole(i int) int {
	if p.Part == nil {
		return i
	}
	return p.Part.Clients[i]
}

// deal returns how the whole plan deals a schedule out to clients and producers.
func (p *Plan) deal() schedule.Deal {
	if p.Part != nil {
		return p.Part.Whole
	}
	return schedule.Deal{Clients: p.clients(), Producers: len(p.Producers)}
}

// counter returns a counter of those messages of s that this plan sends, which in a part are not all.
func (p *Plan) counter(s schedule.Schedule) schedule.Counter {
	if p.Part == nil {
		return p.deal().Counter(s)
	}
	var sum counterSum
	for _, client := range p.Part.Clients {
		sum = append(sum, schedule.Sequential(p.deal().Share(s, client)))
	}
	return sum
}

// counterSum adds up several counters.
type counterSum []schedule.Counter

// Count implements schedule.Counter.
func (c counterSum) Count(d int64) (n int64) {
	for _, counter := range c {
		n += counter.Count(d)
	}
	return n
}

// limits returns how many messages each client sends if the whole plan sends the first total messages of s. With 4 clients that
// share a constant rate, the first 10 messages are 3, 3, 2 and 2.
func (p *Plan) limits(s schedule.Schedule, total int64) []int64 {
	whole := p.deal().Limits(s, total)
	own := make([]int64, p.clients())
	for i := range own {
		own[i] = whole[p.clientInWhole(i)]
	}
	return own
}

// share returns which share of the whole plan's messages this worker handles, from 0 to 1. It is 1 if workers share streams,
// because the consumers of one may receive all messages.
func (p *Plan) share() float64 {
	if p.Part == nil || p.Peers != nil {
		return 1
	}
	return float64(len(p.Producers)) / float64(p.Part.Whole.Producers)
}

// ownStreams removes the streams of other parts' producers from a list, which it overwrites.
func (p *Plan) ownStreams(streams []measure.StreamBooks) []measure.StreamBooks {
	if p.Part == nil {
		return streams
	}
	own := map[int]bool{}
	for _, producer := range p.Producers {
		own[producer.ID] = true
	}
	return slices.DeleteFunc(streams, func(s measure.StreamBooks) bool { return !own[s.Producer] })
}
