package lab

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/ledger"
	"github.com/brokermark/brokermark/internal/search"
	"github.com/brokermark/brokermark/internal/secret"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// rateSearch is one search for the sustainable rates of a point: the highest constant rates that the broker carries without falling
// behind, one for each goal, which is a bound on latency. Package search decides which rate is tried next; rateSearch runs the trial,
// judges it, and keeps what the record is filled from (attempts). For example, 8,000/s passes, 16,000/s fails, 11,300/s passes, and so
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

// attempts are the trials of a search at one rate.
type attempts struct {
	passed    *trial  // the last full-length trial that passed; nil if none did
	others    []trial // the other full-length trials that passed, or failed and lost nothing
	failed    *trial  // the last trial that failed; nil if none did
	saturated string  // how the generator reached its own limit in one of them, late or out of cores; empty if it never did
}

// judge judges a trial of the search for every goal, and keeps it.
func (s *rateSearch) judge(r search.Request, t trial) search.Answer {
	b, passRule := s.bench, rule(s.bench.spec)
	evidence := b.evidence(t, r.Rate)
	evidence.FullLength = r.Kind != search.Short
	var judgements []search.Judgement
	for _, goal := range s.goals {
		judgements = append(judgements, t.voidIfDisturbed(passRule.Judge(evidence, goal), float64(b.lab.machine.Cores)))
	}
	if b.lacksThreads(t) {
		s.useAllThreads = true
	}
	cameLate := s.missingCame(t)
	s.trials = append(s.trials, judgedTrial(r, judgements, t, search.GrowthOf(evidence.Backlog)))
	s.keep(r, judgements[0], t)
	return search.Answer{Judgements: judgements, Served: evidence.Served(), Through: s.through(r, t), CameLate: cameLate}
}

// missingCame reports whether all messages that the trial before missed came during t; then its stored form says so. Late messages are
// counted, not identified. So their number must match exactly, and neither trial may have resent or duplicated any. The trial before must
// have broken nothing else.
func (s *rateSearch) missingCame(t trial) bool {
	before := t.previous.Measured
	missing := t.previous.Warmup.Lost + before.Lost
	again := before.Resent + before.Duplicated + t.previous.Warmup.Resent + t.previous.Warmup.Duplicated +
		t.Measured.Resent + t.Measured.Duplicated + t.Warmup.Resent + t.Warmup.Duplicated
	before.LostAcked = 0
	elseBroken := ledger.Keeps(rule(s.bench.spec).Guarantee, nil, before).Promise == ledger.Broken
	if missing == 0 || staleDeliveries(t) != missing || again > 0 || elseBroken || len(s.trials) == 0 {
		return false
	}
	if last := &s.trials[len(s.trials)-1]; last.Broken {
		last.Broken = false
		last.Reason += "; they came during the next trial"
	}
	return true
}

// through returns how many messages per second came through in a trial, for the search to decide where to look next. A broker may let a
// burst pass before it throttles, so of a long trial only the second half counts.
func (s *rateSearch) through(r search.Request, t trial) float64 {
	if half := t.From + int64(r.For/2); r.Kind != search.Short && t.Until > half {
		t.From = half
	}
	return s.bench.throughputWhileSending(t)
}

// keep keeps a trial under its rate if the record may be filled from it, which the judgement for the first goal decides.
func (s *rateSearch) keep(r search.Request, first search.Judgement, t trial) {
	atRate := s.tried[r.Rate]
	atRate.saturated = cmp.Or(first.Generator.Text, atRate.saturated)
	isFullLength := r.For >= s.goals[0].FinalDuration
	switch first.Verdict {
	case search.Pass:
		if isFullLength {
			if atRate.passed != nil {
				atRate.others = append(atRate.others, *atRate.passed)
			}
			atRate.passed = &t
		}
		s.adaptWarmup(s.bench.latency(t).Quantile(0.99))
	case search.Fail:
		atRate.failed, s.lastReason = &t, first.Reason.Text
		if isFullLength && t.Measured.Lost == 0 {
			atRate.others = append(atRate.others, t)
		}
	case search.Void:
		s.lastReason = first.Reason.Text
	}
	s.tried[r.Rate] = atRate
}

// judgedTrial returns the stored form of a trial with its judgements, one for each goal, and with how its backlog grew.
func judgedTrial(r search.Request, judgements []search.Judgement, t trial, growth search.Growth) store.Trial {
	stored := storedTrial(r.Kind, r.Rate, judgements[0].Verdict, t)
	stored.Reason, stored.Broken = secret.Redact(judgements[0].Reason.Text), judgements[0].Broken
	for _, further := range judgements[1:] {
		stored.Others = append(stored.Others, string(further.Verdict))
	}
	if growth.Known() {
		stored.BacklogSlope = growth.AtMost(search.Confidence)
	}
	return stored
}

// storedTrial returns the stored form of a trial. rate is what was offered; 0 in a closed loop.
func storedTrial(k search.Kind, rate float64, v search.Verdict, t trial) store.Trial {
	rates, e2e := t.phaseThroughput(), t.Histograms.EndToEnd
	atLeast := func(q float64) bool { return e2e.Count() > 0 && e2e.QuantileAtMost(q) == hist.Unbounded }
	return store.Trial{
		Kind: string(k), Rate: rate, Verdict: string(v), PublishRate: rates.acked, ReceiveRate: rates.received,
		EndToEndP50: e2e.Quantile(0.5), EndToEndP99: e2e.Quantile(0.99), P50AtLeast: atLeast(0.5), P99AtLeast: atLeast(0.99),
		Seconds: t.phaseSeconds(),
	}
}
