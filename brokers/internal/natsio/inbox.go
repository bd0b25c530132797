package natsio

import (
	"sync"

	"github.com/nats-io/nats.go"
)

const batchMax = 256

// Inbox is the channel of a subscription, read in batches. The client drops (and reports) what doesn't fit.
type Inbox struct {
	C     chan *nats.Msg // for Conn.ChanSubscribe
	gone  chan struct{}
	leave func()
}

// NewInbox makes an inbox for up to capacity waiting messages.
func NewInbox(capacity int) *Inbox {
	q := &Inbox{C: make(chan *nats.Msg, max(1, capacity)), gone: make(chan struct{})}
	q.leave = sync.OnceFunc(func() { close(q.gone) })
	return q
}

// Each calls do with the arrived messages, at least one at a time, until End. do's slice is reused.
func (q *Inbox) Each(do func(batch []*nats.Msg)) {
	defer q.leave()
	batch := make([]*nats.Msg, 0, batchMax)
	for {
		batch = append(batch[:0], <-q.C)
		for n := min(len(q.C), batchMax-1); n > 0; n-- {
			batch = append(batch, <-q.C)
		}
		for i, m := range batch {
			if m == nil {
				if i > 0 {
					do(batch[:i])
				}
				return
			}
		}
		do(batch)
		clear(batch) // else a quiet inbox holds on to the last messages
	}
}

// End makes Each return once it has read the messages that came before. It may be called often and by any goroutine; it waits for room.
func (q *Inbox) End() {
	// A nil message instead of a second channel: a receive from one channel costs half of a select over two.
	select {
	case q.C <- nil:
	case <-q.gone:
	}
}
