package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/brokermark/brokermark/internal/ledger"
	"github.com/brokermark/brokermark/internal/remark"
)

// The rules of a trial, as docs/method.md lists them. Each returns a sentence that says how the trial broke the rule, such
// as "3 of 50000 sends failed"; kept, which is empty, if it kept the rule. Rule.breaches has them in their order.

var kept remark.Remark

func brokenIf(broken bool, format string, args ...any) remark.Remark {
	if !broken {
		return kept
	}
	return remark.Of(format, args...)
}

// brokenPromise names the worst breach of the guarantee: ledger.Keeps sorts them so. Messages that still
// arrived when the allowance ended are late, not lost, and of a load that broke off none is known to be lost.
func (r Rule) brokenPromise(e Evidence) remark.Remark {
	books := e.Books
	if e.StillArriving {
		books.LostAcked = 0
	}
	verdict := ledger.Keeps(r.Guarantee, e.Faults, books)
	if verdict.Promise != ledger.Broken || e.BrokeOff {
		return kept
	}
	switch worst := verdict.Breaches[0]; { // a broken promise has at least one breach
	case worst.Deviation == ledger.Corrupted:
		return remark.Of("%d messages arrived corrupted", worst.Messages)
	case worst.Deviation == ledger.Lost:
		return remark.Of("%d messages were lost although the broker had confirmed them%s", worst.Messages, remark.Because(e.Err))
	case worst.Deviation == ledger.Reordered:
		return remark.Of("%d messages arrived out of order although order was asked for", worst.Messages)
	case r.Guarantee.Counted: // the application's own count of its messages
		return remark.Of("%d rides are counted twice", worst.Messages)
	default:
		return remark.Of("%d messages were delivered twice although %s was asked for", worst.Messages, strings.ReplaceAll(r.Guarantee.Delivery, "-", " "))
	}
}

// refusedSends says that the broker refused too many sends, which is its own doing whatever the generator does. A send that the client
// gave up is not counted, because the broker need not have refused it. In a search the broker may refuse what exceeds its capacity.
func (r Rule) refusedSends(e Evidence, g Goal) remark.Remark {
	if r.Sustained || e.BrokeOff || errors.Is(e.SendErr, context.DeadlineExceeded) {
		return kept
	}
	return r.failedSends(e, g)
}

// failedSends says how many sends failed if that is more than the goal allows. A fault excuses failed sends in a load, but not in
// a search.
func (r Rule) failedSends(e Evidence, g Goal) remark.Remark {
	explained := e.Silent && !r.Sustained
	return brokenIf(!explained && tooMany(e.Books.Failed, e.Books.Sent, g.LossRatio),
		"%d of %d sends failed%s", e.Books.Failed, e.Books.Sent, remark.Because(e.SendErr))
}

// tooEarly says that a message came earlier than the clocks' bound can explain, so that this bound does not hold.
func tooEarly(e Evidence) remark.Remark {
	return brokenIf(e.Early > 0 && !e.BrokeOff, "a message seems to have come %s before it was sent, "+
		"though the clocks of the hosts are known to each other to ±%s: that bound does not hold", e.Early, e.ClockBound)
}

// endedEarly says why the load ended before its time, or why its backlog ran dry, unless a queue limit may have dropped the
// missing messages.
func endedEarly(e Evidence) remark.Remark {
	limitExplainsGap := e.Books.MayDrop > 0 && e.Books.WronglyLost() == 0
	return brokenIf(e.BrokeOff || e.Err != nil && !limitExplainsGap, "%v", e.Err)
}

// silence says that nothing was sent, received or confirmed by all or some. The cases are in causal order: if nothing was sent,
// nothing arrives.
func silence(e Evidence) remark.Remark {
	b := e.Books
	switch {
	case b.Sent == 0:
		return remark.Of("nothing could be sent in the measured phase%s", remark.Because(e.SendErr))
	case e.Silent: // faults explain the cases below
	case b.Acked+b.Failed == 0:
		return remark.Of("none of %d messages was confirmed within the drain allowance of %s", b.Sent, e.Drain)
	case b.Received == 0 && b.Expected > 0 && b.Acked > 0:
		return remark.Of("none of %d messages that were sent arrived", b.Sent)
	case b.Resent > 0 && b.Unresolved > 0:
		return remark.Of("%d of %d sends had no outcome when the run ended: the connection was lost", b.Unresolved, b.Sent)
	}
	return kept
}

