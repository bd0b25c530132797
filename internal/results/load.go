package results

import (
	"encoding/json"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

// LoadID identifies what load a spec asks for: what is measured, and at which rates in which shape. Points of different
// load are never pooled, whatever they are called.
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
	case "curve":
		id.Curve = s.Curve
	case "count":
		id.Count = s.Count
	case "backlog":
		id.Backlog = s.Backlog
	}
	data, err := json.Marshal(id)
	if err != nil {
		return err.Error() // such a record was never stored
	}
	return string(data)
}

// shape is what tells loads of equal rate apart: nothing, "poisson", or "steps" with all of the steps.
func shape(l study.Load) (name, detail string) {
	if l.Shape == "" || l.Shape == "constant" {
		return "", ""
	}
	l.Rate = 0
	data, err := json.Marshal(l)
	if err != nil {
		return l.Shape, err.Error()
	}
	return l.Shape, string(data)
}

// RateText names an offered rate: two rates have the same name only if they are equal.
func RateText(rate float64) string { return unit.PerSecond.Exactly(rate, 1, "/s") }

func shareText(share float64) string { return unit.Share.Exactly(share, 100, " %") }

// CurveLoad names a point of a curve the same in every repetition: by its fraction, else by its rate.
func CurveLoad(c store.CurvePoint) string {
	if c.Fraction > 0 {
		return "curve " + shareText(c.Fraction)
	}
	return "curve " + RateText(c.Rate)
}
