package lab

import (
	"context"
	"math"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/search"
	"github.com/brokermark/brokermark/internal/worker"
)

// A search for the sustainable rate begins near what probes show: loads of half a second at most, whose throughput is measured.

// prober runs the probes of one search.
type prober struct {
	load worker.Load // of the next probe, without a schedule
	// measure runs a probe at a rate, or in a closed loop if rate is 0, and returns how many messages per second came through.
	measure func(rate float64) (through float64, err error)
	used    time.Duration // by probes that showed something
	budget  time.Duration // for all of them
	maxRate float64       // that may be probed; 0: no bound
}

// closedLoop is the rate of a probe in which each client sends as fast as its window of unconfirmed messages allows.
const closedLoop = 0.0

// Probes are repeated until the broker is as warm as it gets.
const (
	steadyProbes = 4    // as many in a row must not have been faster than the best one before
	faster       = 1.05 // by this factor
	maxProbes    = 50   // they take about half a minute
	probeShare   = 4    // probes get a 1/probeShare of the search's budget: the trials that follow warm the broker up as well
)

// probe returns what the broker carries, in messages per second. Its probes are closed loops. But with at most once nothing holds a closed
// loop back: it would pile up more messages than the broker works off in minutes. There, and if the spec bounds the rate, which a closed
// loop would exceed, the probes are rising rates.
func (s *rateSearch) probe(ctx context.Context) (float64, error) {
	asked := s.bench.spec.Sustainable
	p := &prober{load: s.load(min(time.Duration(asked.Trial)/2, 500*time.Millisecond)), budget: math.MaxInt64, maxRate: asked.MaxRate}
	p.measure = func(rate float64) (float64, error) { return s.runProbe(ctx, p, rate) }
	if asked.Budget > 0 {
		p.budget = time.Duration(asked.Budget) / probeShare
	}
	if s.bench.spec.Delivery == "at-most-once" || p.maxRate > 0 {
		return p.raiseRate()
	}
	return p.widenWindow(s.bench.spec.InFlight.Messages)
}

// widenWindow runs closed loops with windows of 32, 256, 2,048 … messages, until one is at least most, or eight times the window no longer
// brings four times the rate. A window much larger than the broker can use would only fill its queues, which then take long to empty. The
// last window is probed until the broker gets no faster.
func (p *prober) widenWindow(most int) (float64, error) {
	narrower := 0.0 // the rate with the window before
	for p.load.Window = 32; ; p.load.Window *= 8 {
		through, err := p.measure(closedLoop)
		if err != nil {
			return 0, err
		}
		if through < 4*narrower || p.load.Window >= most {
			return p.untilSteady(closedLoop, max(through, narrower))
		}
		narrower = through
	}
}

const (
	// keptUpShare is the share of a probed rate that has to come through for the broker to have kept up with it.
	keptUpShare = 0.9
	// raiseRate repeats a probe at overload times the rate that came through, to see whether more comes.
	overload = 2
)

// raiseRate offers 1,000/s, 4,000/s, 16,000/s and so on, up to maxRate, until the broker no longer keeps up, and returns the rate that came
// through then; at least 1/s. For example, of 16,000/s 5,000/s came through. 10,000/s are offered then, until the broker gets no faster; if
// 9,500/s come through in the end, it has kept up after all, and 40,000/s come next. If 40,000/s are too much once more, and no more than
// those 9,500/s come through afterwards, it is not getting faster.
func (p *prober) raiseRate() (float64, error) {
	best := 0.0 // what came through in the end when the broker last had not kept up
	for rate := 1000.0; ; rate *= 4 {
		rate = capped(rate, p.maxRate)
		through, err := p.measure(rate)
		if err != nil {
			return 0, err
		}
		if through >= keptUpShare*rate {
			if rate == p.maxRate {
				return rate, nil
			}
			continue
		}
		rate = min(rate, max(overload*through, 1)) // a higher rate would only pile messages up
		if through, err = p.untilSteady(rate, through); err != nil {
			return 0, err
		}
		if through <= faster*best || through < keptUpShare*rate {
			return max(through, best, 1), nil
		}
		best = through
	}
}

// capped returns a rate, or the highest that may be tried if that is lower; most is 0 if there is no bound.
func capped(rate, most float64) float64 {
	if most > 0 {
		return min(rate, most)
	}
	return rate
}

// untilSteady repeats a probe at a rate until the broker gets no faster, and returns the best throughput, to within the factor faster. best
// is that of an earlier probe. A broker that has just been started fails at rates that it carries a minute later: its code is compiled
// while it runs, and its caches are empty. Repeating also evens out a hiccup.
func (p *prober) untilSteady(rate, best float64) (float64, error) {
	steady := 0
	for n := 0; n < maxProbes && steady < steadyProbes && p.used < p.budget; n++ {
		through, err := p.measure(rate)
		if err != nil {
			return 0, err
		}
		steady++
		if through > faster*best {
			best, steady = through, 0
		}
	}
	return best, nil
}

const (
	// longestProbe bounds the length of probes that are made longer because nothing came through.
	longestProbe = 8 * time.Second
	// laterWarmup is the warm-up of all probes but the first.
	laterWarmup = 100 * time.Millisecond
)

// runProbe runs a probe at a rate and returns how many messages per second came through. If none did, the probe was shorter than the
// broker's latency: it is repeated, twice as long each time, and so are all later ones. Probes that show nothing don't use up the budget.
func (s *rateSearch) runProbe(ctx context.Context, p *prober, rate float64) (float64, error) {
	for {
		began := clock.Now()
		through, err := s.runProbeOnce(ctx, p.load, rate)
		if through > 0 || err != nil || p.load.Duration >= longestProbe {
			p.used += time.Duration(clock.Now() - began)
			p.load.Warmup = worker.Warmup{For: laterWarmup}
			return through, err
		}
		p.load.Duration *= 2
	}
}

func (s *rateSearch) runProbeOnce(ctx context.Context, load worker.Load, rate float64) (float64, error) {
	if rate != closedLoop {
		var err error
		if load.Schedule, err = s.bench.arrivals(rate); err != nil {
			return 0, err
		}
	}
	t := s.bench.runTrial(ctx, s.stage(search.Probe), rate, load)
	if s.minWarmup == 0 {
		s.adaptWarmup(s.bench.latency(t).Quantile(0.99))
	}
	s.trials = append(s.trials, storedTrial(search.Probe, rate, search.Pass, t)) // a probe is not judged, so it can't fail
	through := s.bench.throughputWhileSending(t)
	if rate == closedLoop {
		through = max(through, s.littlesLaw(t, load.Window))
	}
	return through, t.Err
}

// littlesLaw returns the throughput of a closed loop by Little's law: messages in flight, divided by their latency. For example, 3 producers
// with 1,000 messages in flight each and a latency of 2 s bring 1,500/s through. It returns 0 unless the latency is longer than the probe:
// only then counting messages gives no rate, because none may come through while the probe lasts, or a whole window at once.
func (s *rateSearch) littlesLaw(t trial, window int) float64 {
	p50 := s.bench.latency(t).Quantile(0.5)
	if p50 < t.Until-t.From {
		return 0
	}
	window = min(window, inFlightPerClient(s.bench.spec))
	return float64(window*t.Producers) / (float64(p50) / 1e9)
}
