package lab

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/brokermark/brokermark/internal/search"
	"github.com/brokermark/brokermark/internal/store"
)

// A search for the sustainable rate begins where the search of a neighbour, a similar point of the same repetition, ended, or else at a rate that
// probes find. For example, if a neighbour's answer lies between 8,000/s and 12,500/s, 5,000/s are offered. If at least 1,250/s of them
// come through, the search begins at about 10,000/s, the geometric mean. If not, probes (probe.go) find out what the broker carries.
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
	p99           int64             // latency at low, ns: end to end, or until the confirmation if nobody subscribes
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
