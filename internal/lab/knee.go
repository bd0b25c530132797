package lab

import (
	"cmp"
	"slices"

	"github.com/brokermark/brokermark/internal/store"
)

// A mean latency has jumped where it is so many times the highest at all lower rates, and by so much above it: what one
// sees in a plot.
const jumpFactor, jumpNs = 5, 1e6

// followed is the share of an offered rate that has to come through for the rate not to be too much.
const followed = 0.98

// knee finds the maximum throughput as Nilsson and Pregén did (2020, 3.4.1 and 4.1, after Sommer et al.): the most that
// came through at a rate before the mean latency from send to receipt jumps and stays up; where it never jumps, the most
// that came through at all, if the rates went further than that. nil: the rates were too few or too low to tell.
func knee(levels []store.CurvePoint, subscriptions int) *store.Knee {
	steps := slices.DeleteFunc(slices.Clone(levels), func(l store.CurvePoint) bool {
		mean, _ := ofStep(l, subscriptions)
		return l.Status == store.Void || l.Status == store.Aborted || mean == 0
	})
	slices.SortStableFunc(steps, func(a, b store.CurvePoint) int { return cmp.Compare(a.Rate, b.Rate) })
	if len(steps) < 2 {
		return nil
	}
	at := jump(steps, subscriptions)
	k := &store.Knee{}
	for _, l := range steps[:at] {
		_, through := ofStep(l, subscriptions)
		k.Rate = max(k.Rate, through)
	}
	if at < len(steps) {
		k.JumpedAt = steps[at].Rate
		return k
	}
	if last := steps[len(steps)-1]; k.Rate >= followed*last.Rate {
		return nil
	}
	return k
}

// jump is the index of the first step whose mean latency has jumped, as those of all later steps; len(steps): none.
func jump(steps []store.CurvePoint, subscriptions int) int {
	highest, _ := ofStep(steps[0], subscriptions)
	for i := 1; i < len(steps); i++ {
		mean, _ := ofStep(steps[i], subscriptions)
		up := func(l store.CurvePoint) bool {
			m, _ := ofStep(l, subscriptions)
			return m >= jumpFactor*highest && m >= highest+jumpNs
		}
		if !slices.ContainsFunc(steps[i:], func(l store.CurvePoint) bool { return !up(l) }) {
			return i
		}
		if !up(steps[i]) { // one that is, and doesn't stay up, was a hiccup
			highest = max(highest, mean)
		}
	}
	return len(steps)
}

// ofStep is a rate's mean latency from the send and what came through per second: at each subscription, or confirmed
// where there is none.
func ofStep(l store.CurvePoint, subscriptions int) (mean, through float64) {
	if subscriptions == 0 {
		return l.Latency.Service.Mean(), l.PublishRate
	}
	return l.Latency.EndToEndService.Mean(), l.ReceiveRate / float64(subscriptions)
}
