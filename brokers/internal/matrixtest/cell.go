package matrixtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/testkit"
)

// Messages of each stage; a producer has as many slots as it ever has in flight.
const (
	healthy  = 10
	single   = 5 // sent one at a time while flushes are counted
	waiting  = 10
	inFlight = 10
	spare    = 4 // slots, for messages that follow those that the kill met in flight
)

// cell is one guarantee being proved: a driver on a topic of its own.
type cell struct {
	*livetest.Book
	sent      []string // payloads
	ordered   int      // so many of the first ones have to arrive in order
	kind      driver.Kind
	guarantee driver.Guarantee
	config    driver.Config
	topology  driver.Topology
	owed      []driver.Proof
	done      []driver.Proof
	drv       driver.Driver
	producer  driver.Producer
	stop      func() // of the consumer; nil: none
	nudged    int    // messages it took after the kill until the fate of all was known
	flushed   []int  // times, by node
	said      livetest.Log
	excuse    string // why a proof can't be carried out on this machine
	mu        sync.Mutex
	problems  []string
}

func newCell(t *testing.T, kind driver.Kind, g driver.Guarantee, target driver.Target, number int) *cell {
	stem := fmt.Sprintf("bm-matrix-%x-%d", time.Now().UnixNano()&0xffffffff, number)
	client, _ := driver.Decode(kind.Settings, driver.ClientScope, nil)
	topic, _ := driver.Decode(kind.Settings, driver.TopicScope, nil)
	c := &cell{
		Book: livetest.NewBook(t, inFlight+spare, 1), kind: kind, guarantee: g, owed: kind.Proofs(g),
		config:   driver.Config{Target: target, Guarantee: g, Client: client, Topic: topic},
		topology: driver.Topology{Topics: []driver.Topic{{Name: stem, Partitions: 1}}, Subscriptions: []string{"s"}},
	}
	if refusal, ok := errors.AsType[*driver.ErrUnsupported](kind.Refusal(c.config, driver.Shape{})); ok && strings.HasPrefix(refusal.Path, "client.mode") {
		c.config.Client, _ = driver.Decode(kind.Settings, driver.ClientScope, map[string]any{"mode": driver.Tuned})
	}
	c.config.Log = &c.said
	return c
}

func (c *cell) failf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// sound reports whether nothing has gone wrong so far: afterwards further stages would only repeat the fault.
func (c *cell) sound() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.problems) == 0
}

func (c *cell) open() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var err error
	if c.drv, err = c.kind.Open(ctx, c.config); err != nil {
		c.failf("open: %v", err)
		return
	}
	if err := c.drv.Setup(ctx, c.topology); err != nil {
		c.failf("setup: %v", err)
		return
	}
	if c.producer, err = c.drv.Producer(ctx, driver.ProducerConfig{Topics: []int{0}, InFlight: inFlight + spare, MaxBytes: 100}, c.Book); err != nil {
		c.failf("producer: %v", err)
	}
}

// exchange proves a healthy exchange: everything once, in order.
func (c *cell) exchange() {
	if !c.sound() || !c.consume() {
		return
	}
	c.ordered = healthy
	c.sendAll(healthy)
	c.arrived()
	if b := c.Count(); b.Lost > 0 || b.Pending > 0 || b.Repeated > 0 || b.Failed > 0 || !c.inOrder() {
		c.failf("%+v of %d messages, undisturbed", b, healthy)
	}
	c.prove(driver.ProofLedger)
	if !c.kind.Transient {
		c.endConsumer()
	}
}

func (c *cell) prove(p driver.Proof) { c.done = append(c.done, p) }

func (c *cell) owes(p driver.Proof) bool { return slices.Contains(c.owed, p) }

// survives reports whether the guarantee promises something for the time after the kill.
func (c *cell) survives() bool {
	return c.sound() && (c.owes(driver.ProofKill) || c.owes(driver.ProofLeader))
}

// fill leaves the broker acknowledged messages that have not been read.
func (c *cell) fill() {
	if c.survives() {
		c.sendAll(waiting)
		c.ordered = len(c.sent) // of those that the kill meets in flight some may be sent again
		if b := c.Count(); b.Failed > 0 {
			c.failf("sending to a healthy broker: %v", b.LastErr)
		}
	}
}

// hurry sends messages that the kill is to meet in flight.
func (c *cell) hurry() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_ = c.send(ctx, inFlight) // whatever becomes of them is in the book
}

