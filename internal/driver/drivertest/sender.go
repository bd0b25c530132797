package drivertest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

const (
	inFlight = 128
	sendMax  = 32 // messages per Send
)

// sender is one producer and everything it has sent. Its number is unique within a session; the ID that the driver sees is not,
// because a producer may be made again.
type sender struct {
	number int
	prod   driver.Producer
	slots  *slots
	topics []int
	next   int
	batch  []driver.Message
	sent   []identity
	bound  time.Duration // to wait for a free slot
}

func (s *session) newSender(t *testing.T, producerID int, topics ...int) *sender {
	t.Helper()
	p := &sender{number: s.senders, slots: newSlots(inFlight, s.carries), topics: topics, bound: patience}
	s.senders++
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	config := driver.ProducerConfig{ID: producerID, Topics: topics, InFlight: inFlight, MaxBytes: largest}
	if s.carries {
		config.Headers = sentHeaders
		config.MaxBytes += driver.HeaderBytes([]driver.Header{{Name: sentHeaders[0], Value: make([]byte, longestValue)}, {Name: sentHeaders[1], Value: make([]byte, longestValue)}})
	}
	prod, err := s.drv.Producer(ctx, config, p.slots)
	if err != nil {
		t.Fatalf("making producer %d: %v", producerID, err)
	}
	p.prod = prod
	s.all = append(s.all, p)
	return p
}

// send sends n messages in batches of up to sendMax and returns the first error of Send, or of waiting for a slot.
func (p *sender) send(ctx context.Context, n int) error {
	for n > 0 {
		p.batch = p.batch[:0]
		for range min(n, sendMax) {
			id := newIdentity(p.number, p.topics[p.next%len(p.topics)], p.next)
			m, err := p.slots.lend(id, p.bound)
			if err != nil {
				return errors.Join(err, p.flushBatch(ctx))
			}
			p.next++
			p.sent = append(p.sent, id)
			p.batch = append(p.batch, m)
		}
		n -= len(p.batch)
		if err := p.flushBatch(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (p *sender) flushBatch(ctx context.Context) error {
	if len(p.batch) == 0 {
		return nil
	}
	err := p.prod.Send(ctx, p.batch)
	clear(p.batch) // the driver may use the batch only during the call
	p.batch = p.batch[:0]
	return err
}

// settle flushes and waits until every slot is completed.
func (p *sender) settle(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), p.bound)
	defer cancel()
	if err := p.prod.Flush(ctx); err != nil {
		t.Errorf("Flush: %v", err)
	}
	if !eventually(p.bound, func() bool { return p.slots.outstanding() == 0 }) {
		t.Errorf("%d slots were not completed %v after Flush", p.slots.outstanding(), p.bound)
	}
}

// deliver sends n messages and waits until each is settled.
func (p *sender) deliver(t *testing.T, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), sessionBound)
	defer cancel()
	if err := p.send(ctx, n); err != nil {
		t.Error(err)
	}
	p.settle(t)
}

// close closes the producer within the bound.
func (p *sender) close(t *testing.T, healthy bool) {
	t.Helper()
	returned, err := returns(closeBound, p.prod.Close)
	if !returned {
		t.Errorf("Producer.Close had not returned after %v", closeBound)
		return
	}
	p.slots.close()
	if healthy && err != nil {
		t.Errorf("closing a producer: %v", err)
	}
}

// inTime calls f, which has to return within the bound, and returns its error.
func inTime(t *testing.T, what string, bound time.Duration, f func() error) error {
	t.Helper()
	returned, err := returns(bound, f)
	if !returned {
		t.Errorf("%s had not returned after %v", what, bound)
	}
	return err
}

// returns calls f and reports whether it returned within the bound, and its error.
func returns(bound time.Duration, f func() error) (in bool, err error) {
	ended := make(chan error, 1)
	go func() { ended <- f() }()
	select {
	case err := <-ended:
		return true, err
	case <-time.After(bound):
		return false, nil
	}
}

// eventually polls done until it is true or the time is up.
func eventually(within time.Duration, done func() bool) bool {
	for end := time.Now().Add(within); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return done()
		}
	}
	return true
}
