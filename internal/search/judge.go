package search

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/brokermark/brokermark/internal/ledger"
	"github.com/brokermark/brokermark/internal/remark"
)

// Verdict is what a trial showed for one goal.
type Verdict string

// The verdicts. Void: the generator, not the broker, didn't keep up; nothing follows from the trial.
const (
	Pass Verdict = "pass"
	Fail Verdict = "fail"
	Void Verdict = "void"
)

// Judgement is the verdict of one trial on one goal.
type Judgement struct {
	Verdict Verdict
	Reason  string // the first rule that was not held; "" where it passed
	// Broken: the broker broke a promise at this rate (it lost a message it had confirmed, say). No number of good
	// trials makes up for that.
	Broken bool
}

// Evidence is what a trial at a fixed rate gave. Times are nanoseconds unless named otherwise.
type Evidence struct {
	Rate           float64 // messages per second offered
	Subscriptions  int     // deliveries of each message; 0: nobody receives
	FullLength     bool    // not shortened: the backlog rule is applied with its full strictness
	Backlog        []Point // while sending, measured phase
	Hopeless       bool    // ended early: its backlog showed that it could only fail
	Drained        bool    // everything was confirmed and received within the allowance after the last send
	StillArriving  bool    // deliveries were still coming when the allowance ended: what is missing is late, not lost
	Books          ledger.Books
	Latency        func(quantile float64) int64 // end to end; publish where nobody subscribes; nil: not measured
	GeneratorLag   int64                        // p99 of the lag the generator itself caused
	GeneratorCPU   float64                      // cores it used
	GeneratorCores float64                      // cores it may use
	Err            error                        // why the trial broke off
}

// Rule holds the limits that every trial must keep, whatever the goal.
type Rule struct {
	Guarantee      ledger.Guarantee // what the broker must keep; where it allows loss, the goal says how much
	MinSent        float64          // share of the messages due that the client must have taken
	MaxSlope       float64          // how fast the backlog may grow, as a share of the rate of deliveries
	ToleratedSlope float64          // growth above this share fails a full-length trial if it is certainly above zero
	LagFloor       time.Duration    // generator lag below this is never held against a trial
	LagShare       float64          // nor is lag below this share of the measured latency
	MaxBusyShare   float64          // a generator using more than this share of its cores is saturated
}

// DefaultRule is the rule of docs/method.md for a guarantee.
func DefaultRule(g ledger.Guarantee) Rule {
	return Rule{
		Guarantee: g, MinSent: 0.99, MaxSlope: 0.01, ToleratedSlope: 0.0025,
		LagFloor: 10 * time.Millisecond, LagShare: 0.25, MaxBusyShare: 0.9,
	}
}

// confidence of what a trial must show.
const confidence = 0.95

// Judge applies the rule and the goal to a trial. Broken promises come first: they count whatever else happened. A trial that
// broke off fails rather than being void: what broke it off is the broker, or the way to it.
func (r Rule) Judge(e Evidence, g Goal) Judgement {
	if why := r.promise(e); why != "" {
		return Judgement{Verdict: Fail, Reason: why, Broken: true}
	}
	if e.Err != nil {
		return Judgement{Verdict: Fail, Reason: e.Err.Error()}
	}
	if why := r.Saturated(e); why.Text != "" {
		return Judgement{Verdict: Void, Reason: why.Text}
	}
	why := cmp.Or(r.loss(e, g), r.backlog(e), r.handedOver(e), r.drained(e), latencyBound(e, g))
	if why != "" {
		return Judgement{Verdict: Fail, Reason: why}
	}
	return Judgement{Verdict: Pass}
}

// Saturated says why the generator, not the broker, was the limit of a trial; nothing where it kept up.
func (r Rule) Saturated(e Evidence) remark.Remark {
	var latency int64
	if e.Latency != nil {
		latency = e.Latency(0.99)
	}
	if allowed := max(int64(r.LagFloor), int64(r.LagShare*float64(latency))); e.GeneratorLag > allowed {
		return remark.Of("the generator itself was %s late at p99 (allowed %s)",
			time.Duration(e.GeneratorLag).Round(time.Microsecond), time.Duration(allowed).Round(time.Microsecond))
	}
	if e.GeneratorCores > 0 && e.GeneratorCPU > r.MaxBusyShare*e.GeneratorCores {
		return remark.Of("the generator used %.1f of %.0f cores", e.GeneratorCPU, e.GeneratorCores)
	}
	return remark.Remark{}
}

// breaches are the words for what a guarantee rules out.
var breaches = map[ledger.Deviation]string{
	ledger.Corrupted:  "%d messages were corrupted",
	ledger.Lost:       "%d messages were lost although the broker had confirmed them",
	ledger.Duplicated: "%d messages were delivered twice",
	ledger.Reordered:  "%d messages arrived out of order",
}

// promise is the gravest breach of the guarantee. What still arrives when the allowance is used up is late, not lost.
func (r Rule) promise(e Evidence) string {
	books := e.Books
	if e.StillArriving {
		books.LostAcked = 0
	}
	if v := ledger.Keeps(r.Guarantee, nil, books); v.Promise == ledger.Broken {
		return fmt.Sprintf(breaches[v.Breaches[0].Deviation], v.Breaches[0].Messages)
	}
	return ""
}

