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
// point's, cut down to the measurements under that load, so that every metric applies to them.
type LoadPoint struct {
	Point       Point
	Name        string         // "rate 1k/s", "50 % of sustainable"
	RowTitle    string         // "rate 1k/s", "curve 1k/s": unlike Name it tells a curve's rate from a fixed rate
	Rate        float64        // offered messages per second; 0 if the load was not a constant rate
	fraction    fraction       // of the sustainable rate that was offered, if the rate was given so
	Status      store.Status   // of all Records
	Why         remark.Remark  // why it did not end ok; empty if it did
	Closed      bool           // a closed loop, which has no latency
	Records     []store.Record // cut down to this load
	FullRecords []store.Record // the repetitions that Records were cut from, in the same order
}

// fraction is a share of the sustainable rate, as rates of a curve may be given. The zero value is no share.
type fraction float64

func (f fraction) given() bool { return f > 0 }

// Used tells whether conclusions may be drawn from the load point.
func (l LoadPoint) Used() bool { return l.Status == store.OK }

// Fixed tells whether the load is one constant rate that was given as a number.
func (l LoadPoint) Fixed() bool { return l.Rate > 0 && !l.fraction.given() }

// Measured lists the values of a metric over the load point's repetitions, unknown ones left out.
func (l LoadPoint) Measured(key string) []float64 { return MustMetric(key).Values(l.Records) }

// Place names where the load point stands among those of its point, with a number that orders them: the share of the sustainable rate,
// or the rate; 0 if it has neither.
func (l LoadPoint) Place() (text string, order float64) {
	switch {
	case l.fraction.given():
		return l.fraction.ofSustainable(), float64(l.fraction)
	case l.Rate > 0:
		return RateText(l.Rate), l.Rate
	}
	return l.RowTitle, 0
}

// Cell summarizes a metric over the load point's repetitions. It is marked as unused unless the load point is used.
func (l LoadPoint) Cell(key string) document.Cell {
	cell := MustMetric(key).Over(l.Records).Cell()
	if key == KeySustainableLow && searched(l.Records) {
		cell = Sustained(l.Records).Cell()
	}
	return cell.Excluded(!l.Used())
}

// LoadPoints lists the point under its own load, unless it was a curve of given rates, then each rate of its curve, lowest first.
// Repetitions of a rate that failed have a load point of their own beside those that ended ok.
func (p Point) LoadPoints() []LoadPoint {
	var loadPoints []LoadPoint
	shown := p.Shown()
	if p.Spec.Measure != study.MeasureCurve || len(shown) == 0 || searched(shown) {
		loadPoints = append(loadPoints, p.ownLoadPoint(shown))
	}
	curves := slices.DeleteFunc(slices.Clone(shown), func(r store.Record) bool { return !hasCurve(r) })
	rates := p.loadPointsBy(curves, func(l RepetitionLoad) string { return l.RowTitle + ", " + string(l.Record.Status) })
	slices.SortStableFunc(rates, func(a, b LoadPoint) int { return cmp.Compare(a.Rate, b.Rate) })
	return append(loadPoints, rates...)
}

// MeasuredLoads lists every load of a point once, in the order in which they were measured. They are measured over the
// repetitions that ended ok or, if none did, over the others, which are shown and never used. The search before a curve is no
// load.
func (p Point) MeasuredLoads() []LoadPoint {
	records := p.Ok()
	if len(records) == 0 {
		records = p.Records
	}
	return p.loadPointsBy(records, func(l RepetitionLoad) string { return l.RowTitle })
}

// AsLoadPoint is a point as one load point over the repetitions that ended ok, or over all of a published point. It is not used
// if there are none.
func (p Point) AsLoadPoint() LoadPoint {
	l := LoadPoint{Point: p, Records: p.Ok()}
	if p.Published() {
		l.Records = p.Records
	}
	if len(l.Records) > 0 {
		l.Status = l.Records[0].Status // all are ok, or all are published
	}
	return l
}

// ownLoadPoint is the point under its own load over the repetitions that are shown. The last of them says how it ended; if none is
// shown, the last of all does.
func (p Point) ownLoadPoint(shown []store.Record) LoadPoint {
	last := p.Records[len(p.Records)-1] // a point has a record
	if len(shown) > 0 {
		last = shown[len(shown)-1]
	}
	own := LoadPoint{
		Point: p, Name: p.Load(), RowTitle: p.Load(), Rate: fixedRate(p.Spec), Closed: ClosedLoop(p.Spec),
		Records: shown, FullRecords: shown, Status: last.Status, Why: last.Why(),
	}
	if p.Spec.Measure == study.MeasureCurve {
		own.Name = "sustainable"
		if searched(shown) {
			own.RowTitle = searchTitle
		}
	}
	return own
}

// loadPointsBy forms one load point of all measured loads with the same key, in the order in which they were measured. A share of the
// sustainable rate has the same key in every repetition, though its rate differs.
func (p Point) loadPointsBy(records []store.Record, key func(RepetitionLoad) string) []LoadPoint {
	var loadPoints []LoadPoint
	indexes := map[string]int{} // in loadPoints, by key
	for _, full := range records {
		for _, l := range measuredLoads(full) {
			i, known := indexes[key(l)]
			if !known {
				i = len(loadPoints)
				indexes[key(l)] = i
				loadPoints = append(loadPoints, LoadPoint{
					Point: p, Name: l.Name, RowTitle: l.RowTitle, Rate: cmp.Or(l.Rate, fixedRate(p.Spec)), fraction: l.fraction,
					Closed: ClosedLoop(p.Spec),
				})
			}
			loadPoints[i].addRepetition(l.Record, full)
		}
	}
	return loadPoints
}

// addRepetition adds a repetition. Once one ended ok, only those that ended ok count: it replaces the others, and later ones are
// left out. As long as none did, the last one says how the load point ended.
func (l *LoadPoint) addRepetition(cut, full store.Record) {
	ok := cut.Status == store.OK
	switch {
	case ok && !l.Used():
		l.Records, l.FullRecords = nil, nil
	case !ok && l.Used():
		return
	}
	l.Status, l.Why = cut.Status, cut.Why()
	l.Records, l.FullRecords = append(l.Records, cut), append(l.FullRecords, full)
}

// fixedRate is the constant rate that a spec asks for; 0 if it asks for something else.
func fixedRate(s study.Spec) float64 {
	if s.Measure != study.MeasureRate {
		return 0
	}
	switch s.Load.Shape {
	case "constant", "poisson", "": // imported results have no shape
		return s.Load.Rate
	}
	return 0
}

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
