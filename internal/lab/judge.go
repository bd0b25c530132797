package lab

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/ledger"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// judge decides whether a finished trial stands: whether its figures say something about the broker. It returns nil if so, or else an error
// that says how the repetition ends, by these rules in their order:
//
//  1. A trial that could not run to its end because the broker, an agent or the clock was lost ends as that error says.
//  2. A broken promise, such as a lost message that the broker had confirmed, or sends that it refused, fail it whatever the generator
//     did.
//  3. A saturated generator voids it, so its figures don't count: what is missing or late need not be the broker's fault. So does a client
//     library that dropped deliveries in the generator's process.
//  4. Messages that are missing or late fail it, unless a goroutine of the generator used up the one core that it can use: then it is void,
//     and so is one whose backlog grew meanwhile. It is void, too, if other processes disturbed it.
//
// For example, if 3 messages were late and the generator used up its cores, the trial is void by rule 3, not failed by rule 4. Lesser
// deviations become doubts (doubtsAbout). rate is the offered rate, messages per second; 0 in a closed loop.
func (b *bench) judge(t trial, rate float64) error {
	if endsUnjudged(t.Err) {
		return t.Err
	}
	if err := b.judgePromises(t); err != nil {
		return err
	}
	failure, passRule, evidence := b.judgeArrivals(t), rule(b.spec), b.evidence(t, rate)
	why, saturated := passRule.Saturated(evidence)
	behind := failure != nil || t.Scheduled && passRule.FellBehind(evidence) != ""
	if !saturated && behind && !brokeOff(t) {
		why, saturated = passRule.AtLimit(evidence)
	}
	if !saturated {
		return t.voidErrorIfDisturbed(failure, float64(b.lab.machine.Cores))
	}
	pause := t.longestPause(t.latest().pauses)
	if failure != nil {
		return void("%s; %s%s%s", why, failure, pause, b.whyNoMore())
	}
	return void("%s%s%s", why, pause, b.whyNoMore())
}

// endsUnjudged reports whether a trial ended with an error that has a status of its own, whatever was measured until then.
func endsUnjudged(err error) bool {
	return errors.As(err, new(errDied)) || errors.As(err, new(*agent.ErrLost)) || errors.As(err, new(*agent.ErrClock)) ||
		errors.As(err, new(*driver.ErrUnsupported)) || errors.Is(err, worker.ErrConsumerProcess) || errors.Is(err, worker.ErrLate)
}

// judgePromises returns the failure of a broken promise; nil if none was broken. It judges no trial that broke off: messages were still
// under way then, so none can count as lost.
func (b *bench) judgePromises(t trial) error {
	if brokeOff(t) {
		return nil
	}
	books := t.Measured
	if t.Arriving { // missing messages are late, not lost
		books.LostAcked = 0
	}
	if verdict := store.Promise(b.spec, b.record.Failover, books); verdict.Promise == ledger.Broken {
		return b.breachError(verdict.Breaches[0], t.Err)
	}
	if errors.Is(t.SendErr, context.DeadlineExceeded) { // the client gave up on sends; the broker did not refuse them
		return nil
	}
	return b.judgeSends(t)
}

// breachError returns the failure of a breach. err, if not nil, is why the trial ended.
func (b *bench) breachError(breach ledger.Count, err error) error {
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
	case ledger.Reordered:
		return failed("%d messages arrived out of order although order was asked for", breach.Messages)
	default:
		return failed("%d messages broke what was asked for (deviation %d)", breach.Messages, breach.Deviation)
	}
}

// mostFailedSends is the share of sends that may fail: a client may lose single messages when it reconnects.
const mostFailedSends = 0.001

// judgeSends returns the failure of too many sends; nil if they were few, or if the spec asks for faults.
func (b *bench) judgeSends(t trial) error {
	if m := t.Measured; float64(m.Failed) > mostFailedSends*float64(m.Sent) && len(b.spec.Faults) == 0 {
		return failed("%d of %d sends failed%s", m.Failed, m.Sent, because(t.SendErr))
	}
	return nil
}

// judgeArrivals returns the failure of messages that are missing or late; nil if there are none. Either the broker or a saturated
// generator is to blame, and judge decides which. A message is late if it had not come when the drain allowance was used up: for so long a
// trial waits after its last send. If others still came then (Arriving), the missing ones are late rather than lost. The cases are in the
// order of causes: if nothing was sent, nothing arrives either, and only the first is reported.
func (b *bench) judgeArrivals(t trial) error {
	m, missing := t.Measured, t.Measured.WronglyLost()
	faulty := len(b.spec.Faults) > 0 // the spec asks for faults, which explain silence
	mustArrive := b.spec.Delivery != "at-most-once"
	noneConfirmed := m.Acked+m.Failed == 0
	noneArrived := m.Received == 0 && m.Expected > 0 && m.Acked > 0
	limitExplainsGap := m.MayDrop > 0 && missing == 0 // what is missing, the broker's queues may have dropped
	switch {
	case brokeOff(t):
		return t.Err
	case !t.Early.Possible(t.ClockBound):
		return void("a message seems to have come %s before it was sent, though the clocks of the hosts are known to each other to ±%s: that bound does not hold",
			time.Duration(t.Early.By), time.Duration(t.ClockBound))
	case m.Sent == 0:
		return failed("nothing could be sent in the measured phase%s", because(t.SendErr))
	case noneConfirmed && !faulty:
		return failed("none of %d messages was confirmed before the drain allowance of %s was used up", m.Sent, b.spec.Drain)
	case noneArrived && !faulty:
		return failed("none of %d messages that were sent arrived", m.Sent)
	case missing > 0 && mustArrive && t.Arriving:
		return failed("%d confirmed messages had not come when the drain allowance of %s was used up, though others still came", missing, b.spec.Drain)
	case t.Overdue > m.MayDrop && mustArrive:
		return failed("%d deliveries had not come when the drain allowance of %s was used up, though others still came", t.Overdue, b.spec.Drain)
	case t.Err != nil && !limitExplainsGap: // a backlog ran dry, the only error that brokeOff leaves
		return t.Err
	}
	if err := b.judgeSends(t); err != nil {
		return err
	}
	if m.Resent > 0 && m.Unresolved > 0 && !faulty {
		return failed("%d of %d sends had no outcome when the run ended: the connection was lost", m.Unresolved, m.Sent)
	}
	return nil
}

// brokeOff reports whether a trial ended before its time. A backlog that ran dry did not: every message that could arrive had
// arrived.
func brokeOff(t trial) bool { return t.Err != nil && !errors.Is(t.Err, worker.ErrRanDry) }
