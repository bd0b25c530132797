package results

import (
	"cmp"
	"slices"

	"github.com/brokermark/brokermark/internal/store"
)

// Contender is a competitor in a ranking: a name, and the values of one metric.
type Contender struct {
	Name       string
	Values     []float64 // one for each repetition
	Bracket    *Bracket  // the bounds of the searches if the metric is a sustainable rate; nil for other metrics
	ClockBound float64   // largest error of a value, either way, in ns, if two clocks took it; 0 if one did
	mosts      []float64 // what each value may be at most, because messages never came; nil: the values themselves
}

// NewContender makes a contender for m from records that conclusions may be drawn from.
func NewContender(name string, m Metric, records []store.Record) Contender {
	c := Contender{Name: name, Values: m.Values(records), ClockBound: m.ClockBound(records), mosts: m.mosts(records)}
	if m.Key == KeySustainableLow && len(c.Values) > 0 {
		bracket := Sustained(records)
		c.Bracket = &bracket
	}
	return c
}

// Summary sums up the values.
func (c Contender) Summary() Summary {
	s := Summarize(c.Values)
	if c.mosts != nil {
		s = s.withMost(c.Values, c.mosts)
	}
	s.ClockBound = c.ClockBound
	return s
}

// differenceFrom is how the values of c differ from those of another contender. It is tested by itself.
func (c Contender) differenceFrom(other Contender) Difference {
	d := Contrast(other.Values, c.Values)
	d.A, d.B = other.Summary(), c.Summary()
	return d
}

// Ranking orders contenders by the medians of a metric and tests each against the best. The order of medians alone shows
// nothing: the Answer of a Standing's test says whether it is behind the best. With these latencies a is the best:
//
//	   median  values      test against a          meaning
//	a  17 ms   16..18 ms
//	b  18 ms   17..19 ms   no difference is shown  b shares the first place
//	c  90 ms   85..95 ms   a difference is shown   c is behind
//	d  99 ms   16..200 ms  no difference is shown  d varies too much to have a place: its median is worse than that of c
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

// Rank orders the contenders that have a value and tests each against the best.
//
// Which contender is the best depends on the values that are tested, so any pair of contenders might have been tested. The p
// values are therefore corrected for all pairs, not only for those with the best.
func Rank(m Metric, contenders []Contender) Ranking {
	ordered := byMedian(m, contenders)
	if len(ordered) == 0 {
		return Ranking{Metric: m}
	}
	best, others := ordered[0], ordered[1:]
	rest := make([]Standing, len(others))
	tests := make([]*Difference, len(others)) // in rest
	for i, c := range others {
		rest[i] = Standing{Contender: c, Against: c.differenceFrom(best)}
		tests[i] = &rest[i].Against
	}
	familyOfPairs(ordered).correct(tests) // sets the corrected p values in rest
	return Ranking{Metric: m, Best: &best, Rest: rest}
}

// byMedian lists the contenders that have a value, the best median first. One that may be any higher counts as the highest: otherwise
// the contender that drops what it is slow with would lead.
func byMedian(m Metric, contenders []Contender) []Contender {
	ordered := slices.DeleteFunc(slices.Clone(contenders), func(c Contender) bool { return len(c.Values) == 0 })
	slices.SortStableFunc(ordered, func(a, b Contender) int {
		first, second := a.Summary(), b.Summary()
		return cmp.Or(m.compare(first.Median+first.Above, second.Median+second.Above), m.compare(first.Median, second.Median))
	})
	return ordered
}

// compare orders values of a metric, the better one first. Where neither direction is better, the smaller one comes first.
func (m Metric) compare(a, b float64) int {
	if m.Better == Higher {
		return cmp.Compare(b, a)
	}
	return cmp.Compare(a, b)
}

// familyOfPairs is the family of the tests of each contender against each other.
func familyOfPairs(contenders []Contender) family {
	var f family
	for i, a := range contenders {
		for _, b := range contenders[i+1:] {
			f.add(len(a.Values), len(b.Values))
		}
	}
	return f
}

// WithAnswer lists the contenders whose test against the best had this answer, the best first.
func (r Ranking) WithAnswer(answer Answer) []Standing { return withAnswer(r.Rest, answer) }

// TiedWithBest lists the best and those that share its place: no difference from it was shown for them, and their median is
// better than that of every contender that is shown to be behind.
func (r Ranking) TiedWithBest() []Contender {
	if r.Best == nil {
		return nil
	}
	tied := []Contender{*r.Best}
	for _, s := range withAnswer(r.Rest[:r.firstBehind()], NoDifferenceShown) {
		tied = append(tied, s.Contender)
	}
	return tied
}

// tooVariable lists the contenders for which no difference from the best was shown, although one with a better median is
// shown to be behind: their repetitions vary too much for a test to tell.
func (r Ranking) tooVariable() []Standing {
	return slices.DeleteFunc(r.withoutPlace(), func(s Standing) bool { return s.Against.withinErrors() })
}

// openByErrors lists those contenders without a place for which errors of measurement keep a difference from being shown.
func (r Ranking) openByErrors() []Standing {
	return slices.DeleteFunc(r.withoutPlace(), func(s Standing) bool { return !s.Against.withinErrors() })
}

// withoutPlace lists the contenders for which no difference from the best was shown, and that don't share its place.
func (r Ranking) withoutPlace() []Standing {
	return withAnswer(r.Rest[r.firstBehind():], NoDifferenceShown)
}

// firstBehind is the index in Rest of the first contender that is shown to be behind the best; the length of Rest if none is.
func (r Ranking) firstBehind() int {
	i := slices.IndexFunc(r.Rest, func(s Standing) bool { return s.Against.Answer() == Different })
	if i < 0 {
		return len(r.Rest)
	}
	return i
}

func withAnswer(standings []Standing, answer Answer) []Standing {
	return slices.DeleteFunc(slices.Clone(standings), func(s Standing) bool { return s.Against.Answer() != answer })
}
