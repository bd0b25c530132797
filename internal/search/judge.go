package search

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/ledger"
	"github.com/brokermark/brokermark/internal/remark"
)

// Confidence is the one-sided confidence of the tests on the growth of a backlog and on shares of lost messages.
const Confidence = 0.95

// Verdict is what a trial showed for one goal.
type Verdict string

// The verdicts. Void: something other than the broker (the generator, or other processes on the machine) may have been
// the limit, or a figure that the goal needs is missing. A void trial shows nothing.
const (
	Pass Verdict = "pass"
	Fail Verdict = "fail"
	Void Verdict = "void"
)

// Judgement is the verdict of one trial on one goal.
type Judgement struct {
	Verdict Verdict
	Reason  string // the first rule that the trial did not keep; empty if it passed
	// Broken tells that the broker broke a promise at this rate, for example by losing a message that it had confirmed. No number
	// of trials that pass makes up for that.
	Broken bool
	// Slow tells that the trial kept every rule but the goal's bound on the latency. Such a broker may keep the bound at a higher
	// rate, where its batches are larger and a message costs less.
	Slow bool
}

// Evidence is what was observed in a trial at a fixed rate that ran to its end.
type Evidence struct {
	Rate          float64 // messages per second offered
	Subscriptions int     // deliveries of each message; 0: nobody receives
	FullLength    bool    // the trial was not shortened: the backlog rule applies with its full strictness
	Backlog       []Point // in the measured phase, while messages were sent; by time
	Hopeless      bool    // the trial was ended early, because its backlog showed that it could only fail
	Drained       bool    // everything was confirmed and received within the allowance after the last send
	StillArriving bool    // deliveries still came when the allowance ended: missing messages are late, not lost
	Books         ledger.Books
	// Latency returns a quantile of the latency in nanoseconds: end to end, or until the confirmation if nobody subscribes. It is
	// nil if no latency was measured.
	Latency func(quantile float64) int64
	// ClockBound is the largest error of the latency, either way, if it is the difference of two agents' clocks; 0: one clock.
	ClockBound     time.Duration
	Impossible     bool    // a message came earlier than ClockBound can explain, so that bound does not hold
	GeneratorLag   int64   // p99 of the lag that the generator itself caused, in nanoseconds
	GeneratorCPU   float64 // cores that the generator used
	GeneratorCores float64 // cores that the generator may use; 0: not known
	LateAgent      string  // the agent with that lag: "agent left"; empty: the generator is this process
	BusyAgent      string  // the agent, or agents of one machine, with those cores: "agent left"; empty: this process
}

// Rule holds the limits that every trial must keep, whatever the goal.
type Rule struct {
	Guarantee      ledger.Guarantee // what the broker must keep; if it allows loss, the goal says how much
	MinSent        float64          // share of the messages due that the client must have taken
	MaxSlope       float64          // how fast the backlog may grow per second, as a share of the rate of deliveries
	ToleratedSlope float64          // a full-length trial also fails if its backlog certainly grows, and by more than this share
	LagFloor       time.Duration    // the generator may always be as late as this
	LagShare       float64          // it may also be late by this share of the measured latency
	MaxBusyShare   float64          // a generator that uses more than this share of its cores is saturated
}

// DefaultRule is the rule that docs/method.md describes, for one guarantee.
func DefaultRule(g ledger.Guarantee) Rule {
	return Rule{
		Guarantee: g, MinSent: 0.99, MaxSlope: 0.01, ToleratedSlope: 0.0025,
		LagFloor: 10 * time.Millisecond, LagShare: 0.25, MaxBusyShare: 0.9,
	}
}

// Judge applies the rule and the goal to a trial, in an order that matters:
//
//  1. A broken promise counts whatever else happened, so it comes first.
//  2. If the generator was saturated, the other rules would blame the broker for the generator, so the trial is void.
//  3. Then the first rule that was not kept fails the trial. The bound on the latency is the last of them.
//  4. A trial that kept all rules passes only if every rule could be tested. Missing figures never pass.
func (r Rule) Judge(e Evidence, g Goal) Judgement {
	if breach := r.brokenPromise(e); breach != "" {
		return Judgement{Verdict: Fail, Reason: breach, Broken: true}
	}
	if why, saturated := r.Saturated(e); saturated {
		return Judgement{Verdict: Void, Reason: why.Text}
	}
	if e.Impossible {
		return Judgement{Verdict: Void, Reason: fmt.Sprintf("the clocks of the agents differ by more than they are known to (±%s)", e.ClockBound)}
	}
	if failure := cmp.Or(r.loss(e, g), r.backlog(e), r.handedOver(e), r.drained(e)); failure != "" {
		return Judgement{Verdict: Fail, Reason: failure}
	}
	if failure := latencyAbove(e, g); failure != "" {
		return Judgement{Verdict: Fail, Reason: failure, Slow: true}
	}
	if missing := missingEvidence(e, g); missing != "" {
		return Judgement{Verdict: Void, Reason: missing}
	}
	return Judgement{Verdict: Pass}
}

