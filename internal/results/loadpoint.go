package results

import (
	"cmp"
	"slices"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

// LoadPoint is one load of a point over its repetitions: the point's own load, or one rate of its curve. Its records are the
// point's, cut down to the measurements under that load, so that every metric applies to them.
type LoadPoint struct {
	Point       Point
	Name        string         // "rate 1k/s", "50 % of sustainable"
	RowTitle    string         // "rate 1k/s", "curve 1k/s": unlike Name it tells a curve's rate from a fixed rate
	Rate        float64        // offered messages per second; 0 if the load was not a constant rate
	share       float64        // share of the sustainable rate that was offered; 0 if the rate was given as a number
	Status      store.Status   // of Records, which all ended alike
	Why         remark.Remark  // says why it did not end ok; empty if it did
	Closed      bool           // a closed loop, which has no latency
	Records     []store.Record // cut down to this load
	FullRecords []store.Record // the repetitions that Records were cut from, in the same order
}

// Used tells whether conclusions may be drawn from the load point.
func (l LoadPoint) Used() bool { return l.Status == store.OK }

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

// loadPointsBy forms one load point of all loads with the same key, in the order in which they were measured. Fractions of
// what each repetition found sustainable have one title, whatever their rates.
func (p Point) loadPointsBy(records []store.Record, key func(RepetitionLoad) string) []LoadPoint {
	var loadPoints []LoadPoint
	places := map[string]int{} // in loadPoints, by key
	for _, full := range records {
		for _, l := range measuredLoads(full) {
			place, known := places[key(l)]
			if !known {
				place = len(loadPoints)
				places[key(l)] = place
				loadPoints = append(loadPoints, LoadPoint{
					Point: p, Name: l.Name, RowTitle: l.RowTitle, Rate: cmp.Or(l.Rate, fixedRate(p.Spec)), share: l.share, Closed: ClosedLoop(p.Spec),
				})
			}
			loadPoints[place].addRepetition(l.Record, full)
		}
	}
	return loadPoints
}

// measuredLoads are the loads of a repetition without the search before a curve. There are none if nothing was measured.
func measuredLoads(r store.Record) []RepetitionLoad {
	switch {
	case r.Result == nil:
		return nil
	case !hasCurve(r):
		return Loads(r)
	}
	return slices.DeleteFunc(Loads(r), func(l RepetitionLoad) bool { return l.Rate == 0 })
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

// AsLoadPoint is a point as one load point over the repetitions that ended ok, or over all of a published point. It isn't used
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

// Place is where the load point stands among those of its point, for people and as a number: a share of what was sustainable, or
// a rate.
func (l LoadPoint) Place() (text string, order float64) {
	if l.share > 0 {
		return shareText(l.share) + " of sustainable", l.share
	}
	if l.Rate > 0 {
		return RateText(l.Rate), l.Rate
	}
	return l.RowTitle, 0
}

// Fixed tells that the load point is of one constant rate, given as such.
func (l LoadPoint) Fixed() bool { return l.Rate > 0 && l.share == 0 }

// fixedRate is the constant rate that a spec asks for; 0 where it asks for something else.
func fixedRate(s study.Spec) float64 {
	if s.Measure != "rate" {
		return 0
	}
	switch s.Load.Shape {
	case "constant", "poisson", "": // "": imported results say none
		return s.Load.Rate
	}
	return 0
}

// Measured lists the values of a metric over the load point's repetitions, unknown ones left out.
func (l LoadPoint) Measured(key string) []float64 { return MustMetric(key).Values(l.Records) }

// LoadPoints lists the point as a whole, unless it was a curve of given rates, then each rate of its curve, lowest first.
// Repetitions of a rate that failed have a load point of their own beside those that ended ok.
func (p Point) LoadPoints() []LoadPoint {
	var loadPoints []LoadPoint
	shown := p.Shown()
	if p.Spec.Measure != "curve" || len(shown) == 0 || searched(shown) {
		loadPoints = append(loadPoints, p.wholeLoadPoint(shown))
	}
	curves := slices.DeleteFunc(slices.Clone(shown), func(r store.Record) bool { return !hasCurve(r) })
	rates := p.loadPointsBy(curves, func(l RepetitionLoad) string { return l.RowTitle + ", " + string(l.Record.Status) })
	slices.SortStableFunc(rates, func(a, b LoadPoint) int { return cmp.Compare(a.Rate, b.Rate) })
	return append(loadPoints, rates...)
}

// wholeLoadPoint is the point as a whole over the repetitions that are shown. The last of them says how it ended; if none is
// shown, the last of all does.
func (p Point) wholeLoadPoint(shown []store.Record) LoadPoint {
	last := p.Records[len(p.Records)-1] // a point has a record
	if len(shown) > 0 {
		last = shown[len(shown)-1]
	}
	whole := LoadPoint{
		Point: p, Name: p.Load(), RowTitle: p.Load(), Rate: fixedRate(p.Spec), Closed: ClosedLoop(p.Spec),
		Records: shown, FullRecords: shown, Status: last.Status, Why: last.Why(),
	}
	if p.Spec.Measure == "curve" {
		whole.Name = "sustainable"
		if searched(shown) {
			whole.RowTitle = searchTitle
		}
	}
	return whole
}

// Cell summarizes the metric over the load point's repetitions. It is unused unless the load point is used.
func (l LoadPoint) Cell(key string) document.Cell {
	m := MustMetric(key)
	cell := m.Over(l.Records).Cell()
	switch {
	case key == KeySustainableLow && searched(l.Records):
		cell = Sustained(l.Records).Cell()
	case m.Unit == unit.Count && cell.Kind == document.Interval:
		// A count is shown as a single number without a spread: Metric.Over has summed it.
		cell = document.Number(cell.Number)
	}
	return cell.Excluded(!l.Used())
}

func searched(records []store.Record) bool {
	return slices.ContainsFunc(records, func(r store.Record) bool { return r.Result != nil && r.Result.Sustainable != nil })
}

func hasCurve(r store.Record) bool { return r.Result != nil && len(r.Result.Curve) > 0 }

// searchTitle is the title of the search before a curve.
const searchTitle = "curve, searched"

// RepetitionLoad is one load that a repetition was measured under: its own, or one rate of its curve.
type RepetitionLoad struct {
	Name     string       // as of a LoadPoint
	RowTitle string       // as of a LoadPoint
	Rate     float64      // of a curve; 0 if the load is the repetition's own
	share    float64      // share of the sustainable rate that was offered; 0 if the rate was given as a number
	Record   store.Record // as if nothing but this load had been measured
}

// Loads are the loads of a repetition: its own unless it was a curve of given rates, then those of its curve.
func Loads(r store.Record) []RepetitionLoad {
	own := RepetitionLoad{Name: Point{Spec: r.Spec}.Load(), RowTitle: Point{Spec: r.Spec}.Load(), Record: r}
	if !hasCurve(r) {
		return []RepetitionLoad{own}
	}
	var loads []RepetitionLoad
	if r.Result.Sustainable != nil {
		own.Name, own.RowTitle = "sustainable", searchTitle
		loads = append(loads, own)
	}
	for _, c := range r.Result.Curve {
		name := "rate " + RateText(c.Rate)
		if c.Fraction > 0 {
			name = shareText(c.Fraction) + " of sustainable"
		}
		loads = append(loads, RepetitionLoad{Name: name, RowTitle: CurveLoad(c), Rate: c.Rate, share: c.Fraction, Record: onlyRate(r, c)})
	}
	return loads
}

// onlyRate is the record as if nothing but one rate of its curve had been measured.
func onlyRate(r store.Record, c store.CurvePoint) store.Record {
	searched, kept := r.Result.Sustainable != nil, keptByRate(r.Result.Curve)
	r.Result = &store.Result{Measurement: c.Measurement, Knee: r.Result.Knee} // a knee is one of all rates together
	r.Result.OfferedRate = c.Rate
	if !kept {
		if r.Status == store.OK {
			r.Status, r.Reason, r.Figures = c.Status, c.Reason, c.Figures
		}
		return r
	}
	doubts := slices.Clone(c.Doubts)
	// Doubts about the whole repetition concern every rate. After a search they may be about the search alone, and are left out.
	for _, d := range r.Doubts {
		sameCode := func(o store.Doubt) bool { return o.Code == d.Code }
		if !searched && d.Code != store.DoubtBadRates && !slices.ContainsFunc(doubts, sameCode) {
			doubts = append(doubts, d)
		}
	}
	r.Status, r.Reason, r.Figures, r.Doubts = c.Status, c.Reason, c.Figures, doubts
	return r
}

// keptByRate tells that each rate of a curve has books and doubts of its own. Records of an older version have them for the
// repetition alone. One rate doesn't tell: it has neither, too, if it failed before anything was sent.
func keptByRate(curve []store.CurvePoint) bool {
	return slices.ContainsFunc(curve, func(c store.CurvePoint) bool { return c.Books != store.Books{} || len(c.Doubts) > 0 })
}
