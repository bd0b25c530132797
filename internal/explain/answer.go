package explain

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/verdict"
)

// StudyPrefix begins the names of the studies of which the points are a point with and without changes.
const StudyPrefix = "explain-"

// Axes of such points.
const (
	changeAxis = "change"
	causeAxis  = "limit" // of the point that is explained
)

const noneShown = "not shown"

// Case is a point of which the limit is explained.
type Case struct {
	Study string
	Cause string // of its limit; "": none was shown
}

// Limit is the cause, or that none was shown.
func (c Case) Limit() string { return cmp.Or(c.Cause, noneShown) }

// Axes are those of the point with a change, or Unchanged.
func (c Case) Axes(change string) map[string]string {
	return map[string]string{changeAxis: change, causeAxis: c.Limit()}
}

// ownName matches the names of the studies of this package. A user's study may begin alike.
var ownName = regexp.MustCompile(`^` + StudyPrefix + `[0-9a-f]{8}$`)

// Explains reports whether a study is one of this package: its points are no results of what they repeat.
func Explains(studyName string) bool { return ownName.MatchString(studyName) }

// Cases returns the cases of which there are records.
func Cases(records []results.Record) []Case {
	own := lists.Filter(records, func(r results.Record) bool { return Explains(r.Study) })
	return lists.Map(results.GroupBy(own, func(r results.Record) string { return r.Study }), func(g results.Group[results.Record]) Case {
		return Case{Study: g.Name, Cause: strings.TrimPrefix(g.Members[0].Axes[causeAxis], noneShown)}
	})
}

// Verdict says whether a change moved the rate.
type Verdict string

// The verdicts. That the rate moved by less than a tenth counts as none, as everywhere.
const (
	Moved  Verdict = "moved"
	Contra Verdict = "moved the other way" // more of what was to be the limit made the rate lower, or less of it made it higher
	Stayed Verdict = "didn't move"
	Open   Verdict = "undecided"
)

// Tried is a change and what came of it.
type Tried struct {
	Change  Change
	Spec    study.Spec       // with the change
	With    []results.Record // the repetitions with it that ended ok
	Verdict Verdict
	Rate    results.Difference // between the rate without and with the change
	Then    string             // the cause of the limit with the change; "" if none was shown
	Why     string             // a clause, if there is nothing to compare
}

// Answer is what the records of a case show.
type Answer struct {
	Case   Case
	Metric results.Metric
	Of     results.Record // an unchanged repetition
	Before []results.Record
	Tried  []Tried
}

// RateOf is the metric of a spec that a limit sets.
func RateOf(s study.Spec) results.Metric {
	if s.Measure == study.MeasureSustainable {
		return results.MustMetric(results.KeySustainableLow)
	}
	return results.MustMetric(results.KeyThroughput)
}

// Decide answers the case by its records; ok is false if none of them is of an unchanged repetition.
func (c Case) Decide(records []results.Record) (a Answer, ok bool) {
	a.Case = c
	own := lists.Filter(records, func(r results.Record) bool { return r.Study == c.Study })
	byChange := results.GroupBy(results.Latest(own), func(r results.Record) string { return r.Axes[changeAxis] })
	for _, g := range byChange {
		if g.Name == Unchanged {
			a.Of, a.Metric, a.Before = g.Members[0], RateOf(g.Members[0].Spec), results.EndedOK(g.Members)
			ok = true
		}
	}
	for _, g := range byChange {
		if change, known := changeNamed(g.Name); ok && known {
			a.Tried = append(a.Tried, a.try(change, g.Members))
		}
	}
	var family []*results.Difference
	for i := range a.Tried {
		family = append(family, &a.Tried[i].Rate)
	}
	results.Correct(family)
	for i := range a.Tried {
		t := &a.Tried[i]
		t.Verdict = verdictOn(t.Rate)
		if t.Verdict == Moved && (t.Rate.Estimate < 1) != t.Change.takes {
			t.Verdict = Contra
		}
	}
	return a, ok
}

func (a *Answer) try(change Change, records []results.Record) Tried {
	with := results.EndedOK(records)
	t := Tried{Change: change, Spec: records[0].Spec, With: with, Rate: results.DifferenceOf(a.Metric, a.Before, with), Then: CauseOf(with)}
	switch last := records[len(records)-1]; {
	case len(with) == 0:
		t.Why = fmt.Sprintf("no repetition with the change ended ok; the last: %s: %s", last.Status, last.Reason)
	case len(a.Before) == 0:
		t.Why = "no repetition without the change ended ok"
	}
	return t
}

// verdictOn is that of package verdict, but for rates that differ, and by less than what counts as none.
func verdictOn(d results.Difference) Verdict {
	small := d.Low > 1/(1+verdict.Small) && d.High < 1+verdict.Small
	switch {
	case d.Answer == results.DoesNotDiffer, d.Answer == results.Differs && small:
		return Stayed
	case d.Answer == results.Differs:
		return Moved
	}
	return Open
}

// CauseOf is the cause of the limit that most of the records have, the last of them if several are; "": none was shown.
func CauseOf(records []results.Record) (cause string) {
	count := map[string]int{}
	for _, r := range records {
		if limits, asked := results.LimitsOf(r); asked {
			count[limits.Cause()]++
		}
	}
	for _, r := range records {
		limits, asked := results.LimitsOf(r)
		if of := limits.Cause(); asked && count[of] >= count[cause] {
			cause = of
		}
	}
	return cause
}

// Profiled is the spec of the load at which a profile is taken: that of the records, or the rate that their searches found.
func Profiled(s study.Spec, records []results.Record) study.Spec {
	if s.Measure == study.MeasureSustainable {
		s.Load.Rate, s.Measure = RateOf(s).Over(records).Median, study.MeasureRate
	}
	return s
}

// KeptUp reports whether nothing set the pace in any of the records, which were offered no more than came through.
func KeptUp(records []results.Record) bool {
	return !slices.ContainsFunc(records, func(r results.Record) bool { _, asked := results.LimitsOf(r); return asked })
}
