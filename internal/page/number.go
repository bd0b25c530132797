package page

import (
	"math"
	"strconv"

	"github.com/brokermark/brokermark/internal/report"
)

// number is a figure with nine significant digits: more than a reader is ever shown, so that what the front end rounds
// is what package report would. NaN and infinity are null.
type number float64

// MarshalJSON writes the shortest form.
func (n number) MarshalJSON() ([]byte, error) { return shortest(float64(n), 9), nil }

// rough is a figure with four significant digits, for dots on a line.
type rough float64

// MarshalJSON writes the shortest form.
func (r rough) MarshalJSON() ([]byte, error) { return shortest(float64(r), 4), nil }

func shortest(v float64, digits int) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null")
	}
	short := strconv.AppendFloat(nil, v, 'g', digits, 64)
	rounded, err := strconv.ParseFloat(string(short), 64)
	if err != nil {
		return short
	}
	if whole := strconv.AppendFloat(nil, rounded, 'f', -1, 64); len(whole) <= len(short) {
		return whole
	}
	return short
}

// summary is [median, low, high, n], nil where nothing was measured.
type summary []number

func summarize(s report.Summary) summary {
	if s.N == 0 {
		return nil
	}
	return summary{number(s.Median), number(s.Low), number(s.High), number(s.N)}
}
