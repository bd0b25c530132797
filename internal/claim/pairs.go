package claim

import (
	"slices"

	"github.com/brokermark/brokermark/internal/results"
)

// pair is two measurements, one divided by the other. A rank, a slope or a shape may be of such ratios: "of the three brokers, Pulsar's latency
// grows least with TLS" ranks each broker's latency with TLS divided by that without.
type pair struct {
	of, to             sample
	ofMetric, toMetric results.Metric
}

// figure is the ratio. If both are the same measurement, two metrics of it are compared: then each repetition has a ratio of its own, which is
// more exact than dividing the spread of one metric by that of the other. Counts have no spread.
func (p pair) figure() Figure {
	anyCounts := p.ofMetric.Counts() || p.toMetric.Counts()
	if p.of.id == p.to.id && !anyCounts {
		return ratioOfMetrics(p.of, p.ofMetric, p.toMetric)
	}
	return quotient(p.of.figure(p.ofMetric), p.to.figure(p.toMetric))
}

// repetitions is the ratio of each repetition in which both are known, by the repetition's number.
func (p pair) repetitions() map[int]float64 {
	ratios, divisors := map[int]float64{}, p.to.repetitions(p.toMetric)
	for number, dividend := range p.of.repetitions(p.ofMetric) {
		if divisor := divisors[number]; divisor > 0 {
			ratios[number] = dividend / divisor
		}
	}
	return ratios
}

// samples are what a statement other than a ratio is about: measurements or, with of and to, pairs of them.
func (s Statement) samples(all []sample, alpha float64) ([]sample, *undecided) {
	if s.Of.Select == nil {
		return s.choose(all, alpha)
	}
	dividends, divisors, why := s.operands(all, alpha)
	if why != nil {
		return nil, why
	}
	axes := varyingAxes(slices.Concat(dividends, divisors), s.comparedAxes()...)
	divisorsOf := byCell(divisors, axes)
	var pairs []sample
	for _, dividend := range dividends {
		place := dividend.cellName(axes)
		to := divisorsOf[place].Members
		if len(to) > 1 {
			return nil, undecidedBecause(Misfit, "%d points to divide by at %q: to has to name one", len(to), place)
		}
		if len(to) == 1 {
			pairs = append(pairs, dividend.dividedBy(to[0], s.Of.Metric, s.To.Metric))
		}
	}
	if len(pairs) == 0 {
		return nil, undecidedBecause(TooFew, "no two points differ in nothing but what is compared")
	}
	return pairs, nil
}

// dividedBy is the sample as a ratio, which has the axes of s.
func (s sample) dividedBy(to sample, ofMetric, toMetric results.Metric) sample {
	ratio := s
	ratio.pair = &pair{of: s, to: to, ofMetric: ofMetric, toMetric: toMetric}
	if len(s.records) > 0 && len(to.records) == 0 { // neither usable, then
		ratio.records, ratio.status = nil, to.status
	}
	return ratio
}
