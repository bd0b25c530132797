package schedule

import "math/bits"

// Constant sends at a steady rate, in messages per second. Arrival i is at i/rate, rounded down to the nanosecond and exact
// however large i is.
func Constant(rate float64) (Schedule, error) {
	q, err := quantaOf("constant rate", rate)
	if err != nil {
		return nil, err
	}
	return constant(q), nil
}

// constant is a rate in quanta per nanosecond.
type constant uint64

func (c constant) At(i int64) int64 {
	hi, lo := bits.Mul64(uint64(i), quantaPerMessage)
	if hi >= uint64(c) {
		return Never
	}
	at, _ := bits.Div64(hi, lo, uint64(c))
	return int64(min(at, uint64(Never)))
}

func (c constant) Count(d int64) int64 {
	if d <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(d), uint64(c))
	n, rest := bits.Div64(hi, lo, quantaPerMessage) // c ≤ quantaPerMessage, so n ≤ d
	if rest > 0 {
		n++
	}
	return int64(n)
}

func (c constant) Rate(t int64) float64 {
	if t < 0 {
		return 0
	}
	return float64(c) / quantaPerHertz
}
