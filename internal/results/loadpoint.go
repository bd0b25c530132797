package results

import (
	"cmp"
	"slices"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// LoadPoint is one load of a point over its repetitions: the point's own load, or one rate of its curve. Its records are the
// point's, cut down to the measurements under that load, so that every metric applies to them. A curve of 1k/s and 2k/s that was
// repeated three times has two load points with three records each.
type LoadPoint struct {
	Point       Point
	Name        string         // "rate 1k/s", "50.0 % of sustainable"
	RowTitle    string         // "rate 1k/s", "curve 1k/s": unlike Name it tells a curve's rate from a fixed rate
	Rate        float64        // offered messages per second; 0 if the load was not a constant rate
	fraction    fraction       // of the sustainable rate that was offered; 0 if the rate was not given as such a share
	Status      store.Status   // of all Records
	Why         remark.Remark  // why it did not end ok; empty if it did
	Closed      bool           // a closed loop, which has no latency
	Records     []store.Record // cut down to this load
	FullRecords []store.Record // the repetitions that Records were cut from, in the same order
	counted     []store.Record // those that counts of messages are added up over, also those that failed; cut down likewise
}

// Used tells whether conclusions may be drawn from the load point.
func (l LoadPoint) Used() bool { return l.Status == store.OK }

// Fixed tells whether the load is one constant rate that was given as a number.
func (l LoadPoint) Fixed() bool { return l.Rate > 0 && !l.fraction.given() }

// Over is a metric over the load point's repetitions; a sustainable rate that was searched for by its bracket. Counts are sums also over
// repetitions that failed, which Records leave out if others ended ok: of three repetitions of which one failed because it lost 3
// messages, 3 are lost.
func (l LoadPoint) Over(m Metric) Summary {
	switch {
	case m.Counts():
		return m.Over(l.Counted())
	case m.Key == KeySustainableLow && searched(l.Records):
		return Sustained(l.Records).Summary()
	}
	return m.Over(l.Records)
}

// Counted are the repetitions that counts of messages are added up over: the Records, and those that failed, cut down to this load.
func (l LoadPoint) Counted() []store.Record {
	if len(l.counted) > 0 {
		return l.counted
	}
	return l.Records
}

// Measured lists the values of a metric over the load point's repetitions, unknown ones left out.
func (l LoadPoint) Measured(key string) []float64 { return MustMetric(key).Values(l.Records) }

// Offered is what was offered, as a text and as a number that orders the load points of one point: "50.0 % of sustainable" and 0.5, or
// "1k/s" and 1000. A load that is no rate, such as a peak, has its title and 0.
func (l LoadPoint) Offered() (text string, order float64) {
	switch {
	case l.fraction.given():
		return l.fraction.ofSustainable(), float64(l.fraction)
	case l.Rate > 0:
		return RateText(l.Rate), l.Rate
	default:
		return l.RowTitle, 0
	}
}

// Cell summarizes a metric over the load point's repetitions; a sustainable rate that was searched for by its bracket. It is marked as
// unused unless the load point is used.
func (l LoadPoint) Cell(key string) document.Cell {
	cell := l.Over(MustMetric(key)).Cell()
	if key == KeySustainableLow && searched(l.Records) {
		cell = Sustained(l.Records).Cell()
	}
	return cell.Excluded(!l.Used())
}

// LoadPoints lists what tables show of a point, over the repetitions of Shown: the point under its own load, unless it was a curve of
// given rates, then each rate of its curve, lowest first. If a rate failed in some of the repetitions, these have a load point of their
// own: of three repetitions of 1k/s, "curve 1k/s" may be there twice, with two that ended ok and with one that failed. So have the rates of
// a repetition that failed as a whole, which Shown leaves out if others ended ok: what it lost is lost.
func (p Point) LoadPoints() []LoadPoint {
	var loadPoints []LoadPoint
	shown := p.Shown()
	if p.Spec.Measure != study.MeasureCurve || len(shown) == 0 || searched(shown) {
		loadPoints = append(loadPoints, p.ownLoadPoint(shown))
	}
	var rates []RepetitionLoad
	for _, r := range p.Records {
		isShown := len(shown) > 0 && r.Status == shown[0].Status
		if isShown || r.Status == store.Failed {
			rates = append(rates, curveLoads(r)...)
		}
	}
	curve := p.loadPointsBy(rates, func(l RepetitionLoad) string { return l.RowTitle + ", " + string(l.Record.Status) })
	slices.SortStableFunc(curve, func(a, b LoadPoint) int { // a curve has shares or rates, never both
		return cmp.Or(cmp.Compare(a.fraction, b.fraction), cmp.Compare(a.Rate, b.Rate))
	})
	return append(loadPoints, curve...)
}

// MeasuredLoads lists every load of a point once, in the order in which they were measured. The three repetitions of 1k/s in the example
// of LoadPoints are one load point with the two that ended ok. If no repetition of the point ended ok, the others are shown and never used.
// The search before a curve is no load.
func (p Point) MeasuredLoads() []LoadPoint {
	records := p.Ok()
	if len(records) == 0 {
		records = p.Records
	}
	var loads []RepetitionLoad
	for _, r := range records {
		loads = append(loads, measuredLoads(r)...)
	}
	loadPoints := p.loadPointsBy(loads, func(l RepetitionLoad) string { return l.RowTitle })
	for _, r := range p.Ran() {
		for _, load := range measuredLoads(r) {
			i := slices.IndexFunc(loadPoints, func(l LoadPoint) bool { return l.RowTitle == load.RowTitle })
			if i >= 0 && ran(load.Record) {
				loadPoints[i].counted = append(loadPoints[i].counted, load.Record)
			}
		}
	}
	return loadPoints
}

// AsLoadPoint is a point as one load point under its own load, over the repetitions that ended ok, or over all of a published point. It
// has no records, and is not used, if there are none.
func (p Point) AsLoadPoint() LoadPoint {
	if p.Published() {
		return p.ownLoadPoint(p.Records)
	}
	return p.ownLoadPoint(p.Ok())
}

// ShownLoad is a point as one load point under its own load, over the repetitions whose figures tables show.
func (p Point) ShownLoad() LoadPoint { return p.ownLoadPoint(p.Shown()) }

// ownLoadPoint is the point under its own load over these of its repetitions. The last of them says how it ended; if there are none,
// the last of all does.
func (p Point) ownLoadPoint(records []store.Record) LoadPoint {
	last := p.Records[len(p.Records)-1] // a point has a record
	if len(records) > 0 {
		last = records[len(records)-1]
	}
	own := LoadPoint{
		Point: p, Name: p.Load(), RowTitle: p.Load(), Rate: fixedRate(p.Spec), Closed: p.Spec.ClosedLoop(),
		Records: records, FullRecords: records, Status: last.Status, Why: last.Why(),
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

// loadPointsBy makes one load point of all loads with the same key. It has the repetitions that ended ok or, if none did, all of them; the last
// one says how the load point ended. A share of the sustainable rate has the same key in every repetition, though its rate differs.
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
			Point: p, Name: first.Name, RowTitle: first.RowTitle, Rate: cmp.Or(first.Rate, fixedRate(p.Spec)), fraction: first.fraction,
			Closed: p.Spec.ClosedLoop(), Status: last.Status, Why: last.Why(),
		}
		for _, r := range repetitions {
			l.Records, l.FullRecords = append(l.Records, r.Record), append(l.FullRecords, r.Full)
		}
		loadPoints = append(loadPoints, l)
	}
	return loadPoints
}

// fixedRate is the constant rate that a spec asks for; 0 if it asks for something else.
func fixedRate(s study.Spec) float64 {
	if s.Measure != study.MeasureRate {
		return 0
	}
	switch s.Load.Shape {
	case "constant", "poisson", "": // imported results have no shape
		return s.Load.Rate
	default:
		return 0
	}
}

// searched tells whether any of the records holds a search for the sustainable rate.
func searched(records []store.Record) bool {
	return slices.ContainsFunc(records, func(r store.Record) bool { return r.Result != nil && r.Result.Sustainable != nil })
}

// LoadPointsOf lists the load points of points, in their order.
func LoadPointsOf(points []Point) []LoadPoint {
	var all []LoadPoint
	for _, p := range points {
		all = append(all, p.LoadPoints()...)
	}
	return all
}
