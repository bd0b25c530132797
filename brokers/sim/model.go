package sim

import (
	"math"
	"math/rand/v2"
)

// service is a single server with a first-in-first-out queue of any length:
//
//	start_i = max(arrival_i, departure_{i-1})      departure_i = start_i + 1/capacity
//
// in whole nanoseconds, with the remainder of 1/capacity carried from message to message while the server is busy, so
// that n messages of one busy period take exactly floor(n/capacity).
//
// The first messages may take longer, as those of a program that has yet to be compiled while it runs: the very first
// takes cold times as long, and from there the time falls in a straight line to that of message number warming.
type service struct {
	capacity  int64 // messages per second; 0: every message departs when it arrives
	warming   int64 // messages until the server is as fast as it gets
	served    int64 // messages
	departure int64 // of the last message
	remainder int64 // of departure, in 1/capacity nanoseconds
}

// cold is how many times longer the first message takes than one of a server that is warm.
const cold = 5

const second = int64(1e9)

// serve returns the departure of a message that arrives now.
func (s *service) serve(arrival int64) int64 {
	if arrival > s.departure {
		s.departure, s.remainder = arrival, 0
	}
	if s.capacity == 0 {
		return s.departure
	}
	s.departure += second/s.capacity + s.chill()
	if s.remainder += second % s.capacity; s.remainder >= s.capacity {
		s.remainder -= s.capacity
		s.departure++
	}
	return s.departure
}

// chill returns how much longer the next message takes because the server is still warming up.
func (s *service) chill() int64 {
	if s.served >= s.warming {
		return 0
	}
	left := float64(s.warming-s.served) / float64(s.warming)
	s.served++
	return int64((cold - 1) * left * float64(second) / float64(s.capacity))
}

// freezes maps real time to broker time, which stands still while the broker is frozen: for length from first on, and
// again every period. Both are nanoseconds since the first message; the two agree until the first freeze.
//
//	broker time   ───/‾‾‾‾/‾‾‾‾/        a freeze is where it is flat
//	              first  +period
type freezes struct{ first, length, period int64 }

// broker returns broker time at real time t.
func (f freezes) broker(t int64) int64 {
	if f.length == 0 || t < f.first {
		return t
	}
	k, within := int64(0), t-f.first
	if f.period > 0 {
		k, within = within/f.period, within%f.period
	}
	return t - k*f.length - min(within, f.length)
}

// real returns the last real time at which the broker's is b: the end of the freeze where b stands still.
func (f freezes) real(b int64) int64 {
	if f.length == 0 || b < f.first {
		return b
	}
	k := int64(1)
	if f.period > 0 {
		k += (b - f.first) / (f.period - f.length)
	}
	return b + k*f.length
}

// delay draws what passes between the departure of a message and its delivery.
type delay struct {
	distribution string
	latency      float64 // ns: the constant, the mean of the exponential, the median of the lognormal
	sigma        float64 // of the lognormal's logarithm
	random       *rand.Rand
}

func newDelay(s settings) delay {
	return delay{
		distribution: s.distribution, latency: float64(s.latency), sigma: s.sigma,
		random: rand.New(rand.NewPCG(uint64(s.seed), 0x5eed)),
	}
}

func (d *delay) draw() int64 {
	switch d.distribution {
	case exponential:
		return int64(d.latency * d.random.ExpFloat64())
	case lognormal:
		return int64(d.latency * math.Exp(d.sigma*d.random.NormFloat64()))
	}
	return int64(d.latency)
}

// least returns a lower bound of every draw: nothing sent from now on is delivered earlier than that.
func (d *delay) least() int64 {
	if d.distribution == constant {
		return int64(d.latency)
	}
	return 0
}

// frozen reports whether the broker stands still at real time t.
func (f freezes) frozen(t int64) bool {
	if f.length == 0 || t < f.first {
		return false
	}
	within := t - f.first
	if f.period > 0 {
		within %= f.period
	}
	return within < f.length
}
