package search

// The search classes the rates that it tried: a broker sustains a Lower one, and does not sustain an Upper one. It does so
// in three ways, from the strictest on. For example, if two long trials that agree decide a rate:
//
//	trials at the rate      decidedClass   likelyClass   trustedClass, once short trials were too lenient
//	two long ones passed    Lower          Lower         Lower
//	one short one passed    Undecided      Lower         Undecided
//	one short one failed    Undecided      Upper         Upper
//	maxVoids void ones      Undecided      Upper         Upper

// decidedClass is what the trials at a rate decide.
func (g *goalSearch) decidedClass(r *triedRate) Class { return g.goal.Class(r.Tally) }

// likelyClass is what the trials at a rate decide or, while they don't, what they suggest. A rate that can't be measured
// is likely to be an upper bound: what makes its trials void mostly grows with the rate.
func (g *goalSearch) likelyClass(r *triedRate) Class {
	if class := g.decidedClass(r); class != Undecided {
		return class
	}
	allVoid := r.Tally == Tally{}
	cannotBeMeasured := allVoid || r.voids >= maxVoids
	if cannotBeMeasured || !r.mostlyPassed() {
		return Upper
	}
	return Lower
}

// trustedClass is the likely class, by which the search goes on. But once short trials have proved too lenient, a rate
// that is only likely to be sustained is undecided.
func (g *goalSearch) trustedClass(r *triedRate) Class {
	class := g.likelyClass(r)
	if class == Lower && g.decidedClass(r) == Undecided && g.shortTooLenient() {
		return Undecided
	}
	return class
}

// bracket returns the lowest Upper rate of those tried, and the highest Lower rate below it; nil where there is none.
// classOf is one of the ways to class a rate: g.decidedClass, for example.
func (g *goalSearch) bracket(classOf func(*triedRate) Class) (low, high *triedRate) {
	for _, r := range g.tried {
		switch classOf(r) {
		case Upper:
			return low, r
		case Lower:
			low = r
		case Undecided: // may lie inside the bracket
		}
	}
	return low, nil
}
