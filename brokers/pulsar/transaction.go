package pulsar

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	client "github.com/apache/pulsar-client-go/pulsar"

	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

// committer sends messages in one transaction after the other; a message is acknowledged when its transaction is committed, and
// until then no consumer is given it. It has a goroutine of its own, because a client's producer mixes messages of two
// transactions in one batch, and Send must not wait for a commit.
type committer struct {
	connected client.Client
	open      func() (*outlet, error)
	receipts  driver.Receipts
	interval  time.Duration // of commits
	longest   time.Duration // when the broker aborts a transaction
	wake      chan struct{} // something is queued
	closing   chan struct{}
	ended     chan struct{}
	life      context.Context // ends when Close gives up
	end       context.CancelFunc
	abandoned sync.WaitGroup // transactions that are being aborted

	mu    sync.Mutex
	queue []driver.Message
	slots []uint32 // of the open transaction
	cut   bool     // a transaction was aborted; its messages come before any other
	left  bool     // Close has completed everything
	out   *outlet  // nil: the last transaction failed

	taken []driver.Message // spare of queue; the goroutine's own
}

// outlet is one of the client's producers for each topic, and what they have not answered.
type outlet struct {
	mark
	producers []client.Producer // by topic; nil where nothing is sent to
	under     sync.WaitGroup

	mu     sync.Mutex
	failed error // the first of these
}

// errAborted is of messages that will never be delivered, so that they may be sent again.
var errAborted = fmt.Errorf("pulsar: %w: the transaction was not committed", driver.ErrDisconnected)

func (s *session) newCommitter(ctx context.Context, c driver.ProducerConfig, r driver.Receipts) (*committer, error) {
	connected, err := s.connectTransacting()
	if err != nil {
		return nil, err
	}
	v := s.config.Client
	p := &committer{
		connected: connected, receipts: r, interval: v.Duration("commitInterval"), longest: v.Duration("transactionTimeout"),
		wake: make(chan struct{}, 1), closing: make(chan struct{}), ended: make(chan struct{}),
		queue: make([]driver.Message, 0, c.InFlight), taken: make([]driver.Message, 0, c.InFlight), slots: make([]uint32, 0, c.InFlight),
	}
	p.life, p.end = context.WithCancel(context.Background())
	p.open = func() (*outlet, error) { return s.newOutlet(connected, c) }
	for {
		if p.out, err = p.open(); err == nil {
			go p.run()
			return p, nil
		}
		if socket.Pause(ctx, retryPause) != nil {
			release(connected)
			return nil, err
		}
	}
}

// newOutlet makes producers under new names: the broker takes what the old ones sent for stored, also where it was aborted.
func (s *session) newOutlet(connected client.Client, c driver.ProducerConfig) (*outlet, error) {
	o := &outlet{producers: make([]client.Producer, len(s.topology.Topics))}
	for _, topic := range c.Topics {
		options := s.newLine(nil, c, topic).options
		options.Name = "brokermark-" + rand.Text()
		o.marks(&options)
		p, err := connected.CreateProducer(options)
		if err != nil {
			o.close()
			return nil, fmt.Errorf("making a producer for %s: %w", options.Topic, err)
		}
		o.producers[topic] = p
	}
	return o, nil
}

// Send implements driver.Producer.
func (c *committer) Send(_ context.Context, batch []driver.Message) error {
	for i := range batch {
		c.add(&batch[i])
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return nil
}

func (c *committer) add(m *driver.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut = c.cut && !m.Resent; c.cut {
		c.receipts.Done([]uint32{m.Slot}, errAborted)
		return
	}
	c.queue = append(c.queue, *m)
}

// Flush implements driver.Producer: a transaction lasts commitInterval, as it does in applications.
func (c *committer) Flush(context.Context) error { return nil }

func (c *committer) run() {
	defer close(c.ended)
	for {
		select {
		case <-c.wake:
		case <-c.closing:
			select {
			case <-c.wake: // given before Close: still to be sent
			default:
				return
			}
		}
		if err := c.transaction(); !c.complete(err) {
			return
		}
	}
}

// complete tells the fate of the transaction's messages, those that are queued behind one that was aborted included. It tells whether
// the producer is still in use.
func (c *committer) complete(err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left {
		return false
	}
	if errors.Is(err, driver.ErrDisconnected) {
		c.cut = true
		for _, m := range c.queue {
			c.slots = append(c.slots, m.Slot)
		}
		c.queue = c.queue[:0]
	}
	c.receipts.Done(c.slots, err)
	c.slots = c.slots[:0]
	return true
}

// transaction sends what comes within the interval and commits it. After a failure it goes on with other producers: those of this one
// may still send what belongs to it.
func (c *committer) transaction() (err error) {
	began := time.Now()
	out, err := c.outlet()
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			c.replace(nil)
			within(releasePatience, out.close)
		}
	}()
	txn, err := c.connected.NewTransaction(c.longest)
	if err != nil {
		return errors.Join(errAborted, err)
	}
	out.begin(txn)
	until := began.Add(c.longest)
	for timer := time.After(c.interval); ; {
		c.produce(out, txn)
		select {
		case <-c.wake:
			continue
		case <-timer:
		case <-c.closing:
			c.produce(out, txn)
		}
		break
	}
	if err := out.answers(c.life, until); err != nil {
		c.abandoned.Go(func() {
			out.close() // which ends what it waits for
			abort(c.life, txn)
		})
		return errors.Join(errAborted, err) // nobody commits it
	}
	return commit(c.life, txn, until)
}

