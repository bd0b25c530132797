package claim

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// A curve is one measurement at several offered rates. Its knee splits the rates into those up to the knee and those
// beyond it. Example: latency was measured at 50, 2000, 10,000 and 60,000 messages/s, and jumped at 10,000. Up to the
// knee are 50 and 2000, of which 2000 is the rate at the knee. Beyond it are 10,000 and 60,000.
const (
	everyRate       = "every"
	lowestRate      = "lowest"
	rateAtKnee      = "knee"       // the highest rate up to the knee
	ratesUpToKnee   = "below-knee" // all rates up to the knee, with the rate at it
	ratesBeyondKnee = "above-knee"
	pointItself     = "" // no rate: the point as a whole
)

// rateChoices are the rates that claims.yaml can ask for.
var rateChoices = []string{everyRate, lowestRate, rateAtKnee, ratesUpToKnee, ratesBeyondKnee}

// atRates replaces samples of whole points by samples at the rates of their curves that are asked for: one of
// rateChoices, or pointItself. Points that are no curves are dropped. A curve of which no repetition ended ok stays as
// it is, without records: there should have been rates.
func atRates(samples []sample, choice string) []sample {
	if choice == pointItself {
		return samples
	}
	var chosen []sample
	for _, s := range samples {
		if s.point.Spec.Measure != study.MeasureCurve {
			continue
		}
		rates := chooseRates(s.rates(), choice, kneeOf(s.records))
		for _, atRate := range rates {
			atRate.rateIsAxis = choice != lowestRate && choice != rateAtKnee
			chosen = append(chosen, atRate)
		}
		if len(rates) == 0 && len(s.records) == 0 {
			chosen = append(chosen, s)
		}
	}
	return chosen
}

// rates returns the samples at all rates of a curve, the lowest first.
func (s sample) rates() []sample {
	var rates []sample
	for _, l := range s.point.MeasuredLoads() {
		if l.Rate <= 0 {
			continue
		}
		atRate := sample{point: s.point, id: s.id + " " + l.RowTitle, rate: l.Rate, status: string(l.Status)}
		if l.Used() {
			atRate.records, atRate.counted = l.Records, l.Counted()
		}
		rates = append(rates, atRate)
	}
	slices.SortStableFunc(rates, func(a, b sample) int { return cmp.Compare(a.rate, b.rate) })
	return rates
}

// chooseRates keeps the rates that are asked for, of all rates of a curve from the lowest. Without a knee no rate is up
// to, at, or beyond it.
func chooseRates(rates []sample, choice string, knee store.Knee) []sample {
	upTo, beyond := splitAt(knee, rates)
	switch choice {
	case everyRate:
		return rates
	case lowestRate:
		return rates[:min(1, len(rates))]
	case ratesUpToKnee:
		return upTo
	case ratesBeyondKnee:
		return beyond
	case rateAtKnee:
		if len(upTo) == 0 {
			return nil
		}
		atKnee := upTo[len(upTo)-1]
		if len(beyond) > 0 {
			atKnee.aboveKnee = &beyond[0]
		}
		return []sample{atKnee}
	default:
		panic(fmt.Sprintf("claim: rates that are %q", choice)) // Parse makes none
	}
}

// splitAt splits rates, from the lowest, into those up to a knee and those beyond it. Without a knee there are neither.
func splitAt(knee store.Knee, rates []sample) (upTo, beyond []sample) {
	if knee == (store.Knee{}) {
		return nil, nil
	}
	for i, s := range rates {
		if isBeyond(knee, s.rate) {
			return rates[:i], rates[i:]
		}
	}
	return rates, nil
}

// kneeOf takes the knees of all repetitions together: the lowest rate at which latency jumped in any. If it jumped in
// none, the knee is the highest rate that came through in any. It is the zero Knee if no repetition has one.
func kneeOf(records []store.Record) store.Knee {
	var all store.Knee
	for _, r := range records {
		if r.Result == nil || r.Result.Knee == nil {
			continue
		}
		knee := *r.Result.Knee
		all.Rate = max(all.Rate, knee.Rate)
		isFirstJump := all.JumpedAt == 0
		if knee.JumpedAt > 0 && (isFirstJump || knee.JumpedAt < all.JumpedAt) {
			all.JumpedAt = knee.JumpedAt
		}
	}
	return all
}

// isBeyond reports whether an offered rate lies beyond the knee: from the jump in latency on. If there was no jump, the
// knee is the highest rate that came through, and an offered rate is beyond it if even 98 % of it is more. With a knee
// of 9900, 10,000 is not beyond it (9800), and 10,200 is (9996).
func isBeyond(knee store.Knee, offered float64) bool {
	if knee.JumpedAt > 0 {
		return offered >= knee.JumpedAt
	}
	return offered*store.KneeShare > knee.Rate
}
