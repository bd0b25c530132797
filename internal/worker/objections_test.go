package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/testkit"
)

var errDenied = errors.New("permissions violation for publish to \"orders\"")

// objecting is a driver that delivers nothing, and does with a batch what object says.
func objecting(object func(p *scriptProducer, batch []driver.Message)) *script {
	return &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		object(p, batch)
		return nil
	}}
}

// silent is a driver whose broker may take no messages without a word.
type silent struct{ *script }

func (silent) Silence() string { return "it does so when its disk is full" }

func TestWhatTheBrokerObjectsToEndsTheProbing(t *testing.T) {
	for name, c := range map[string]struct {
		driver driver.Driver
		within time.Duration
		want   string
	}{
		"a message is refused for good": {
			objecting(func(p *scriptProducer, batch []driver.Message) { p.done(batch, errDenied) }), 10 * time.Second,
			"producer 0: the broker refuses its messages: " + errDenied.Error(),
		},
		"nobody waits for an answer": {
			objecting(func(p *scriptProducer, batch []driver.Message) {
				p.done(batch, nil)
				driver.Refuse(p.receipts, errDenied)
			}), 2 * time.Second,
			"producer 0: the broker refuses its messages: " + errDenied.Error(),
		},
		"the broker takes no messages for now": {
			objecting(func(p *scriptProducer, _ []driver.Message) {
				driver.Hold(p.receipts, "connection.blocked: low on disk")
			}), 10 * time.Second,
			"producer 0: the broker takes no messages: connection.blocked: low on disk",
		},
		"it takes none while Send waits": {
			&script{send: func(p *scriptProducer, ctx context.Context, batch []driver.Message) error {
				driver.Hold(p.receipts, "connection.blocked: low on memory")
				<-ctx.Done()
				p.done(batch, ctx.Err())
				return ctx.Err()
			}}, 10 * time.Second,
			"producer 0: the broker takes no messages: connection.blocked: low on memory",
		},
		"it says nothing, which means something": {
			silent{objecting(func(*scriptProducer, []driver.Message) {})},
			silentPatience + 5*time.Second,
			"1 of 1 producers were not seen by every subscription within 15s (the first is producer 0); it does so when its disk is full",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := simple(1, 1)
			plan.Connect = time.Minute
			began := time.Now()
			w, err := Prepare(t.Context(), c.driver, plan)
			if err == nil {
				_ = w.Close()
			}
			if err == nil || err.Error() != c.want {
				t.Errorf("%v; want %q", err, c.want)
			}
			if took := time.Since(began); took > c.within {
				t.Errorf("it took %v", took)
			}
		})
	}
}

func TestARefusalThatPassesEndsNothing(t *testing.T) {
	began := time.Now()
	d := objecting(func(p *scriptProducer, batch []driver.Message) {
		if time.Since(began) < refusedPatience/4 {
			p.done(batch, errors.New("no leader yet"))
			return
		}
		p.deliver(batch)
		p.done(batch, nil)
	})
	plan := simple(1, 1)
	plan.Connect = time.Minute
	ready(t, d, plan)
}

func TestAProbingThatComesToNothingSaysWhyTheLastMessageFailed(t *testing.T) {
	d := objecting(func(p *scriptProducer, batch []driver.Message) {
		p.done(batch, fmt.Errorf("%w: channel closed: PRECONDITION_FAILED", driver.ErrDisconnected))
	})
	plan := simple(1, 1)
	plan.Connect = 300 * time.Millisecond
	_, err := Prepare(t.Context(), d, plan)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "; its last message failed: ") || !strings.Contains(err.Error(), "PRECONDITION_FAILED") {
		t.Errorf("%v", err)
	}
}

func TestTheTimeInWhichABrokerTakesNoMessagesIsMeasured(t *testing.T) {
	var receipts atomic.Pointer[driver.Receipts]
	d := &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		receipts.Store(&p.receipts)
		p.deliver(batch)
		p.done(batch, nil)
		return nil
	}}
	w := ready(t, d, simple(1, 1))
	hold := func(after, length time.Duration) {
		time.AfterFunc(after, func() { driver.Hold(*receipts.Load(), "a quota") })
		time.AfterFunc(after+length, func() { driver.Hold(*receipts.Load(), "") })
	}
	hold(300*time.Millisecond, 400*time.Millisecond)
	out := w.Run(t.Context(), Load{Duration: time.Second, Window: 10, Drain: 20 * time.Second})
	if out.Held < 300*time.Millisecond || out.Held > testkit.Within(700*time.Millisecond) || out.HeldWhy != "a quota" {
		t.Errorf("held for %v (%s), %v", out.Held, out.HeldWhy, out.Err)
	}
	if next := w.Run(t.Context(), Load{Duration: 100 * time.Millisecond, Window: 10, Drain: 20 * time.Second}); next.Held != 0 || next.HeldWhy != "" {
		t.Errorf("the next trial was held for %v (%s)", next.Held, next.HeldWhy)
	}
}

// A broker that throttles says so in answer after answer.
func TestHoldsWithShortGapsAreOne(t *testing.T) {
	var o objections
	from := clock.Now()
	for range 5 {
		o.hold("a quota")
		o.hold("a quota")
		time.Sleep(time.Millisecond)
		o.hold("")
		o.hold("")
	}
	held, why := o.held(phaseTimes{From: from, Until: clock.Now()})
	if len(o.holds) != 1 || held < 5*time.Millisecond || why != "a quota" {
		t.Errorf("%v, %v, %q", o.holds, held, why)
	}
	o.begin()
	if held, _ := o.held(phaseTimes{From: from, Until: clock.Now()}); held != 0 {
		t.Errorf("held for %v of the next trial", held)
	}
}
