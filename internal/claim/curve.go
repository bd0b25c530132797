package claim

import (
	"cmp"
	"slices"

	"github.com/brokermark/brokermark/internal/store"
)

// Rates of a curve that a statement can be about. Example: latency was measured at 50, 2000, 10,000 and 60,000 messages/s, and jumped at
// 10,000. The rate at the knee is 2000, below it are 50 and 2000, and above it the others.
const (
	everyRate   = "every"
	lowestRate  = "lowest"
	rateAtKnee  = "knee"       // the highest rate up to the knee
	ratesBelow  = "below-knee" // all rates up to the knee
	ratesAbove  = "above-knee"
	pointItself = "" // no rate of a curve, but the point
)

// rateChoices are the rates that claims.yaml can ask for.
var rateChoices = []string{everyRate, lowestRate, rateAtKnee, ratesBelow, ratesAbove}

// minAckedShare is the share of an offered rate that has to be confirmed, or the rate was too much.
const minAckedShare = 0.98

// atRates replaces samples by those of their curves' rates that are asked for: one of rateChoices, or pointItself. Measurements that are no
// curves have none. A curve of which no repetition ended ok stays as a sample without records: there should have been rates.
func atRates(samples []sample, choice string) []sample {
	if choice == pointItself {
		return samples
	}
	var chosen []sample
	for _, s := range samples {
		if s.point.Spec.Measure != "curve" {
			continue
		}
		rates := chooseRates(s.rates(), choice, kneeOf(s.records))
		for _, at := range rates {
			at.manyRates = choice != lowestRate && choice != rateAtKnee
			chosen = append(chosen, at)
		}
		if len(rates) == 0 && len(s.records) == 0 {
			chosen = append(chosen, s)
		}
	}
	return chosen
}

// rates are the samples of all rates of a curve, the lowest first.
func (s sample) rates() []sample {
	var rates []sample
	for _, l := range s.point.MeasuredLoads() {
		if l.Rate <= 0 {
			continue
		}
		at := sample{point: s.point, id: s.id + " " + l.RowTitle, rate: l.Rate, status: string(l.Status)}
		if l.Used() {
			at.records = l.Records
		}
		rates = append(rates, at)
	}
	slices.SortStableFunc(rates, func(a, b sample) int { return cmp.Compare(a.rate, b.rate) })
	return rates
}

// chooseRates keeps the rates that are asked for, of all rates of a curve from the lowest. Without a knee none is below, at, or above it.
func chooseRates(rates []sample, choice string, knee store.Knee) []sample {
	firstAbove := slices.IndexFunc(rates, func(s sample) bool { return !isBelow(knee, s.rate) })
	if firstAbove < 0 {
		firstAbove = len(rates)
	}
	below, above := rates[:firstAbove], rates[firstAbove:]
	hasKnee := knee != store.Knee{}
	switch {
	case choice == everyRate:
		return rates
	case choice == lowestRate:
		return rates[:min(1, len(rates))]
	case choice == ratesBelow && hasKnee:
		return below
	case choice == ratesAbove && hasKnee:
		return above
	case choice == rateAtKnee && hasKnee && len(below) > 0:
		last := below[len(below)-1]
		if len(above) > 0 {
			last.nextRate = &above[0]
		}
		return []sample{last}
	default:
		return nil
	}
}

// kneeOf takes the knees of all repetitions together: the highest rate before a jump, and the lowest rate after one. It is the zero
// Knee if no repetition has one.
func kneeOf(records []store.Record) store.Knee {
	var knee store.Knee
	for _, r := range records {
		if r.Result == nil || r.Result.Knee == nil {
			continue
		}
		knee.Rate = max(knee.Rate, r.Result.Knee.Rate)
		if jumped := r.Result.Knee.JumpedAt; jumped > 0 && (knee.JumpedAt == 0 || jumped < knee.JumpedAt) {
			knee.JumpedAt = jumped
		}
	}
	return knee
}

// isBelow tells whether an offered rate lies before the jump in latency or, if there was none, was confirmed almost in full.
func isBelow(knee store.Knee, offered float64) bool {
	if knee.JumpedAt > 0 {
		return offered < knee.JumpedAt
	}
	return offered*minAckedShare <= knee.Rate
}
