package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokermark/brokermark/internal/driver"
)

// committer sends records in one transaction after the other; a record is acknowledged when its transaction is committed. It has
// a goroutine of its own, because a producer can't send into a transaction during its commit, and Send must not wait for that.
type committer struct {
	client   *kgo.Client
	receipts driver.Receipts
	interval time.Duration // of commits
	patience time.Duration // for a coordinator that does not answer
	wake     chan struct{} // something is queued
	closing  chan struct{}
	ended    chan struct{}
	ctx      context.Context // ends when Close gives up
	giveUp   context.CancelFunc

	mu     sync.Mutex
	queue  []*kgo.Record
	failed error // the first of the open transaction
	cut    bool  // a transaction was aborted; its messages must be sent first

	// The open transaction; used by the goroutine only.
	taken    []*kgo.Record // spare of queue
	slots    []uint32
	promises sync.WaitGroup
}

func newCommitter(client *kgo.Client, r driver.Receipts, interval, patience time.Duration, inFlight int) *committer {
	c := &committer{
		client: client, receipts: r, interval: interval, patience: patience,
		wake: make(chan struct{}, 1), closing: make(chan struct{}), ended: make(chan struct{}),
		queue: make([]*kgo.Record, 0, inFlight), taken: make([]*kgo.Record, 0, inFlight), slots: make([]uint32, 0, inFlight),
	}
	c.ctx, c.giveUp = context.WithCancel(context.Background())
	go c.run()
	return c
}

func (c *committer) add(r *kgo.Record, resent bool) {
	c.mu.Lock()
	c.cut = c.cut && !resent
	refused := c.cut
	if !refused {
		c.queue = append(c.queue, r)
	}
	c.mu.Unlock()
	if refused {
		c.receipts.Done([]uint32{slotOf(r)}, errAborted)
		return
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *committer) run() {
	defer close(c.ended)
	for {
		select {
		case <-c.wake:
		case <-c.closing:
			select {
			case <-c.wake: // passed before Close: still to be sent
			default:
				return
			}
		}
		err := c.transaction()
		if err != nil && c.ctx.Err() != nil {
			return // the client still holds the records: close completes them
		}
		if errors.Is(err, driver.ErrDisconnected) {
			c.takeAll()
		}
		c.receipts.Done(c.slots, err)
		c.slots = c.slots[:0]
	}
}

var errAborted = fmt.Errorf("kafka: %w: the transaction was aborted", driver.ErrDisconnected)

// takeAll takes all queued records along with an aborted transaction.
func (c *committer) takeAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = true
	for _, r := range c.queue {
		c.slots = append(c.slots, slotOf(r))
	}
	c.queue = c.queue[:0]
}

// repeatable reports whether the operation that failed with err may succeed next time.
func repeatable(err error) bool {
	var e *kerr.Error
	switch {
	case errors.Is(err, kgo.ErrRecordTimeout), errors.Is(err, kgo.ErrRecordRetries), errors.Is(err, context.Canceled):
		return false
	case errors.As(err, &e):
		return e.Retriable || slices.Contains(overtaken, e)
	}
	return true
}

// overtaken are the broker's errors for a transaction that timed out, or that a new coordinator doesn't know.
var overtaken = []*kerr.Error{
	kerr.InvalidProducerIDMapping, kerr.InvalidProducerEpoch, kerr.InvalidTxnState, kerr.UnknownProducerID,
	kerr.OutOfOrderSequenceNumber, kerr.OperationNotAttempted, kerr.TransactionAbortable,
}

// transaction sends the records of an interval and commits them.
func (c *committer) transaction() error {
	c.failed = nil
	begun := c.client.BeginTransaction()
	for timer := time.After(c.interval); ; {
		c.produce()
		select {
		case <-c.wake:
			continue
		case <-timer:
		case <-c.closing:
			c.produce()
		}
		break
	}
	err := errors.Join(begun, c.client.Flush(c.ctx))
	if err == nil {
		c.promises.Wait() // Flush doesn't wait for records that were refused at once
		err = c.failed
	}
	committed, known := false, true
	if err == nil {
		err = c.client.EndTransaction(c.ctx, kgo.TryCommit)
		if err != nil && !errors.Is(err, kerr.OperationNotAttempted) && !errors.Is(err, kerr.TransactionAbortable) {
			committed, known = fate(c.ctx, c.client, c.patience)
		}
	}
	if err == nil || c.ctx.Err() != nil {
		return err
	}
	// After a commit this ends nothing, but the client needs it to begin another transaction.
	undone := errors.Join(c.client.AbortBufferedRecords(c.ctx), c.client.EndTransaction(c.ctx, kgo.TryAbort))
	if c.ctx.Err() == nil {
		c.promises.Wait()
	}
	switch {
	case committed:
		return nil
	case undone == nil && known && repeatable(err):
		return fmt.Errorf("%w: %w", errAborted, err)
	}
	return errors.Join(err, undone)
}

func (c *committer) produce() {
	c.mu.Lock()
	c.queue, c.taken = c.taken[:0], c.queue
	c.mu.Unlock()
	for _, r := range c.taken {
		c.slots = append(c.slots, slotOf(r))
		c.promises.Add(1)
		c.client.Produce(c.ctx, r, c.promised)
	}
}

func (c *committer) promised(r *kgo.Record, err error) {
	if err != nil {
		c.mu.Lock()
		c.failed = errors.Join(c.failed, refusal(r, err))
		c.mu.Unlock()
	}
	c.promises.Done()
}

// close commits the records passed so far; when ctx ends, it completes the rest with an error.
func (c *committer) close(ctx context.Context) {
	close(c.closing)
	stop := context.AfterFunc(ctx, c.giveUp)
	<-c.ended
	stop()
	c.giveUp()
	c.client.Close()
	c.promises.Wait()
	for _, r := range c.queue {
		c.slots = append(c.slots, slotOf(r))
	}
	if len(c.slots) > 0 {
		c.receipts.Done(c.slots, context.DeadlineExceeded)
	}
}
