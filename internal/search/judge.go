package search

import (
	"cmp"
	"time"

	"github.com/brokermark/brokermark/internal/ledger"
	"github.com/brokermark/brokermark/internal/remark"
)

// Confidence is the one-sided confidence of the tests on the growth of a backlog and on shares of lost messages.
const Confidence = 0.95

// Verdict is what a trial showed for one goal.
type Verdict string

// The verdicts. Void: the limit may have been something other than the broker (the generator, or other
// processes on the machine), or a figure that the goal needs is missing. A void trial shows nothing.
const (
	Pass Verdict = "pass"
	Fail Verdict = "fail"
	Void Verdict = "void"
)

// Judgement is the verdict of one trial on one goal.
type Judgement struct {
	Verdict Verdict
	Reason  remark.Remark // the first rule that the trial did not keep; empty if it passed
	// Broken is set if the broker broke a promise at this rate, for example by losing a message that
	// it had confirmed. No number of trials that pass makes up for that.
	Broken bool
	// Generator says how the generator reached a limit of its own if that made the trial void; else it is empty.
	Generator remark.Remark
}

// Evidence is what was observed in a trial at a fixed rate. Rule.Judge makes a Judgement of it for each goal. For
// example, 10,000/s were offered, and the backlog grew by 300/s: a Fail, as 1 % of the rate is allowed.
type Evidence struct {
	Rate          float64       // messages per second offered
	Subscriptions int           // deliveries of each message; 0: there are no consumers
	FullLength    bool          // a long trial: the backlog rule applies with its full strictness
	Backlog       []Point       // in the measured phase, while messages were sent; by time
	Missed        remark.Remark // by how much less came through than was offered; empty if no less did, or not clearly
	Hopeless      bool          // deliveries still came when the allowance ended: the missing messages are late, not lost
	Drained       bool          // everything was confirmed and received within the allowance after the last send
	StillArriving bool          // deliveries still came when the allowance ended: missing messages are late, not lost
	Drain         time.Duration // how long that allowance is
	Overdue       int64         // deliveries that were still missing when it ended, whether or not they came afterwards
	Books         ledger.Books
	Faults        []string // those that were to be done to the broker, such as "kill"
	Silent        bool     // it may be silent, because faults were injected into it or into a part before it
	Scheduled     bool     // messages followed a schedule, so that the broker or the generator causes a backlog; else they followed the confirmations
	// Err is why the load ended before its time, or why its backlog ran dry; nil if it ended as planned. BrokeOff distinguishes
	// the two: messages of a load that broke off were still under way, so that none counts as lost.
	Err      error
	BrokeOff bool
	SendErr  error // the last error of a send; nil if all went well
	// Latency returns bounds of a quantile of the latency, in nanoseconds: end to end, or until the confirmation without subscriptions.
	// The bounds differ if messages never came; most may be math.MaxInt64. Latency is nil if no latency was measured.
	Latency func(quantile float64) (least, most int64)
	// WithoutGenerator returns the least that Latency would be without the generator's own lag and pauses. It is nil if they are
	// not known.
	WithoutGenerator func(quantile float64) int64
	// ClockBound is the largest error of the latency, either way, if it is the difference of two
	// agents' clocks; 0: one clock.
	ClockBound time.Duration
	Early      time.Duration // how long before its send a message came by the clocks, if ClockBound doesn't explain it; else 0
	Generator  Generator
}

// Generator holds how late and how busy the load generator was in a trial; of several agents, the latest and the busiest. An
// empty name of an agent means this process.
type Generator struct {
	LagP99        int64   // how late it sent, by its own fault, ns
	LatestAgent   string  // the agent with this lag: "agent left"
	UsedCores     float64 // cores that it used
	Cores         float64 // cores that it may use; 0: not known
	BusiestAgents string  // the agent, or all agents of the machine, with these cores: "agent left"
	// Busiest is the goroutine that used most of a core, namely BusiestShare of it; empty if not known, or if no core was idle.
	// Work that one goroutine has to do, such as reading a connection, can't use more than one core.
	Busiest      string
	BusiestShare float64
	DropsAt      string // the setting by which the client library drops what its consumer doesn't keep up with: "client.x: 20"
}

