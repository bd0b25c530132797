// Curves of given rates are compared at one rate: the last one that ended ok on both sides. A repetition has the figures of its
// last rate, but that one may have failed or be void, which is often why a curve ends there. Of these two curves
//
//	           1k/s  2k/s  4k/s
//	kafka      ok    ok    void
//	jetstream  ok    ok    ok
//
// what was measured at 2k/s is compared.

package reports

import (
	"slices"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
)

// curveRate is the rate at which a half's curves of given rates are compared.
type curveRate struct {
	given  bool   // the half has such curves
	title  string // of the rate, "curve 2k/s"; empty if no rate ended ok on both sides
	name   string // "2k/s"
	isLast bool   // that was offered
}

// chooseRate sets the rate at which both halves are compared, if they are curves of given rates that were measured.
func (p *pair) chooseRate() {
	if p.hasPublished() || !p.first.hasGivenRates() || !p.second.hasGivenRates() {
		return
	}
	chosen := curveRate{given: true}
	for _, l := range slices.Backward(p.first.rates()) {
		if p.first.endedOKAt(l.RowTitle) && p.second.endedOKAt(l.RowTitle) {
			chosen.title, chosen.name = l.RowTitle, results.RateText(l.Rate)
			chosen.isLast = p.first.endsAt(l.RowTitle) && p.second.endsAt(l.RowTitle)
			break
		}
	}
	p.first.curve, p.second.curve = chosen, chosen
}

// hasGivenRates reports whether the half is of curves whose rates no search found.
func (h half) hasGivenRates() bool {
	return h.points[0].Spec.Measure == study.MeasureCurve && !results.Searched(h.endedOK())
}

// rates lists the rates that the half's curves offered, in their order, whatever became of them. All have the same, so those of
// one repetition that ended ok will do.
func (h half) rates() []results.RepetitionLoad {
	if ok := h.endedOK(); len(ok) > 0 {
		return results.Loads(ok[0])
	}
	return nil
}

// endedOKAt reports whether the rate with this title ended ok in any repetition that did.
func (h half) endedOKAt(title string) bool {
	return slices.ContainsFunc(h.endedOK(), func(r results.Record) bool { return okAt(r, title) != nil })
}

// okAt is a repetition of a curve at the rate with this title, if it ended ok there.
func okAt(r results.Record, title string) []results.Record {
	for _, l := range results.Loads(r) {
		if l.Rate > 0 && l.RowTitle == title && l.Record.Status == results.OK {
			return []results.Record{l.Record}
		}
	}
	return nil
}

// endsAt reports whether the rate with this title is the last one that the half's curves offered.
func (h half) endsAt(title string) bool {
	rates := h.rates()
	return len(rates) > 0 && rates[len(rates)-1].RowTitle == title
}

// atRate says at which rate figures of the curves are compared: " at the last rate".
func (c curveRate) atRate() string {
	if c.isLast {
		return " at the last rate"
	}
	return " at " + c.name + ", the last rate that ended ok on both sides"
}
