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

// LoadPoint is one load of a point: the point as a whole, or one rate of its curve. Its records are the point's, cut down to
// the measurements under that load, so that every metric applies to them.
type LoadPoint struct {
	Point   int // index among the points
	Load    string
	Title   string  // of its rows; unlike Load it tells a curve's rate from a fixed rate
	Rate    float64 // offered, messages per second; 0 where the load was not a constant rate
	share   float64 // of the sustainable rate; 0 where the rate was given as such
	Status  store.Status
	Why     remark.Remark // it did not end ok
	Closed  bool          // a closed loop, so without a latency
	Records []store.Record
	Whole   []store.Record // the repetitions that Records were cut from
}

// Used tells whether conclusions may be drawn from the load point.
func (l LoadPoint) Used() bool { return l.Status == store.OK }

// MeasuredLoads lists every load of a point once, in the order in which they were measured: over the repetitions that
// ended ok or, where none did, over the others, which are shown and never used. The search before a curve is no load.
func MeasuredLoads(index int, p Point) []LoadPoint {
	records := p.Ok()
	if len(records) == 0 {
		records = p.Records
	}
	var loadPoints []LoadPoint
	for _, r := range records {
		for _, l := range measuredIn(r) {
			i := slices.IndexFunc(loadPoints, func(o LoadPoint) bool { return o.Title == l.Title })
			loadPoints = l.addTo(loadPoints, i, index, p, r)
		}
	}
	return loadPoints
}

// ratesByEnding lists the rates of a point's curves, in the order in which they were measured, each as a load point for each way
// in which it ended.
func ratesByEnding(index int, p Point, records []store.Record) []LoadPoint {
	var loadPoints []LoadPoint
	for _, r := range records {
		for _, l := range measuredIn(r) {
			if l.Rate > 0 { // else it is no curve
				i := slices.IndexFunc(loadPoints, func(o LoadPoint) bool { return o.Title == l.Title && o.Status == l.Record.Status })
				loadPoints = l.addTo(loadPoints, i, index, p, r)
			}
		}
	}
	return loadPoints
}

// measuredIn are the loads of a repetition without the search before a curve, which is no load.
func measuredIn(r store.Record) []Load {
	switch {
	case r.Result == nil:
		return nil
	case len(r.Result.Curve) == 0:
		return Loads(r)
	}
	return slices.DeleteFunc(Loads(r), func(l Load) bool { return l.Rate == 0 })
}

// addTo adds the load of a repetition to load point i, or as a new load point where i is -1. Fractions of what each repetition found
// sustainable have one title, whatever their rates.
func (l Load) addTo(loadPoints []LoadPoint, i, point int, p Point, whole store.Record) []LoadPoint {
	if i < 0 {
		i = len(loadPoints)
		loadPoints = append(loadPoints, LoadPoint{
			Point: point, Load: l.Name, Title: l.Title, Rate: cmp.Or(l.Rate, fixedRate(p.Spec)), share: l.share, Closed: ClosedLoop(p.Spec),
		})
	}
	loadPoints[i].take(l.Record, whole)
	return loadPoints
}

// take adds a repetition. The first that ended ok replaces all that didn't, and those that come later are ignored; as long as
// none did, the last one's status and reason are the load point's.
func (l *LoadPoint) take(cut, whole store.Record) {
	ok := cut.Status == store.OK
	switch {
	case ok && !l.Used():
		l.Status, l.Why, l.Records, l.Whole = store.OK, cut.Why(), nil, nil
	case !ok && l.Used():
		return
	case cut.Status != l.Status:
		l.Status, l.Why = cut.Status, cut.Why()
	}
	l.Records, l.Whole = append(l.Records, cut), append(l.Whole, whole)
}

