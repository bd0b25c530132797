package lab

import (
	"cmp"
	"slices"

	"github.com/brokermark/brokermark/internal/store"
)

// A mean latency has jumped if it is at least jumpFactor times the highest one at all lower rates, and at least jumpNs above it, at a rate
// of which less than store.KneeShare came through: it is a queue that Nilsson and Pregén look for, and latency that climbs while everything
// comes through is none. They read the jump off a plot and give no numbers; with these, the jump in their figure 4.1 is found.
const (
	jumpFactor = 5
	jumpNs     = 1e6 // 1 ms: among microseconds, a factor of five is only noise
)

// kneeStep is one rate of a curve, reduced to what the knee depends on.
type kneeStep struct {
	rate    float64 // offered, messages per second
	through float64 // messages per second that came through
	mean    float64 // latency from the send, ns
}

// knee finds the maximum throughput of a curve as Nilsson and Pregén did (2020, sections 3.4.1 and 4.1, after Sommer et al.): the
// most that came through at any rate below the one at which the mean latency jumps and stays up, and less comes through than is offered.
// If it never jumps, that is the most that came through at any rate. knee returns nil if the curve does not show a knee: if it has fewer
// than two usable rates, or if it has no jump and the broker kept up with the highest rate.
//
// For example, 1,000/s at 1 ms, 2,000/s at 2 ms, and 3,000/s at 150 ms with 2,100/s coming through: the latency has jumped at
// 3,000/s, and the knee is 2,000/s.
func knee(curve []store.CurvePoint, subscriptions int) *store.Knee {
	steps := kneeSteps(curve, subscriptions)
	if len(steps) < 2 {
		return nil
	}
	jumped := jump(steps)
	k := &store.Knee{}
	for _, s := range steps[:jumped] {
		k.Rate = max(k.Rate, s.through)
	}
	if jumped < len(steps) {
		k.JumpedAt = steps[jumped].rate
		return k
	}
	if steps[len(steps)-1].keptUp(k.Rate) {
		return nil
	}
	return k
}

// keptUp reports whether so many messages per second are as good as all that was offered.
func (s kneeStep) keptUp(through float64) bool { return through >= store.KneeShare*s.rate }

// kneeSteps returns the usable rates of a curve in rising order: those at which the broker, and nothing else, set the latency.
func kneeSteps(curve []store.CurvePoint, subscriptions int) []kneeStep {
	var steps []kneeStep
	for _, p := range curve {
		s := kneeStep{rate: p.Rate, through: p.PublishRate, mean: p.Latency.Service.Mean()}
		if subscriptions > 0 {
			s.through, s.mean = p.ReceiveRate/float64(subscriptions), p.Latency.EndToEndService.Mean()
		}
		if p.Status != store.Void && p.Status != store.Aborted && s.mean > 0 {
			steps = append(steps, s)
		}
	}
	slices.SortStableFunc(steps, func(a, b kneeStep) int { return cmp.Compare(a.rate, b.rate) })
	return steps
}

// jump returns the index of the first step that is saturated and at which the mean latency has jumped, from which on it stays up;
// len(steps) if there is none. The first step has none before it, so it can't have jumped.
func jump(steps []kneeStep) int {
	highest := steps[0].mean // at all lower rates, without jumps that did not last or had no queue: neither may hide the real one
	for i := 1; i < len(steps); i++ {
		lowest := slices.MinFunc(steps[i:], func(a, b kneeStep) int { return cmp.Compare(a.mean, b.mean) })
		if hasJumped(lowest.mean, highest) && !steps[i].keptUp(steps[i].through) { // and so have all others from i on
			return i
		}
		if mean := steps[i].mean; !hasJumped(mean, highest) {
			highest = max(highest, mean)
		}
	}
	return len(steps)
}

// hasJumped reports whether a mean latency has jumped above the highest one at lower rates. Both are in ns.
func hasJumped(mean, highest float64) bool {
	return mean >= jumpFactor*highest && mean >= highest+jumpNs
}
