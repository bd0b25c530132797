package results

import (
	"slices"

	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/store"
)

// RepetitionLoad is one load of a repetition: its own, or one rate of its curve.
type RepetitionLoad struct {
	Name     string       // "rate 1k/s", "50.0 % of sustainable"
	RowTitle string       // "rate 1k/s", "curve 1k/s": unlike Name it tells a curve's rate from a fixed rate
	Rate     float64      // of a curve, messages per second; 0 if the load is the repetition's own
	fraction fraction     // of the sustainable rate; 0 if a curve's rate was not given as a share
	Record   store.Record // as if only this load had been measured

	// BrokenOff reports that a rate of a curve itself ended ok, but its repetition did not: the broker died at a later rate. Its
	// record has the repetition's status and reason, because only repetitions that ended ok are used for conclusions.
	BrokenOff bool
}

// searchTitle is the title of the search before a curve.
const searchTitle = "curve, searched"

// Loads lists the loads of a repetition: its own unless it was a curve of given rates, then those of its curve. A repetition
// that searched for the sustainable rate and then measured half of it has the loads "sustainable" and "50.0 % of sustainable".
func Loads(r store.Record) []RepetitionLoad {
	title := Point{Spec: r.Spec}.Load()
	own := RepetitionLoad{Name: title, RowTitle: title, Record: r}
	curve := curveLoads(r)
	switch {
	case len(curve) == 0:
		return []RepetitionLoad{own}
	case r.Result.Sustainable == nil:
		return curve
	default:
		own.Name, own.RowTitle = "sustainable", searchTitle
		return append([]RepetitionLoad{own}, curve...)
	}
}

// measuredLoads lists the loads of a repetition without the search before a curve. There are none if nothing was measured.
func measuredLoads(r store.Record) []RepetitionLoad {
	if r.Result == nil {
		return nil
	}
	if curve := curveLoads(r); len(curve) > 0 {
		return curve
	}
	return Loads(r)
}

// curveLoads lists the rates of a repetition's curve; none if it has no curve.
func curveLoads(r store.Record) []RepetitionLoad {
	if r.Result == nil {
		return nil
	}
	var loads []RepetitionLoad
	ofAll := doubtsOfAllRates(r)
	for _, c := range r.Result.Curve {
		share := fraction(c.Fraction)
		l := RepetitionLoad{
			Name: "rate " + RateText(c.Rate), RowTitle: CurveLoad(c), Rate: c.Rate, fraction: share,
			Record: onlyRate(r, c, ofAll), BrokenOff: c.Status == store.OK && r.Status != store.OK,
		}
		if share.given() {
			l.Name = share.ofSustainable()
		}
		loads = append(loads, l)
	}
	return loads
}

// onlyRate is the record as if only one rate of its curve had been measured: with that rate's figures, status and doubts, and those of
// doubtsOfAllRates. A rate that ended ok in a repetition that did not has the status of the repetition.
func onlyRate(r store.Record, c store.CurvePoint, ofAll []store.Doubt) store.Record {
	one := r
	one.Result = &store.Result{Measurement: c.Measurement, Knee: r.Result.Knee} // the knee belongs to all rates together
	one.Result.OfferedRate = c.Rate
	if r.Status == store.OK || c.Status != store.OK {
		one.Status, one.Reason, one.Figures = c.Status, c.Reason, c.Figures
	}
	one.Doubts = slices.Clone(c.Doubts)
	for _, d := range ofAll {
		if !slices.ContainsFunc(one.Doubts, func(own store.Doubt) bool { return own.Code == d.Code }) {
			one.Doubts = append(one.Doubts, d)
		}
	}
	return one
}

// mostCodes is more than there are kinds of doubts. A record that a stranger made may have any number, which each of its rates would get.
const mostCodes = 200

// doubtsOfAllRates are the doubts of a repetition, one of each kind, without the one that names the bad rates of its curve. There are none
// if it searched for the sustainable rate, because they may be about the search alone.
func doubtsOfAllRates(r store.Record) (all []store.Doubt) {
	if r.Result.Sustainable != nil {
		return nil
	}
	known := map[string]bool{doubt.BadRates.Code(): true}
	for _, d := range r.Doubts {
		if !known[d.Code] && len(all) < mostCodes {
			known[d.Code] = true
			all = append(all, d)
		}
	}
	return all
}
