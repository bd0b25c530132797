package worker

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
)

// Done implements driver.Receipts: the library calls it when messages were confirmed (err is nil) or have failed, named by their
// slots. It frees the slots, and counts the messages of the current trial; the books of earlier trials are closed.
//
// The counters are raised (Confirm) only after the slots are free. Otherwise a trial could end because every message is
// confirmed, find one of them in flight by its slot, and book it as unresolved, too.
func (c *client) Done(ids []uint32, err error) {
	now := clock.Now()
	current := c.activity.Load()
	var acks measure.Acks          // what these messages add to the counters of their client
	var recorder *measure.Producer // of the last message that counts; all recorders of a client raise the same counters
	for _, id := range ids {
		s := &c.slots[id]
		if s.recorder == nil || !s.recorder.RecordsFor(current.trial) {
			continue
		}
		recorder = s.recorder
		if err != nil {
			recorder.Failed(&acks, s.phase, s.seq)
		} else {
			recorder.Acked(&acks, s.phase, s.intended, s.sent, now)
		}
	}
	c.freeSlots.put(ids)
	if recorder == nil {
		c.objections.probed(err)
		return
	}
	if err != nil {
		current.noteFailure(err)
	} else {
		current.noteAck(now)
	}
	recorder.Confirm(&acks)
}

// Resent implements driver.Resends: the library calls it when it sends messages again.
func (c *client) Resent(ids []uint32) {
	for _, id := range ids {
		if s := &c.slots[id]; s.recorder != nil {
			s.recorder.Resent(s.phase)
		}
	}
}

// activity is what one client did in one trial: how long it sent and waited, when, and why messages failed. The sending goroutine
// alone writes the fields before lastAck, and others read them after it has ended. Any goroutine may use the others.
type activity struct {
	trial               *measure.Trial
	sending, blocked    int64 // ns inside the library's Send, and waiting for free slots
	firstSend, lastSend int64 // when the first and the last Send began, ns on the clock's axis; 0: nothing was sent

	lastAck atomic.Int64          // ns on the clock's axis; 0: nothing was confirmed
	failure atomic.Pointer[error] // why a message failed, or a Send; nil if none did
}

// noteAck notes that messages were confirmed now. Calls overlap, so one with an earlier time may come later.
func (a *activity) noteAck(now int64) {
	for {
		last := a.lastAck.Load()
		if now <= last || a.lastAck.CompareAndSwap(last, now) {
			return
		}
	}
}

// noteFailure keeps why messages failed. The first reason stays, since the last may only be that the client was closed.
func (a *activity) noteFailure(err error) { a.failure.CompareAndSwap(nil, &err) }

// noteSendFailure keeps why a Send failed. Once ctx has ended, it is taken to have cut Send off: the messages have failed with
// the context's error, often before Send returned. Why ctx ended says more than that, so it takes that error's place.
func (a *activity) noteSendFailure(ctx context.Context, err error) {
	cause := context.Cause(ctx)
	if cause == nil {
		a.noteFailure(err)
		return
	}
	for { // again if another goroutine noted a failure between Load and CompareAndSwap
		kept := a.failure.Load()
		replace := kept == nil || errors.Is(*kept, ctx.Err())
		if !replace || a.failure.CompareAndSwap(kept, &cause) {
			return
		}
	}
}

// addTo adds the activity to a trial's outcome. Of the failures of several clients, that of the first client is kept.
func (a *activity) addTo(out *Outcome) {
	if failure := a.failure.Load(); failure != nil && out.SendErr == nil {
		out.SendErr = *failure
	}
	out.Blocked += time.Duration(a.blocked)
	out.Sending += time.Duration(a.sending)
	out.FirstSent = earliest(out.FirstSent, a.firstSend)
	out.LastSent = max(out.LastSent, a.lastSend)
	out.LastAcked = max(out.LastAcked, a.lastAck.Load())
}
