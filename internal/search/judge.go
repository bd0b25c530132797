package search

import (
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/brokermark/brokermark/internal/ledger"
)

// Verdict is what a trial showed for one goal.
type Verdict string

// The verdicts. Void: the generator, not the broker, didn't keep up; nothing follows from the trial.
const (
	Pass Verdict = "pass"
	Fail Verdict = "fail"
	Void Verdict = "void"
)

// Look is what a trial showed for one goal, and why.
type Look struct {
	Verdict Verdict
	Reason  string // the first reason against passing
	// Broken: the broker broke a promise at this rate (it lost a message it had confirmed, say). No number of good
	// trials makes up for that.
	Broken bool
}

// Evidence is what a trial at a fixed rate gave, as the rule wants it. Times are nanoseconds unless named otherwise.
type Evidence struct {
	Rate          float64 // messages per second offered
	Subscriptions int     // deliveries of each message; 0: nobody receives
	Long          bool    // of full length: the backlog rule is applied with its full strictness
	Backlog       []Point // while sending, measured phase
	Hopeless      bool    // it was ended early because its backlog showed that it could only fail
	Drained       bool    // everything confirmed and received within the allowance after the last send
	Arriving      bool    // deliveries still came when the allowance was used up: what is missing is late
	Books         ledger.Books
	Latency       func(quantile float64) int64 // end to end; publish where nobody subscribes
	GeneratorLag  int64                        // p99 of the lag the generator itself caused
	GeneratorCPU  float64                      // cores
	Cores         float64                      // that the generator may use
	Err           error                        // why the trial broke off
}

// Rule is what every trial must hold, whatever the goal.
type Rule struct {
	Guarantee ledger.Guarantee // asked of the broker; where it may lose messages, a share of them is the goal's
	MaxSlope  float64          // of the backlog, as a share of the rate of deliveries
	Shown     float64          // a slope above this share must not be shown to be there at all
	LagFloor  time.Duration    // generator lag below this is never held against a trial
	LagShare  float64          // nor is lag below this share of the measured latency
	BusyShare float64          // a generator using more than this share of its cores is saturated
}

// DefaultRule is the rule of docs/method.md for a guarantee.
func DefaultRule(g ledger.Guarantee) Rule {
	return Rule{Guarantee: g, MaxSlope: 0.01, Shown: 0.0025, LagFloor: 10 * time.Millisecond, LagShare: 0.25, BusyShare: 0.9}
}

// confidence of what a trial must show.
const confidence = 0.95

// Judge applies the rule and the goal to a trial. Broken promises come first: they count whatever else happened.
func (r Rule) Judge(e Evidence, g Goal) Look {
	if why := r.promise(e); why != "" {
		return Look{Fail, why, true}
	}
	if e.Err != nil {
		return Look{Verdict: Fail, Reason: e.Err.Error()}
	}
	if v, why := r.Generator(e); v != Pass {
		return Look{Verdict: v, Reason: why}
	}
	for _, check := range []func(Evidence, Goal) string{r.loss, r.backlog, r.rest} {
		if why := check(e, g); why != "" {
			return Look{Verdict: Fail, Reason: why}
		}
	}
	return Look{Verdict: Pass}
}

// Generator applies the part of the rule that concerns the generator: Void with its reason, or Pass.
func (r Rule) Generator(e Evidence) (Verdict, string) {
	var latency int64
	if e.Latency != nil {
		latency = e.Latency(0.99)
	}
	if budget := max(int64(r.LagFloor), int64(r.LagShare*float64(latency))); e.GeneratorLag > budget {
		return Void, fmt.Sprintf("the generator itself was %s late at p99 (allowed %s)",
			time.Duration(e.GeneratorLag).Round(time.Microsecond), time.Duration(budget).Round(time.Microsecond))
	}
	if e.Cores > 0 && e.GeneratorCPU > r.BusyShare*e.Cores {
		return Void, fmt.Sprintf("the generator used %.1f of %.0f cores", e.GeneratorCPU, e.Cores)
	}
	return Pass, ""
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
	if e.Arriving {
		books.LostAcked = 0
	}
	if v := ledger.Keeps(r.Guarantee, nil, books); v.Promise == ledger.Broken {
		return fmt.Sprintf(breaches[v.Breaches[0].Deviation], v.Breaches[0].Messages)
	}
	return ""
}

// loss compares with the goal's share. A short trial at a low rate is no place to measure a small share: more than the
// share must be shown to have been lost, with 95 % confidence, and one lost message never shows that. Subscriptions
// lose a message together where the broker lost it before it fanned out, so what counts is messages.
func (r Rule) loss(e Evidence, g Goal) string {
	if tooMany(e.Books.Failed, e.Books.Sent, g.Loss) {
		return fmt.Sprintf("%d of %d sends failed", e.Books.Failed, e.Books.Sent)
	}
	subscriptions := int64(max(1, e.Subscriptions))
	if lost := (e.Books.Lost + subscriptions - 1) / subscriptions; r.Guarantee.MayLose() && !e.Arriving && tooMany(lost, e.Books.Sent, g.Loss) {
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

// Limit is how fast a backlog may grow, in messages per second: what is summed over subscriptions may grow as many
// times faster.
func (r Rule) Limit(rate float64, subscriptions int) float64 {
	return r.MaxSlope * rate * float64(max(1, subscriptions))
}

func (r Rule) backlog(e Evidence, _ Goal) string {
	growth, limit := GrowthOf(e.Backlog), r.Limit(e.Rate, e.Subscriptions)
	if !growth.Known() {
		return ""
	}
	most, least := growth.AtMost(confidence), growth.AtLeast(confidence)
	switch {
	case e.Hopeless:
		return fmt.Sprintf("backlog grew by %.0f/s (allowed %.0f/s): ended early", growth.Slope, limit)
	// A short trial can't put a tight bound on the slope of a backlog that breathes with the client's batches: it
	// goes by a slope that is there at all, and the long trials decide.
	case !e.Long && growth.Slope > limit && least > 0, e.Long && most > limit:
		return fmt.Sprintf("backlog grows by %.0f/s (at most %.0f/s with 95 %% confidence; allowed %.0f/s)", growth.Slope, most, limit)
	case e.Long && growth.Slope > limit*r.Shown/r.MaxSlope && least > 0:
		return fmt.Sprintf("backlog grows by %.0f/s (at least %.0f/s with 95 %% confidence; allowed %.0f/s)",
			growth.Slope, least, limit*r.Shown/r.MaxSlope)
	}
	return ""
}

func (r Rule) rest(e Evidence, g Goal) string {
	switch {
	case float64(e.Books.Sent) < 0.99*float64(e.Books.Due):
		return fmt.Sprintf("only %d of %d messages due could be handed to the client", e.Books.Sent, e.Books.Due)
	case e.Books.LostAcked > 0 && !r.Guarantee.MayLose(): // Arriving
		return fmt.Sprintf("%d confirmed messages had not come within the drain allowance, though others still came", e.Books.LostAcked)
	case !e.Drained && !(r.Guarantee.MayLose() && e.Books.Lost > 0 && !e.Arriving): // what is lost for good never drains
		return "not everything was confirmed and received within the drain allowance"
	case g.Latency > 0 && e.Latency(g.Quantile) > int64(g.Latency):
		return fmt.Sprintf("latency %s is above the bound of %s",
			time.Duration(e.Latency(g.Quantile)).Round(time.Microsecond), g.Latency)
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