// Whole is a point as one load point. It holds the repetitions that ended ok; of a published point it holds all.
func (p Point) Whole() LoadPoint {
	l := LoadPoint{Records: p.Ok(), Status: store.Status(p.Status())}
	if p.Published() {
		l.Records = p.Records
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
	return l.Title, 0
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

// LoadPoints lists what was measured of a point: the point as a whole, unless it was a curve of given rates, then each rate of
// its curve, lowest first. Repetitions of a rate that failed have a load point of their own beside those that ended ok.
func LoadPoints(index int, p Point) []LoadPoint {
	var loadPoints []LoadPoint
	shown := p.Shown()
	if p.Spec.Measure != "curve" || len(shown) == 0 || searched(shown) {
		loadPoints = append(loadPoints, wholeLoadPoint(index, p, shown))
	}
	rates := ratesByEnding(index, p, shown)
	slices.SortStableFunc(rates, func(a, b LoadPoint) int { return cmp.Compare(a.Rate, b.Rate) })
	return append(loadPoints, rates...)
}

// wholeLoadPoint is the point as a whole over the repetitions that are shown; where none is, its last one says how it ended.
func wholeLoadPoint(index int, p Point, shown []store.Record) LoadPoint {
	whole := LoadPoint{Point: index, Load: p.Load(), Title: p.Load(), Records: shown, Status: store.Refused, Closed: ClosedLoop(p.Spec)}
	if len(shown) > 0 {
		whole.Status, whole.Why = shown[0].Status, shown[0].Why()
	} else {
		last := p.Records[len(p.Records)-1]
		whole.Status, whole.Why = last.Status, last.Why()
	}
	whole.Rate = fixedRate(p.Spec)
	if p.Spec.Measure == "curve" {
		whole.Load = "sustainable"
		if searched(shown) {
			whole.Title = searchTitle
		}
	}
	return whole
}

// Cell summarizes the metric over the load point's repetitions; counts are summed.
func (l LoadPoint) Cell(key string) document.Cell {
	m := MustMetric(key)
	cell := m.Over(l.Records).Cell()
	switch {
	case key == "sustainable_low" && searched(l.Records):
		cell = Sustained(l.Records).Cell()
	case m.Unit == unit.Count && cell.Kind == document.Interval:
		cell = document.Number(cell.Number)
	}
	cell.Unused = l.Status != store.OK
	return cell
}

func searched(records []store.Record) bool {
	return slices.ContainsFunc(records, func(r store.Record) bool { return r.Result != nil && r.Result.Sustainable != nil })
}

// searchTitle is the title of the search before a curve.
const searchTitle = "curve, searched"

// Load is one load that a repetition was measured under: its own, or one rate of its curve.
type Load struct {
	Name   string  // as load points are named
	Title  string  // as rows are, where a curve is told from fixed rates
	Rate   float64 // of a curve; 0: the repetition's own load
	share  float64
	Record store.Record // as if nothing but this load had been measured
}

// Loads are the loads of a repetition: its own unless it was a curve of given rates, then those of its curve.
func Loads(r store.Record) []Load {
	own := Load{Name: Point{Spec: r.Spec}.Load(), Title: Point{Spec: r.Spec}.Load(), Record: r}
	if r.Result == nil || len(r.Result.Curve) == 0 {
		return []Load{own}
	}
	var out []Load
	if r.Result.Sustainable != nil {
		own.Name, own.Title = "sustainable", searchTitle
		out = append(out, own)
	}
	for _, c := range r.Result.Curve {
		name := "rate " + RateText(c.Rate)
		if c.Fraction > 0 {
			name = shareText(c.Fraction) + " of sustainable"
		}
		out = append(out, Load{Name: name, Title: CurveLoad(c), Rate: c.Rate, share: c.Fraction, Record: onlyRate(r, c)})
	}
	return out
}

// onlyRate is the record as if nothing but one rate of its curve had been measured.
func onlyRate(r store.Record, c store.CurvePoint) store.Record {
	search := r.Result.Sustainable != nil
	r.Result = &store.Result{Measurement: c.Measurement, Knee: r.Result.Knee} // a knee is one of all rates together
	r.Result.OfferedRate = c.Rate
	if c.Books == (store.Books{}) && len(c.Doubts) == 0 { // of an older version, which kept neither for each rate
		if r.Status == store.OK {
			r.Status, r.Reason, r.Figures = c.Status, c.Reason, c.Figures
		}
		return r
	}
	doubts := slices.Clone(c.Doubts)
	// Doubts about the whole repetition concern every rate. After a search they may be about the search alone, and are left out.
	for _, d := range r.Doubts {
		known := func(o store.Doubt) bool { return o.Code == d.Code }
		if !search && d.Code != "bad-levels" && !slices.ContainsFunc(doubts, known) {
			doubts = append(doubts, d)
		}
	}
	r.Status, r.Reason, r.Figures, r.Doubts = c.Status, c.Reason, c.Figures, doubts
	return r
}
