package lab

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/search"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// neighbour is a point of this run whose sustainable rate is known.
type neighbour struct {
	study, point, broker string
	axes                 map[string]string
	bytes                float64 // mean size of a message
	low, high            float64
	p99                  int64
}

// remember keeps the outcome of a search for the points that come later.
func (l *lab) remember(r *store.Record, found search.Bounds) {
	l.found = append(l.found, neighbour{
		r.Study, r.PointID, r.Spec.Broker, r.Axes, r.Spec.MessageSize.Mean(), found.Low, math.Max(found.Low, found.High), r.Result.Latency.EndToEnd.Quantile(0.99),
	})
}

// neighbour returns the point most like this one: the same point in an earlier repetition, or one of the same study and broker
// that differs in one axis. Its messages must be of similar size: a broker that carries 400,000/s of 8 B does not carry as
// many of 1 MB.
func (l *lab) neighbour(r *store.Record) (n neighbour, same, ok bool) {
	for i := len(l.found) - 1; i >= 0; i-- { // the latest one is the best guess
		f := l.found[i]
		if f.point == r.PointID {
			return f, true, true
		}
		alike := math.Abs(math.Log(f.bytes/r.Spec.MessageSize.Mean())) <= math.Log(likeSizes)
		if !ok && f.study == r.Study && f.broker == r.Spec.Broker && alike && apart(f.axes, r.Axes) == 1 {
			n, ok = f, true
		}
	}
	return n, false, ok
}

// likeSizes is how many times larger, or smaller, a neighbour's messages may be.
const likeSizes = 4

// apart counts the axes in which two points differ.
func apart(a, b map[string]string) int {
	n := 0
	for name, value := range a {
		if b[name] != value {
			n++
		}
	}
	for name := range b {
		if _, known := a[name]; !known {
			n++
		}
	}
	return n
}

// begin returns the rate at which the search begins, and whether the answer is likely to be near. It begins where a
// neighbour's search ended, which costs nothing, or else where a probe says. This is only a guess. Repetitions begin at
// different rates on purpose: from the same rate they would try the same rates, and find the same bounds by construction.
func (s *rateSearch) begin(ctx context.Context) (rate float64, near bool, err error) {
	b := s.bench
	somewhere := rand.New(rand.NewPCG(uint64(b.spec.Seed), uint64(b.record.Repetition))).Float64() - 0.5
	n, same, known := b.lab.neighbour(b.record)
	if known {
		s.minWarmup = 2 * time.Duration(n.p99)
		rate, near = math.Sqrt(n.low*n.high), same
		known, err = s.warm(ctx, rate/2)
	}
	if !known && err == nil {
		near = false
		rate, err = s.probe(ctx)
	}
	return rate * math.Pow(1+b.spec.Sustainable.Width, somewhere), near, err
}

// warm offers a load that a neighbour sustained with ease, because everything is still cold. It reports whether this point
// comes near that load at all.
func (s *rateSearch) warm(ctx context.Context, rate float64) (bool, error) {
	arrivals, err := s.bench.arrivals(rate)
	if err != nil {
		return false, err
	}
	load := s.load(neighbourWarmup * time.Duration(s.bench.spec.Sustainable.Warmup))
	load.Schedule, load.About = arrivals, rate
	t := s.bench.runTrial(ctx, "warming up", rate, load)
	return s.bench.throughput(t) >= rate/4, t.Err
}

// neighbourWarmup is how long warm offers its load, in multiples of a trial's warm-up. Probes need no such warm-up: they are
// repeated until the broker gets no faster.
const neighbourWarmup = 5

// probe finds the rate at which to begin, by closed loops. At most once, nothing holds a closed loop back: it would pile up
// more messages than the broker works off in minutes. So rising rates are tried instead.
func (s *rateSearch) probe(ctx context.Context) (float64, error) {
	load := s.load(min(time.Duration(s.bench.spec.Sustainable.Trial)/2, 500*time.Millisecond))
	began, budget := clock.Now(), time.Duration(s.bench.spec.Sustainable.Budget)
	s.probesDone = func() bool { return budget > 0 && time.Duration(clock.Now()-began) >= budget/probeShare }
	if s.bench.spec.Delivery == "at-most-once" {
		return s.rise(ctx, load)
	}
	return s.widen(ctx, load)
}

