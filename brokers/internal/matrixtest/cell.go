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
	*ledger
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

func newCell(kind driver.Kind, g driver.Guarantee, target driver.Target, number int) *cell {
	stem := fmt.Sprintf("bm-matrix-%x-%d", time.Now().UnixNano()&0xffffffff, number)
	client, _ := driver.Decode(kind.Settings, driver.ClientScope, nil)
	topic, _ := driver.Decode(kind.Settings, driver.TopicScope, nil)
	c := &cell{
		ledger: newLedger(stem+"/", inFlight+spare), kind: kind, guarantee: g, owed: kind.Proofs(g),
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
	if c.producer, err = c.drv.Producer(ctx, driver.ProducerConfig{Topics: []int{0}, InFlight: inFlight + spare, MaxBytes: 100}, c); err != nil {
		c.failf("producer: %v", err)
	}
}

// exchange proves a healthy exchange: everything once, in order.
func (c *cell) exchange() {
	if !c.sound() || !c.consume() {
		return
	}
	c.expectOrder(healthy)
	c.sendAll(healthy)
	if !c.arrived(0, healthy) {
		c.failf("%+v of %d messages, undisturbed", c.books(0, healthy), healthy)
	}
	if b := c.books(0, healthy); b.again > 0 || b.failed > 0 || c.guarantee.Ordering == driver.Ordered && b.late > 0 {
		c.failf("%+v of %d messages, undisturbed: %v", b, healthy, c.failure(0, healthy))
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
		c.expectOrder(c.sent) // of those that the kill meets in flight some may be sent again
		if err := c.failure(0, c.sent); err != nil {
			c.failf("sending to a healthy broker: %v", err)
		}
	}
}

// hurry sends messages that the kill is to meet in flight.
func (c *cell) hurry() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_ = c.send(ctx, inFlight) // whatever becomes of them is in the ledger
}

// recover reads the messages that survived the kill.
func (c *cell) recover() {
	if !c.concluded() {
		c.failf("minutes after the kill the fate of some messages was not known: %v of %d are", c.known(), c.sent)
		return
	}
	if !c.consume() {
		return
	}
	all := c.sent
	if c.guarantee.Delivery == driver.AtMostOnce && c.guarantee.Acks == driver.AcksNone {
		// No message was acknowledged: each may arrive, but not twice.
		time.Sleep(afterwork)
	} else if !c.arrived(healthy, all) && c.guarantee.Delivery != driver.AtMostOnce {
		c.failf("after the kill: %+v of %d messages", c.books(healthy, all), all)
	}
	time.Sleep(afterwork)
	b := c.books(0, all)
	if c.guarantee.Delivery != driver.AtLeastOnce && b.again > 0 {
		c.failf("after the kill %d messages were delivered twice", b.again)
	}
	if c.guarantee.Ordering == driver.Ordered && b.late > 0 {
		c.failf("after the kill %d messages came after a later one", b.late)
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
	for i := range uint32(spare) {
		if livetest.Within(patience/spare, func() bool { return c.settled(c.sent) }) {
			return true
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		slot := inFlight + i
		_ = c.producer.Send(ctx, []driver.Message{{Slot: slot, Payload: c.payload(c.next(slot))}})
		_ = c.producer.Flush(ctx)
		c.nudged++
	}
	return livetest.Within(patience, func() bool { return c.settled(c.sent) })
}

// arrived waits until every acknowledged message from..to has arrived.
func (c *cell) arrived(from, to int) bool {
	return livetest.Within(patience, func() bool { b := c.books(from, to); return b.lost == 0 && c.settled(to) })
}

// sendAll sends n messages and waits until each has a fate.
func (c *cell) sendAll(n int) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.send(ctx, n); err != nil {
		c.failf("send: %v", err)
	}
	if !livetest.Within(patience, func() bool { return c.settled(c.sent) }) {
		c.failf("the broker acknowledged too few of %d messages: %+v", c.sent, c.books(0, c.sent))
	}
}

// send hands n messages over; all earlier ones must have a fate.
func (c *cell) send(ctx context.Context, n int) error {
	batch := make([]driver.Message, n)
	for i := range batch {
		batch[i] = driver.Message{Slot: uint32(i), Payload: c.payload(c.next(uint32(i)))}
	}
	if err := c.producer.Send(ctx, batch); err != nil {
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
			ended <- c.drv.Consume(ctx, driver.ConsumerConfig{}, c, sync.OnceFunc(func() { close(up) }))
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
	for _, p := range slices.Concat(c.problems, c.strange) {
		t.Error(p)
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
