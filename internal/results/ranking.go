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
}

// NewContender makes a contender for m from records that conclusions may be drawn from.
func NewContender(name string, m Metric, records []store.Record) Contender {
	if m.Key == KeySustainableLow {
		if b := Sustained(records); b.N > 0 {
			return Contender{Name: name, Values: b.Passed, Bracket: &b}
		}
	}
	return Contender{Name: name, Values: m.Values(records), ClockBound: m.ClockBound(records)}
}

func (c Contender) median() float64 { return Summarize(c.Values).Median }

// Ranking orders contenders by the medians of a metric and tests each against the best. The order of
// medians alone shows nothing: the Answer of a Standing's test says whether it is behind the best.
//
// Of latencies of 1.0 ms (a), 1.1 ms (b) and 5 ms (c), five repetitions each, a is the best, and b and c are the rest. If the test
// shows a difference between a and c only, a and b share the first place, and c is behind them.
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
// The same values that are tested decide which contender is the best, so any pair of contenders might have been tested. The p
// values are therefore corrected for all pairs, not only for those with the best.
func Rank(m Metric, contenders []Contender) Ranking {
	ordered := byMedian(m, contenders)
	if len(ordered) == 0 {
		return Ranking{Metric: m}
	}
	r := Ranking{Metric: m, Best: &ordered[0], Rest: make([]Standing, len(ordered)-1)}
	var tests []*Difference
	for i, c := range ordered[1:] {
		against := Contrast(r.Best.Values, c.Values)
		against.A.ClockBound, against.B.ClockBound = r.Best.ClockBound, c.ClockBound
		r.Rest[i] = Standing{Contender: c, Against: against}
		tests = append(tests, &r.Rest[i].Against)
	}
	pairs := len(ordered) * (len(ordered) - 1) / 2
	family{comparisons: pairs, testable: testablePairs(ordered)}.correct(tests)
	return r
}

// byMedian lists the contenders that have a value, the best median first.
func byMedian(m Metric, contenders []Contender) []Contender {
	ordered := slices.DeleteFunc(slices.Clone(contenders), func(c Contender) bool { return len(c.Values) == 0 })
	slices.SortStableFunc(ordered, func(a, b Contender) int { return m.compare(a.median(), b.median()) })
	return ordered
}

// compare orders values of a metric, the better one first.
func (m Metric) compare(a, b float64) int {
	if m.Better == Higher {
		return cmp.Compare(b, a)
	}
	return cmp.Compare(a, b)
}

// testablePairs counts the pairs of contenders with enough repetitions for a test to show a difference.
func testablePairs(contenders []Contender) int {
	n := 0
	for i, a := range contenders {
		for _, b := range contenders[i+1:] {
			if canShow(len(a.Values), len(b.Values)) {
				n++
			}
		}
	}
	return n
}

// BehindBest lists the contenders whose test against the best had this answer, the best first.
func (r Ranking) BehindBest(answer Answer) []Standing { return withAnswer(r.Rest, answer) }

func withAnswer(standings []Standing, answer Answer) []Standing {
	return slices.DeleteFunc(slices.Clone(standings), func(s Standing) bool { return s.Against.Answer() != answer })
}

// TiedWithBest lists the best and those that share its place: no difference from it was shown for
// them, and their median is better than that of every contender that is shown to be behind.
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

// tooVariable lists the contenders for which no difference from the best was shown, although one with
// a better median is shown to be behind: their repetitions vary too much for a test to tell.
func (r Ranking) tooVariable() []Standing {
	return withAnswer(r.Rest[r.firstBehind():], NoDifferenceShown)
}

// firstBehind is the index in Rest of the first contender that is shown to be behind; len(Rest) if none is.
func (r Ranking) firstBehind() int {
	i := slices.IndexFunc(r.Rest, func(s Standing) bool { return s.Against.Shown() })
	if i < 0 {
		return len(r.Rest)
	}
	return i
}
