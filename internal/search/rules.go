package search

import (
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/brokermark/brokermark/internal/ledger"
)

// The rules of a trial, as docs/method.md lists them. Each returns a sentence that says how the trial broke the rule, such
// as "3 of 50000 sends failed"; empty if it kept the rule. Rule.Judge asks them one after the other.

// breaches are the sentences for what a guarantee rules out: one for each deviation that package ledger knows.
var breaches = map[ledger.Deviation]string{
	ledger.Corrupted:  "%d messages were corrupted",
	ledger.Lost:       "%d messages were lost although the broker had confirmed them",
	ledger.Duplicated: "%d messages were delivered twice",
	ledger.Reordered:  "%d messages arrived out of order",
}

// brokenPromise names the worst breach of the guarantee: ledger.Keeps sorts them so. Messages that still
// arrived when the allowance ended are late, not lost.
func (r Rule) brokenPromise(e Evidence) string {
	books := e.Books
	if e.StillArriving {
		books.LostAcked = 0
	}
	verdict := ledger.Keeps(r.Guarantee, nil, books)
	if verdict.Promise != ledger.Broken {
		return ""
	}
	worst := verdict.Breaches[0] // a broken promise has at least one
	return fmt.Sprintf(breaches[worst.Deviation], worst.Messages)
}

// tooMuchLoss says how many sends failed, or messages were lost, if that is more than the goal allows.
//
// A broker that loses a message before it fans it out loses it for all subscriptions at once. So lost
// deliveries are divided by the number of subscriptions, and rounded up: with three subscriptions, four
// lost deliveries are at least two messages. That underestimates what single subscriptions lose.
func (r Rule) tooMuchLoss(e Evidence, g Goal) string {
	if tooMany(e.Books.Failed, e.Books.Sent, g.LossRatio) {
		return fmt.Sprintf("%d of %d sends failed", e.Books.Failed, e.Books.Sent)
	}
	if !r.Guarantee.MayLose() || e.StillArriving {
		return ""
	}
	subscriptions := int64(max(1, e.Subscriptions))
	lostMessages := (e.Books.Lost + subscriptions - 1) / subscriptions // rounded up
	switch {
	case !tooMany(lostMessages, e.Books.Sent, g.LossRatio):
		return ""
	case subscriptions == 1:
		return fmt.Sprintf("%d of %d deliveries were lost", e.Books.Lost, e.Books.Expected)
	}
	return fmt.Sprintf("%d of %d deliveries were lost: at least %d of %d messages",
		e.Books.Lost, e.Books.Expected, lostMessages, e.Books.Sent)
}

// tooMany reports whether lost messages are more than a goal allows. If it allows no loss, one message is
// too many. Otherwise a one-sided test decides, with the Poisson distribution for rare events: the share
// is exceeded if, at exactly the allowed share, fewer losses than these would be seen with a probability
// above Confidence. One lost message never shows it.
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
func (r Rule) growingBacklog(e Evidence) string {
	growth, allowed := GrowthOf(e.Backlog), r.AllowedGrowth(e.Rate, e.Subscriptions)
	switch {
	case e.Hopeless && !growth.Known():
		return "ended early: the backlog grew too fast"
	case e.Hopeless:
		return fmt.Sprintf("backlog grew by %s (allowed %s): ended early", perSecond(growth.Slope), perSecond(allowed))
	case !growth.Known():
		return ""
	case e.FullLength:
		return longTrialBacklog(growth, allowed, r.toleratedGrowth(e))
	}
	return shortTrialBacklog(growth, allowed)
}

// toleratedGrowth is the growth that a long trial may certainly show, in messages per second: the longer the trial, the slower. Over 5 s
// at 10,000/s the messages of 12.5 ms are 25/s, over 20 s they are 6.25/s.
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
func longTrialBacklog(growth Growth, allowed, tolerated float64) string {
	most, least := growth.AtMost(Confidence), growth.AtLeast(Confidence)
	if most > allowed {
		return fmt.Sprintf("backlog grows by %s (at most %s with %g %% confidence; allowed %s)",
			perSecond(growth.Slope), perSecond(most), 100*Confidence, perSecond(allowed))
	}
	if least > 0 && growth.Slope > tolerated {
		return fmt.Sprintf("backlog grows by %s (at least %s with %g %% confidence; allowed %s)",
			perSecond(growth.Slope), perSecond(least), 100*Confidence, perSecond(tolerated))
	}
	return ""
}

// shortTrialBacklog fails a short trial only on growth that is certain. A backlog rises and falls with the
// client's batches, and a short trial can't bound its slope tightly. The long trials decide.
func shortTrialBacklog(growth Growth, allowed float64) string {
	if growth.AtLeast(Confidence) > 0 && growth.Slope > allowed {
		return fmt.Sprintf("backlog grows by %s (allowed %s)", perSecond(growth.Slope), perSecond(allowed))
	}
	return ""
}

// perSecond writes a slope in whole messages per second. A small one has three digits, so that it does not read as 0.
func perSecond(slope float64) string {
	if math.Abs(slope) < 10 {
		return fmt.Sprintf("%.3g/s", slope)
	}
	return fmt.Sprintf("%.0f/s", slope)
}

// notHandedOver says that the client took too few of the messages that were due.
func (r Rule) notHandedOver(e Evidence) string {
	if float64(e.Books.Sent) < r.MinSent*float64(e.Books.Due) {
		return fmt.Sprintf("only %d of %d messages due could be handed to the client", e.Books.Sent, e.Books.Due)
	}
	return ""
}

// notDrained says what was missing when the drain allowance ended, unless the guarantee lets the broker
// lose it: lost messages never drain.
func (r Rule) notDrained(e Evidence) string {
	if r.Guarantee.MayLose() {
		allMissingAreLost := e.Books.Lost > 0 && e.Books.Unresolved == 0 && !e.StillArriving
		if allMissingAreLost {
			return ""
		}
	} else if e.Books.LostAcked > 0 {
		// No promise was broken, or brokenPromise had said so: these are late, or a queue limit that was asked for has
		// dropped them (ledger.Books.MayDrop).
		why := ": a queue limit may have dropped them"
		if e.StillArriving {
			why = ", though others still came"
		}
		return fmt.Sprintf("%d confirmed messages had not come within the drain allowance%s", e.Books.LostAcked, why)
	}
	if e.Drained {
		return ""
	}
	return "not everything was confirmed and received within the drain allowance"
}

// latencyAbove says by how much the latency was above the goal's bound, or that it may have been: by the error of two clocks, or
// because messages never came. A latency that was not measured breaks no rule: missingEvidence makes the trial void.
func latencyAbove(e Evidence, g Goal) string {
	if g.Latency == 0 || e.Latency == nil {
		return ""
	}
	least, most := e.Latency(g.Quantile)
	limit, bound := int64(g.Latency), int64(e.ClockBound)
	measured := time.Duration(least)
	switch {
	case most <= limit-bound:
		return ""
	case least-bound > limit:
		shown := measured.Round(time.Microsecond)
		if shown <= g.Latency {
			shown = measured // rounding hid the difference
		}
		return fmt.Sprintf("latency %s is above the bound of %s", shown, g.Latency)
	case least < most:
		return fmt.Sprintf("latency of at least %s: whether it is above the bound of %s is not known, since messages never came", measured, g.Latency)
	}
	return fmt.Sprintf("latency %s ±%s: whether it is above the bound of %s the clocks of the agents don't tell",
		measured, e.ClockBound, g.Latency)
}
