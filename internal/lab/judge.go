package lab

import (
	"context"
	"errors"
	"strings"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/ledger"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// judge decides whether a finished trial stands: nil, or an error that says how the repetition ends. A broken promise fails
// it. A saturated generator voids it. Messages that did not come in time fail it only if the generator was not saturated.
// Lesser deviations become doubts (see doubts).
func (b *bench) judge(t trial, rate float64) error {
	if errors.As(t.Err, new(*agent.ErrLost)) {
		return t.Err
	}
	if errors.As(t.Err, new(*driver.ErrUnsupported)) || errors.Is(t.Err, worker.ErrApart) || errors.Is(t.Err, worker.ErrLate) ||
		errors.As(t.Err, new(*agent.ErrClock)) {
		return t.Err
	}
	if err := b.promises(t); err != nil {
		return err
	}
	late := b.late(t)
	why, saturated := rule(b.spec).Saturated(b.evidence(t, rate, true))
	_, _, stood := t.latest()
	switch {
	case !saturated:
		return late
	case late != nil:
		return void("%s; %s%s%s", why, late, t.longestPause(stood), b.noMore())
	}
	return void("%s%s%s", why, t.longestPause(stood), b.noMore())
}

// promises returns the failure of a broken promise, which counts whatever the generator did; nil if none was broken. In a
// trial that broke off, messages may still be under way, so none counts as lost.
func (b *bench) promises(t trial) error {
	if brokeOff(t) {
		return nil
	}
	books := t.Measured
	if t.Arriving { // missing messages are late, not lost
		books.LostAcked = 0
	}
	if v := store.Promise(b.spec, b.record.Failover, books); v.Promise == ledger.Broken {
		return b.broken(v.Breaches[0], t.Err)
	}
	if !errors.Is(t.SendErr, context.DeadlineExceeded) { // refused, not given up on
		return b.refusedSends(t)
	}
	return nil
}

// broken words the failure of a breach. err, if not nil, is why the trial ended.
func (b *bench) broken(breach ledger.Count, err error) error {
	switch breach.Deviation {
	case ledger.Corrupted:
		return failed("%d messages arrived corrupted", breach.Messages)
	case ledger.Lost:
		return failed("%d messages were lost although the broker had confirmed them%s", breach.Messages, because(err))
	case ledger.Duplicated:
		if b.spec.Pipeline != nil {
			return failed("%d rides are counted twice", breach.Messages)
		}
		return failed("%d messages were delivered twice although %s was asked for", breach.Messages, strings.ReplaceAll(b.spec.Delivery, "-", " "))
	}
	return failed("%d messages arrived out of order although order was asked for", breach.Messages)
}

// refusedMost is the share of sends that may fail: a client may lose single messages when it reconnects.
const refusedMost = 0.001

// refusedSends returns the failure of too many sends; nil if they were few, or if faults were asked for.
func (b *bench) refusedSends(t trial) error {
	if m := t.Measured; float64(m.Failed) > refusedMost*float64(m.Sent) && len(b.spec.Faults) == 0 {
		return failed("%d of %d sends failed%s", m.Failed, m.Sent, because(t.SendErr))
	}
	return nil
}

// late returns the failure of messages that did not come, or not in time; nil if all did. The broker caused it, or a saturated
// generator: judge tells them apart. The first case that fits says most.
func (b *bench) late(t trial) error {
	m := t.Measured
	planned := len(b.spec.Faults) > 0
	switch {
	case brokeOff(t):
		return t.Err
	case !t.Early.Possible(t.ClockBound):
		return impossible(t)
	case m.Sent == 0:
		return failed("nothing could be sent in the measured phase%s", because(t.SendErr))
	case m.Acked+m.Failed == 0 && !planned:
		return failed("none of %d messages was confirmed before the drain allowance of %s was used up", m.Sent, b.spec.Drain)
	case m.Expected > 0 && m.Received == 0 && m.Acked > 0 && !planned:
		return failed("none of %d messages that were sent arrived", m.Sent)
	case m.WronglyLost() > 0 && b.atLeastOnce() && t.Arriving:
		return failed("%d confirmed messages had not come when the drain allowance of %s was used up, though others still came", m.WronglyLost(), b.spec.Drain)
	case t.Overdue > m.MayDrop && b.atLeastOnce():
		return failed("%d deliveries had not come when the drain allowance of %s was used up, though others still came", t.Overdue, b.spec.Drain)
	case t.Err != nil && (brokeOff(t) || m.WronglyLost() > 0 || m.MayDrop == 0): // a backlog that ran dry because a limit dropped the rest
		return t.Err
	case b.refusedSends(t) != nil:
		return b.refusedSends(t)
	case m.Resent > 0 && m.Unresolved > 0 && !planned:
		return failed("%d of %d sends had no outcome when the run ended: the connection was lost", m.Unresolved, m.Sent)
	}
	return nil
}

// brokeOff reports whether a trial ended before its time. A backlog that ran dry did not: every message that could come had
// come.
func brokeOff(t trial) bool { return t.Err != nil && !errors.Is(t.Err, worker.ErrRanDry) }

func (b *bench) atLeastOnce() bool { return b.spec.Delivery != "at-most-once" }