// outlet is the one that is there, or a new one as soon as the broker lets it be made.
func (c *committer) outlet() (*outlet, error) {
	c.mu.Lock()
	out := c.out
	c.mu.Unlock()
	for pause := (&pauses{}); out == nil; {
		if err := socket.Pause(c.life, pause.Next()); err != nil {
			return nil, err
		}
		var err error
		if out, err = c.open(); err == nil && !c.replace(out) {
			within(releasePatience, out.close)
			return nil, context.Canceled
		}
	}
	return out, nil
}

// replace tells whether the producer is still in use.
func (c *committer) replace(out *outlet) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out = out
	return !c.left
}

// commit commits a transaction, and asks again where the connection is lost on the way, for as long as the broker keeps it. It returns nil,
// errAborted, or an error where nobody knows how it ended.
func commit(ctx context.Context, txn client.Transaction, until time.Time) error {
	for {
		err := txn.Commit(ctx)
		ended, committed := fate(err, until)
		switch {
		case committed:
			return nil
		case ended:
			return errors.Join(errAborted, err)
		case !time.Now().Before(until):
			return err
		}
		if socket.Pause(ctx, retryPause) != nil {
			return err
		}
		reopen(txn)
	}
}

// fate is what the answer to a commit says. A coordinator knows no transaction that has ended: before the broker would have aborted it, only
// the commit can have ended it.
func fate(err error, until time.Time) (ended, committed bool) {
	var its *client.Error
	switch {
	case err == nil:
		return true, true
	case !errors.As(err, &its):
		return false, false
	case its.Result() == client.TransactionNoFoundError:
		known := time.Now().Before(until)
		return known, known
	}
	return its.Result() == client.InvalidStatus, false // its time was over before it was committed
}

// reopen lets the client commit again, or abort, a transaction that it has given up: its documentation says that it may be, and its code
// refuses.
func reopen(txn client.Transaction) {
	state := reflect.ValueOf(txn).Elem().FieldByName("state")
	(*atomic.Int32)(unsafe.Pointer(state.UnsafeAddr())).Store(int32(client.TxnOpen))
}

// abort ends, if the broker answers soon, what consumers would otherwise wait behind until its time is over.
func abort(ctx context.Context, txn client.Transaction) {
	reopen(txn)
	ctx, cancel := context.WithTimeout(ctx, closePatience)
	defer cancel()
	_ = txn.Abort(ctx)
}

func (c *committer) produce(out *outlet, txn client.Transaction) {
	c.mu.Lock()
	c.queue, c.taken = c.taken[:0], c.queue
	for i := range c.taken {
		c.slots = append(c.slots, c.taken[i].Slot)
	}
	c.mu.Unlock()
	for i := range c.taken {
		m := &c.taken[i]
		out.send(out.producers[m.Topic], &client.ProducerMessage{Payload: m.Payload, Key: string(m.Key), Transaction: txn})
	}
}

// send gives a message to one of the client's producers; answers tells what became of it.
func (o *outlet) send(p client.Producer, m *client.ProducerMessage) {
	o.under.Add(1)
	answered := sync.OnceFunc(o.under.Done)
	fail := func(err error) {
		o.mu.Lock()
		o.failed = errors.Join(o.failed, err)
		o.mu.Unlock()
	}
	defer func() {
		if recover() != nil { // the client closes its queue when it gives a topic up, whoever is sending
			fail(errLost)
			answered()
		}
	}()
	p.SendAsync(context.Background(), m, func(_ client.MessageID, _ *client.ProducerMessage, err error) {
		if err != nil {
			fail(err)
		}
		answered()
	})
}

// answers waits until all that was sent is answered, and joins what failed.
func (o *outlet) answers(ctx context.Context, until time.Time) error {
	answered := make(chan struct{})
	go func() {
		o.under.Wait()
		close(answered)
	}()
	select {
	case <-answered:
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Until(until)):
		return errUnanswered
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failed
}

func (o *outlet) close() {
	for _, p := range o.producers {
		if p != nil {
			p.Close()
		}
	}
}

// Close implements driver.Producer: it commits what was given, or completes it with an error where that takes too long. The client bounds
// no wait for its coordinator.
func (c *committer) Close() error {
	close(c.closing)
	select {
	case <-c.ended:
	case <-time.After(closePatience):
	}
	c.end()
	c.mu.Lock()
	c.left = true
	for _, m := range c.queue {
		c.slots = append(c.slots, m.Slot)
	}
	if len(c.slots) > 0 {
		c.receipts.Done(c.slots, errUnanswered)
	}
	out := c.out
	c.mu.Unlock()
	within(2*releasePatience, func() {
		c.abandoned.Wait()
		if out != nil {
			out.close()
		}
		release(c.connected)
	})
	return nil
}