// furtherWarmup is the warm-up of all probes but the first.
var furtherWarmup = worker.Warmup{For: 100 * time.Millisecond}

// widen runs closed loops with windows of 32, 256, 2,048 … messages, until eight times the window no longer brings four
// times the rate. A window much larger than the broker can use would only fill its queues, which then take long to
// empty.
func (s *rateSearch) widen(ctx context.Context, load worker.Load) (float64, error) {
	var last float64
	for load.Window = 32; ; load.Window *= 8 {
		through, err := s.closed(ctx, load)
		if err != nil {
			return 0, err
		}
		load.Warmup = furtherWarmup
		if through < 4*last || load.Window >= s.bench.spec.InFlight.Messages {
			return s.untilSteady(max(through, last), func() (float64, error) { return s.closed(ctx, load) })
		}
		last = through
	}
}

// closed returns how many messages per second a closed loop brings through.
func (s *rateSearch) closed(ctx context.Context, load worker.Load) (float64, error) {
	t, err := s.look(ctx, load, 0)
	return max(s.bench.throughput(t), s.little(t, load.Window)), err
}

// rise offers 1,000/s, 4,000/s, 16,000/s and so on, until less than nine tenths of the rate come through.
func (s *rateSearch) rise(ctx context.Context, load worker.Load) (float64, error) {
	for rate := 1000.0; ; rate *= 4 {
		offer := func() (float64, error) {
			arrivals, err := s.bench.arrivals(rate)
			if err != nil {
				return 0, err
			}
			load.Schedule = arrivals
			t, err := s.look(ctx, load, rate)
			load.Warmup = furtherWarmup
			return s.bench.throughput(t), err
		}
		through, err := offer()
		if err == nil && through < 0.9*rate {
			rate = min(rate, max(overload*through, 1)) // a higher rate would only pile messages up
			through, err = s.untilSteady(through, offer)
		}
		if err != nil || through < 0.9*rate {
			return max(through, 1), err
		}
	}
}

// overload: rise repeats a probe at this multiple of the rate that came through, to see whether more comes.
const overload = 2

// A broker is as warm as it gets when steadyProbes in a row were not faster than the best probe before, by this factor.
const (
	steadyProbes = 4
	faster       = 1.05
	mostProbes   = 50 // about half a minute
	probeShare   = 4  // probes take at most 1/4 of a budget; trials with rising rates warm a broker up as well
)

// untilSteady repeats a probe until the broker gets no faster, and returns the best rate. A broker that has just been started
// fails at rates that it carries a minute later: its code is compiled while it runs, and its caches are empty. Repeating
// also evens out a hiccup.
func (s *rateSearch) untilSteady(best float64, probe func() (float64, error)) (float64, error) {
	for n, still := 0, 0; n < mostProbes && still < steadyProbes && !s.probesDone(); n++ {
		through, err := probe()
		switch {
		case err != nil:
			return best, err
		case through > faster*best:
			best, still = through, 0
		default:
			still++
		}
	}
	return best, nil
}

// look runs one probe, at a rate or (0) in a closed loop.
func (s *rateSearch) look(ctx context.Context, load worker.Load, rate float64) (trial, error) {
	t := s.bench.runTrial(ctx, s.stage(search.Probe), rate, load)
	if s.minWarmup == 0 {
		s.sawLatency(t)
	}
	kept := s.stored(search.Probe, t)
	kept.Rate = rate
	s.trials = append(s.trials, kept)
	return t, t.Err
}

// little returns the throughput of a closed loop by Little's law: messages in flight, divided by their latency. It is used
// only if the latency is longer than the probe, and 0 otherwise: then nothing, or a whole window at once, comes while the
// probe lasts, and counting tells nothing.
func (s *rateSearch) little(t trial, window int) float64 {
	p50 := s.bench.latency(t).Quantile(0.5)
	if p50 < t.Until-t.From {
		return 0
	}
	for _, size := range s.bench.spec.MessageSize { // large messages fill the window's bytes first
		window = min(window, max(1, int(s.bench.spec.InFlight.Bytes)/max(1, int(size.Size))))
	}
	return float64(window*t.Producers) / (float64(p50) / 1e9)
}
