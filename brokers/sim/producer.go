package sim

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// ack is one slot to be completed.
type ack struct {
	due    int64
	slot   uint32
	failed bool
}

// acks is a ring, first in, first out: departures never overtake.
type acks struct {
	ring      []ack // power of two long
	head, len int
}

func (a *acks) push(k ack) {
	if a.len == len(a.ring) {
		wide := make([]ack, max(1024, 2*len(a.ring)))
		n := copy(wide, a.ring[a.head:])
		copy(wide[n:], a.ring[:a.head])
		a.ring, a.head = wide, 0
	}
	a.ring[(a.head+a.len)&(len(a.ring)-1)] = k
	a.len++
}

func (a *acks) first() ack { return a.ring[a.head] }

func (a *acks) drop() {
	a.head = (a.head + 1) & (len(a.ring) - 1)
	a.len--
}

// producer is a client of the broker.
type producer struct {
	broker     *broker
	receipts   driver.Receipts
	topics     []*topic // by index of the topology; shared by the driver's producers
	atMostOnce bool
	handed     []uint32 // scratch of Send

	// Guarded by the broker's lock.
	acks    acks
	unacked int64
	held    map[int]parcel // by topic; empty unless messages change places
	waiting bool           // for room
	room    chan struct{}

	// completing is held from taking acknowledgements out of acks until Done has returned, so that Close knows when the
	// server has finished with the producer. Lock it before the broker's lock.
	completing sync.Mutex
	scratch    []uint32
	names      []string // of headers
	whole      []byte   // of a message with headers, as it is stored; reused
}

// closeGrace is how long Close waits for acknowledgements that are under way.
const closeGrace = 2 * time.Second

// Send implements driver.Producer.
func (p *producer) Send(ctx context.Context, batch []driver.Message) error {
	for len(batch) > 0 {
		n, err := p.broker.accept(p, batch)
		if p.atMostOnce && n > 0 {
			p.complete(batch[:n], nil)
		}
		batch = batch[n:]
		if err == nil && len(batch) > 0 {
			err = p.await(ctx.Done(), ctx.Err)
		}
		if err != nil {
			p.complete(batch, err)
			return fmt.Errorf("sim %s: %d messages not sent: %w", p.broker.address, len(batch), err)
		}
	}
	return nil
}

// complete completes the slots of messages that the broker will not acknowledge.
func (p *producer) complete(batch []driver.Message, err error) {
	p.handed = p.handed[:0]
	for i := range batch {
		p.handed = append(p.handed, batch[i].Slot)
	}
	p.receipts.Done(p.handed, err)
}

// await waits until there may be room, or an acknowledgement has come.
func (p *producer) await(done <-chan struct{}, cause func() error) error {
	select {
	case <-p.room:
		return nil
	case <-done:
		return cause()
	case <-p.broker.killed:
		return errKilled
	}
}

// Flush implements driver.Producer: Send holds nothing back.
func (p *producer) Flush(context.Context) error { return nil }

// Close implements driver.Producer. It waits a little for outstanding acknowledgements, then gives up on them.
func (p *producer) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	for err := error(nil); err == nil && p.expectsAcks(); {
		err = p.await(ctx.Done(), ctx.Err)
	}
	p.completing.Lock()
	defer p.completing.Unlock()
	left := p.broker.forget(p)
	if len(left) == 0 {
		return nil
	}
	if p.broker.isKilled() {
		p.receipts.Done(left, errKilled)
	} else {
		p.receipts.Done(left, errClosed)
	}
	return nil
}

func (p *producer) expectsAcks() bool {
	p.broker.mu.Lock()
	defer p.broker.mu.Unlock()
	p.waiting = p.acks.len > 0
	return p.waiting
}

// forget removes the producer and returns the slots that will get no acknowledgement.
func (b *broker) forget(p *producer) (left []uint32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for topic, h := range p.held {
		b.letGo(p, topic, h.held)
	}
	b.producers = slices.DeleteFunc(b.producers, func(other *producer) bool { return other == p })
	for ; p.acks.len > 0; p.acks.drop() {
		left = append(left, p.acks.first().slot)
	}
	return left
}
