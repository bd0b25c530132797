package results

import (
	"encoding/json"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

// LoadID identifies the load that a spec asks for: what is measured, and at which rates in which shape. Points of different
// loads are never pooled, whatever their names. Settings of other kinds of measurement are no part of it: a curve has the same ID however
// many messages a count would send.
func LoadID(s study.Spec) string {
	id := struct {
		Measure string
		Load    study.Load
		Curve   study.Curve
		Count   study.Count
		Backlog study.Backlog
	}{Measure: s.Measure, Load: s.Load}
	if id.Load.Shape == "constant" {
		id.Load.Shape = "" // as older records have it
	}
	switch s.Measure {
	case study.MeasureCurve:
		id.Curve = s.Curve
	case study.MeasureCount:
		id.Count = s.Count
	case study.MeasureBacklog:
		id.Backlog = s.Backlog
	}
	return jsonOf(id)
}

// jsonOf is v as JSON. A value that has no JSON, such as NaN, gives the error as a JSON string, so that it makes no report fail.
func jsonOf(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		data, _ = json.Marshal(err.Error()) // a string always has JSON
	}
	return string(data)
}

// shapeOf is the shape of a load, such as "steps", and its details as JSON without the rate: all of the steps. Both are empty for a constant
// load.
func shapeOf(l study.Load) (shape, details string) {
	if l.Shape == "" || l.Shape == "constant" {
		return "", ""
	}
	l.Rate = 0
	return l.Shape, jsonOf(l)
}

// RateText names an offered rate with all its digits: "10001/s". Two rates have the same name only if they are equal.
func RateText(rate float64) string { return unit.PerSecond.Exactly(rate) }

// fraction is a share of the sustainable rate, as rates of a curve may be given: 0.5 is half of it. The zero value is no share.
type fraction float64

func (f fraction) given() bool { return f > 0 }

func (f fraction) text() string { return unit.Share.Exactly(float64(f)) }

func (f fraction) ofSustainable() string { return f.text() + " of sustainable" }

// CurveLoad names a rate of a curve the same in every repetition: by its share of the sustainable rate if it was given so ("curve 50.0 %"),
// because each repetition finds another sustainable rate, or else by the rate ("curve 1k/s").
func CurveLoad(c store.CurvePoint) string {
	if share := fraction(c.Fraction); share.given() {
		return "curve " + share.text()
	}
	return "curve " + RateText(c.Rate)
}
