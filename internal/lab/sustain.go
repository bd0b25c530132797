package lab

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/schedule"
	"github.com/brokermark/brokermark/internal/search"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// rateSearch is one search for the sustainable rates of a point. Package search decides which rate is tried next;
// rateSearch runs the trial, judges it, and keeps what the record is filled from.
type rateSearch struct {
	bench  *bench
	goals  []search.Goal
	trials []store.Trial // for the record: every trial, probes included, in the order in which they ran

	threadsForRate float64       // in all trials the generator has as many threads as this rate needs
	useAllThreads  bool          // those were too few: from now on the generator has all threads
	minWarmup      time.Duration // the least that a trial's warm-up must last, by the latency of earlier trials
	probesDone     func() bool   // reports whether probes have used up their part of the budget

	// tried are the trials of each rate, judged for the first goal. The keys are Request.Rate, never recomputed: bounds are
	// rates that were requested, so a bound finds its trials although the keys are floats.
	tried      map[float64]attempts
	lastReason string // why the most recent trial that did not pass did not; empty if all passed
}

// attempts are the trials at one rate.
type attempts struct {
	passed    *trial // the last full-length trial that passed; nil if none did
	failed    *trial // the last trial that failed; nil if none did
	saturated string // in one of them the generator was, and why; else empty
}

// sustainable searches for the highest sustainable rates and fills the result from a trial that confirmed the first one,
// which it returns.
func (b *bench) sustainable(ctx context.Context) (float64, error) {
	s := &rateSearch{bench: b, goals: goals(b.spec), tried: map[float64]attempts{}}
	found, err := s.search(ctx)
	first := found.Goals[0] // bounds for each goal, also if the search broke off
	s.recordResult(found)
	if err := s.searchError(first, err); err != nil {
		return 0, err
	}
	s.addDoubts(found)
	confirming := *s.tried[first.Low].passed // searchError has made sure of it
	b.doubtHorizon(confirming)
	b.lab.remember(b.record, first)
	return first.Low, b.judge(confirming, confirming.Rate)
}

// recordResult fills the record's result, also if the search has found nothing.
func (s *rateSearch) recordResult(found search.Result) {
	b, first := s.bench, found.Goals[0]
	b.record.Result = &store.Result{}
	if confirming := s.tried[first.Low].passed; confirming != nil {
		b.fill(*confirming)
		b.record.Result.OfferedRate = confirming.Rate
	}
	b.record.Result.Sustainable = &store.Sustainable{
		Low: first.Low, High: first.High, Goals: answers(b.spec, found.Goals), Trials: s.trials, Limit: s.limit(first),
	}
}

// searchError says why the search found no rate for its first goal; nil if it found one. broke is the error that ended the
// search early.
func (s *rateSearch) searchError(first search.Bounds, broke error) error {
	switch {
	case broke != nil:
		return broke
	case first.Low == 0 && first.Void != "":
		return void("no rate could be confirmed: void %s", first.Void)
	case first.Low == 0:
		return failed("%s", joinReasons(first.Undecided, s.lastReason))
	case s.tried[first.Low].passed == nil:
		return fmt.Errorf("internal error: %g/s counts as sustained, but no full-length trial at this rate passed", first.Low)
	}
	return nil
}

// joinReasons leaves out empty reasons.
func joinReasons(reasons ...string) string {
	return strings.Join(slices.DeleteFunc(reasons, func(reason string) bool { return reason == "" }), ": ")
}