// Saturated reports whether the generator, not the broker, was the limit of a trial, and why.
func (r Rule) Saturated(e Evidence) (why remark.Remark, saturated bool) {
	var latency int64
	if e.Latency != nil {
		latency = e.Latency(0.99)
	}
	if allowed := max(int64(r.LagFloor), int64(r.LagShare*float64(latency))); e.GeneratorLag > allowed {
		return remark.Of("%s was %s late at p99 (allowed %s)", cmp.Or(e.LateAgent, "the generator itself"),
			time.Duration(e.GeneratorLag).Round(time.Microsecond), time.Duration(allowed).Round(time.Microsecond)), true
	}
	if e.GeneratorCores > 0 && e.GeneratorCPU > r.MaxBusyShare*e.GeneratorCores {
		return remark.Of("%s used %.1f of %.0f cores", cmp.Or(e.BusyAgent, "the generator"), e.GeneratorCPU, e.GeneratorCores), true
	}
	return remark.Remark{}, false
}

// missingEvidence names a figure without which a trial must not pass; empty if there is none.
func missingEvidence(e Evidence, g Goal) string {
	switch {
	case e.Books.Due == 0:
		return "no message was due, so nothing was tested"
	case e.FullLength && !GrowthOf(e.Backlog).Known():
		return "the backlog was sampled too rarely to tell whether it grew"
	case g.Latency > 0 && e.Latency == nil:
		return "no latency was measured"
	}
	return ""
}

// breaches are the sentences for the deviations that a guarantee rules out.
var breaches = map[ledger.Deviation]string{
	ledger.Corrupted:  "%d messages were corrupted",
	ledger.Lost:       "%d messages were lost although the broker had confirmed them",
	ledger.Duplicated: "%d messages were delivered twice",
	ledger.Reordered:  "%d messages arrived out of order",
}

// brokenPromise says how the guarantee was broken; empty if it held. It names the worst breach: ledger.Keeps sorts them so.
// Messages that still arrived when the allowance ended are late, not lost.
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

// loss says how many sends failed, or messages were lost, if that is more than the goal allows; empty if not.
//
// A broker that loses a message before it fans it out loses it for all subscriptions at once. So lost deliveries are
// divided by the number of subscriptions, which underestimates what single subscriptions lose.
func (r Rule) loss(e Evidence, g Goal) string {
	if tooMany(e.Books.Failed, e.Books.Sent, g.Loss) {
		return fmt.Sprintf("%d of %d sends failed", e.Books.Failed, e.Books.Sent)
	}
	if !r.Guarantee.MayLose() || e.StillArriving {
		return ""
	}
	subscriptions := int64(max(1, e.Subscriptions))
	lost := (e.Books.Lost + subscriptions - 1) / subscriptions
	switch {
	case !tooMany(lost, e.Books.Sent, g.Loss):
		return ""
	case subscriptions == 1:
		return fmt.Sprintf("%d of %d deliveries were lost", e.Books.Lost, e.Books.Expected)
	}
	return fmt.Sprintf("%d of %d deliveries were lost: at least %d of %d messages", e.Books.Lost, e.Books.Expected, lost, e.Books.Sent)
}

// tooMany reports whether lost messages are more than a goal allows. If it allows no loss, one message is too many. Otherwise a
// one-sided test decides, with the Poisson distribution for rare events: the share is exceeded if, at exactly the allowed share,
// fewer losses than these would be seen with a probability above Confidence. One lost message never shows it.
func tooMany(lost, sent int64, allowedShare float64) bool {
	if allowedShare <= 0 || lost == 0 {
		return lost > 0
	}
	if lost == 1 {
		return false
	}
	return distuv.Poisson{Lambda: allowedShare * float64(sent)}.CDF(float64(lost-1)) > Confidence
}

