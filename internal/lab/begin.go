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

// begin returns the rate at which the search begins, and whether the answer is likely to be near. It begins where a
// neighbour's search ended, which costs nothing, or else at a rate that probes find. Repetitions begin at different rates on
// purpose: from the same rate they would try the same rates, and find the same bounds by construction.
func (s *rateSearch) begin(ctx context.Context) (rate float64, near bool, err error) {
	b := s.bench
	n, samePoint, known := b.lab.neighbourOf(b.record)
	if known {
		s.minWarmup = 2 * time.Duration(n.p99)
		rate, near = math.Sqrt(n.low*n.high), samePoint
		known, err = s.carries(ctx, rate/2)
	}
	if !known && err == nil {
		near = false
		rate, err = s.probe(ctx)
	}
	random := rand.New(rand.NewPCG(uint64(b.spec.Seed), uint64(b.record.Repetition)))
	offset := random.Float64() - 0.5 // within half the width of the answer on either side
	return rate * math.Pow(1+b.spec.Sustainable.Width, offset), near, err
}

// carries offers a load that a neighbour sustained with ease, and reports whether a quarter of it came through. The load also
// warms the broker up.
func (s *rateSearch) carries(ctx context.Context, rate float64) (bool, error) {
	arrivals, err := s.bench.arrivals(rate)
	if err != nil {
		return false, err
	}
	load := s.load(neighbourWarmup * time.Duration(s.bench.spec.Sustainable.Warmup))
	load.Schedule, load.RateForThreads = arrivals, rate
	t := s.bench.runTrial(ctx, "warming up", rate, load)
	return s.bench.throughput(t) >= rate/4, t.Err
}

// neighbourWarmup is how long carries offers its load, in multiples of a trial's warm-up. Probes need no such warm-up: they are
// repeated until the broker gets no faster.
const neighbourWarmup = 5

// neighbour is a point of this run whose sustainable rate is known. A search for a similar point begins there.
type neighbour struct {
	study, point, broker string
	axes                 map[string]string
	messageSize          float64 // mean, bytes
	low, high            float64 // messages per second
	p99                  int64   // latency at low, ns: end to end, or until the confirmation if nobody subscribes
}

// remember keeps the outcome of a search for points that come later. p99 is the latency at the lower bound, in ns.
func (l *lab) remember(r *store.Record, found search.Bounds, p99 int64) {
	l.searched = append(l.searched, neighbour{
		study: r.Study, point: r.PointID, broker: r.Spec.Broker, axes: r.Axes, messageSize: r.Spec.MessageSize.Mean(),
		low: found.Low, high: max(found.Low, found.High), // High is 0 if no rate failed
		p99: p99,
	})
}

// similarSizes is how many times larger, or smaller, a neighbour's messages may be: a broker that carries 400,000/s of 8 B does not
// carry as many of 1 MB.
const similarSizes = 4

// neighbourOf returns the point most like that of a record: the same point in an earlier repetition, or else one of the same study
// and broker that differs in one axis and has messages of similar size. The latest one is the best guess. ok is false if there is
// none.
func (l *lab) neighbourOf(r *store.Record) (n neighbour, samePoint, ok bool) {
	for i := len(l.searched) - 1; i >= 0; i-- {
		candidate := l.searched[i]
		if candidate.point == r.PointID {
			return candidate, true, true
		}
		ratio := candidate.messageSize / r.Spec.MessageSize.Mean()
		similar := candidate.study == r.Study && candidate.broker == r.Spec.Broker && ratio <= similarSizes && ratio >= 1.0/similarSizes &&
			differingAxes(candidate.axes, r.Axes) == 1
		if similar && !ok {
			n, ok = candidate, true
		}
	}
	return n, false, ok
}

