package drivertest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// Denial is an operation that a broker denies to a client that it has accepted.
type Denial struct {
	Name      string // of the subtest
	Target    driver.Target
	Guarantee driver.Guarantee
	Client    map[string]any // native settings
	Says      string         // a part of the broker's own sentence
	Held      bool           // the broker accepts no messages for now, and says so; false: it denies them for good
}

// deniedBound is the time within which a driver has to report a denial.
const deniedBound = 10 * time.Second

// Denied uses brokers that deny a client an operation that a run needs. Setup, Producer, Consume, the outcome of a message or the
// Objections must report it soon, as final, and in the broker's words. Afterwards everything can be closed, and nothing is left behind.
func Denied(t *testing.T, s Suite, denials ...Denial) {
	for _, d := range denials {
		t.Run(d.Name, func(t *testing.T) {
			r := &run{suite: s, target: d.Target}
			r.suite.Client = d.Client
			r.denied(t, d)
		})
	}
}

// heard are Receipts that pass on the first objection.
type heard struct{ objection chan error }

var (
	_ driver.Receipts   = (*heard)(nil)
	_ driver.Objections = (*heard)(nil)
)

// Done implements driver.Receipts.
func (h *heard) Done(_ []uint32, err error) {
	if err != nil && !errors.Is(err, driver.ErrDisconnected) && !errors.Is(err, context.Canceled) {
		h.tell(err)
	}
}

// Refused implements driver.Objections.
func (h *heard) Refused(err error) { h.tell(err) }

// Held implements driver.Objections.
func (h *heard) Held(why string) {
	if why != "" {
		h.tell(errHeld(why))
	}
}

func (h *heard) tell(err error) {
	select {
	case h.objection <- err:
	default: // one is enough
	}
}

// errHeld is the reason why a broker accepts no messages for now.
type errHeld string

func (e errHeld) Error() string { return string(e) }

func (r *run) denied(t *testing.T, d Denial) {
	s := &session{left: r.leftovers()}
	config := r.config(t, d.Guarantee, d.Target)
	began := time.Now()
	err := r.objection(t, config)
	if took := time.Since(began); took > deniedBound {
		t.Errorf("it took %v to say so", took)
	}
	_, held := errors.AsType[errHeld](err)
	switch {
	case err == nil:
		t.Fatalf("nothing was denied within %v", deniedBound)
	case !strings.Contains(err.Error(), d.Says), held != d.Held:
		t.Errorf("said: %v (held: %v); want what says %q (held: %v)", err, held, d.Says, d.Held)
	}
	requireNothingLeft(t, s)
}

// objection sends one message after the other until the broker's objection is reported, and closes everything.
func (r *run) objection(t *testing.T, config driver.Config) error {
	ctx, cancel := context.WithTimeout(t.Context(), deniedBound+closeBound)
	defer cancel()
	drv, err := r.suite.Kind.Open(ctx, config)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	defer func() { _ = inTime(t, "Driver.Close", closeBound, drv.Close) }()
	if err := drv.Setup(ctx, newTopology(shape{topics: 1, subscriptions: 1})); err != nil {
		return err
	}
	if c, ok := drv.(driver.Cleaner); ok {
		defer func() { _ = c.Clean(context.Background()) }() // as far as its rights allow
	}
	ctx, stop := context.WithTimeout(ctx, deniedBound)
	defer stop()
	h := &heard{objection: make(chan error, 1)}
	consuming, end := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := drv.Consume(consuming, driver.ConsumerConfig{Of: 1}, nobody{}, func() {}); err != nil {
			h.tell(err)
		}
	}()
	defer func() {
		end()
		_ = inTime(t, "Consume that was cancelled", cancelBound, func() error { <-ended; return nil })
	}()
	p, err := drv.Producer(ctx, driver.ProducerConfig{Topics: []int{0}, InFlight: inFlight, MaxBytes: largest}, h)
	if err != nil {
		return err
	}
	defer func() { _ = inTime(t, "Producer.Close", closeBound, p.Close) }()
	return send(ctx, p, h)
}

// send sends a message ten times a second until an objection is reported; nil: ctx ended before one was.
func send(ctx context.Context, p driver.Producer, h *heard) error {
	payload := make([]byte, identityBytes)
	for slot := range uint32(inFlight) { // enough slots until deniedBound
		_ = p.Send(ctx, []driver.Message{{Slot: slot, Payload: payload}})
		_ = p.Flush(ctx)
		select {
		case err := <-h.objection:
			return err
		case <-ctx.Done():
			return nil
		case <-time.After(deniedBound / inFlight):
		}
	}
	return nil
}
