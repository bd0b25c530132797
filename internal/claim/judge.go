package claim

import "fmt"

// evaluate answers a statement from the samples, which are the measurements on one side of a study. Example: each
// broker has to have at least 10 messages/s. The repetitions of kafka had 9 and 12, those of nats 20 and 21, and all of
// pulsar failed. The part has the cells broker=kafka, which can't be told, and broker=nats, which holds. One cell is
// missing, and the whole can't be told.
//
// The part says what the repetitions point to, whichever of them had been the only one. That is its verdict only where confidence intervals
// of the figures come to the same.
func (s Statement) evaluate(all []sample) Part {
	p := s.pointsTo(all)
	p.PointsTo = p.Verdict
	isPublished := all[0].point.Published() // figures that a paper prints are what it claims
	if p.Verdict == CannotBeTold || isPublished || s.pointsTo(surely(all)).Verdict == p.Verdict {
		return p
	}
	if p.Repetitions() == 1 {
		return p.cannotBeTold(undecidedBecause(OneRun, "one run decides nothing; it points to: %s", p.PointsTo))
	}
	return p.cannotBeTold(undecidedBecause(WithinSpread, "the repetitions are too few, or scatter too much; they point to: %s", p.PointsTo))
}

// pointsTo judges a statement by the figures of the samples.
func (s Statement) pointsTo(all []sample) Part {
	p, why := s.judgeCells(all)
	if why != nil {
		return Part{}.cannotBeTold(why)
	}
	return s.conclude(p)
}

// judgeCells makes a part of the statement's cells, of which there is one at least, without the verdict on all of them.
func (s Statement) judgeCells(all []sample) (Part, *undecided) {
	if s.Kind == Ratio {
		return s.ratio(all)
	}
	chosen, why := s.choose(all)
	if why != nil {
		return Part{}, why
	}
	share(chosen)
	var p Part
	switch s.Kind {
	case Rank:
		p, why = s.rank(chosen)
	case Threshold:
		p, why = s.threshold(chosen)
	case Slope, Shape:
		p, why = s.trend(chosen)
	default:
		panic(fmt.Sprintf("claim: a statement of the kind %q", s.Kind)) // Parse makes none
	}
	p.Closed = anyClosed(chosen, s.Metric)
	return p, why
}

// threshold judges the metric in each cell.
func (s Statement) threshold(chosen []sample) (Part, *undecided) {
	var p Part
	for _, cell := range grouped(chosen, s.cellAxes(chosen)) {
		f, why := s.cellFigure(s.Metric, cell)
		if why != nil {
			return Part{}, why
		}
		p.add(cell.Name, cell.Members, f, s.Expect.judge(f))
	}
	if len(p.Cells) == 0 {
		return Part{}, noFigure(chosen, s.Metric)
	}
	return p, nil
}

// add adds a cell of samples that is judged by its figure. Without one the cell is missing.
func (p *Part) add(name string, samples []sample, f Figure, v Verdict) {
	if !f.known() {
		p.addMissing(samples)
		return
	}
	p.Cells = append(p.Cells, Cell{Name: name, Verdict: v, Figure: f, N: f.N})
}

// addMissing counts a cell of samples that has no figure.
func (p *Part) addMissing(samples []sample) {
	p.Missing++
	for _, s := range samples {
		if len(s.records) == 0 {
			return
		}
	}
	p.missingThoughOK++
}