// addDoubts doubts goals that were not answered, and rates that the broker may exceed.
func (s *rateSearch) addDoubts(found search.Result) {
	for i, bounds := range found.Goals {
		if bounds.Undecided != "" {
			s.bench.doubt("incomplete-search", "%s%s", goalPrefix(s.goals[i], len(s.goals)), bounds.Undecided)
		}
		if bounds.PassedAbove > 0 {
			s.bench.doubt("not-monotonic", "%sonly its latency made %.0f/s fail, and %.0f/s passed a trial: the broker may keep the bound at higher rates than this",
				goalPrefix(s.goals[i], len(s.goals)), bounds.High, bounds.PassedAbove)
		}
	}
	if limit := s.bench.record.Result.Sustainable.Limit; limit == limitGenerator || limit == limitClientSend {
		first := found.Goals[0]
		why := s.saturatedBetween(first.Low, first.High)
		if why != "" {
			why = ": " + why
		}
		s.bench.doubt("generator-bound", "at least this: the generator or its client, not the broker, ran out first%s%s", why, s.bench.noMore())
	}
}

// goalPrefix begins a sentence about one of several goals; empty if there is only one.
func goalPrefix(g search.Goal, goals int) string {
	switch {
	case goals == 1:
		return ""
	case g.Latency == 0:
		return "without a latency bound: "
	}
	return fmt.Sprintf("latency of at most %s at p%g: ", g.Latency, 100*g.Quantile)
}

// answers turns the bounds of all goals, in the order of the spec, into their stored form.
func answers(spec study.Spec, found []search.Bounds) []store.GoalResult {
	var results []store.GoalResult
	for i, goal := range spec.Sustainable.Bounds() {
		bounds := found[i]
		results = append(results, store.GoalResult{
			LatencyNs: int64(goal.Latency), Quantile: goal.Quantile,
			Low: bounds.Low, High: bounds.High, Conditional: bounds.Conditional, Undecided: bounds.Undecided,
		})
	}
	return results
}

// tooLow is how many times less than where it begins a search gives up.
const tooLow = 1000

// search answers all goals. Its result has bounds for each goal, also if it returns an error.
func (s *rateSearch) search(ctx context.Context) (search.Result, error) {
	asked := s.bench.spec.Sustainable
	plan := search.Plan{
		Goals: s.goals, Short: time.Duration(asked.Trial), MaxTrials: asked.MaxTrials, Budget: time.Duration(asked.Budget),
		MaxRate: asked.MaxRate, Floor: 1,
	}
	var err error
	if plan.Begin, plan.Near, err = s.begin(ctx); err != nil {
		return search.Result{Goals: make([]search.Bounds, len(s.goals))}, err
	}
	s.threadsForRate = plan.Begin
	plan.Floor = max(plan.Floor, plan.Begin/tooLow)
	return search.Run(ctx, plan, s.run)
}

// run runs one trial of the search. A trial that broke off is not judged: its error ends the search.
func (s *rateSearch) run(ctx context.Context, r search.Request) (search.Answer, error) {
	arrivals, err := s.bench.arrivals(r.Rate)
	if err != nil {
		return search.Answer{}, err
	}
	load := s.load(r.For)
	load.Schedule, load.About = arrivals, s.threadsForRate
	if s.useAllThreads {
		load.About = maxRate
	}
	load.Hopeless = func(samples []worker.Sample) bool { return s.hopelessAfter(r, samples) }
	began := clock.Now()
	t := s.bench.judgedTrial(ctx, s.stage(r.Kind), r.Rate, load)
	if t.Err != nil {
		return search.Answer{}, t.Err
	}
	answer := s.judge(r, t)
	answer.Took = time.Duration(clock.Now() - began)
	return answer, nil
}

// maxRate is more than any generator sends.
const maxRate = 1e12

// hopelessAfter reports whether a running trial can only fail, by its samples so far.
func (s *rateSearch) hopelessAfter(r search.Request, samples []worker.Sample) bool {
	// In long trials look at every 50th sample only: each look costs a regression over all of them.
	if len(samples) == 0 || r.For > time.Minute && len(samples)%50 != 0 {
		return false
	}
	from, until := samples[0].At, samples[len(samples)-1].At
	spec := s.bench.spec
	allowed := rule(spec).AllowedGrowth(r.Rate, spec.SubscriptionsPerTopic)
	return search.Hopeless(backlogOf(from, until, samples), allowed, r.For)
}

