package redis

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

var errClosed = errors.New("the producer was closed before the server replied; the message may have been stored all the same")

// pipe sends the commands of a producer on one connection. Commands that gather while the last replies are awaited go into one pipeline:
//
//	Send ── slots ──> queue ──(run)──> write all, read all ──> Done
//
// The contract's Send must not wait for replies, but the client's Exec does, hence the goroutine.
type pipe struct {
	client redis.UniversalClient
	// elsewhere connects after a lost connection to the node that has the streams then, and pauses; nil: the client reconnects by itself.
	elsewhere func(ctx context.Context) redis.UniversalClient
	receipts  driver.Receipts
	most      int           // commands per pipeline
	command   []redis.Cmder // by slot; of the producer
	// fresh makes the client build the command of a slot, as applications do; nil: the commands in command are reused.
	fresh func(ctx context.Context, pipeline redis.Pipeliner, slot uint32) redis.Cmder
	last  redis.Cmder  // ends every pipeline; nil: none
	judge func() error // reads the reply of last

	// Without acknowledgements, messages are completed when their pipeline is written, which is when the client begins to read
	// its replies; the replies then belong to no message. Used by run only.
	unanswered bool
	writing    []uint32 // the slots of the pipeline, until then
	encoded    uint32   // the slot whose command was written last

	mu      sync.Mutex
	queue   []uint32
	cut     bool // a connection was lost; only resent messages are accepted, because they come first
	again   bool // lost messages are sent again
	closed  bool
	awake   chan struct{} // holds one wake-up
	ended   chan struct{}
	stop    context.CancelFunc
	stopped context.Context //nolint:containedctx // ends with the pipe, not with a call
}

func newPipe(r driver.Receipts, command []redis.Cmder, most int) *pipe {
	p := &pipe{
		receipts: r, most: most, command: command,
		queue: make([]uint32, 0, len(command)), awake: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	p.stopped, p.stop = context.WithCancel(context.Background())
	return p
}

// send queues batch, or completes it with an error if a connection was lost and other messages have to come first.
func (p *pipe) send(batch []driver.Message) {
	if len(batch) == 0 {
		return
	}
	p.mu.Lock()
	refused := p.cut && !batch[0].Resent
	p.cut = refused
	if !refused {
		for i := range batch {
			p.queue = append(p.queue, batch[i].Slot)
		}
	}
	p.mu.Unlock()
	if !refused {
		p.wake()
		return
	}
	driver.Fail(p.receipts, batch, errLost)
}

func (p *pipe) wake() {
	select {
	case p.awake <- struct{}{}:
	default:
	}
}

// run ends when the pipe is closed and the queue is empty.
func (p *pipe) run() {
	defer close(p.ended)
	taken := make([]uint32, 0, len(p.command))
	for {
		p.mu.Lock()
		p.queue, taken = taken[:0], p.queue
		closed := p.closed
		p.mu.Unlock()
		if len(taken) == 0 {
			if closed {
				return
			}
			<-p.awake
			continue
		}
		for from := 0; from < len(taken); from += p.most {
			to := min(from+p.most, len(taken))
			if p.exec(taken[from:to]) {
				continue
			}
			if p.again {
				p.giveUp(taken[to:])
				from = len(taken)
			}
			p.rest()
		}
	}
}

// rest pauses after a lost connection.
func (p *pipe) rest() {
	if p.elsewhere == nil {
		_ = socket.Pause(p.stopped, retryPause)
		return
	}
	client := p.elsewhere(p.stopped)
	if client == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.client.Close()
	if p.client = client; p.stopped.Err() != nil {
		_ = client.Close()
	}
}

// giveUp also completes the queued messages after a lost connection: they must not overtake the resent ones.
func (p *pipe) giveUp(taken []uint32) {
	p.mu.Lock()
	left := append(slices.Clone(taken), p.queue...)
	p.queue = p.queue[:0]
	p.mu.Unlock()
	if len(left) > 0 {
		p.receipts.Done(left, errLost)
	}
}

// exec settles slots and reports whether the connection lives. After a lost one run pauses, so that a dead server costs only an
// attempt now and then; senders then run out of slots.
func (p *pipe) exec(slots []uint32) (alive bool) {
	if p.stopped.Err() != nil {
		p.receipts.Done(slots, errClosed)
		return true
	}
	pipeline := p.client.Pipeline()
	for _, s := range slots {
		if p.fresh != nil {
			p.command[s] = p.fresh(context.Background(), pipeline, s)
			continue
		}
		p.command[s].SetErr(nil)
		_ = pipeline.Process(context.Background(), p.command[s])
	}
	if p.last != nil {
		p.last.SetErr(nil)
		_ = pipeline.Process(context.Background(), p.last)
	}
	if p.unanswered {
		p.writing, p.encoded = slots, math.MaxUint32
	}
	_, err := pipeline.Exec(context.Background())
	if p.unanswered && p.writing == nil {
		if err != nil && !lost(err) { // of a completed message
			driver.Refuse(p.receipts, err)
		}
		return !lost(err)
	}
	p.writing = nil
	if err == nil && p.last != nil {
		err = p.judge()
		p.receipts.Done(slots, err)
		return true
	}
	if err == nil {
		p.receipts.Done(slots, nil)
		return true
	}
	alive = !lost(err)
	if !alive {
		p.mu.Lock()
		p.cut = p.again
		p.mu.Unlock()
	}
	for from, to := 0, 0; from < len(slots); from = to {
		fate := p.command[slots[from]].Err()
		for to = from + 1; to < len(slots) && p.command[slots[to]].Err() == fate; to++ { //nolint:errorlint // with the same outcome
		}
		if fate == nil && p.last != nil {
			fate = p.judge()
		}
		if !alive && lost(fate) && p.stopped.Err() == nil {
			fate = fmt.Errorf("%w: %w", errLost, fate)
		}
		p.receipts.Done(slots[from:to], fate)
	}
	return alive
}

// handOver completes a pipeline once it is written whole. A new connection is read from before that.
func (p *pipe) handOver() {
	if n := len(p.writing); n > 0 && p.encoded == p.writing[n-1] {
		p.receipts.Done(p.writing, nil)
		p.writing = nil
	}
}

// close waits a moment for the last replies, then closes the connection, which fails the rest.
func (p *pipe) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.wake()
	select {
	case <-p.ended:
	case <-time.After(closeBudget):
	}
	p.stop()
	p.mu.Lock()
	_ = p.client.Close()
	p.mu.Unlock()
	<-p.ended
}