// tooMuchLoss says how many messages were lost, if the guarantee allows loss and the number is more than the goal allows.
//
// A broker that loses a message before it fans it out loses it for all subscriptions at once. So lost
// deliveries are divided by the number of subscriptions, and rounded up: with three subscriptions, four
// lost deliveries are at least two messages. That underestimates what single subscriptions lose.
func (r Rule) tooMuchLoss(e Evidence, g Goal) remark.Remark {
	if !r.Guarantee.MayLose() || e.StillArriving {
		return kept
	}
	subscriptions := int64(max(1, e.Subscriptions))
	lostMessages := (e.Books.Lost + subscriptions - 1) / subscriptions // rounded up
	switch {
	case !tooMany(lostMessages, e.Books.Sent, g.LossRatio):
		return kept
	case subscriptions == 1:
		return remark.Of("%d of %d deliveries were lost", e.Books.Lost, e.Books.Expected)
	}
	return remark.Of("%d of %d deliveries were lost: at least %d of %d messages",
		e.Books.Lost, e.Books.Expected, lostMessages, e.Books.Sent)
}

// tooMany reports whether lost messages are more than a goal allows. If it allows no loss, one message is too many. Otherwise a
// one-sided test decides, with the Poisson distribution for rare events: the share is exceeded if fewer losses would be seen, at
// exactly the allowed share, with a probability above Confidence. One lost message is never enough to show it.
//
// For example, 0.1 % of 100,000 messages are 100. By chance alone, 117 or fewer are lost in 95 % of such
// trials, so 118 are too many.
func tooMany(lost, sent int64, allowedShare float64) bool {
	switch {
	case lost == 0:
		return false
	case allowedShare <= 0:
		return true
	case lost == 1:
		return false
	}
	return distuv.Poisson{Lambda: allowedShare * float64(sent)}.CDF(float64(lost-1)) > Confidence
}

// AllowedGrowth is the most a backlog may grow, in messages per second. The backlog is summed over
// subscriptions, so the limit is multiplied by their number.
func (r Rule) AllowedGrowth(rate float64, subscriptions int) float64 {
	return r.MaxSlope * deliveries(rate, subscriptions)
}

// deliveries is how many messages per second are delivered over all subscriptions. No subscription counts
// as one: then the backlog consists of confirmations.
func deliveries(rate float64, subscriptions int) float64 {
	return rate * float64(max(1, subscriptions))
}

// growingBacklog says how the backlog grew if it grew too fast; decision 003 says why its growth, and not its size,
// is the rule. A growth that is not known breaks no rule: missingEvidence makes such a trial void if it is long.
func (r Rule) growingBacklog(e Evidence) remark.Remark {
	growth, allowed := GrowthOf(e.Backlog), r.AllowedGrowth(e.Rate, e.Subscriptions)
	switch {
	case e.Hopeless && !growth.Known():
		return remark.Of("ended early: the backlog grew too fast")
	case e.Hopeless:
		return remark.Of("backlog grew by %s (allowed %s): ended early", perSecond(growth.Slope), perSecond(allowed))
	case !growth.Known():
		return kept
	case e.FullLength:
		return longTrialBacklog(growth, allowed, r.toleratedGrowth(e))
	}
	return shortTrialBacklog(growth, allowed)
}

// toleratedGrowth is the certain growth that a long trial may show, in messages per second; it falls with the trial's length. The
// messages of 12.5 ms at 10,000/s are 25/s over 5 s and 6.25/s over 20 s.
func (r Rule) toleratedGrowth(e Evidence) float64 {
	elapsed := e.Backlog[len(e.Backlog)-1].Seconds - e.Backlog[0].Seconds // of a growth that is known
	return r.Tolerated.Seconds() / elapsed * deliveries(e.Rate, e.Subscriptions)
}

// longTrialBacklog fails a long trial if its backlog may grow by more than allowed (the upper
// confidence bound of the slope), or certainly grows (the lower one is above 0) and by more than
// tolerated. Both limits are in messages per second.
//
// For example, at 10,000/s and one subscription, 100/s are allowed and 25/s tolerated. A slope of 60±50/s
// fails, since it may be 110/s. One of 30±20/s fails, since it is certainly above 0 and higher than 25/s.
// One of 20±10/s passes.
func longTrialBacklog(growth Growth, allowed, tolerated float64) remark.Remark {
	most, least := growth.AtMost(Confidence), growth.AtLeast(Confidence)
	switch {
	case most > allowed && growth.Slope <= allowed:
		return remark.Of("backlog may grow by %s (with %g %% confidence by no more; measured %s; allowed %s)",
			perSecond(most), 100*Confidence, perSecond(growth.Slope), perSecond(allowed))
	case most > allowed:
		return remark.Of("backlog grows by %s (at most %s with %g %% confidence; allowed %s)",
			perSecond(growth.Slope), perSecond(most), 100*Confidence, perSecond(allowed))
	}
	return brokenIf(least > 0 && growth.Slope > tolerated, "backlog grows by %s (at least %s with %g %% confidence; allowed %s)",
		perSecond(growth.Slope), perSecond(least), 100*Confidence, perSecond(tolerated))
}

