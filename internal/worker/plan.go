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
	"time"

	"github.com/brokermark/brokermark/internal/driver"
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
