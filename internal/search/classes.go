package search

// The class of a rate says whether the broker sustains it (Lower), does not (Upper), or may or may not (Undecided). The
// result of a search counts only what trials decide. To choose the next trial, what they suggest is good enough. So there
// are three ways to class a rate. For example, if it takes two long trials to decide:
//
//	trials at the rate      decidedClass   likelyClass   trustedClass, once short trials were too lenient
//	two long ones passed    Lower          Lower         Lower
//	one short one passed    Undecided      Lower         Undecided
//	one short one failed    Undecided      Upper         Upper
//	void ones alone         Undecided      Upper         Upper
//	outdated ones alone     Undecided      Undecided     Undecided

// decidedClass is what the trials at a rate decide.
func (g *goalSearch) decidedClass(r *triedRate) Class { return g.goal.Class(r.Tally) }

// likelyClass is what the trials at a rate decide or, while they don't, what they suggest. A rate that can't be measured
// is likely to be an upper bound: what makes its trials void mostly grows with the rate.
func (g *goalSearch) likelyClass(r *triedRate) Class {
	if class := g.decidedClass(r); class != Undecided || r.outdated {
		return class
	}
	if r.mostlyPassed() && r.voids < maxVoids {
		return Lower
	}
	return Upper
}

// trustedClass is the likely class, which guides the search. But once short trials have proved too lenient, a rate that is only
// likely to be sustained counts as undecided.
func (g *goalSearch) trustedClass(r *triedRate) Class {
	class := g.likelyClass(r)
	if class == Lower && g.decidedClass(r) == Undecided && g.shortTooLenient() {
		return Undecided
	}
	return class
}

// bracket returns the lowest of the tried rates that is Upper (high), and the highest one below it that is Lower (low);
// nil where there is none. classOf is one of the ways to class a rate, such as g.decidedClass.
func (g *goalSearch) bracket(classOf func(*triedRate) Class) (low, high *triedRate) {
	for _, r := range g.tried {
		switch classOf(r) {
		case Upper:
			return low, r
		case Lower:
			low = r
		case Undecided: // lies inside the bracket, or below it
		}
	}
	return low, nil
}
