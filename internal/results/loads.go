// The loads of a point. A curve of 1k/s and 2k/s with three repetitions, of which the third failed at 1k/s, has:
//
//	LoadPoints     1k/s of two repetitions, 1k/s of the failed one, 2k/s of three   every row of a table
//	MeasuredLoads  1k/s of two repetitions, 2k/s of three                           every load once
//
// Points that are no curves have one load, their own. A curve of shares, such as 50 % of the sustainable rate, also has a load
// of its own: the search for that rate.

package results

import (
	"cmp"
	"slices"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// LoadPointsOf lists the load points of points, in their order.
func LoadPointsOf(points []Point) []LoadPoint {
	var all []LoadPoint
	for _, p := range points {
		all = append(all, p.LoadPoints()...)
	}
	return all
}

// LoadPoints lists what tables show of a point, over the repetitions of Shown: the point under its own load, unless it was a
// curve of given rates, then each rate of its curve, lowest first. If a rate failed in some of the repetitions, these have a
// load point of their own. So have the failed rates of a repetition that failed as a whole, which Shown leaves out if others
// ended ok: what it lost is lost. Its other rates only add to the counts of messages. A curve without any rate is under its own load.
func (p Point) LoadPoints() []LoadPoint {
	var loadPoints []LoadPoint
	shown := p.Shown()
	if p.Spec.Measure != study.MeasureCurve || len(shown) == 0 || searched(shown) {
		loadPoints = append(loadPoints, p.ownLoad(shown))
	}
	var rates []RepetitionLoad
	onlyCounted := map[string][]store.Record{} // rates that ended ok in repetitions that failed, by their title
	row := func(l RepetitionLoad) string { return l.RowTitle + ", " + string(l.Record.Status) }
	for _, r := range p.Records {
		isShown := len(shown) > 0 && r.Status == shown[0].Status
		for _, l := range curveLoads(r) {
			switch {
			case isShown, r.Status == store.Failed && l.Record.Status == store.Failed && !l.BrokenOff:
				rates = append(rates, l)
			case r.Status == store.Failed && l.BrokenOff:
				onlyCounted[l.RowTitle] = append(onlyCounted[l.RowTitle], l.Record)
			}
		}
	}
	curve := p.loadPointsBy(rates, row)
	for i, l := range curve {
		if further := onlyCounted[l.RowTitle]; len(further) > 0 && l.Used() {
			curve[i].counted = slices.Concat(l.Records, further)
		}
	}
	slices.SortStableFunc(curve, func(a, b LoadPoint) int { // a curve has shares or rates, never both
		return cmp.Or(cmp.Compare(a.fraction, b.fraction), cmp.Compare(a.Rate, b.Rate))
	})
	loadPoints = append(loadPoints, curve...)
	if len(loadPoints) == 0 { // a curve that ended before its first rate
		return []LoadPoint{p.ownLoad(shown)}
	}
	return loadPoints
}

// MeasuredLoads lists every load of a point once, in the order in which they were measured, without the search before a curve.
// If no repetition of the point ended ok, the others are shown and never used.
func (p Point) MeasuredLoads() []LoadPoint {
	records := p.Ok()
	if len(records) == 0 {
		records = p.Records
	}
	var loads []RepetitionLoad
	for _, r := range records {
		loads = append(loads, measuredLoads(r)...)
	}
	counted := map[string][]store.Record{} // by the title of the load
	for _, r := range p.Ran() {
		for _, load := range measuredLoads(r) {
			if ran(load.Record) {
				counted[load.RowTitle] = append(counted[load.RowTitle], load.Record)
			}
		}
	}
	loadPoints := p.loadPointsBy(loads, func(l RepetitionLoad) string { return l.RowTitle })
	for i, l := range loadPoints {
		loadPoints[i].counted = counted[l.RowTitle]
	}
	return loadPoints
}

// loadPointsBy makes one load point of all loads with the same key. It has the repetitions that ended ok or, if none did, all
// of them; the last one says how the load point ended. A share of the sustainable rate has the same key in every repetition,
// though its rate differs.
func (p Point) loadPointsBy(loads []RepetitionLoad, key func(RepetitionLoad) string) []LoadPoint {
	var loadPoints []LoadPoint
	for _, g := range GroupBy(loads, key) {
		first := g.Members[0]
		endedOtherwise := func(l RepetitionLoad) bool { return l.Record.Status != store.OK }
		repetitions := slices.DeleteFunc(slices.Clone(g.Members), endedOtherwise)
		if len(repetitions) == 0 {
			repetitions = g.Members
		}
		last := repetitions[len(repetitions)-1].Record
		l := LoadPoint{
			Point: p, Name: first.Name, RowTitle: first.RowTitle, Rate: first.Rate, fraction: first.fraction,
			Closed: p.Spec.ClosedLoop(), Status: last.Status, Why: last.Why(),
		}
		if first.Rate == 0 { // the point's own load
			l.Rate = fixedRate(p.Spec)
		}
		for _, r := range repetitions {
			l.Records = append(l.Records, r.Record)
		}
		loadPoints = append(loadPoints, l)
	}
	return loadPoints
}

// ShownLoad is a point under its own load, over the repetitions whose figures tables show.
func (p Point) ShownLoad() LoadPoint { return p.ownLoad(p.Shown()) }

// AsLoadPoint is a point under its own load, over the repetitions that ended ok, or over all of a published point. It has no
// records, and is not used, if there are none.
func (p Point) AsLoadPoint() LoadPoint {
	if p.Published() {
		return p.ownLoad(p.Records)
	}
	return p.ownLoad(p.Ok())
}

// ownLoad is the point under its own load over these of its repetitions. The last of them says how it ended; if there are
// none, the last of all does.
func (p Point) ownLoad(records []store.Record) LoadPoint {
	last := p.Records[len(p.Records)-1] // a point has a record
	if len(records) > 0 {
		last = records[len(records)-1]
	}
	own := LoadPoint{
		Point: p, Name: p.Load(), RowTitle: p.Load(), Rate: fixedRate(p.Spec), Closed: p.Spec.ClosedLoop(),
		Records: records, Status: last.Status, Why: last.Why(),
	}
	if len(records) > 0 && !p.Published() {
		own.counted = p.Ran()
	}
	if p.Spec.Measure == study.MeasureCurve {
		own.Name = "sustainable"
		if searched(records) {
			own.RowTitle = searchTitle
		}
	}
	return own
}