// shortTrialBacklog fails a short trial only on growth that is certain. A backlog rises and falls with the
// client's batches, and a short trial can't bound its slope tightly. The long trials decide.
func shortTrialBacklog(growth Growth, allowed float64) remark.Remark {
	return brokenIf(growth.AtLeast(Confidence) > 0 && growth.Slope > allowed,
		"backlog grows by %s (allowed %s)", perSecond(growth.Slope), perSecond(allowed))
}

// perSecond formats a slope in whole messages per second; a small one has three digits, so that it does not read as 0.
func perSecond(slope float64) string {
	if math.Abs(slope) < 10 {
		return fmt.Sprintf("%.3g/s", slope)
	}
	return fmt.Sprintf("%.0f/s", slope)
}

// missedRate says how much less came through in a long trial than was offered. If the broker stalls at the end of the trial, it misses the
// rate although the floor of its backlog has not grown. Short trials are exempt: messages under way at their end would count.
func missedRate(e Evidence) remark.Remark {
	if !e.FullLength {
		return kept
	}
	return e.Missed
}

// notHandedOver says that the client took too few of the messages that were due.
func (r Rule) notHandedOver(e Evidence) remark.Remark {
	return brokenIf(float64(e.Books.Sent) < r.MinSent*float64(e.Books.Due),
		"only %d of %d messages due could be handed to the client", e.Books.Sent, e.Books.Due)
}

// late says how many messages had not come when the drain allowance ended, although the broker must deliver them and others still came.
func (r Rule) late(e Evidence) remark.Remark {
	missing := e.Books.WronglyLost()
	switch {
	case r.Guarantee.MayLose():
	case missing > 0 && e.StillArriving:
		return remark.Of("%d confirmed messages had not come within the drain allowance of %s, though others still came", missing, e.Drain)
	case e.Overdue > e.Books.MayDrop:
		return remark.Of("%d deliveries had not come within the drain allowance of %s, though others still came", e.Overdue, e.Drain)
	}
	return kept
}

// notDrained says what else was missing when the drain allowance ended, unless the guarantee lets the broker lose it: lost
// messages never drain.
func (r Rule) notDrained(e Evidence) remark.Remark {
	allMissingAreLost := e.Books.Lost > 0 && e.Books.Unresolved == 0 && !e.StillArriving
	switch {
	case r.Guarantee.MayLose() && allMissingAreLost:
	case !r.Guarantee.MayLose() && e.Books.LostAcked > 0: // as a queue limit or a fault allows; otherwise a promise was broken, or the messages are late
		return remark.Of("%d confirmed messages had not come within the drain allowance of %s", e.Books.LostAcked, e.Drain)
	case !e.Drained:
		return remark.Of("not everything was confirmed and received within the drain allowance of %s", e.Drain)
	}
	return kept
}

// latencyAbove says by how much the latency exceeded the goal's bound, or may have exceeded it: by the error of two clocks, or
// because messages never came. A latency that was not measured breaks no rule: missingEvidence makes the trial void.
func latencyAbove(e Evidence, g Goal) remark.Remark {
	if g.Latency == 0 || e.Latency == nil {
		return kept
	}
	least, most := e.Latency(g.Quantile)
	limit, bound := int64(g.Latency), int64(e.ClockBound)
	measured := time.Duration(least)
	switch {
	case most <= limit-bound:
		return kept
	case least-bound > limit:
		shown := measured.Round(time.Microsecond)
		if shown <= g.Latency {
			shown = measured // rounding hid the difference
		}
		return remark.Of("latency %s is above the bound of %s", shown, g.Latency)
	case least < most:
		return remark.Of("latency of at least %s: whether it is above the bound of %s is not known, since messages never came", measured, g.Latency)
	}
	return remark.Of("latency %s ±%s: the agents' clocks are too inexact to say whether it is above the bound of %s",
		measured, e.ClockBound, g.Latency)
}

// missingEvidence names a figure without which a trial must not pass; empty if there is none.
func missingEvidence(e Evidence, g Goal) remark.Remark {
	switch {
	case e.Books.Due == 0:
		return remark.Of("no message was due, so nothing was tested")
	case e.FullLength && !GrowthOf(e.Backlog).Known():
		return remark.Of("the backlog was sampled too rarely to tell whether it grew")
	case g.Latency > 0 && e.Latency == nil:
		return remark.Of("no latency was measured")
	}
	return kept
}