// Served returns how many messages per second came through in a trial: the rate offered, less the share that was lost
// and less the growth of the backlog. A backlog whose growth is not known, or that shrinks, takes nothing off. For
// example, of 10,000/s with 1 % lost and a backlog that grows by 300/s, 9,600/s came through.
func (e Evidence) Served() float64 {
	served := e.Rate
	if e.Books.Expected > 0 {
		served *= 1 - float64(e.Books.Lost)/float64(e.Books.Expected)
	}
	if growth := GrowthOf(e.Backlog); growth.Known() {
		served -= max(0, growth.Slope) / float64(max(1, e.Subscriptions))
	}
	return min(max(served, 0), e.Rate)
}

// Rule holds the limits that every trial must keep, whatever the goal.
type Rule struct {
	Sustained    bool             // the broker has to keep up with the load, as in a search; otherwise the result is the rate that came through
	Guarantee    ledger.Guarantee // the guarantee that the broker must keep; if it allows loss, the goal says how much
	MinSent      float64          // share of the messages due that the client must have taken, or the rate was not offered
	MaxSlope     float64          // how fast the backlog may grow per second, as a share of the rate of deliveries
	Tolerated    time.Duration    // a long trial also fails if its backlog certainly grows, by more than the messages of this time
	LagFloor     time.Duration    // the generator may always be as late as this, at p99
	LagShare     float64          // it may also be late by this share of the latency, which is mostly the broker's then
	MaxBusyShare float64          // a generator that uses more than this share of its cores is saturated
}

// DefaultRule is the rule that docs/method.md describes, for one guarantee.
func DefaultRule(g ledger.Guarantee) Rule {
	return Rule{
		Sustained: true, Guarantee: g, MinSent: 0.99, MaxSlope: 0.01, Tolerated: 12500 * time.Microsecond,
		LagFloor: 10 * time.Millisecond, LagShare: 0.25, MaxBusyShare: 0.9,
	}
}

// cause is the part that a broken rule blames. It decides the verdict.
type cause int

const (
	promise   cause = iota // the broker, whatever the generator did: the trial fails for good
	generator              // the generator: the trial is void
	clocks                 // clocks that differ by more than their stated bound: it is void
	load                   // the broker, unless the generator was in its way: it fails, or is void
	latency                // likewise
	unknown                // nothing was tested: it is void
	causes                 // number of causes
)

// breach is a broken rule; why is empty if the rule was kept.
type breach struct {
	cause cause
	why   remark.Remark
}

// breaches checks the rules of a trial in order. Of the broken rules with the same cause, the first one counts.
func (r Rule) breaches(e Evidence, g Goal) []breach {
	of := []breach{
		{promise, r.brokenPromise(e)},
		{promise, r.refusedSends(e, g)},
		{generator, r.Saturated(e)},
		{clocks, tooEarly(e)},
		{load, endedEarly(e)},
		{load, r.failedSends(e, g)},
	}
	if !r.Sustained {
		return append(of, breach{load, silence(e)}, breach{load, r.late(e)})
	}
	return append(of, breach{load, r.tooMuchLoss(e, g)}, breach{load, r.FellBehind(e)}, breach{latency, latencyAbove(e, g)}, breach{unknown, missingEvidence(e, g)})
}