// arrivals is the schedule of a steady load, for searches and curves.
func (b *bench) arrivals(rate float64) (schedule.Schedule, error) {
	return loadSchedule(study.Load{Shape: b.spec.Load.Shape, Rate: rate}, 0, b.spec.Seed)
}

// stage names the trial that comes next, for whoever watches.
func (s *rateSearch) stage(k search.Kind) string {
	return fmt.Sprintf("trial %d: %s", len(s.trials)+1, k)
}

const (
	// settle bounds how long the search waits for messages that an overloaded trial has left behind. They would burden the
	// next trial.
	settle = 30 * time.Second
	// longestWarmup bounds a warm-up that is lengthened because of the latency.
	longestWarmup = 10 * time.Second
)

// load is what all trials of a search have in common. A broker must not fail because its latency is long. So the warm-up
// covers the time until the first deliveries come, in which the backlog grows, and the drain allowance is the spec's.
func (s *rateSearch) load(length time.Duration) worker.Load {
	spec := s.bench.spec
	warmup := max(time.Duration(spec.Sustainable.Warmup), min(s.minWarmup, longestWarmup))
	return worker.Load{
		Warmup: worker.Warmup{For: warmup}, Duration: length, Drain: time.Duration(spec.Drain), Settle: settle, Brisk: true,
	}
}

// judge judges a trial for every goal and keeps it.
func (s *rateSearch) judge(r search.Request, t trial) search.Answer {
	b, rule := s.bench, rule(s.bench.spec)
	evidence := b.evidence(t, r.Rate, r.Kind != search.Short)
	answer := search.Answer{Served: evidence.Served(), Through: b.throughput(t)}
	for _, goal := range s.goals {
		judgement := rule.Judge(evidence, goal)
		answer.Judgements = append(answer.Judgements, t.undisturbed(judgement, float64(b.lab.host.Cores)))
	}
	why, saturated := rule.Saturated(evidence)
	if saturated && t.thrifty(b.lab.host.Cores) && evidence.GeneratorCPU > rule.MaxBusyShare*evidence.GeneratorCores {
		s.useAllThreads = true
	}
	s.keep(r, t, answer, search.GrowthOf(evidence.Backlog), why.Text)
	return answer
}

// undisturbed makes a failure void if other processes used many cores: a broker that they hold up looks like one at its
// limit, so the rate is tried again. A broken promise stays a failure.
func (t trial) undisturbed(judgement search.Judgement, cores float64) search.Judgement {
	if judgement.Verdict != search.Fail || judgement.Broken || t.others() <= busyShare*cores {
		return judgement
	}
	return search.Judgement{Verdict: search.Void, Reason: t.usedByOthers(cores).Text + ", and " + judgement.Reason}
}

// keep adds a trial to the record's list, and keeps the trial itself if the record may be filled from it. What decides is
// the judgement for the first goal.
func (s *rateSearch) keep(r search.Request, t trial, a search.Answer, growth search.Growth, saturated string) {
	first := a.Judgements[0]
	stored := s.stored(r.Kind, t)
	stored.Rate, stored.Verdict, stored.Reason = r.Rate, string(first.Verdict), first.Reason
	for _, judgement := range a.Judgements[1:] {
		stored.Others = append(stored.Others, string(judgement.Verdict))
	}
	if growth.Known() {
		stored.BacklogSlope = growth.AtMost(search.Confidence)
	}
	s.trials = append(s.trials, stored)

	at := s.tried[r.Rate]
	at.saturated = cmp.Or(saturated, at.saturated)
	switch first.Verdict {
	case search.Pass:
		if r.For >= s.goals[0].Final {
			at.passed = &t
		}
		s.sawLatency(t)
	case search.Fail:
		at.failed, s.lastReason = &t, first.Reason
	case search.Void:
		s.lastReason = first.Reason
	}
	s.tried[r.Rate] = at
}

