package lab

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/search"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// A search for the sustainable rate begins near what probes show: loads of half a second or less, whose throughput is
// measured. What comes through is counted in messages per second throughout this file.

// closedLoop stands for the rate of a probe in which each client sends as fast as its window of unconfirmed messages
// allows.
const closedLoop = 0.0

// prober runs the probes of one search, one after the other, until it knows what the broker carries.
type prober struct {
	// run runs one probe and returns how much came through; rate may be closedLoop.
	run func(load worker.Load, rate float64) (through float64, err error)

	load    worker.Load   // of the next probe, without a schedule
	used    time.Duration // by probes that showed something
	budget  time.Duration // for all of them
	maxRate float64       // that may be probed; 0 if there is no bound
}

// probing returns how much time the probes of a search may use up: a quarter of its budget, and no more than longestProbing. The trials
// that follow warm the broker up as well. A budget of 0 has no end.
func probing(budget time.Duration) time.Duration {
	if budget == 0 {
		return longestProbing
	}
	return min(longestProbing, budget/4)
}

const longestProbing = 10 * time.Second

// probe returns what the broker carries. Its probes are closed loops. But with at most once nothing holds a closed loop
// back: it would pile up more messages than the broker works off in minutes. There, and if the spec bounds the rate,
// which a closed loop would exceed, the probes are rising rates.
func (s *rateSearch) probe(ctx context.Context) (float64, error) {
	spec := s.bench.spec
	p := &prober{
		run:    func(load worker.Load, rate float64) (float64, error) { return s.runProbe(ctx, load, rate) },
		load:   s.load(min(time.Duration(spec.Sustainable.Trial)/2, 500*time.Millisecond)),
		budget: probing(time.Duration(spec.Sustainable.Budget)), maxRate: spec.Sustainable.MaxRate,
	}
	if spec.Delivery == "at-most-once" || p.maxRate > 0 {
		return p.raiseRate()
	}
	return p.widenWindow(spec.InFlight.Messages)
}

// widenWindow runs closed loops with windows of 32, 256, 2,048 … messages, until one is at least largest, or eight
// times the window no longer brings four times the throughput. A window much larger than the broker can use would only
// fill its queues, which then take long to empty. The last window is probed until the broker gets no faster.
func (p *prober) widenWindow(largest int) (float64, error) {
	narrower := 0.0 // what came through with the window before
	for p.load.Window = 32; ; p.load.Window *= 8 {
		through, err := p.measure(closedLoop)
		if err != nil {
			return 0, err
		}
		if through < 4*narrower || p.load.Window >= largest {
			return p.untilSteady(closedLoop, max(through, narrower))
		}
		narrower = through
	}
}

const (
	// keptUpShare is the share of a rate that has to come through for the broker to have kept up with it. It leaves
	// room for what is still under way when so short a load ends.
	keptUpShare = 0.9
	// overload is how many times what came through is offered to see whether more comes.
	overload = 2
)

// raiseRate offers 1,000/s, 4,000/s, 16,000/s and so on, up to maxRate, until the broker no longer keeps up even after
// it has warmed up, and returns what came through then; at least 1/s. For example, a broker that is still cold lets
// only 5,000/s of 16,000/s through. 10,000/s are offered again and again, until it gets no faster:
//   - If 7,000/s come through in the end, that is the answer.
//   - If 9,500/s do, it has kept up after all. So 40,000/s come next, and if they are too much, twice what came through
//     is offered once more. If no more than 9,500/s come through this time either, the broker is as warm as it gets, and
//     that is the answer.
func (p *prober) raiseRate() (float64, error) {
	best := 0.0 // what came through after the last overload
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
		through, err = p.untilSteady(rate, through)
		if err != nil {
			return 0, err
		}
		keptUp, gotFaster := through >= keptUpShare*rate, through > faster*best
		best = max(best, through)
		if !keptUp || !gotFaster {
			return max(best, 1), nil
		}
	}
}

// capped returns a rate, or the highest that may be tried if that is lower; most is 0 if there is no bound.
func capped(rate, most float64) float64 {
	if most > 0 {
		return min(rate, most)
	}
	return rate
}

const (
	// steadyProbes is how many probes in a row must not have been faster than the best one before for a broker to count
	// as warm.
	steadyProbes = 4
	// faster is the factor by which a probe must exceed the best one to count as faster. Smaller differences are noise.
	faster = 1.05
)

