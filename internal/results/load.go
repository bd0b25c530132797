package results

import (
	"encoding/json"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

// LoadID identifies the load that a spec asks for: what is measured, and at which rates in which shape. Points of different
// loads are never pooled, whatever their names.
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
	data, err := json.Marshal(id)
	if err != nil {
		return err.Error() // no stored spec has such a load
	}
	return string(data)
}

// shapeOf is the shape of a load, and its details but for the rate: "steps", and all of the steps. Both are empty for a constant load.
func shapeOf(l study.Load) (shape, details string) {
	if l.Shape == "" || l.Shape == "constant" {
		return "", ""
	}
	l.Rate = 0
	data, err := json.Marshal(l)
	if err != nil {
		return l.Shape, err.Error() // no stored spec has such a load
	}
	return l.Shape, string(data)
}

// RateText names an offered rate: two rates have the same name only if they are equal.
func RateText(rate float64) string { return unit.PerSecond.Exactly(rate) }

func (f fraction) text() string { return unit.Share.Exactly(float64(f)) }

func (f fraction) ofSustainable() string { return f.text() + " of sustainable" }

// CurveLoad names a point of a curve the same in every repetition: by its fraction, else by its rate.
func CurveLoad(c store.CurvePoint) string {
	if share := fraction(c.Fraction); share.given() {
		return "curve " + share.text()
	}
	return "curve " + RateText(c.Rate)
}
