package claim

import (
	"maps"
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
	"github.com/brokermark/brokermark/internal/verdict"
)

// ratio divides the measurements of one selection by those of another that have the same values on all axes but the
// compared ones. Example: the modes a and b were measured with 1 and with 50 topics, and mode a with 100 as well. Then
// the ratio of a to b has two cells, with 1 topic and with 50; with 100 there is nothing to compare.
func (s Statement) ratio(all []sample, alpha float64) (Part, *undecided) {
	dividends, divisors, why := s.operands(all, alpha)
	if why != nil {
		return Part{}, why
	}
	axes := s.cellAxes(slices.Concat(dividends, divisors), s.comparedAxes()...)
	divisorOf := byCell(divisors, axes)
	p := Part{Closed: anyClosed(dividends, s.Of.Metric) || anyClosed(divisors, s.To.Metric)}
	for _, dividend := range grouped(dividends, axes) {
		divisor, ok := divisorOf[dividend.Name]
		if !ok {
			continue
		}
		f, why := s.divide(dividend, divisor)
		if why != nil {
			return Part{}, why
		}
		p.add(dividend.Name, slices.Concat(dividend.Members, divisor.Members), f, s.Expect.judge(f))
		p.uses(s.Of.Metric, dividend.Members)
		p.uses(s.To.Metric, divisor.Members)
	}
	switch {
	case len(p.Cells) > 0:
		return p, nil
	case p.Missing == 0:
		return Part{}, undecidedBecause(TooFew, "no two points differ in nothing but what is compared")
	case !hasFigure(dividends, s.Of.Metric):
		return Part{}, noFigure(dividends, s.Of.Metric)
	case !hasFigure(divisors, s.To.Metric):
		return Part{}, noFigure(divisors, s.To.Metric)
	}
	return Part{}, undecidedBecause(NoFigure, "there is no ratio to zero")
}

// operands returns the samples that are divided and those that divide them.
func (s Statement) operands(all []sample, alpha float64) (dividends, divisors []sample, why *undecided) {
	if dividends, why = s.operand(s.Of).choose(all, alpha); why != nil {
		return nil, nil, why
	}
	if divisors, why = s.operand(s.To).choose(all, alpha); why != nil {
		return nil, nil, why
	}
	return dividends, divisors, nil
}

// operand returns what a ratio divides or divides by, with the statement's own selection on the axes that the operand
// doesn't mention.
func (s Statement) operand(o Selection) Selection {
	merged := Selector{}
	maps.Copy(merged, s.Select)
	maps.Copy(merged, o.Select)
	o.Select = merged
	return o
}

// comparedAxes returns the axes on which the operands of a ratio differ on purpose; none without operands.
func (s Statement) comparedAxes() []string {
	axes := slices.AppendSeq(slices.Collect(maps.Keys(s.Of.Select)), maps.Keys(s.To.Select))
	if !slices.Equal(s.Of.Experiments, s.To.Experiments) {
		axes = append(axes, sweepAxis)
	}
	return axes
}

// divide returns the ratio in one cell.
func (s Statement) divide(dividend, divisor group) (Figure, *undecided) {
	if len(dividend.Members) == 1 && len(divisor.Members) == 1 {
		return pair{dividend.Members[0], divisor.Members[0], s.Of.Metric, s.To.Metric}.figure(), nil
	}
	of, why := s.cellFigure(s.Of.Metric, dividend)
	if why != nil {
		return Figure{}, why
	}
	to, why := s.cellFigure(s.To.Metric, divisor)
	if why != nil {
		return Figure{}, why
	}
	return quotient(of, to), nil
}

// ratioOfMetrics returns the ratio of two metrics of the same repetitions.
func ratioOfMetrics(s sample, dividend, divisor results.Metric) Figure {
	dividend, divisor = dividend.AsRecorded(), divisor.AsRecorded()
	ratios, bounded := ratiosIn(s.records, dividend, divisor)
	if bounded {
		return quotient(s.figure(dividend), s.figure(divisor))
	}
	f := summarized(results.Summarize(lists.Map(ratios, func(v verdict.Value) float64 { return v.At })), unit.Factor)
	if s.sure != nil && f.known() {
		f = f.within(s.interval(dividend.Key+" "+divisor.Key, func(records []store.Record) verdict.Sample {
			ratios, _ := ratiosIn(records, dividend, divisor)
			return ratios
		}))
	}
	return f
}

// ratiosIn returns the ratios of two metrics in each record. Those in which one is not known are left out. If a divisor is zero there are
// none, because that repetition alone would have none. bounded reports that one of both is a lower bound, which has no ratio of its own.
func ratiosIn(records []store.Record, dividend, divisor results.Metric) (ratios verdict.Sample, bounded bool) {
	for _, r := range records {
		of, to := dividend.Of(r), divisor.Of(r)
		switch {
		case math.IsNaN(of) || math.IsNaN(to):
		case dividend.AtMost(r) != of || divisor.AtMost(r) != to:
			return nil, true
		case of < 0 || to <= 0:
			return nil, false
		default:
			ratios = append(ratios, verdict.Exactly(of/to))
		}
	}
	return ratios, false
}

func hasFigure(samples []sample, m results.Metric) bool {
	return slices.ContainsFunc(samples, func(s sample) bool { return s.figure(m).known() })
}

// pair is two measurements, one divided by the other. A rank, a slope or a shape may be of such ratios: "of the three brokers, Pulsar's latency
// grows least with TLS" ranks each broker's latency with TLS divided by that without.
type pair struct {
	of, to             sample
	ofMetric, toMetric results.Metric
}

// figure returns the ratio. If both are the same measurement, two metrics of it are compared: then each repetition has a ratio of its own,
// which is more exact than dividing the spread of one metric by that of the other. Counts have no spread.
func (p pair) figure() Figure {
	anyCounts := p.ofMetric.Counts() || p.toMetric.Counts()
	if p.of.id == p.to.id && !anyCounts {
		return ratioOfMetrics(p.of, p.ofMetric, p.toMetric)
	}
	return quotient(p.of.figure(p.ofMetric), p.to.figure(p.toMetric))
}

// repetitions returns the ratio of each repetition in which both are known, by the repetition's number.
func (p pair) repetitions() map[int]float64 {
	ratios, divisors := map[int]float64{}, p.to.repetitions(p.toMetric)
	for number, dividend := range p.of.repetitions(p.ofMetric) {
		if divisor := divisors[number]; divisor > 0 {
			ratios[number] = dividend / divisor
		}
	}
	return ratios
}

// samples returns the samples of a statement other than a ratio: measurements or, with of and to, pairs of them.
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

// dividedBy returns the sample as a ratio that has the axes of s.
func (s sample) dividedBy(to sample, ofMetric, toMetric results.Metric) sample {
	ratio := s
	ratio.pair = &pair{of: s, to: to, ofMetric: ofMetric, toMetric: toMetric}
	if len(s.records) > 0 && len(to.records) == 0 { // neither usable, then
		ratio.records, ratio.status = nil, to.status
	}
	return ratio
}