// loss compares failed sends and lost messages with the goal's share. With a share of 0 a single one is too many; otherwise
// the trial must show with 95 % confidence that more than the share was lost, which a single one never shows. Subscriptions
// lose a message together where the broker lost it before it fanned out, so lost deliveries are divided by them; what
// single subscriptions lose is underestimated by that.
func (r Rule) loss(e Evidence, g Goal) string {
	if tooMany(e.Books.Failed, e.Books.Sent, g.Loss) {
		return fmt.Sprintf("%d of %d sends failed", e.Books.Failed, e.Books.Sent)
	}
	if !r.Guarantee.MayLose() || e.StillArriving {
		return ""
	}
	subscriptions := int64(max(1, e.Subscriptions))
	lost := (e.Books.Lost + subscriptions - 1) / subscriptions
	if tooMany(lost, e.Books.Sent, g.Loss) {
		return fmt.Sprintf("%d of %d deliveries were lost", e.Books.Lost, e.Books.Expected)
	}
	return ""
}

// tooMany tells whether n of all are more than the share, with 95 % confidence where a share is allowed at all.
func tooMany(n, all int64, share float64) bool {
	if share <= 0 || n == 0 {
		return n > 0
	}
	if n == 1 {
		return false
	}
	return distuv.Poisson{Lambda: share * float64(all)}.CDF(float64(n-1)) > confidence
}

// AllowedGrowth is how fast a backlog may grow, in messages per second: what is summed over subscriptions may grow as many
// times faster.
func (r Rule) AllowedGrowth(rate float64, subscriptions int) float64 {
	return r.MaxSlope * deliveries(rate, subscriptions)
}

// deliveries is how many messages per second are delivered over all subscriptions.
func deliveries(rate float64, subscriptions int) float64 {
	return rate * float64(max(1, subscriptions))
}

func (r Rule) backlog(e Evidence) string {
	growth, allowed := GrowthOf(e.Backlog), r.AllowedGrowth(e.Rate, e.Subscriptions)
	switch {
	case e.Hopeless && !growth.Known():
		return "ended early: the backlog grew too fast"
	case e.Hopeless:
		return fmt.Sprintf("backlog grew by %s (allowed %s): ended early", perSecond(growth.Slope), perSecond(allowed))
	case !growth.Known():
		return ""
	}
	most, least := growth.AtMost(confidence), growth.AtLeast(confidence)
	grows := least > 0 // with confidence, at whatever speed
	if !e.FullLength {
		// A short trial can't put a tight bound on the slope of a backlog that breathes with the client's batches: it
		// goes by a slope that is there at all, and the long trials decide.
		if grows && growth.Slope > allowed {
			return fmt.Sprintf("backlog grows by %s (allowed %s)", perSecond(growth.Slope), perSecond(allowed))
		}
		return ""
	}
	if most > allowed {
		return fmt.Sprintf("backlog grows by %s (at most %s with 95 %% confidence; allowed %s)", perSecond(growth.Slope), perSecond(most), perSecond(allowed))
	}
	if tolerated := r.ToleratedSlope * deliveries(e.Rate, e.Subscriptions); grows && growth.Slope > tolerated {
		return fmt.Sprintf("backlog grows by %s (at least %s with 95 %% confidence; allowed %s)", perSecond(growth.Slope), perSecond(least), perSecond(tolerated))
	}
	return ""
}

// perSecond is a slope in whole messages per second; a small one has three digits, so that it does not read as 0.
func perSecond(slope float64) string {
	if math.Abs(slope) < 10 {
		return fmt.Sprintf("%.3g/s", slope)
	}
	return fmt.Sprintf("%.0f/s", slope)
}

func (r Rule) handedOver(e Evidence) string {
	if float64(e.Books.Sent) < r.MinSent*float64(e.Books.Due) {
		return fmt.Sprintf("only %d of %d messages due could be handed to the client", e.Books.Sent, e.Books.Due)
	}
	return ""
}

func (r Rule) drained(e Evidence) string {
	mayLose := r.Guarantee.MayLose()
	if e.Books.LostAcked > 0 && !mayLose { // were nothing arriving any more, the promise would be broken
		return fmt.Sprintf("%d confirmed messages had not come within the drain allowance, though others still came", e.Books.LostAcked)
	}
	lostForGood := mayLose && e.Books.Lost > 0 && !e.StillArriving && e.Books.Unresolved == 0 // that never drains
	if !e.Drained && !lostForGood {
		return "not everything was confirmed and received within the drain allowance"
	}
	return ""
}

func latencyBound(e Evidence, g Goal) string {
	if g.Latency == 0 || e.Latency == nil {
		return ""
	}
	if measured := e.Latency(g.Quantile); measured > int64(g.Latency) {
		return fmt.Sprintf("latency %s is above the bound of %s", time.Duration(measured).Round(time.Microsecond), g.Latency)
	}
	return ""
}

// Served is how many messages per second came through in a trial: the rate offered without what was lost and what was
// added to the backlog.
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