// differingAxes counts the axes in which two points differ.
func differingAxes(a, b map[string]string) int {
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

// probe finds the rate at which to begin, by closed loops. At most once, nothing holds a closed loop back: it would pile up
// more messages than the broker works off in minutes. So rising rates are tried instead.
func (s *rateSearch) probe(ctx context.Context) (float64, error) {
	load := s.load(min(time.Duration(s.bench.spec.Sustainable.Trial)/2, 500*time.Millisecond))
	s.probesUntil = math.MaxInt64
	if budget := s.bench.spec.Sustainable.Budget; budget > 0 {
		s.probesUntil = clock.Now() + int64(budget)/probeShare
	}
	if s.bench.spec.Delivery == "at-most-once" {
		return s.raiseRate(ctx, load)
	}
	return s.widenWindow(ctx, load)
}

// laterWarmup is the warm-up of all probes but the first.
var laterWarmup = worker.Warmup{For: 100 * time.Millisecond}

// widenWindow runs closed loops with windows of 32, 256, 2,048 … messages, until eight times the window no longer brings four
// times the rate. A window much larger than the broker can use would only fill its queues, which then take long to
// empty.
func (s *rateSearch) widenWindow(ctx context.Context, load worker.Load) (float64, error) {
	var last float64
	for load.Window = 32; ; load.Window *= 8 {
		through, err := s.probeClosedLoop(ctx, load)
		if err != nil {
			return 0, err
		}
		load.Warmup = laterWarmup
		if through < 4*last || load.Window >= s.bench.spec.InFlight.Messages {
			return s.untilSteady(max(through, last), func() (float64, error) { return s.probeClosedLoop(ctx, load) })
		}
		last = through
	}
}

// probeClosedLoop returns how many messages per second a closed loop brings through.
func (s *rateSearch) probeClosedLoop(ctx context.Context, load worker.Load) (float64, error) {
	t, err := s.runProbe(ctx, load, 0)
	return max(s.bench.throughput(t), s.littlesLaw(t, load.Window)), err
}

// raiseRate offers 1,000/s, 4,000/s, 16,000/s and so on, until less than nine tenths of the rate come through.
func (s *rateSearch) raiseRate(ctx context.Context, load worker.Load) (float64, error) {
	for rate := 1000.0; ; rate *= 4 {
		through, err := s.probeRate(ctx, load, rate)
		load.Warmup = laterWarmup
		if err == nil && through < keptUpShare*rate {
			rate = min(rate, max(overload*through, 1)) // a higher rate would only pile messages up
			through, err = s.untilSteady(through, func() (float64, error) { return s.probeRate(ctx, load, rate) })
		}
		if err != nil || through < keptUpShare*rate {
			return max(through, 1), err
		}
	}
}

const (
	// keptUpShare is the share of a probed rate that has to come through for the broker to have kept up with it.
	keptUpShare = 0.9
	// raiseRate repeats a probe at overload times the rate that came through, to see whether more comes.
	overload = 2
)

// probeRate offers a rate and returns how many messages per second came through.
func (s *rateSearch) probeRate(ctx context.Context, load worker.Load, rate float64) (float64, error) {
	arrivals, err := s.bench.arrivals(rate)
	if err != nil {
		return 0, err
	}
	load.Schedule = arrivals
	t, err := s.runProbe(ctx, load, rate)
	return s.bench.throughput(t), err
}

// A broker is as warm as it gets when steadyProbes in a row were not faster than the best probe before, by the factor faster.
const (
	steadyProbes = 4
	faster       = 1.05
	mostProbes   = 50 // about half a minute
	probeShare   = 4  // probes take at most 1/4 of a budget; trials with rising rates warm a broker up as well
)

// untilSteady repeats a probe until the broker gets no faster, and returns the best rate. best is the rate of an earlier probe. A
// broker that has just been started fails at rates that it carries a minute later: its code is compiled while it runs, and its
// caches are empty. Repeating also evens out a hiccup.
func (s *rateSearch) untilSteady(best float64, probe func() (float64, error)) (float64, error) {
	steady := 0
	for n := 0; n < mostProbes && steady < steadyProbes && clock.Now() < s.probesUntil; n++ {
		through, err := probe()
		if err != nil {
			return best, err
		}
		steady++
		if through > faster*best {
			best, steady = through, 0
		}
	}
	return best, nil
}

// runProbe runs one probe, at a rate, or in a closed loop if rate is 0.
func (s *rateSearch) runProbe(ctx context.Context, load worker.Load, rate float64) (trial, error) {
	t := s.bench.runTrial(ctx, s.stage(search.Probe), rate, load)
	if s.minWarmup == 0 {
		s.adaptWarmup(t)
	}
	stored := storedTrial(search.Probe, t)
	stored.Rate = rate
	s.trials = append(s.trials, stored)
	return t, t.Err
}

// littlesLaw returns the throughput of a closed loop by Little's law: messages in flight, divided by their latency. It is used
// only if the latency is longer than the probe, and is 0 otherwise: while such a probe lasts, no message may come through, or a whole
// window at once, so counting them does not give a rate. For example, 3 clients with 1,000 messages in flight each and a latency of 2 s
// bring 1,500/s through.
func (s *rateSearch) littlesLaw(t trial, window int) float64 {
	p50 := s.bench.latency(t).Quantile(0.5)
	if p50 < t.Until-t.From {
		return 0
	}
	window = min(window, inFlightPerClient(s.bench.spec))
	return float64(window*t.Producers) / (float64(p50) / 1e9)
}
