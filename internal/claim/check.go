package claim

import "strings"

// checkAbsolute refuses an absolute claim that is about no number: a ratio of two figures of one machine is comparable with that of another.
func (c Claim) checkAbsolute(n node) {
	if !c.Absolute {
		return
	}
	absolute, _ := n.child("absolute")
	if c.Undecidable != "" {
		absolute.problem("given beside undecidable; allowed: one of both")
	}
	for _, s := range c.Statements {
		if s.Kind != "" && s.Kind != Threshold {
			absolute.problem("not used by %s, only by %s", s.Kind, Threshold)
		}
	}
}

// refuseUnused refuses keys of a mapping that the statement has no use for.
func (s *Statement) refuseUnused(mapping node) {
	if expect, ok := mapping.child("expect"); ok && s.Kind != Ratio && s.Kind != Threshold {
		expect.problem("not used by %s, only by %s and %s", s.Kind, Ratio, Threshold)
	}
	if best, ok := mapping.child("best"); ok && s.Kind != Rank && s.Pool != poolBest {
		best.problem("not used by %s, only by %s and by pool: %s", s.Kind, Rank, poolBest)
	}
}

// check notes what a complete statement lacks, or has without effect. body is the value below the name of its kind.
func (s *Statement) check(body node) {
	if s.Kind != Ratio {
		body.require(s.Metric.Key != "", "metric", "what it is about; brokermark list metrics shows all")
	}
	if isRatio := s.Kind == Ratio || s.Of.Select != nil || s.To.Select != nil; isRatio {
		body.require(s.Of.Select != nil && s.To.Select != nil, "of", "a ratio needs of and to")
	}
	switch s.Kind {
	case Ratio:
		body.require(s.Of.Metric.Key != "" && s.To.Metric.Key != "", "metric", "what the ratio is of")
		body.require(s.Expect.Given(), "expect", "a ratio needs bounds, such as {from: 0.3, to: 0.45}")
	case Threshold:
		body.require(s.Expect.Given(), "expect", "a threshold needs bounds, such as {from: 250000}")
	case Rank:
		isPlace := s.Place != 0 && s.Order == nil
		isOrder := s.Place == 0 && len(s.Order) > 1
		body.require(s.By != "", "by", "the axis of those that are ranked")
		body.require(isPlace || isOrder, "first", "a rank needs one of first, second, last and order")
	case Slope:
		body.require(s.Along != "", "along", "the axis it goes along")
		body.require(s.Sign != "" || s.R2 > 0 || s.Change.Given(), "sign", "a slope needs one of sign, r2 and change")
	case Shape:
		body.require(s.Along != "", "along", "the axis it goes along")
		body.require(s.Form != "", "form", "one of "+strings.Join(forms, ", "))
	}
	if s.poolsCells() && s.Kind != Ratio && s.Kind != Threshold {
		body.problemAt("take", "%q has no meaning here; allowed: %s, %s", s.Take, TakeEach, TakeShare)
	}
	if isShare := 0 < s.Share && s.Share <= 1; s.Take == TakeShare && !isShare {
		body.problemAt("share", "%v is no share of the places; allowed: above 0 and up to 1", s.Share)
	}
}
