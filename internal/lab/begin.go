package lab

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/search"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// A search for the sustainable rate begins where the search of a neighbour, a similar point of this run, ended, or else at a rate that
// probes find. For example, if a neighbour's answer lies between 8,000/s and 12,500/s, 5,000/s are offered. If at least 1,250/s of them
// come through, the search begins at about 10,000/s, the geometric mean. If not, probes find out what the broker carries.

// begin returns the rate at which the search begins, and whether the answer is likely to be near it, within a few widths.
func (s *rateSearch) begin(ctx context.Context) (rate float64, near bool, err error) {
	b := s.bench
	if n := b.lab.neighbourOf(b.record); n != nil {
		s.adaptWarmup(n.p99)
		found := math.Sqrt(n.low * n.high)
		usable, err := s.checkNeighbour(ctx, found)
		if usable || err != nil {
			samePoint := n.point == b.record.PointID
			return s.shifted(found), samePoint, err
		}
	}
	probed, err := s.probe(ctx)
	return s.shifted(probed), false, err
}

// shifted moves a rate at random by up to half the width that the answer may have. Repetitions that began at the same
// rate would try the same rates, and find the same bounds by construction.
func (s *rateSearch) shifted(rate float64) float64 {
	spec := s.bench.spec
	random := rand.New(rand.NewPCG(uint64(spec.Seed), uint64(s.bench.record.Repetition)))
	return rate * math.Pow(1+spec.Sustainable.Width, random.Float64()-0.5)
}

// neighbourWarmup is how long checkNeighbour offers its load, in multiples of a trial's warm-up, since the load also warms
// the broker up. Probes need no such warm-up: they are repeated until the broker gets no faster.
const neighbourWarmup = 5

// checkNeighbour offers half of the rate that a neighbour's search found, and reports whether a quarter of this half came through.
func (s *rateSearch) checkNeighbour(ctx context.Context, found float64) (bool, error) {
	offered := found / 2
	arrivals, err := s.bench.arrivals(offered)
	if err != nil {
		return false, err
	}
	load := s.load(neighbourWarmup * time.Duration(s.bench.spec.Sustainable.Warmup))
	load.Schedule, load.RateForThreads = arrivals, offered
	t := s.bench.runTrial(ctx, "warming up", offered, load)
	return s.bench.throughputWhileSending(t) >= offered/4, t.Err
}

// neighbour is a point of this run whose sustainable rate is known. A search for a similar point begins there.
type neighbour struct {
	study, point, broker string            // point is the point's ID
	axes                 map[string]string // its values of the settings that the study varies
	messageSize          float64           // mean, bytes
	low, high            float64           // the bounds of its sustainable rate, messages per second
	p99                  int64             // latency at low, ns: end to end, or until the confirmation if nobody subscribes
}

// remember keeps the outcome of a search for points that come later. p99 is the latency at the lower bound, in ns.
func (l *lab) remember(r *store.Record, found search.Bounds, p99 int64) {
	l.searched = append(l.searched, neighbour{
		study: r.Study, point: r.PointID, broker: r.Spec.Broker, axes: r.Axes, messageSize: r.Spec.MessageSize.Mean(),
		low: found.Low, high: max(found.Low, found.High), // High is 0 if no rate failed
		p99: p99,
	})
}

// maxSizeRatio is how many times larger, or smaller, a neighbour's messages may be: a broker that carries
// 400,000/s of 8 B does not carry as many of 1 MB.
const maxSizeRatio = 4

// neighbourOf returns the point most like that of a record: the same point in an earlier repetition, or else a
// similar one (isSimilar). Of several it returns the latest. It returns nil if there is none.
func (l *lab) neighbourOf(r *store.Record) *neighbour {
	var similar *neighbour
	for _, n := range slices.Backward(l.searched) {
		if n.point == r.PointID {
			return &n
		}
		if similar == nil && n.isSimilar(r) {
			similar = &n
		}
	}
	return similar
}

// isSimilar reports whether a record's point is of the same study and broker, differs in one axis, and has messages of similar size.
func (n neighbour) isSimilar(r *store.Record) bool {
	if n.study != r.Study || n.broker != r.Spec.Broker || differingAxes(n.axes, r.Axes) != 1 {
		return false
	}
	ratio := n.messageSize / r.Spec.MessageSize.Mean()
	return ratio <= maxSizeRatio && ratio >= 1.0/maxSizeRatio
}

// differingAxes counts the axes in which two points differ.
func differingAxes(a, b map[string]string) int {
	names := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(names)
	return len(slices.DeleteFunc(slices.Compact(names), func(name string) bool { return a[name] == b[name] }))
}

// probe finds the rate at which to begin by probes, trials of half a second at most. They are closed loops: each client
// sends as fast as its window of unconfirmed messages allows. But with at most once nothing holds a closed loop back: it
// would pile up more messages than the broker works off in minutes. There the probes are rising rates.
func (s *rateSearch) probe(ctx context.Context) (float64, error) {
	load := s.load(min(time.Duration(s.bench.spec.Sustainable.Trial)/2, 500*time.Millisecond))
	s.probesUntil = math.MaxInt64
	if budget := s.bench.spec.Sustainable.Budget; budget > 0 {
		s.probesUntil = clock.Now() + int64(budget)/probeShare
	}
	if s.bench.spec.Delivery == "at-most-once" {
		return s.raiseRate(func(rate float64) (float64, error) {
			through, err := s.runProbe(ctx, &load, rate)
			load.Warmup = laterWarmup
			return through, err
		})
	}
	return s.widenWindow(ctx, &load)
}

