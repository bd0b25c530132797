package claim

import (
	"fmt"
	"slices"

	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/verdict"
)

// Answers returns the answers to the claims of a study, in their order, from its records of one side: Then, Now or Published. A claim is
// undecidable or has statements. As the answers are given together, they are corrected for their number: at most 5 % of all sets of answers
// have a wrong one. Figures that a publication prints are what it claims, so they decide as they are.
func Answers(claims []Claim, set *results.Set, study, side string) []Answer {
	samples := samplesOf(set.Points, study, side)
	answers := make([]Answer, len(claims))
	var tested []int // places in claims
	for i, c := range claims {
		answers[i] = c.pointsTo(samples)
		if side != Published && answers[i].settle(c) {
			tested = append(tested, i)
		}
	}
	decided, alpha := verdict.StepDown(len(tested), func(i int, alpha float64) bool {
		return claims[tested[i]].isSure(answers[tested[i]], samples, alpha)
	})
	for k, i := range tested {
		switch a := &answers[i]; {
		case decided[k] && !claims[i].steady().isSure(*a, samples, alpha):
			a.leaveOpen(Standstill, fmt.Sprintf("the generator stood still for up to %.0f %% of the time, and without that the rates would not decide it",
				100*a.standstill()))
		case decided[k]:
			claims[i].addTurns(a, samples, alpha)
		case a.PointsTo != Undecided:
			a.leaveOpen(WithinSpread, "the repetitions are too few, or scatter too much")
		}
	}
	if side != Published {
		for i, c := range claims {
			c.addIntervals(answers[i], samples)
		}
	}
	return answers
}

// pointsTo returns the answer if any choice of the repetitions decided it.
func (c Claim) pointsTo(samples []sample) Answer {
	switch {
	case c.Undecidable != "":
		return Answer{Verdict: Undecided, PointsTo: Undecided, Reason: Undecidable, Why: c.Undecidable}
	case len(samples) == 0:
		return Answer{Verdict: Undecided, PointsTo: Undecided, Reason: NothingMeasured, Why: "nothing was measured"}
	}
	a := Answer{PointsTo: Reproduced}
	for _, s := range c.Statements {
		p := s.pointsTo(samples, 0)
		a.Parts = append(a.Parts, p)
		a.Closed = a.Closed || p.Closed
		if both := a.PointsTo.and(p.PointsTo); both != a.PointsTo { // the first of the worst statements gives the reason
			a.PointsTo, a.Reason, a.Why = both, p.Reason, p.Why
		}
	}
	a.Verdict = a.PointsTo
	return a
}

// settle takes the verdict back where no interval could decide it, and reports whether intervals have to.
func (a *Answer) settle(c Claim) bool {
	if c.Absolute && a.Repetitions() > 0 {
		*a = Answer{Verdict: NotComparable, PointsTo: NotComparable, Parts: a.Parts, Closed: a.Closed}
		return false
	}
	isSmokeTest := slices.ContainsFunc(a.Parts, func(p Part) bool { return p.smokeTest })
	short, isShort := a.tooShort()
	switch {
	case isSmokeTest:
		a.leaveOpen(SmokeTest, "scale "+study.SmokeTest+" is a smoke test and gives no verdicts")
	case isShort:
		a.leaveOpen(TooShort, short.Code+": "+short.Text)
	case a.Repetitions() == 1:
		a.leaveOpen(OneRun, "one run decides nothing")
	default:
		return a.Repetitions() > 1
	}
	return false
}

// tooShort returns a doubt of the class too short that touches a figure.
func (a *Answer) tooShort() (d results.Doubt, ok bool) {
	for _, p := range a.Parts {
		for _, d := range p.Doubts {
			if d.Kind().Class() == doubt.TooShort {
				return d, true
			}
		}
	}
	return d, false
}

// steady returns the claim about rates as if the generator had not stood still.
func (c Claim) steady() Claim {
	c.Statements = slices.Clone(c.Statements)
	for i := range c.Statements {
		for _, of := range []*Selection{&c.Statements[i].Selection, &c.Statements[i].Of, &c.Statements[i].To} {
			of.Metric = of.Metric.Steady()
		}
	}
	return c
}

// standstill returns the largest share of the time for which the generator stood still.
func (a *Answer) standstill() float64 {
	return results.Standstill(lists.Flat(a.Parts, func(p Part) []results.Doubt { return p.Doubts }))
}

// leaveOpen makes the answer undecided, unless it was for another reason. why is a clause.
func (a *Answer) leaveOpen(reason Reason, why string) {
	if a.PointsTo != Undecided {
		a.Verdict, a.Reason, a.Why = Undecided, reason, why+"; points to: "+string(a.PointsTo)
	}
}

// isSure reports whether confidence intervals that err with the probability alpha come to what the repetitions point to.
func (c Claim) isSure(a Answer, samples []sample, alpha float64) bool {
	if a.PointsTo == Undecided {
		return false
	}
	sure := Reproduced
	for _, s := range c.Statements {
		sure = sure.and(s.pointsTo(samples, c.shared(a, alpha)).PointsTo)
	}
	return sure == a.PointsTo
}

// shared returns the part of alpha that each cell has, of those of which one alone may make the verdict. Any statement refutes the claim, and
// all have to hold.
func (c Claim) shared(a Answer, alpha float64) float64 {
	cells := 1
	for i, p := range a.Parts {
		n := c.Statements[i].oneAlone(p, a.PointsTo)
		if a.PointsTo == NotReproduced && i > 0 {
			n += cells
		}
		cells = max(cells, n)
	}
	return alpha / float64(cells)
}

// addIntervals adds the figures with their 95 % confidence intervals.
func (c Claim) addIntervals(a Answer, samples []sample) {
	for i := range a.Parts {
		if a.Parts[i].Repetitions() > 1 {
			a.Parts[i].Sure = c.Statements[i].pointsTo(samples, verdict.Alpha).Figure
		}
	}
}
