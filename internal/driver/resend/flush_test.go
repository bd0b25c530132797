package resend_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/resend"
)

// client is a line that holds back what it is given until Flush, as a client that gathers batches.
type client struct {
	line
	held    []driver.Message
	err     error // of Send and Flush
	flushes int
}

func (c *client) Send(_ context.Context, batch []driver.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = append(c.held, batch...)
	return c.err
}

func (c *client) Flush(ctx context.Context) error {
	c.mu.Lock()
	held := c.held
	c.held, c.flushes = nil, c.flushes+1
	c.mu.Unlock()
	_ = c.line.Send(ctx, held)
	return c.err
}

func (c *client) flushed() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.flushes
}

func holdingBack(t *testing.T, g driver.Guarantee) (driver.Producer, *client, *fates) {
	t.Helper()
	c, f := &client{}, &fates{of: map[uint32][]error{}}
	p, err := resend.Producer(g, driver.ProducerConfig{InFlight: 8}, f, func(r driver.Receipts) (driver.Producer, error) {
		c.receipts = r
		return c, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return p, c, f
}

func TestWhatTheClientHoldsBackIsFlushedAroundAnAttempt(t *testing.T) {
	for _, ordering := range []driver.Ordering{driver.Unordered, driver.Ordered} {
		synctest.Test(t, func(t *testing.T) {
			p, c, f := holdingBack(t, driver.Guarantee{Delivery: driver.AtLeastOnce, Ordering: ordering})
			send(t, p, batch(0, 1))
			if err := p.Flush(t.Context()); err != nil || c.flushed() != 1 {
				t.Fatalf("Flush: %v, passed on %d times", err, c.flushed())
			}
			send(t, p, batch(1, 1))
			c.complete(1, errLost)
			time.Sleep(time.Second)
			c.complete(2, nil) // 1, which ordered waits for, and 0 where it doesn't
			time.Sleep(time.Second)
			c.complete(2, nil)
			f.require(t, 0, nil)
			f.require(t, 1, nil)
			_ = p.Close()
		})
	}
}

func TestFlushDoesNotWaitForAnAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, c, _ := holdingBack(t, driver.Guarantee{Delivery: driver.AtLeastOnce, Ordering: driver.Ordered})
		send(t, p, batch(0, 2))
		_ = p.Flush(t.Context())
		c.complete(1, errLost)
		time.Sleep(time.Second) // the attempt waits for the outcome of the other
		before := c.flushed()
		if err := p.Flush(t.Context()); err != nil || c.flushed() != before {
			t.Errorf("Flush beside an attempt: %v, passed on %d times", err, c.flushed()-before)
		}
		_ = p.Close()
	})
}

func TestErrorsOfTheClientAreHandedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, c, _ := holdingBack(t, driver.Guarantee{Delivery: driver.AtLeastOnce})
		c.err = errors.New("no")
		if err := p.Send(t.Context(), batch(0, 1)); !errors.Is(err, c.err) {
			t.Errorf("Send: %v", err)
		}
		if err := p.Flush(t.Context()); !errors.Is(err, c.err) {
			t.Errorf("Flush: %v", err)
		}
		_ = p.Close()
	})
	no := errors.New("not open")
	p, err := resend.Producer(driver.Guarantee{Delivery: driver.AtLeastOnce}, driver.ProducerConfig{}, &fates{}, func(driver.Receipts) (driver.Producer, error) { return nil, no })
	if p != nil || !errors.Is(err, no) {
		t.Errorf("Producer: %v, %v", p, err)
	}
}

func TestWhatCloseLeavesOnALostConnectionIsCompletedAsSuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, l, f := start(t, driver.AtLeastOnce)
		send(t, p, batch(0, 4))
		l.complete(1, errLost)
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		f.require(t, 0, driver.ErrDisconnected)
		// An outcome that is reported once more by the client's own goroutines, after Close: it goes on as it is.
		l.receipts.Done([]uint32{5}, errLost)
		f.require(t, 5, driver.ErrDisconnected)
		time.Sleep(time.Second)
		if _, resent := f.count(); resent != 0 || len(l.payloads()) != 4 {
			t.Errorf("%d were sent again after Close", resent)
		}
	})
}