// AllowedGrowth is the most a backlog may grow, in messages per second. The backlog is summed over subscriptions, so the
// limit is multiplied by their number.
func (r Rule) AllowedGrowth(rate float64, subscriptions int) float64 {
	return r.MaxSlope * deliveries(rate, subscriptions)
}

// deliveries is how many messages per second are delivered over all subscriptions. No subscription counts as one: then
// the backlog consists of confirmations.
func deliveries(rate float64, subscriptions int) float64 {
	return rate * float64(max(1, subscriptions))
}

// backlog says how the backlog grew if it grew too fast; empty if not. It is empty, too, if the growth is not known: missingEvidence
// makes such a trial void if it has full length.
func (r Rule) backlog(e Evidence) string {
	growth, allowed := GrowthOf(e.Backlog), r.AllowedGrowth(e.Rate, e.Subscriptions)
	switch {
	case e.Hopeless && !growth.Known():
		return "ended early: the backlog grew too fast"
	case e.Hopeless:
		return fmt.Sprintf("backlog grew by %s (allowed %s): ended early", perSecond(growth.Slope), perSecond(allowed))
	case !growth.Known():
		return ""
	case e.FullLength:
		return fullTrialBacklog(growth, allowed, r.ToleratedSlope*deliveries(e.Rate, e.Subscriptions))
	}
	return shortTrialBacklog(growth, allowed)
}

// fullTrialBacklog fails a full-length trial if its backlog may grow by more than allowed (the upper confidence bound of the slope),
// or certainly grows (the lower one is above 0) and by more than tolerated. Both limits are in messages per second.
func fullTrialBacklog(growth Growth, allowed, tolerated float64) string {
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

// shortTrialBacklog fails a short trial only on growth that is certain. A backlog rises and falls with the client's
// batches, and a short trial can't bound its slope tightly. The long trials decide.
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

// handedOver says whether the client took too few of the messages that were due; empty if it took enough.
func (r Rule) handedOver(e Evidence) string {
	if float64(e.Books.Sent) < r.MinSent*float64(e.Books.Due) {
		return fmt.Sprintf("only %d of %d messages due could be handed to the client", e.Books.Sent, e.Books.Due)
	}
	return ""
}

// drained says what was missing when the drain allowance ended; empty if nothing was, or if the guarantee lets the broker
// lose it: lost messages never drain.
func (r Rule) drained(e Evidence) string {
	mayLose := r.Guarantee.MayLose()
	if e.Books.LostAcked > 0 && !mayLose { // brokenPromise passes these over while others still come
		return fmt.Sprintf("%d confirmed messages had not come within the drain allowance, though others still came", e.Books.LostAcked)
	}
	lostForGood := mayLose && e.Books.Lost > 0 && !e.StillArriving && e.Books.Unresolved == 0
	if !e.Drained && !lostForGood {
		return "not everything was confirmed and received within the drain allowance"
	}
	return ""
}

// latencyAbove says by how much the latency was above the goal's bound, or that it may have been by the error of two clocks; empty if
// it was certainly not above, or if there is no bound.
func latencyAbove(e Evidence, g Goal) string {
	if g.Latency == 0 || e.Latency == nil {
		return ""
	}
	measured := time.Duration(e.Latency(g.Quantile))
	switch (clock.Reading{Ns: int64(measured), Bound: int64(e.ClockBound)}).Exceeds(int64(g.Latency)) {
	case clock.No:
		return ""
	case clock.Undecided:
		return fmt.Sprintf("latency %s ±%s: whether it is above the bound of %s the clocks of the agents don't tell", measured, e.ClockBound, g.Latency)
	}
	shown := measured.Round(time.Microsecond)
	if shown <= g.Latency {
		shown = measured // rounding hid the difference
	}
	return fmt.Sprintf("latency %s is above the bound of %s", shown, g.Latency)
}

// Served returns how many messages per second came through in a trial: the rate offered, less the share that was lost and less
// the growth of the backlog. It is between 0 and the rate. A growth that is not known counts as none.
func (e Evidence) Served() float64 {
	served := e.Rate
	if e.Books.Expected > 0 {
		served *= 1 - float64(e.Books.Lost)/float64(e.Books.Expected)
	}
	if growth := GrowthOf(e.Backlog); growth.Known() {
		served -= growth.Slope / float64(max(1, e.Subscriptions))
	}
	return math.Max(0, math.Min(served, e.Rate))
}
