// Numbers as short JSON.

package page

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/brokermark/brokermark/internal/results"
)

// number is a figure with nine significant digits: more than a reader is ever shown, so that the front end rounds
// it as package unit would. NaN and infinity are null.
type number float64

// MarshalJSON writes the shortest form.
func (n number) MarshalJSON() ([]byte, error) { return shortest(float64(n), 9), nil }

// rough is a figure as readers are shown it, with three significant digits: for the thousands of dots on a line. More
// would be rounded twice, and at times to another figure than the store's.
type rough float64

// MarshalJSON writes the shortest form.
func (r rough) MarshalJSON() ([]byte, error) { return shortest(float64(r), 3), nil }

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

// summary is [median, low, high, n] as JSON, the value alone if there is just one, null if there is none. Low and high include the
// clocks' bound, as in tables.
type summary struct {
	results.Summary
}

// MarshalJSON writes the shortest form.
func (s summary) MarshalJSON() ([]byte, error) {
	low, high := s.Low-s.Bound, s.High+s.Bound
	switch {
	case s.N == 0:
		return []byte("null"), nil
	case s.N == 1 && low == s.Median && high == s.Median:
		return number(s.Median).MarshalJSON()
	}
	return json.Marshal([]number{number(s.Median), number(low), number(high), number(s.N)})
}