// laterWarmup is the warm-up of all probes but the first.
var laterWarmup = worker.Warmup{For: 100 * time.Millisecond}

// widenWindow runs closed loops with windows of 32, 256, 2,048 … messages, until eight times the window no longer
// brings four times the rate. A window much larger than the broker can use would only fill its queues, which then
// take long to empty. The last window is probed until the broker gets no faster.
func (s *rateSearch) widenWindow(ctx context.Context, load *worker.Load) (float64, error) {
	load.Window = 32
	probe := func() (float64, error) { return s.runProbe(ctx, load, 0) }
	narrower := 0.0 // the rate with the window before
	for {
		through, err := probe()
		if err != nil {
			return 0, err
		}
		load.Warmup = laterWarmup
		if through < 4*narrower || load.Window >= s.bench.spec.InFlight.Messages {
			return s.untilSteady(max(through, narrower), probe)
		}
		narrower = through
		load.Window *= 8
	}
}

const (
	// keptUpShare is the share of a probed rate that has to come through for the broker to have kept up with it.
	keptUpShare = 0.9
	// raiseRate repeats a probe at overload times the rate that came through, to see whether more comes.
	overload = 2
)

// raiseRate offers 1,000/s, 4,000/s, 16,000/s and so on, until the broker no longer keeps up, and returns the rate that
// came through then; at least 1/s. For example, of 16,000/s 5,000/s came through. 10,000/s are offered then, until
// the broker gets no faster; if 9,500/s come through in the end, it has kept up after all, and 40,000/s come next. If
// 40,000/s are too much once more, and no more than those 9,500/s come through afterwards, it is not getting faster.
func (s *rateSearch) raiseRate(probeAt func(rate float64) (float64, error)) (float64, error) {
	steady := 0.0 // what came through in the end when the broker last had not kept up
	for rate := 1000.0; ; rate *= 4 {
		through, err := probeAt(rate)
		if err == nil && through < keptUpShare*rate {
			rate = min(rate, max(overload*through, 1)) // a higher rate would only pile messages up
			through, err = s.untilSteady(through, func() (float64, error) { return probeAt(rate) })
			if through <= faster*steady {
				return max(through, steady, 1), err
			}
			steady = through
		}
		if err != nil || through < keptUpShare*rate {
			return max(through, 1), err
		}
	}
}

// A probe is repeated until the broker is as warm as it gets.
const (
	steadyProbes = 4    // as many in a row must not have been faster than the best one before
	faster       = 1.05 // by this factor
	maxProbes    = 50   // they take about half a minute
	probeShare   = 4    // probes get a 1/probeShare of the search's budget: the trials that follow warm the broker up as well
)

// untilSteady repeats a probe until the broker gets no faster, and returns the best rate, to within the factor faster.
// best is the rate of an earlier probe. A broker that has just been started fails at rates that it carries a minute
// later: its code is compiled while it runs, and its caches are empty. Repeating also evens out a hiccup.
func (s *rateSearch) untilSteady(best float64, probe func() (float64, error)) (float64, error) {
	steady := 0
	for n := 0; n < maxProbes && steady < steadyProbes && clock.Now() < s.probesUntil; n++ {
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

// longestProbe bounds the length of probes that are made longer because nothing came through.
const longestProbe = 8 * time.Second

// runProbe runs a probe, at a rate, or in a closed loop if rate is 0. It returns how many messages per second came
// through. If none did, the probe was shorter than the broker's latency: it is repeated, twice as long each time, and
// so are all later ones. Probes that show nothing don't use up the time that probes have.
func (s *rateSearch) runProbe(ctx context.Context, load *worker.Load, rate float64) (float64, error) {
	for {
		began := clock.Now()
		through, err := s.runProbeOnce(ctx, *load, rate)
		if through > 0 || err != nil || load.Duration >= longestProbe {
			return through, err
		}
		load.Duration *= 2
		if s.probesUntil < math.MaxInt64 {
			s.probesUntil += clock.Now() - began
		}
	}
}

func (s *rateSearch) runProbeOnce(ctx context.Context, load worker.Load, rate float64) (float64, error) {
	if rate > 0 {
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
	if rate == 0 {
		through = max(through, s.littlesLaw(t, load.Window))
	}
	return through, t.Err
}

// littlesLaw returns the throughput of a closed loop by Little's law: messages in flight, divided by their latency.
// For example, 3 producers with 1,000 messages in flight each and a latency of 2 s bring 1,500/s through. It returns 0
// unless the latency is longer than the probe: only then counting messages gives no rate, because none may come
// through while the probe lasts, or a whole window at once.
func (s *rateSearch) littlesLaw(t trial, window int) float64 {
	p50 := s.bench.latency(t).Quantile(0.5)
	if p50 < t.Until-t.From {
		return 0
	}
	window = min(window, inFlightPerClient(s.bench.spec))
	return float64(window*t.Producers) / (float64(p50) / 1e9)
}