// untilSteady repeats a probe at a rate until the broker gets no faster, and returns the best throughput, to within the
// factor faster. best is that of an earlier probe. A broker that has just been started fails at rates that it carries a
// minute later: its code is compiled while it runs, and its caches are empty. Repeating also evens out a hiccup.
func (p *prober) untilSteady(rate, best float64) (float64, error) {
	steady := 0
	for steady < steadyProbes && p.used < p.budget {
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

// measure runs a probe at a rate and returns how much came through. If nothing did, the probe was shorter than the
// broker's latency: it is repeated, twice as long each time, and so are all later ones. Probes that show nothing don't
// use up the budget.
func (p *prober) measure(rate float64) (float64, error) {
	for {
		began := clock.Now()
		through, err := p.run(p.load, rate)
		if through > 0 || err != nil || p.load.Duration >= longestProbe {
			p.used += time.Duration(clock.Now() - began)
			p.load.Warmup = worker.Warmup{For: laterWarmup}
			return through, err
		}
		p.load.Duration *= 2
	}
}

// runProbe runs one probe and adds it to the record's list of trials.
func (s *rateSearch) runProbe(ctx context.Context, load worker.Load, rate float64) (float64, error) {
	if rate != closedLoop {
		var err error
		if load.Schedule, err = s.bench.arrivals(rate, len(s.trials)+1); err != nil {
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

// littlesLaw returns the throughput of a closed loop by Little's law: messages in flight, divided by their latency. For
// example, 3 producers with 1,000 messages in flight each and a latency of 2 s bring 1,500/s through. It returns 0
// unless the latency is longer than the probe: only then counting messages gives no rate, because none may come through
// while the probe lasts, or a whole window at once.
func (s *rateSearch) littlesLaw(t trial, window int) float64 {
	p50 := s.bench.latency(t).Quantile(0.5)
	if p50 == 0 || p50 < t.Until-t.From { // nothing came, or the latency is shorter
		return 0
	}
	window = min(window, inFlightPerClient(s.bench.spec))
	return float64(window*t.Producers) / (float64(p50) / 1e9)
}

// A search for the sustainable rate begins where the search of a neighbour, a similar point of the same repetition, ended, or else at a rate that
// probes find. For example, if a neighbour's answer lies between 8,000/s and 12,500/s, 5,000/s are offered. If at least 1,250/s of them
// come through, the search begins at about 10,000/s, the geometric mean. If not, probes find out what the broker carries.
// What an earlier repetition of the same point found is not used: a search that began at it would be no repetition.

// begin returns the rate at which the search begins, in messages per second.
func (s *rateSearch) begin(ctx context.Context) (float64, error) {
	b := s.bench
	if n := b.lab.neighbourOf(b.record); n != nil {
		s.adaptWarmup(n.p99)
		found := math.Sqrt(n.low * n.high)
		usable, err := s.checkNeighbour(ctx, found)
		if err != nil {
			return 0, err
		}
		if usable {
			return s.shifted(found), nil
		}
	}
	probed, err := s.probe(ctx)
	return s.shifted(probed), err
}

// shifted moves a rate at random by up to half the width that the answer may have. Repetitions that began at the same
// rate would try the same rates, and find the same bounds by construction.
func (s *rateSearch) shifted(rate float64) float64 {
	spec := s.bench.spec
	random := rand.New(rand.NewPCG(uint64(s.bench.record.Seed), 0)) // any fixed stream will do
	return rate * math.Pow(1+spec.Sustainable.Width, random.Float64()-0.5)
}

// neighbourWarmup is how long checkNeighbour offers its load, in multiples of a trial's warm-up, since the load also warms
// the broker up. Probes need no such warm-up: they are repeated until the broker gets no faster.
const neighbourWarmup = 5

// checkNeighbour offers half of the rate that a neighbour's search found, and reports whether a quarter of this half came through.
func (s *rateSearch) checkNeighbour(ctx context.Context, found float64) (bool, error) {
	offered := capped(found/2, s.bench.spec.Sustainable.MaxRate)
	arrivals, err := s.bench.arrivals(offered, 0)
	if err != nil {
		return false, err
	}
	load := s.load(neighbourWarmup * time.Duration(s.bench.spec.Sustainable.Warmup))
	load.Schedule, load.RateForThreads = arrivals, offered
	t := s.bench.runTrial(ctx, "warming up", offered, load)
	return s.bench.throughputWhileSending(t) >= offered/4, t.Err
}

// neighbour is a repetition of a point of this run whose sustainable rate is known. A search for a similar point begins there.
type neighbour struct {
	study, broker string
	repetition    int
	axes          map[string]string // its values of the settings that the study varies
	messageSize   float64           // mean, bytes
	low, high     float64           // the bounds of its sustainable rate, messages per second
	p99           int64             // latency at low, ns: end to end, or until the confirmation if there are no subscriptions
}

// remember keeps the outcome of a search for points that come later. p99 is the latency at the lower bound, in ns.
func (l *lab) remember(r *store.Record, found search.Bounds, p99 int64) {
	l.searched = append(l.searched, neighbour{
		study: r.Study, broker: r.Spec.Broker, repetition: r.Repetition, axes: r.Axes, messageSize: r.Spec.MessageSize.Mean(),
		low: found.Low, high: max(found.Low, found.High), // High is 0 if no rate failed
		p99: p99,
	})
}

// maxSizeRatio is how many times larger, or smaller, a neighbour's messages may be: a broker that carries
// 400,000/s of 8 B does not carry as many of 1 MB.
const maxSizeRatio = 4

// neighbourOf returns the latest point that is similar to that of a record (isSimilar); nil if there is none.
func (l *lab) neighbourOf(r *store.Record) *neighbour {
	for _, n := range slices.Backward(l.searched) {
		if n.isSimilar(r) {
			return &n
		}
	}
	return nil
}

// isSimilar reports whether a record is of the same study, repetition and broker, differs in one axis, and has messages of similar size.
func (n neighbour) isSimilar(r *store.Record) bool {
	if n.study != r.Study || n.repetition != r.Repetition || n.broker != r.Spec.Broker || differingAxes(n.axes, r.Axes) != 1 {
		return false
	}
	ratio := n.messageSize / r.Spec.MessageSize.Mean()
	return ratio <= maxSizeRatio && ratio >= 1.0/maxSizeRatio
}

// differingAxes counts the axes in which two points differ. An axis that only one of them has counts, too.
func differingAxes(a, b map[string]string) int {
	differing := 0
	for name, value := range a {
		if b[name] != value {
			differing++
		}
	}
	for name := range b {
		if _, known := a[name]; !known {
			differing++
		}
	}
	return differing
}
