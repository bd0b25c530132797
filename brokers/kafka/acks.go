package kafka

import (
	"math/bits"
	"sync/atomic"

	"github.com/brokermark/brokermark/internal/driver"
)

// acks gathers the slots that the client's promises complete one by one, and passes them on in batches: the client reports
// thousands of messages in a row, and each call of Done has a fixed cost.
//
// One goroutine at a time pushes (of the client), another one takes. A slot can be pushed again only after Done has returned it,
// so the ring is never full.
type acks struct {
	receipts driver.Receipts
	ring     []uint32
	head     atomic.Uint64 // next to take
	_        [56]byte
	tail     atomic.Uint64 // next to push
	asleep   atomic.Bool
	wake     chan struct{}
	quit     chan struct{}
	ended    chan struct{}
}

func newAcks(r driver.Receipts, inFlight int) *acks {
	a := &acks{
		receipts: r, ring: make([]uint32, 1<<bits.Len(uint(inFlight-1))),
		wake: make(chan struct{}, 1), quit: make(chan struct{}), ended: make(chan struct{}),
	}
	go a.run()
	return a
}

func (a *acks) push(slot uint32) {
	at := a.tail.Load()
	a.ring[at&uint64(len(a.ring)-1)] = slot
	a.tail.Store(at + 1)
	if a.asleep.Load() && a.asleep.CompareAndSwap(true, false) {
		a.wake <- struct{}{} // never blocks: one for each time that run falls asleep
	}
}

func (a *acks) run() {
	defer close(a.ended)
	for {
		from, to := a.head.Load(), a.tail.Load()
		if from == to {
			a.asleep.Store(true)
			// A push between the look at tail and the line above saw run awake, and wakes no goroutine.
			if a.tail.Load() != from && a.asleep.CompareAndSwap(true, false) {
				continue
			}
			select {
			case <-a.wake:
			case <-a.quit:
				return
			}
			continue
		}
		first, size := from&uint64(len(a.ring)-1), uint64(len(a.ring))
		last := min(first+to-from, size) // the rest of a range that wraps around follows in the next round
		a.receipts.Done(a.ring[first:last], nil)
		a.head.Store(from + last - first)
	}
}

// close is called when everything pushed has been taken.
func (a *acks) close() {
	close(a.quit)
	<-a.ended
}