// stored is the stored form of a trial. Its verdict is that of a probe, which nothing can fail.
func (s *rateSearch) stored(k search.Kind, t trial) store.Trial {
	length := seconds(t.From, t.Until)
	published, received := t.rates(length)
	return store.Trial{
		Kind: string(k), Verdict: string(search.Pass), PublishRate: published, ReceiveRate: received,
		EndToEndP50: t.Histograms.EndToEnd.Quantile(0.5), EndToEndP99: t.Histograms.EndToEnd.Quantile(0.99),
		Seconds: length,
	}
}

// sawLatency makes the next warm-ups last twice the latency at p99: by then messages are delivered as fast as they are sent.
func (s *rateSearch) sawLatency(t trial) {
	s.minWarmup = 2 * time.Duration(s.bench.latency(t).Quantile(0.99))
}

// latency is the latency that goals bound: end to end, or until the confirmation if nobody subscribes.
func (b *bench) latency(t trial) hist.Snapshot {
	if b.spec.SubscriptionsPerTopic == 0 {
		return t.Histograms.Publish
	}
	return t.Histograms.EndToEnd
}

// throughput is how many messages per second came through while the trial was sending: the slower of confirming and
// receiving. It is 0 if there are too few samples to tell.
func (b *bench) throughput(t trial) float64 {
	acked, received, ok := t.flow()
	if !ok {
		return 0
	}
	if subscriptions := float64(b.spec.SubscriptionsPerTopic); subscriptions > 0 {
		return min(acked, received/subscriptions)
	}
	return acked
}

// What ran out above a sustainable rate, as records hold it.
const (
	limitGenerator     = "generator"      // the generator was late, or used up its cores
	limitLatency       = "latency"        // the goal's latency bound
	limitConsumerDelay = "consumer-delay" // the consumers' own work on each message
	limitCPU           = "cpu"            // the cores of the machine
	limitClientWindow  = "client-window"  // places for unconfirmed messages
	limitClientSend    = "client-send"    // the client's Send
	limitUnknown       = "unknown"
)

// The thresholds of limit. They only guess, so each is well above what a trial with room to spare shows.
const (
	cpuFull     = 0.9 // of all cores: the rest goes to interrupts and to other processes
	blockedMost = 0.5 // of the producers' time: without a wait for a slot they would have sent up to twice as much
	sendingMost = 0.8 // of the producers' time: hardly any is left to wait for the next message to be due
)

// limit guesses what ran out just above the rate found. The first cause that fits wins: what was asked for (a latency, the
// consumers' delay) comes before what the machine lacks, and that before what the client lacks, since a machine without
// free cores makes the client slow as well.
func (s *rateSearch) limit(found search.Bounds) string {
	if found.Void != "" && s.saturatedBetween(found.Low, found.High) != "" {
		return limitGenerator
	}
	t := s.tried[found.High].failed
	if t == nil {
		return limitUnknown
	}
	cores := float64(s.bench.lab.host.Cores)
	producersTime := t.sendingTime()
	goal := s.goals[0]
	switch {
	case goal.Latency > 0 && s.bench.latency(*t).Quantile(goal.Quantile) > int64(goal.Latency):
		return limitLatency
	case t.Working > busyConsumers:
		return limitConsumerDelay
	case t.brokerCPU()+t.coresHere() > cpuFull*cores:
		return limitCPU
	case t.Blocked.Seconds() > blockedMost*producersTime:
		return limitClientWindow
	case t.Sending.Seconds() > sendingMost*producersTime:
		return limitClientSend
	}
	return limitUnknown
}

// saturatedBetween says how the generator was saturated at a rate between two bounds, empty if it wasn't; high is 0 if there is none.
func (s *rateSearch) saturatedBetween(low, high float64) string {
	for rate, at := range s.tried {
		if at.saturated != "" && rate > low && (high == 0 || rate < high) {
			return at.saturated
		}
	}
	return ""
}
