package report

import (
	"encoding/json"
	"strconv"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
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

// exactly writes v with as many digits as it takes to tell it from every other value; most settings are short anyway.
func (u Unit) exactly(v, scale float64, suffix string) string {
	if short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64); err == nil && short == v {
		return u.Format(v)
	}
	return strconv.FormatFloat(v*scale, 'f', -1, 64) + suffix
}

// RateText names an offered rate: two rates have the same name only if they are equal.
func RateText(rate float64) string { return PerSecond.exactly(rate, 1, "/s") }

func shareText(share float64) string { return Share.exactly(share, 100, " %") }

// CurveLoad names a point of a curve the same in every repetition: by its fraction, else by its rate.
func CurveLoad(c store.CurvePoint) string {
	if c.Fraction > 0 {
		return "curve " + shareText(c.Fraction)
	}
	return "curve " + RateText(c.Rate)
}
