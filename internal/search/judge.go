// Package search finds the highest rate a broker sustains: a stated rule for one trial, and a search over trials. It
// knows nothing of brokers; a trial is a function it calls.
package search

import (
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// Verdict is what a trial showed.
type Verdict string

// The verdicts. Void: the generator, not the broker, didn't keep up; nothing follows from the trial.
const (
	Pass Verdict = "pass"
	Fail Verdict = "fail"
	Void Verdict = "void"
)

// Evidence is what a trial at a fixed rate gave, as the rule wants it. Times are nanoseconds unless named otherwise.
type Evidence struct {
	Rate          float64 // messages per second offered
	Long          bool    // a confirming trial: the backlog rule is applied with its full strictness
	Backlog       []Point // while sending, measured phase
	Drained       bool    // everything confirmed and received within the allowance after the last send
	Offered, Sent int64   // messages of the measured phase: due by the schedule, handed to the client
	Expected      int64   // deliveries
	Lost          int64   // of them, never received intact
	LostAcked     int64   // of those, confirmed by the broker
	Failed        int64
	Corrupted     int64
	Duplicated    int64
	Latency       int64   // end to end at the bound's quantile; publish where nobody subscribes
	GeneratorLag  int64   // p99 of the lag the generator itself caused
	GeneratorCPU  float64 // cores
	Cores         float64 // of the machine
	Err           error   // why the trial broke off
}

// Point is the backlog at a time: messages due by the schedule but not received by a subscription (summed over
// subscriptions) or not confirmed, whichever is more.
type Point struct{ Seconds, Backlog float64 }

// Rule is what a trial must hold to pass, besides what the guarantee asks.
type Rule struct {
	MaxSlope   float64       // of the backlog, as a share of the rate
	Bound      time.Duration // on Evidence.Latency; 0: none
	MaxLoss    float64       // share of deliveries that may be lost; 0 unless at most once
	Duplicates bool          // allowed, as at least once allows them
	LagFloor   time.Duration // generator lag below this is never held against a trial
	LagShare   float64       // nor is lag below this share of the measured latency
	BusyShare  float64       // a generator using more than this share of all cores is saturated
}

// DefaultRule is the rule of docs/method.md.
func DefaultRule() Rule {
	return Rule{MaxSlope: 0.01, LagFloor: 10 * time.Millisecond, LagShare: 0.25, BusyShare: 0.9, Duplicates: true}
}

// Judge applies the rule: a verdict, and the first reason against passing.
func (r Rule) Judge(e Evidence) (Verdict, string) {
	if e.Err != nil {
		return Fail, e.Err.Error()
	}
	if v, why := r.Generator(e); v != Pass {
		return v, why
	}
	if why := r.ledger(e); why != "" {
		return Fail, why
	}
	if slope, bound := Slope(e.Backlog); len(e.Backlog) >= 3 {
		limit := r.MaxSlope * e.Rate
		// A short trial can't put a tight bound on the slope of a backlog that breathes with the client's batches:
		// it goes by the slope itself, and the long trials decide.
		if !e.Long && slope > limit || e.Long && bound > limit {
			return Fail, fmt.Sprintf("backlog grows by %.0f/s (at most %.0f/s with 95 %% confidence; allowed %.0f/s)", slope, bound, limit)
		}
	}
	if float64(e.Sent) < 0.99*float64(e.Offered) {
		return Fail, fmt.Sprintf("only %d of %d messages due could be handed to the client", e.Sent, e.Offered)
	}
	if !e.Drained {
		return Fail, "not everything was confirmed and received within the drain allowance"
	}
	if r.Bound > 0 && e.Latency > int64(r.Bound) {
		return Fail, fmt.Sprintf("latency %s is above the bound of %s", time.Duration(e.Latency).Round(time.Microsecond), r.Bound)
	}
	return Pass, ""
}

// Generator applies the part of the rule that concerns the generator: Void with its reason, or Pass.
func (r Rule) Generator(e Evidence) (Verdict, string) {
	if budget := max(int64(r.LagFloor), int64(r.LagShare*float64(e.Latency))); e.GeneratorLag > budget {
		return Void, fmt.Sprintf("the generator itself was %s late at p99 (allowed %s)",
			time.Duration(e.GeneratorLag).Round(time.Microsecond), time.Duration(budget).Round(time.Microsecond))
	}
	if e.Cores > 0 && e.GeneratorCPU > r.BusyShare*e.Cores {
		return Void, fmt.Sprintf("the generator used %.1f of %.0f cores", e.GeneratorCPU, e.Cores)
	}
	return Pass, ""
}

func (r Rule) ledger(e Evidence) string {
	switch {
	case e.Corrupted > 0:
		return fmt.Sprintf("%d messages were corrupted", e.Corrupted)
	case float64(e.Failed) > r.MaxLoss*float64(e.Sent):
		return fmt.Sprintf("%d of %d sends failed", e.Failed, e.Sent)
	case float64(e.LostAcked) > r.MaxLoss*float64(e.Expected) && e.Drained:
		return fmt.Sprintf("%d confirmed messages were lost", e.LostAcked)
	case e.Drained && float64(e.Lost) > r.MaxLoss*float64(e.Expected) && r.MaxLoss > 0:
		return fmt.Sprintf("%d of %d deliveries were lost", e.Lost, e.Expected)
	case e.Duplicated > 0 && !r.Duplicates:
		return fmt.Sprintf("%d messages were delivered twice", e.Duplicated)
	}
	return ""
}

// floors is into how many equal parts a trial is cut to find the floor of its backlog.
const floors = 10

// floor keeps the smallest backlog of each tenth of the trial. A broker that keeps up works its backlog off again
// and again, so the floor stays where it is however far single stalls and batches push the backlog up; one that
// doesn't lifts the floor with everything else.
func floor(points []Point) []Point {
	if len(points) <= floors {
		return points
	}
	out := make([]Point, 0, floors)
	for i := range floors {
		part := points[i*len(points)/floors : (i+1)*len(points)/floors]
		low := part[0]
		for _, p := range part {
			if p.Backlog < low.Backlog {
				low = p
			}
		}
		out = append(out, low)
	}
	return out
}

// Slope fits a line through the floor of the backlog by least squares: its slope per second, and the upper end of
// the slope's one-sided 95 % interval (Student's t, n−2 degrees of freedom).
func Slope(points []Point) (slope, upper float64) {
	points = floor(points)
	n := float64(len(points))
	if n < 3 {
		return 0, math.Inf(1)
	}
	var mx, my float64
	for _, p := range points {
		mx += p.Seconds / n
		my += p.Backlog / n
	}
	var sxx, sxy float64
	for _, p := range points {
		sxx += (p.Seconds - mx) * (p.Seconds - mx)
		sxy += (p.Seconds - mx) * (p.Backlog - my)
	}
	if sxx == 0 {
		return 0, math.Inf(1)
	}
	slope = sxy / sxx
	var rss float64
	for _, p := range points {
		d := p.Backlog - my - slope*(p.Seconds-mx)
		rss += d * d
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 2}.Quantile(0.95)
	return slope, slope + t*math.Sqrt(rss/(n-2)/sxx)
}
