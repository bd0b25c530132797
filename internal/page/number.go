package page

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/brokermark/brokermark/internal/results"
)

// number is a figure in JSON, with nine significant digits: more than a reader is ever shown, so that the front end rounds it as
// package unit would. NaN and infinity are null.
type number float64

// MarshalJSON writes the shorter of the plain form and the one with an exponent.
func (n number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	short := strconv.AppendFloat(nil, float64(n), 'g', 9, 64)
	rounded, err := strconv.ParseFloat(string(short), 64)
	if err != nil {
		return nil, err
	}
	if whole := strconv.AppendFloat(nil, rounded, 'f', -1, 64); len(whole) <= len(short) {
		return whole, nil
	}
	return short, nil
}

// threeDigits rounds a figure as readers are shown it, for the thousands of dots on a line. Nothing rounds it a second time, which might
// give another figure than the store's.
func threeDigits(v float64) number {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64) // always a number
	return number(rounded)
}

// summary is [median, low, high, n] as JSON, the value alone if there is just one, null if there is none. Low and high include the
// errors of measurement, as in tables; a fifth element, 1, says that the median is a lower bound.
type summary struct {
	results.Summary
}

// MarshalJSON writes the shortest form.
func (s summary) MarshalJSON() ([]byte, error) {
	low, high := s.Bounds()
	switch {
	case s.N == 0:
		return []byte("null"), nil
	case s.N == 1 && low == s.Median && high == s.Median:
		return number(s.Median).MarshalJSON()
	}
	figures := []number{number(s.Median), number(low), number(high), number(s.N)}
	if s.AtLeast() {
		figures = append(figures, 1)
	}
	return json.Marshal(figures)
}
