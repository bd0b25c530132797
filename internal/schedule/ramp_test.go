package schedule

import (
	"math/big"
	"testing"
	"time"
)

// Arrivals of a slope are compared with the solution of the equation in 300 bits.
func TestTheArrivalsOfASlopeAreWithinANanosecond(t *testing.T) {
	for _, c := range []struct {
		from, to float64
		over     time.Duration
	}{
		{from: 1e6, to: 0, over: time.Minute},
		{from: 0, to: 1e6, over: time.Minute},
		{from: 2e6, to: 1, over: time.Hour},
		{from: 1000, to: 999, over: 10 * time.Second},
		{from: 3, to: 0.5, over: 10 * time.Second},
	} {
		s, err := Ramp(c.from, c.to, c.over)
		if err != nil {
			t.Fatal(err)
		}
		n := s.Count(int64(c.over))
		for _, i := range []int64{0, 1, n / 3, n / 2, n - 3, n - 2, n - 1} {
			want := slopeArrival(c.from, c.to, c.over, i)
			if got := s.At(i); got < 0 || float64(got)-want > 1 || want-float64(got) > 1 {
				t.Errorf("from %v to %v in %v: arrival %d of %d at %d ns, want %.3f", c.from, c.to, c.over, i, n, got, want)
			}
		}
	}
}

// slopeArrival solves from·t + change·t²/2 = i for t, in ns.
func slopeArrival(from, to float64, over time.Duration, i int64) float64 {
	num := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
	change := num(to)
	change.Sub(change, num(from)).Quo(change, num(over.Seconds()))
	root := num(from)
	root.Mul(root, num(from))
	change.Mul(change, num(2*float64(i)))
	root.Add(root, change).Sqrt(root)
	if i == 0 {
		return 0
	}
	at := num(2e9)
	at.Mul(at, num(float64(i))).Quo(at, root.Add(root, num(from)))
	ns, _ := at.Float64()
	return ns
}
