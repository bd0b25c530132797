package page

import (
	"math"
	"strconv"

	"github.com/brokermark/brokermark/internal/report"
)

// number is a figure with four significant digits, one more than a reader is ever shown; NaN and infinity are null.
type number float64

// MarshalJSON writes the shortest form.
func (n number) MarshalJSON() ([]byte, error) {
	v := float64(n)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null"), nil
	}
	if v == math.Trunc(v) && math.Abs(v) < 10_000 {
		return strconv.AppendInt(nil, int64(v), 10), nil
	}
	short := strconv.AppendFloat(nil, v, 'g', 4, 64)
	exact, err := strconv.ParseFloat(string(short), 64)
	if err != nil {
		return short, nil
	}
	if whole := strconv.AppendFloat(nil, exact, 'f', -1, 64); len(whole) <= len(short) {
		return whole, nil
	}
	return short, nil
}

// summary is [median, low, high, n], nil where nothing was measured.
type summary []number

func summarize(s report.Summary) summary {
	if s.N == 0 {
		return nil
	}
	return summary{number(s.Median), number(s.Low), number(s.High), number(s.N)}
}
