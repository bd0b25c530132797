package lab

import (
	"context"
	"fmt"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/search"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// rateSearch is one search for the sustainable rates of a point: the highest constant rates that the broker carries without falling
// behind, one for each goal, which is a bound on latency. Package search decides which rate is tried next; rateSearch runs the trial,
// judges it, and keeps what the record is filled from (tried.go). For example, 8,000/s passes, 16,000/s fails, 11,300/s passes, and so
// on, until the answer is as narrow as asked for: [12,100–12,700].
type rateSearch struct {
	bench  *bench
	goals  []search.Goal
	trials []store.Trial // for the record: every trial, probes included, in the order in which they ran

	threadsForRate float64       // in all trials, the generator has as many threads as this rate needs
	useAllThreads  bool          // those were too few, so from now on the generator has all threads
	minWarmup      time.Duration // the least that the next warm-up must last, by the latency of the last trial that passed

	// tried are the trials of each rate, judged for the first goal. The keys are Request.Rate, never recomputed: bounds are
	// rates that were requested, so a bound finds its trials although the keys are floats.
	tried      map[float64]attempts
	lastReason string // of the last trial that did not pass; empty if all passed
}

// searchSustainable searches for the sustainable rate of each goal and returns that of the first goal. It fills the record's result
// from a trial that confirmed this rate.
func (b *bench) searchSustainable(ctx context.Context) (float64, error) {
	s := &rateSearch{bench: b, goals: goals(b.spec), tried: map[float64]attempts{}}
	found, err := s.findBounds(ctx)
	s.recordResult(found) // also after an error: the record keeps what was found until then
	if err != nil {
		return 0, err
	}
	first := found.Goals[0]
	if err := s.noRateError(first); err != nil {
		return 0, err
	}
	s.addDoubts(found)
	confirming := *s.tried[first.Low].passed // noRateError has checked it
	b.lab.remember(b.record, first, b.latency(confirming).Quantile(0.99))
	return first.Low, b.judge(confirming, confirming.Rate)
}

// giveUpBelow is the share of a search's first rate below which it gives up: a search that begins at 20,000/s tries no rate below
// 20/s.
const giveUpBelow = 1.0 / 1000

// findBounds searches for the bounds of all goals. Its result has bounds for each goal, also if it returns an error.
func (s *rateSearch) findBounds(ctx context.Context) (search.Result, error) {
	spec := s.bench.spec.Sustainable
	start, err := s.begin(ctx)
	if err != nil {
		return search.Result{Goals: make([]search.Bounds, len(s.goals))}, err
	}
	s.threadsForRate = start
	return search.Run(ctx, search.Plan{
		Goals: s.goals, Begin: start, Short: time.Duration(spec.Trial), MaxTrials: spec.MaxTrials,
		Budget: time.Duration(spec.Budget), MaxRate: spec.MaxRate, Floor: max(1, giveUpBelow*start),
	}, s.tryRate)
}

// tryRate runs and judges one trial of the search; search.Run calls it. A trial that broke off is not judged: its error ends the
// search.
func (s *rateSearch) tryRate(ctx context.Context, r search.Request) (search.Answer, error) {
	arrivals, err := s.bench.arrivals(r.Rate, len(s.trials)+1)
	if err != nil {
		return search.Answer{}, err
	}
	load := s.load(r.For)
	load.Schedule, load.RateForThreads = arrivals, s.threadsForRate
	if s.useAllThreads {
		load.RateForThreads = allThreads
	}
	load.Hopeless = func(samples []worker.Sample) bool { return s.hopelessAfter(r, samples) }
	began := clock.Now()
	t := s.bench.growingTrial(ctx, s.stage(r.Kind), r.Rate, load)
	if t.Err != nil {
		return search.Answer{}, t.Err
	}
	answer := s.judge(r, t)
	answer.Took = time.Duration(clock.Now() - began)
	return answer, nil
}

const (
	// settle bounds how long the search waits for messages that an overloaded trial has left behind. They would burden the
	// next trial.
	settle = 30 * time.Second
	// longestWarmup bounds a warm-up that is lengthened because of the latency.
	longestWarmup = 10 * time.Second
)

// load returns what the loads of all trials of a search have in common. A broker must not fail because its latency is long: until the
// first deliveries come, the backlog grows. So the warm-up lasts at least as long.
func (s *rateSearch) load(length time.Duration) worker.Load {
	spec := s.bench.spec
	warmup := max(time.Duration(spec.Sustainable.Warmup), min(s.minWarmup, longestWarmup))
	return worker.Load{
		Warmup: worker.Warmup{For: warmup}, Duration: length, Drain: time.Duration(spec.Drain), Settle: settle, Brisk: true,
	}
}

// stage names the next trial for the live view.
func (s *rateSearch) stage(k search.Kind) string {
	return fmt.Sprintf("trial %d: %s", len(s.trials)+1, k)
}

// hopelessAfter reports whether a running trial can only fail, by its samples so far. It fits a line to all of them, which takes long
// with many. So in trials of more than a minute it looks only when their number is a multiple of 50.
func (s *rateSearch) hopelessAfter(r search.Request, samples []worker.Sample) bool {
	skip := r.For > time.Minute && len(samples)%50 != 0
	if len(samples) == 0 || skip {
		return false
	}
	from, until := samples[0].At, samples[len(samples)-1].At
	spec := s.bench.spec
	allowed := rule(spec).AllowedGrowth(r.Rate, spec.SubscriptionsPerTopic)
	return search.Hopeless(backlogOf(from, until, samples), allowed, r.For)
}

// adaptWarmup makes the next warm-ups long enough for a latency, given by its p99 in ns: twice as long, since by then messages are
// delivered as fast as they are sent.
func (s *rateSearch) adaptWarmup(p99 int64) { s.minWarmup = 2 * time.Duration(p99) }