// Judge applies the rule and the goal to a trial.
func (r Rule) Judge(e Evidence, g Goal) Judgement {
	var found [causes]remark.Remark
	for _, b := range r.breaches(e, g) {
		found[b.cause] = firstOf(found[b.cause], b.why)
	}
	if broken := found[promise]; said(broken) {
		return Judgement{Verdict: Fail, Reason: broken, Broken: true}
	}
	failure := firstOf(found[clocks], found[load], found[latency])
	own := found[generator]
	if behind := said(failure) || e.Scheduled && said(r.FellBehind(e)); behind && !said(own) && !e.BrokeOff {
		own = r.AtLimit(e)
	}
	onlyLatency := said(found[latency]) && !said(found[load])
	switch part := e.generatorsPart(g); {
	case said(own) && said(failure):
		return Judgement{Verdict: Void, Reason: remark.Of("%s; %s", own, failure), Generator: own}
	case said(own):
		return Judgement{Verdict: Void, Reason: own, Generator: own}
	case said(found[clocks]):
		return Judgement{Verdict: Void, Reason: failure}
	case onlyLatency && part > 0:
		own = remark.Of("%s, and up to %s of it may be the generator's own lag and pauses", failure, part.Round(time.Microsecond))
		return Judgement{Verdict: Void, Reason: own, Generator: own}
	case said(failure):
		return Judgement{Verdict: Fail, Reason: failure}
	case said(found[unknown]): // a trial that could not have shown a failure does not pass
		return Judgement{Verdict: Void, Reason: found[unknown]}
	}
	return Judgement{Verdict: Pass}
}

func said(why remark.Remark) bool { return why.Text != "" }

// firstOf returns the first remark that is not empty.
func firstOf(remarks ...remark.Remark) remark.Remark {
	for _, r := range remarks {
		if said(r) {
			return r
		}
	}
	return kept
}

// generatorsPart returns how much of a latency above its bound may be the generator's own, if the trial could have kept the bound
// without that part; else 0, also if too many messages never came. It looks at the goal's quantile, independently of the
// generator's lag at p99: LagFloor allows a lag, but doesn't decide about a latency.
func (e Evidence) generatorsPart(g Goal) time.Duration {
	if g.Latency == 0 || e.Latency == nil || e.WithoutGenerator == nil {
		return 0
	}
	least, most := e.Latency(g.Quantile)
	others, limit, bound := e.WithoutGenerator(g.Quantile), int64(g.Latency), int64(e.ClockBound)
	surelyAbove, surelyBelow := least-bound > limit, least+bound <= limit
	if least < most || surelyBelow || surelyAbove && others-bound > limit || !surelyAbove && others+bound > limit {
		return 0
	}
	return time.Duration(least - others)
}

// Saturated says how the generator, and not the broker, limited a trial; empty if it did not. The latency counts from the
// intended time of sending, so it includes the generator's lag: at a LagShare of 0.25, the lag may be a third of the rest.
func (r Rule) Saturated(e Evidence) remark.Remark {
	generator := e.Generator
	if n := e.Books.Dropped; n > 0 {
		return remark.Of("the client library dropped %d deliveries in the generator's process (%s)", n, generator.DropsAt)
	}
	allowed := int64(r.LagFloor)
	if e.Latency != nil {
		p99, _ := e.Latency(0.99)
		allowed = max(allowed, int64(r.LagShare*float64(p99)))
	}
	if lag := generator.LagP99; lag > allowed {
		who := cmp.Or(generator.LatestAgent, "the generator itself")
		return remark.Of("%s was %s late at p99 (allowed %s)", who,
			time.Duration(lag).Round(time.Microsecond), time.Duration(allowed).Round(time.Microsecond))
	}
	return brokenIf(generator.Cores > 0 && generator.UsedCores > r.MaxBusyShare*generator.Cores,
		"%s used %.1f of %.3g cores", cmp.Or(generator.BusiestAgents, "the generator"), generator.UsedCores, generator.Cores)
}

// AtLimit names the goroutine of the generator that used up its one core while other cores were idle; empty if there is none. A
// failed trial then says nothing about the broker, because its messages may have waited for that goroutine; a passed trial shows
// that the goroutine was fast enough.
func (r Rule) AtLimit(e Evidence) remark.Remark {
	g := e.Generator
	return brokenIf(g.Busiest != "" && g.BusiestShare > r.MaxBusyShare,
		"%s of the generator used %.2f of a core, all that one goroutine can", g.Busiest, g.BusiestShare)
}

// FellBehind says how the load fell behind its schedule, independently of the goal; empty if it did not.
func (r Rule) FellBehind(e Evidence) remark.Remark {
	return firstOf(r.growingBacklog(e), missedRate(e), r.notHandedOver(e), r.late(e), r.notDrained(e))
}
