package results

import (
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

// RateText names an offered rate with all its digits: "10001/s". Two rates have the same name only if they are equal.
func RateText(rate float64) string { return unit.PerSecond.Exactly(rate) }

// CurveLoad names a rate of a curve the same in every repetition: by its share of the sustainable rate if it was given so
// ("curve 50.0 %"), because each repetition finds another sustainable rate, or else by the rate ("curve 1k/s").
func CurveLoad(c store.CurvePoint) string {
	if share := fraction(c.Fraction); share.given() {
		return "curve " + share.text()
	}
	return "curve " + RateText(c.Rate)
}

// fraction is a share of the sustainable rate, as rates of a curve may be given: 0.5 is half of it. The zero value is no share.
type fraction float64

func (f fraction) given() bool { return f > 0 }

// text is "50.0 %".
func (f fraction) text() string { return unit.Share.Exactly(float64(f)) }

// ofSustainable is "50.0 % of sustainable".
func (f fraction) ofSustainable() string { return f.text() + " of sustainable" }

// fixedRate is the constant rate that a spec asks for, messages per second; 0 if it asks for something else.
func fixedRate(s study.Spec) float64 {
	if s.Measure != study.MeasureRate {
		return 0
	}
	switch s.Load.Shape {
	case constantShape, "poisson":
		return s.Load.Rate
	default:
		return 0
	}
}
