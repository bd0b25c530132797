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
	"encoding/json"
	"fmt"
	"slices"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

// LoadPointsOf lists the load points of points, in their order.
func LoadPointsOf(points []Point) []LoadPoint { return lists.Flat(points, Point.LoadPoints) }

// LoadPoints lists the rows of a point in tables, over the repetitions of Shown: the point under its own load, unless it was a curve of
// given rates, then each rate of its curve, lowest first. If a rate failed in some of the repetitions, these have a load point of their
// own. So have the failed rates of a repetition that failed as a whole, which Shown leaves out if others ended ok: their losses must be
// shown. Its other rates only add to the counts of messages. A curve without any rate is shown under its own load.
func (p Point) LoadPoints() []LoadPoint {
	var loadPoints []LoadPoint
	shown := p.Shown()
	if p.Spec.Measure != study.MeasureCurve || len(shown) == 0 || Searched(shown) {
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

// MeasuredLoads lists every load of a point once, in the order in which they were measured, without the search before a curve. If
// no repetition of the point ended ok, the others are shown but not used.
func (p Point) MeasuredLoads() []LoadPoint {
	records := p.Ok()
	if len(records) == 0 {
		records = p.Records
	}
	loads := lists.Flat(records, measuredLoads)
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
		l.Records = lists.Map(repetitions, func(r RepetitionLoad) store.Record { return r.Record })
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
		if Searched(records) {
			own.RowTitle = searchTitle
		}
	}
	return own
}

// RateText names an offered rate with all its digits: "10001/s". Two rates have the same name only if they are equal.
func RateText(rate float64) string { return unit.PerSecond.Exactly(rate) }

// CurveLoad is the name of a rate of a curve, the same in every repetition: its share of the sustainable rate if it was given so
// ("curve 50.0 %"), because each repetition finds another sustainable rate, or else the rate ("curve 1k/s").
func CurveLoad(c store.CurvePoint) string {
	if share := fraction(c.Fraction); share.given() {
		return "curve " + share.text()
	}
	return "curve " + RateText(c.Rate)
}

// fraction is a share of the sustainable rate, as rates of a curve may be given: 0.5 is half of it. The zero value means that
// none was given.
type fraction float64

func (f fraction) given() bool { return f > 0 }

// text is "50.0 %".
func (f fraction) text() string { return unit.Share.Exactly(float64(f)) }

// ofSustainable is "50.0 % of sustainable".
func (f fraction) ofSustainable() string { return f.text() + " of sustainable" }

// fixedRate is the constant rate of a spec, messages per second; 0 if the load is another one.
func fixedRate(s study.Spec) float64 {
	if s.Measure != study.MeasureRate {
		return 0
	}
	switch s.Load.Shape {
	case constantShape, "poisson":
		return s.Load.Rate
	}
	return 0
}

// LoadPoint is one load of a point over its repetitions: the point's own load, or one rate of its curve. Its records are the
// point's, cut down to the measurements under that load, so that every metric applies to them.
//
// For example, a curve of 1k/s and 2k/s was repeated three times, and the second repetition failed at 2k/s because it lost
// messages. The load point of 1k/s has three Records. That of 2k/s has the two that ended ok, from which its latencies are read,
// and three that are Counted, because the losses of the second repetition count.
type LoadPoint struct {
	Point Point

	Name     string   // of the load: "rate 1k/s", "50.0 % of sustainable"
	RowTitle string   // "rate 1k/s", "curve 1k/s": unlike Name it tells a curve's rate from a fixed rate
	Rate     float64  // offered messages per second; 0 if the load was not a constant rate
	fraction fraction // of the sustainable rate that was offered; 0 if the rate was not given as such a share
	Closed   bool     // a closed loop, which has no latency

	Status store.Status  // of all Records
	Why    remark.Remark // why it did not end ok; empty if it did

	Records []store.Record // cut down to this load
	counted []store.Record // see Counted; empty if they are the Records
}

// Used reports whether conclusions may be drawn from the load point.
func (l LoadPoint) Used() bool { return l.Status == store.OK }

// Fixed reports whether the load is one constant rate that was given as a number.
func (l LoadPoint) Fixed() bool { return l.Rate > 0 && !l.fraction.given() }

// Measured lists the values of a metric over the load point's repetitions, unknown ones left out.
func (l LoadPoint) Measured(key string) []float64 { return MustMetric(key).Values(l.Records) }

// Over is a metric over the load point's repetitions. Sums of counts include repetitions that failed, which Records leave out if
// others ended ok: of three repetitions of which one failed because it lost 3 messages, 3 are lost. The sustainable rate of
// searches is their bracket.
func (l LoadPoint) Over(m Metric) Summary {
	if bracket, ok := l.bracket(m); ok {
		return bracket.Summary()
	}
	if m.Counts() {
		return m.Over(l.Counted())
	}
	return m.Over(l.Records)
}

// Counted are the repetitions over which counts of messages are summed: the Records, and those that failed, cut down to this
// load.
func (l LoadPoint) Counted() []store.Record {
	if len(l.counted) > 0 {
		return l.counted
	}
	return l.Records
}

// Cell is Over as a cell of a table. It is marked as unused unless the load point is used.
func (l LoadPoint) Cell(key string) document.Cell {
	m := MustMetric(key)
	if bracket, ok := l.bracket(m); ok {
		return bracket.Cell().Excluded(!l.Used())
	}
	return l.Over(m).Cell().Excluded(!l.Used())
}

// bracket is the result of the searches if m is the sustainable rate and the repetitions searched for it.
func (l LoadPoint) bracket(m Metric) (b Bracket, ok bool) {
	if m.Key != KeySustainableLow || !Searched(l.Records) {
		return Bracket{}, false
	}
	return Sustained(l.Records), true
}

// Offered is the offered load, as a text and as a number that orders the load points of one point: "50.0 % of sustainable" and
// 0.5, or "1k/s" and 1000. A load that is no rate, such as a peak, has its title and 0.
func (l LoadPoint) Offered() (text string, order float64) {
	switch {
	case l.fraction.given():
		return l.fraction.ofSustainable(), float64(l.fraction)
	case l.Rate > 0:
		return RateText(l.Rate), l.Rate
	}
	return l.RowTitle, 0
}

// LoadID identifies the load of a spec: the kind of measurement, and its rates and shape. Points of different loads are never pooled,
// whatever their names. It ignores settings of other kinds of measurement: a curve has the same ID for any number of messages of a count.
func LoadID(s study.Spec) string {
	id := struct {
		Measure string
		Load    study.Load
		Curve   study.Curve
		Count   study.Count
		Backlog study.Backlog
		Read    study.Read `json:",omitzero"`
	}{Measure: s.Measure, Load: s.Load}
	switch s.Measure {
	case study.MeasureCurve:
		id.Curve = s.Curve
	case study.MeasureCount:
		id.Count = s.Count
	case study.MeasureBacklog:
		id.Backlog = s.Backlog
	case study.MeasureRead:
		id.Read = s.Read
	}
	return jsonOf(id)
}

// constantShape is the shape of a load whose rate doesn't change.
const constantShape = "constant"

// shapeOf is the shape of a load, such as "steps", and its details as JSON without the rate: all of the steps. Both are empty
// for a constant load.
func shapeOf(l study.Load) (shape, details string) {
	if l.Shape == constantShape {
		return "", ""
	}
	l.Rate = 0
	return l.Shape, jsonOf(l)
}

// jsonOf is v as JSON. A value without JSON, because it holds a NaN, doesn't make a report fail: jsonOf returns a JSON string of
// the error and of the value's fields, so that different values stay different.
func jsonOf(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		data, _ = json.Marshal(fmt.Sprintf("%v in %+v", err, v)) // a string always has JSON
	}
	return string(data)
}
