package results

import (
	"cmp"
	"slices"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/verdict"
)

// Contender is a competitor in a ranking: a name, and one metric over its repetitions.
type Contender struct {
	Name    string
	Summary Summary
	Bracket *Bracket // the bounds of the searches if the metric is a sustainable rate; nil for other metrics
	sample  verdict.Sample
}

// NewContender makes a contender for m from records that may be used for conclusions.
func NewContender(name string, m Metric, records []store.Record) Contender {
	c := Contender{Name: name, Summary: m.Over(records), sample: m.Sample(records)}
	if m.Key == KeySustainableLow && len(c.sample) > 0 {
		bracket := Sustained(records)
		c.Bracket = &bracket
	}
	return c
}

// Ranking orders contenders by the medians of a metric and compares each with the best. The order of medians alone proves
// nothing: a Standing's answer says whether it is behind the best. With these latencies a is the best:
//
//	   median  values      compared with a           meaning
//	a  17 ms   16..18 ms
//	b  18 ms   17..19 ms   undecided, or no tenth    b shares the first place
//	c  90 ms   85..95 ms   differs                   c is behind
//	d  99 ms   16..200 ms  undecided                 d varies too much to have a place: its median is worse than that of c
type Ranking struct {
	Metric Metric
	Best   *Contender // nil if no contender has a value
	Rest   []Standing // the others, the best first
}

// Standing is a contender other than the best.
type Standing struct {
	Contender Contender
	Against   Difference // of this contender (B) from the best (A)
}

// Rank orders the contenders that have a value and compares each with the best.
func Rank(m Metric, contenders []Contender) Ranking {
	ordered := byMedian(m, contenders)
	if len(ordered) == 0 {
		return Ranking{Metric: m}
	}
	best, others := ordered[0], ordered[1:]
	samples := lists.Map(others, func(c Contender) verdict.Sample { return c.sample })
	rest := make([]Standing, len(others))
	for i, ratio := range verdict.Against(best.sample, samples) {
		rest[i] = Standing{Contender: others[i], Against: Difference{A: best.Summary, B: others[i].Summary, Ratio: ratio}}
	}
	return Ranking{Metric: m, Best: &best, Rest: rest}
}

// byMedian lists the contenders that have a value, the best median first. Bounds count with their worse end: a latency without an
// upper bound is the highest, since otherwise a contender that drops its slow messages would lead, and a rate without an upper
// bound counts as the rate that was reached.
func byMedian(m Metric, contenders []Contender) []Contender {
	ordered := slices.DeleteFunc(slices.Clone(contenders), func(c Contender) bool { return c.Summary.N == 0 })
	slices.SortStableFunc(ordered, func(a, b Contender) int { return m.compareSummaries(a.Summary, b.Summary) })
	return ordered
}

// compareSummaries orders figures of a metric by the worse ends of their medians, the better one first.
func (m Metric) compareSummaries(a, b Summary) int {
	if m.Better == Higher {
		return cmp.Compare(b.Median, a.Median)
	}
	return cmp.Or(cmp.Compare(a.Median+a.Above, b.Median+b.Above), cmp.Compare(a.Median, b.Median))
}

// Behind lists the contenders that are shown to differ from the best, the best first.
func (r Ranking) Behind() []Standing {
	return r.which(func(d Difference) bool { return d.Answer == Differs })
}

// Undecided lists the contenders that are not shown to differ from the best, the best first.
func (r Ranking) Undecided() []Standing {
	return r.which(func(d Difference) bool { return d.Answer == Undecided })
}

// untested lists the contenders with too few repetitions for a conclusion.
func (r Ranking) untested() []Standing {
	return r.which(func(d Difference) bool { return d.Answer == Undecided && !d.Tested() })
}

func (r Ranking) which(is func(Difference) bool) []Standing {
	return lists.Filter(r.Rest, func(s Standing) bool { return is(s.Against) })
}

// shares lists the contenders that share the place of the best: they are not shown to differ, and their median is better than
// that of every contender that is shown to differ.
func (r Ranking) shares() []Standing {
	return lists.Filter(r.Rest[:r.firstBehind()], func(s Standing) bool { return s.Against.Tested() })
}

// TiedWithBest lists the best and those that share its place.
func (r Ranking) TiedWithBest() []Contender {
	if r.Best == nil {
		return nil
	}
	return append([]Contender{*r.Best}, lists.Map(r.shares(), func(s Standing) Contender { return s.Contender })...)
}

// withoutPlace lists the contenders that are not shown to differ from the best, although one with a better median is. The cause
// is the measurement for those that are bounded, and the scatter of their repetitions for the others.
func (r Ranking) withoutPlace(bounded bool) []Standing {
	return slices.DeleteFunc(slices.Clone(r.Rest[r.firstBehind():]), func(s Standing) bool {
		return s.Against.Answer == Differs || !s.Against.Tested() || s.Against.Bounded() != bounded
	})
}

// firstBehind is the index in Rest of the first contender that is shown to be behind the best; the length of Rest if none is.
func (r Ranking) firstBehind() int {
	i := slices.IndexFunc(r.Rest, func(s Standing) bool { return s.Against.Answer == Differs })
	if i < 0 {
		return len(r.Rest)
	}
	return i
}