// recover reads the messages that survived the kill.
func (c *cell) recover() {
	if !c.concluded() {
		c.failf("minutes after the kill the fate of some messages was not known: %+v", c.Count())
		return
	}
	if !c.consume() {
		return
	}
	if c.guarantee.Delivery == driver.AtMostOnce && c.guarantee.Acks == driver.AcksNone {
		// No message was acknowledged: each may arrive, but not twice.
		time.Sleep(afterwork)
	} else if !c.arrived() && c.guarantee.Delivery != driver.AtMostOnce {
		c.failf("after the kill: %+v", c.Count())
	}
	time.Sleep(afterwork)
	if again := c.Count().Repeated; c.guarantee.Delivery != driver.AtLeastOnce && again > 0 {
		c.failf("after the kill %d messages were delivered twice", again)
	}
	if !c.inOrder() {
		c.failf("after the kill messages came after later ones: %q", c.Received(0))
	}
	for _, p := range []driver.Proof{driver.ProofKill, driver.ProofLeader} {
		if c.owes(p) {
			c.prove(p)
		}
	}
}

// concluded waits until the fate of every message is known. It sends on, as an application would, since some brokers notice
// only then what they had overlooked.
func (c *cell) concluded() bool {
	for range spare {
		if livetest.Within(patience/spare, c.settled) {
			return true
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_ = c.send(ctx, 1)
		c.nudged++
	}
	return livetest.Within(patience, c.settled)
}

// settled reports whether every message has a fate.
func (c *cell) settled() bool { return c.Count().Pending == 0 }

// arrived waits until every acknowledged message has arrived.
func (c *cell) arrived() bool {
	return livetest.Within(patience, func() bool { return c.Count().Lost == 0 && c.settled() })
}

// inOrder reports whether the messages that have to do so came for the first time before later ones.
func (c *cell) inOrder() bool {
	came, last := map[string]bool{}, -1
	for _, payload := range c.Received(0) {
		n := slices.Index(c.sent, payload)
		if n < last && n < c.ordered && !came[payload] {
			return c.guarantee.Ordering != driver.Ordered
		}
		came[payload], last = true, max(last, n)
	}
	return true
}

// sendAll sends n messages and waits until each has a fate.
func (c *cell) sendAll(n int) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.send(ctx, n); err != nil {
		c.failf("send: %v", err)
	}
	if !livetest.Within(patience, c.settled) {
		c.failf("the broker acknowledged too few messages: %+v", c.Count())
	}
}

// send hands n messages over.
func (c *cell) send(ctx context.Context, n int) error {
	batch := make([]driver.Message, n)
	for i := range batch {
		c.sent = append(c.sent, fmt.Sprintf("%s/%08d", c.topology.Topics[0].Name, len(c.sent)))
		batch[i].Payload = []byte(c.sent[len(c.sent)-1])
	}
	if err := c.Send(ctx, c.producer, batch...); err != nil {
		return err
	}
	return c.producer.Flush(ctx)
}

// consume starts the consumer where none runs; a broker that has just come back may take several attempts.
func (c *cell) consume() bool {
	if c.stop != nil {
		return true
	}
	var last error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		ctx, cancel := context.WithCancel(context.Background())
		up, ended := make(chan struct{}), make(chan error, 1)
		go func() {
			ended <- c.drv.Consume(ctx, driver.ConsumerConfig{}, c.Sink(0), sync.OnceFunc(func() { close(up) }))
		}()
		select {
		case <-up:
			c.stop = func() {
				cancel()
				<-ended
			}
			return true
		case last = <-ended:
			cancel()
		}
	}
	c.failf("consume: %v", last)
	return false
}

func (c *cell) endConsumer() {
	if c.stop != nil {
		c.stop()
		c.stop = nil
	}
}

func (c *cell) close() {
	c.endConsumer()
	if c.producer != nil {
		_ = c.producer.Close() // to a broker that may be dead
	}
	if c.drv != nil {
		_ = c.drv.Close()
	}
}

// report fails where something went wrong, and where a proof that is owed was not carried out.
func (c *cell) report(t *testing.T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.problems {
		t.Error(p)
	}
	for _, payload := range c.Received(0) {
		if !slices.Contains(c.sent, payload) {
			t.Errorf("%q arrived, which was never sent", payload)
		}
	}
	t.Logf("%s: %v", driver.NativeText(c.kind.Maps(c.guarantee)), c.done)
	if c.flushed != nil {
		t.Logf("flushes for %d acknowledgements, by node: %v", single, c.flushed)
	}
	if c.nudged > 0 {
		t.Logf("the fate of all messages was known only after %d more had been sent", c.nudged)
	}
	if t.Failed() {
		t.Logf("the client said:\n%s", c.said.Last())
	}
	if c.excuse != "" && !t.Failed() {
		testkit.Lacks(t, "%s", c.excuse)
	}
	for _, p := range c.owed {
		if !slices.Contains(c.done, p) && !t.Failed() {
			t.Errorf("not proved: %s", p)
		}
	}
}
