package lab

import (
	"cmp"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/ledger"
	"github.com/brokermark/brokermark/internal/search"
	"github.com/brokermark/brokermark/internal/secret"
	"github.com/brokermark/brokermark/internal/store"
)

// attempts are the trials of a search at one rate.
type attempts struct {
	passed    *trial  // the last full-length trial that passed; nil if none did
	others    []trial // full-length trials that passed or failed, but for the last that passed, if all their messages came
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

// missingCame reports whether all that the trial before missed came during t: then it lost nothing, and its stored form says so. What came is
// counted and not known by number, so it must be exactly as much as was missing, and nothing may have been sent or delivered again in either
// trial. Whatever else the trial before broke stays broken.
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
