package claim

import (
	"fmt"
	"math"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
)

// pointsTo says what the samples, which are the measurements on one side of a study, point to, by the figures that any choice of their
// repetitions may make, or by their confidence intervals, which err with the probability alpha, if it is not 0. Example: each
// broker has to have at least 10 messages/s. The repetitions of kafka had 9 and 12, those of nats 20 and 21, and all of
// pulsar failed. The part has the cells broker=kafka, which is undecided, and broker=nats, which holds. One cell is
// missing, and the whole is undecided.
func (s Statement) pointsTo(all []sample, alpha float64) Part {
	p, why := s.judgeCells(all, alpha)
	if why != nil {
		return Part{}.leftOpen(why)
	}
	if n := oneAlone(s.Take, len(p.Cells)); n > 1 && alpha > 0 { // places whose figures are pooled
		wider, _ := s.judgeCells(all, alpha/float64(n))
		for i, c := range wider.Cells {
			p.Cells[i].Figure = p.Cells[i].Figure.withEnds(s.Take, c.Figure)
		}
	}
	p.unmeasured = max(0, s.Places-p.places())
	p.Missing += p.unmeasured
	return s.conclude(p)
}

// judgeCells makes a part of the statement's cells, of which there is one at least, without the verdict on all of them.
func (s Statement) judgeCells(all []sample, alpha float64) (Part, *undecided) {
	if s.Kind == Ratio {
		return s.ratio(all, alpha)
	}
	chosen, why := s.samples(all, alpha)
	if why != nil {
		return Part{}, why
	}
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
		p.uses(s.Metric, cell.Members)
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

// uses notes the doubts of the samples' figures of m, by which a cell is judged, and the scale at which they were measured.
func (p *Part) uses(m results.Metric, samples []sample) {
	for _, s := range samples {
		if s.pair != nil {
			p.uses(s.pair.ofMetric, []sample{s.pair.of})
			p.uses(s.pair.toMetric, []sample{s.pair.to})
			continue
		}
		for _, r := range s.records {
			if !math.IsNaN(m.AsRecorded().Of(r)) {
				p.smokeTest = p.smokeTest || r.Scale == study.SmokeTest
				p.Doubts = append(p.Doubts, m.DoubtsOf(r)...)
			}
		}
	}
	p.Doubts = results.WorstDoubts(p.Doubts)
}
