package tune

import (
	"fmt"
	"slices"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/verdict"
)

// Verdict is the conclusion of a tuning.
type Verdict string

// The verdicts.
const (
	Better  Verdict = "better"           // Best is shown to be better than the default
	Nothing Verdict = "nothing better"   // nothing was shown to be better
	Open    Verdict = "not confirmed"    // the time was too short to confirm it
	Unknown Verdict = "nothing measured" // there are no figures
)

// Answer is the result of a case by its records.
type Answer struct {
	Case    *Case
	Verdict Verdict
	Why     string // a clause: of Better by a bound, of Nothing and of Open
	Best    *Entry // the best of the race, with its confirmations if there are any, and otherwise its last stage; nil if Unknown
	Default *Entry // with its confirmations; nil without any
	Gain    results.Difference
	Stages  []*Stage
	Effects []Effect
}

// Effect is the effect of a setting, with all others as in Around.
type Effect struct {
	Knob    Knob
	Around  *Entry // nil if there is no pair of candidates in a stage that differ in this setting only
	Changes []Change
}

// Change is how the goal with another value of a setting compares with that of Around.
type Change struct {
	Value string
	results.Difference
}

// Shown says whether it is shown that the setting mattered: "yes", "no: less than a tenth", "not shown", or "not tried".
func (e Effect) Shown() string {
	is := func(a results.Answer) func(Change) bool { return func(c Change) bool { return c.Answer == a } }
	switch {
	case len(e.Changes) == 0:
		return "not tried"
	case slices.ContainsFunc(e.Changes, is(results.Differs)):
		return "yes"
	case slices.ContainsFunc(e.Changes, is(results.Undecided)):
		return "not shown"
	}
	return "no: less than a tenth"
}

// Decide answers the case by records of one machine. Others than those of the case are left alone.
func (c *Case) Decide(records []results.Record) Answer {
	stages, confirmation := c.stages(records)
	a := Answer{Case: c, Verdict: Unknown, Stages: stages}
	for _, s := range slices.Backward(stages) {
		if a.Best = c.finalist(s); a.Best != nil {
			break
		}
	}
	a.Effects = c.effects(stages)
	if confirmation != nil {
		for _, e := range confirmation.Entries {
			if e.Name == Default {
				a.Default = e
			} else {
				a.Best = e
			}
		}
	}
	switch {
	case a.Best == nil:
	case a.Default == nil && len(a.Best.Ok()) < verdict.Enough:
		a.Verdict, a.Why = Open, fmt.Sprintf("of the best of the race %d of %d repetitions ended ok", len(a.Best.Ok()), verdict.Enough)
	case a.Best.Name == Default:
		a.Verdict, a.Why = Nothing, "the default was the best of the race"
	case a.Default == nil:
		a.Verdict, a.Why = Open, "no confirmation has begun"
	default:
		a.confirmed(confirmation.of)
	}
	return a
}

// confirmed answers by the confirmations, of which there should be so many pairs. As many as the least that is planned are enough if the
// time was up: no figure ended them.
func (a *Answer) confirmed(of int) {
	c, best, usual := a.Case, a.Best.Ok(), a.Default.Ok()
	a.Gain = results.DifferenceOf(c.Goal, usual, best)
	failed := func(e *Entry) string {
		last := e.Records[len(e.Records)-1]
		return fmt.Sprintf("%d of %d repetitions of the %s ended ok; the last: %s: %s",
			len(e.Ok()), len(e.Records), e.Name, last.Status, last.Reason)
	}
	a.Verdict = Nothing
	switch missed := c.misses(usual); {
	case len(best) >= of && len(usual) == 0 && len(a.Default.Records) >= of && c.misses(best) == "":
		a.Verdict, a.Why = Better, failed(a.Default)
	case len(a.Best.Records) >= 2*of && len(best) < LeastConfirmations:
		a.Why = failed(a.Best)
	case len(best) < LeastConfirmations || len(usual) < LeastConfirmations:
		a.Verdict, a.Why = Open, fmt.Sprintf("%d of %d confirmations ended ok", min(len(best), len(usual)), of)
	case c.misses(best) != "":
		a.Why = "in the confirmations " + c.misses(best)
	case missed != "":
		for _, b := range c.Bounds {
			m, _, _ := b.Bound()
			if b.Missed(usual) && isBetter(m, results.DifferenceOf(m, usual, best)) {
				a.Verdict, a.Why = Better, "of the default "+missed
			}
		}
	case isBetter(c.Goal, a.Gain):
		a.Verdict = Better
	}
}

// isBetter reports whether b of a difference is shown to be the better one.
func isBetter(m results.Metric, d results.Difference) bool {
	return d.Answer == results.Differs && (d.Estimate < 1) == (m.Better == results.Lower)
}

// effects compares, for each setting, the centre of the last stage that tells with those that differ from it in that setting; that of the
// start is the default. No centre was chosen by the repetitions of its stage. The family is all these comparisons.
func (c *Case) effects(stages []*Stage) (effects []Effect) {
	for k, knob := range c.Knobs {
		of := Effect{Knob: knob}
		for _, s := range slices.Backward(stages) {
			centre := s.Centre
			if i := slices.IndexFunc(s.Entries, func(e *Entry) bool { return e.Name == Default }); centre == nil && i >= 0 {
				centre = s.Entries[i]
			}
			if centre == nil || len(centre.Ok()) == 0 || of.Changes != nil {
				continue
			}
			for _, e := range s.Entries {
				if len(e.Ok()) > 0 && centre.Candidate.apart(e.Candidate) == k {
					of.Around = centre
					of.Changes = append(of.Changes, Change{knob.Values[e.Candidate[k]], results.DifferenceOf(c.Goal, centre.Ok(), e.Ok())})
				}
			}
		}
		effects = append(effects, of)
	}
	var family []*results.Difference
	for _, e := range effects {
		for i := range e.Changes {
			family = append(family, &e.Changes[i].Difference)
		}
	}
	results.Correct(family)
	return effects
}
