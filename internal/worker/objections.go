package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
)

// A broker that refuses messages, or takes none for now, ends the probing: no probe would ever arrive. For example, a user who may not write
// to a topic has each probe refused; after some seconds of nothing else, Prepare returns the broker's own sentence.

const (
	refusedPatience = 3 * time.Second  // of refusals of single messages: a queue without a leader may refuse the first one
	heldPatience    = 2 * time.Second  // while the broker says that it takes no messages for now
	silentPatience  = 15 * time.Second // while the broker stays silent, if its silence has a meaning (driver.Silent)
	heldGap         = 100 * time.Millisecond
)

// objections holds what the broker says about one client's messages. Any goroutine may use it.
type objections struct {
	mu           sync.Mutex
	refused      error     // why the broker refuses all that the client sends
	failed       error     // why the last probe failed; nil if the last one was confirmed
	refusedSince time.Time // since when all probes have been refused for good; zero if the last one wasn't
	why          string    // why the broker takes no messages now; empty if it does
	lastWhy      string    // the last reason
	holds        []Interval
}

// probed notes the outcome of probes; nil if they were confirmed.
func (o *objections) probed(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed = err
	forGood := err != nil && !errors.Is(err, driver.ErrDisconnected) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
	switch {
	case !forGood:
		o.refusedSince = time.Time{}
	case o.refusedSince.IsZero():
		o.refusedSince = time.Now()
	}
}

// refuse notes that the broker refuses all messages. The first reason is kept.
func (o *objections) refuse(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.refused == nil {
		o.refused = err
	}
}

// hold records why the broker takes no messages; empty if it takes them again. Holds with a short gap between them count as one:
// a throttling broker reports it again and again.
func (o *objections) hold(why string) {
	now := clock.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	last := len(o.holds) - 1
	switch {
	case why == "" && o.why != "":
		o.holds[last].To = now
	case why != "" && o.why == "":
		if last >= 0 && now-o.holds[last].To < int64(heldGap) {
			o.holds[last].To = 0
		} else {
			o.holds = append(o.holds, Interval{From: now})
		}
		o.lastWhy = why
	}
	o.why = why
}

// begin forgets the holds of the trial before, except a current one.
func (o *objections) begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.holds = o.holds[:0]
	if o.why != "" {
		o.holds = append(o.holds, Interval{From: clock.Now()})
	}
}

// held returns for how long of a phase the broker took no messages, and why.
func (o *objections) held(phase phaseTimes) (total time.Duration, why string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, h := range o.holds {
		if h.To == 0 {
			h.To = phase.Until
		}
		total += time.Duration(max(0, min(h.To, phase.Until)-max(h.From, phase.From)))
	}
	return total, o.lastWhy
}

// reason returns why no probe of the client will arrive; nil if one may.
func (o *objections) reason() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.refused != nil:
		return fmt.Errorf("the broker refuses its messages: %w", o.refused)
	case !o.refusedSince.IsZero() && time.Since(o.refusedSince) > refusedPatience:
		return fmt.Errorf("the broker refuses its messages: %w", o.failed)
	case o.why != "" && clock.Now()-o.holds[len(o.holds)-1].From > int64(heldPatience):
		return fmt.Errorf("the broker takes no messages: %s", o.why)
	}
	return nil
}

// last returns why the last probe failed, as a clause that ends a sentence; empty if it didn't.
func (o *objections) last() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failed == nil {
		return ""
	}
	return fmt.Sprintf("; its last message failed: %v", o.failed)
}

// heldText says, as a clause that ends a sentence, why the broker takes no messages of some client now; empty if it takes those of all.
func (w *Worker) heldText() string {
	for _, c := range w.clients {
		o := &c.objections
		o.mu.Lock()
		why := o.why
		o.mu.Unlock()
		if why != "" {
			return "; it takes no messages: " + why
		}
	}
	return ""
}

// Refused implements driver.Objections.
func (c *client) Refused(err error) {
	c.objections.refuse(err)
	c.activity.Load().noteFailure(err)
}

// Held implements driver.Objections.
func (c *client) Held(why string) { c.objections.hold(why) }

// errObjection is why the broker takes no probes.
type errObjection struct{ error }

func (e errObjection) Unwrap() error { return e.error }

// watchProbes ends the probing with an errObjection as soon as a client whose probes are missing has a reason for it. It returns when ctx
// has ended.
func (w *Worker) watchProbes(ctx context.Context, end context.CancelCauseFunc) {
	fewest, since := len(w.plan.Producers)+1, time.Now() // number of unseen streams, and since when it has not fallen
	for clock.Pause(ctx, 20*time.Millisecond) == nil {
		unseen, count := w.unseen()
		if count < fewest {
			fewest, since = count, time.Now()
		}
		for _, u := range unseen {
			if why := u.client.objections.reason(); why != nil {
				end(errObjection{fmt.Errorf("producer %d: %w", u.first(), why)})
				return
			}
		}
		if meaning := w.silenceText(); meaning != "" && count > 0 && time.Since(since) > silentPatience {
			end(errObjection{fmt.Errorf("%s%s", w.unseenText(unseen, silentPatience), meaning)})
			return
		}
	}
}

// silenceText says, as a clause that ends a sentence, what it means if the broker stops taking messages without saying so; empty
// if that has no meaning.
func (w *Worker) silenceText() string {
	silent, ok := w.driver.(driver.Silent)
	if !ok || silent.Silence() == "" {
		return ""
	}
	return "; " + silent.Silence()
}

// unseenText says that streams were not seen within a time.
func (w *Worker) unseenText(unseen []unseenStreams, within time.Duration) string {
	count := 0
	for _, u := range unseen {
		count += len(u.streams)
	}
	return fmt.Sprintf("%d of %d producers were not seen by every subscription within %s (the first is producer %d)",
		count, len(w.plan.Producers), within, unseen[0].first())
}
