package lab

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/search"
	"github.com/brokermark/brokermark/internal/store"
)

// This file fills a record from what a search for the sustainable rate has found: two rates for each goal, which is a
// bound on latency. Low is the highest rate that passed, and High the lowest one that failed; either is 0 if there was
// none. No trial has a rate of 0, so for a missing bound s.tried, the trials by rate, has none.

// recordResult fills the record's result: the bounds of each goal, the figures of the full-length trials at the lower
// bound of the first goal (summedUp), and what was the limit above that. If the search has found nothing, the bounds are 0
// and the figures are missing.
func (s *rateSearch) recordResult(found search.Result) {
	first := found.Goals[0]
	result := &store.Result{}
	if at := s.tried[first.Low]; at.passed != nil {
		result = s.bench.keepResult(summedUp(*at.passed, at.others))
		result.OfferedRate = at.passed.Rate
	}
	result.Sustainable = &store.Sustainable{
		Low: first.Low, High: first.High, HeldNs: int64(first.Held), Goals: s.goalResults(found), Trials: s.trials, Limits: s.limits(first),
	}
	s.bench.record.Result = result
}

// goalResults returns the bounds of each goal in their stored form.
func (s *rateSearch) goalResults(found search.Result) []store.GoalResult {
	var results []store.GoalResult
	for i, goal := range s.goals {
		bounds := found.Goals[i]
		results = append(results, store.GoalResult{
			LatencyNs: int64(goal.Latency), Quantile: goal.Quantile, Low: bounds.Low, High: bounds.High, HeldNs: int64(bounds.Held), Conditional: bounds.Conditional,
			Undecided: bounds.Undecided.Text, Figures: bounds.Undecided.Figures, // the sentence, and the numbers in it
		})
	}
	return results
}

// noRateError says why the search found no rate for its first goal; nil if it found one.
func (s *rateSearch) noRateError(first search.Bounds) error {
	if first.Low > 0 {
		if s.tried[first.Low].passed == nil {
			return fmt.Errorf("internal error: %g/s counts as sustained, but no full-length trial at this rate passed", first.Low)
		}
		return nil
	}
	if first.Void != "" {
		return void("no rate could be confirmed: void %s", first.Void)
	}
	var reasons []string
	for _, reason := range []string{first.Undecided.Text, s.lastReason} {
		if reason != "" {
			reasons = append(reasons, reason)
		}
	}
	return failed("%s", strings.Join(reasons, ": "))
}

// addDoubts adds doubts about goals that were not answered, and about a rate that the generator limited.
func (s *rateSearch) addDoubts(found search.Result) {
	for i, bounds := range found.Goals {
		prefix := goalPrefix(s.goals[i], len(s.goals))
		if bounds.Undecided.Text != "" {
			s.bench.doubt(doubt.IncompleteSearch, "%s%s", prefix, bounds.Undecided)
		}
	}
	first := found.Goals[0]
	if !s.bench.record.Result.Sustainable.Open() {
		return
	}
	detail := ""
	if why := s.saturatedBetween(first.Low, first.High); why != "" {
		detail = ": " + why
	}
	s.bench.doubt(doubt.GeneratorBound, "at least this: the generator or its client, not the broker, ran out first%s%s",
		detail, s.bench.whyNoMore())
}

// goalPrefix begins a sentence about one of count goals: "latency of at most 50ms at p99: ". It is empty if there is
// only one.
func goalPrefix(g search.Goal, count int) string {
	switch {
	case count == 1:
		return ""
	case g.Latency == 0:
		return "without a latency bound: "
	}
	return fmt.Sprintf("latency of at most %s at p%g: ", g.Latency, 100*g.Quantile)
}

// limits names what set the pace just above the rate found, by the trial that failed there.
func (s *rateSearch) limits(found search.Bounds) store.Limits {
	var p bottleneck
	if t := s.tried[found.High].failed; t != nil {
		p = s.bench.bottleneckOf(*t)
		goal, latency := s.goals[0], s.bench.latency(*t)
		if goal.Latency > 0 && latency.QuantileAtMost(goal.Quantile) > int64(goal.Latency) {
			p.latency = fmt.Sprintf("the bound on the latency, %s at p%g: it was %s", goal.Latency, 100*goal.Quantile, told(latency.Quantile(goal.Quantile)))
		}
	}
	if found.Void != "" {
		p.generator = s.saturatedBetween(found.Low, found.High)
	}
	return p.limits()
}

// saturatedBetween says how the generator was saturated at the lowest rate between two bounds at which it was; empty if
// it was at none. high is 0 if there is no upper bound.
func (s *rateSearch) saturatedBetween(low, high float64) string {
	for _, rate := range slices.Sorted(maps.Keys(s.tried)) {
		between := rate > low && (high == 0 || rate < high)
		if why := s.tried[rate].saturated; between && why != "" {
			return why
		}
	}
	return ""
}

// summedUp returns a trial that stands for several at one rate: the last that passed, with the counts, latencies, pauses and costs of the
// others added. For example, of three trials of 20 s at 10,000/s, one of which failed by its latency, it has 600,000 messages in 60 s. The
// one that passed would by itself show the latency of a time in which the broker did well. Samples, series and streams are those of passed.
func summedUp(passed trial, others []trial) trial {
	all := passed
	all.before = others
	for _, t := range others {
		all.Measured.Add(t.Measured)
		all.Histograms.Merge(t.Histograms)
		all.BacklogMax = max(all.BacklogMax, t.BacklogMax)
		all.Cost = costTogether(all.Cost, t.Cost)
	}
	return all
}

// each returns the trials whose figures t has, one by one: what disturbed one of them is a doubt about all. The first still has the counts and
// latencies of all.
func (t trial) each() []trial {
	last := t
	last.before = nil
	return append([]trial{last}, t.before...)
}

// costTogether returns what two trials used one after the other. What is not known of one is not known of both.
func costTogether(a, b store.Cost) store.Cost {
	a.BrokerKnown = a.BrokerKnown && b.BrokerKnown
	a.BrokerUserSeconds += b.BrokerUserSeconds
	a.BrokerSystemSeconds += b.BrokerSystemSeconds
	a.BrokerRSSBytes = max(a.BrokerRSSBytes, b.BrokerRSSBytes)
	a.BrokerDiskWriteBytes = sumOfKnown(a.BrokerDiskWriteBytes, b.BrokerDiskWriteBytes)
	a.BrokerDiskReadBytes = sumOfBoth(a.BrokerDiskReadBytes, b.BrokerDiskReadBytes)
	a.BrokerFlushes = sumOfBoth(a.BrokerFlushes, b.BrokerFlushes)
	a.BrokerDataGrowthBytes = sumOfKnown(a.BrokerDataGrowthBytes, b.BrokerDataGrowthBytes)
	a.GeneratorUserSeconds += b.GeneratorUserSeconds
	a.GeneratorSystemSeconds += b.GeneratorSystemSeconds
	a.GeneratorRSSBytes = max(a.GeneratorRSSBytes, b.GeneratorRSSBytes)
	a.GeneratorGCPauseNs += b.GeneratorGCPauseNs
	a.Seconds += b.Seconds
	a.Messages += b.Messages
	a.Bytes += b.Bytes
	if a.Sides != nil && b.Sides != nil {
		a.Sides = &store.Sides{Producing: sideTogether(a.Sides.Producing, b.Sides.Producing), Consuming: sideTogether(a.Sides.Consuming, b.Sides.Consuming)}
	}
	if a.Relays != nil && b.Relays != nil {
		a.Relays = new(sideTogether(*a.Relays, *b.Relays))
	}
	return a
}

func sideTogether(a, b store.Side) store.Side {
	return store.Side{UserSeconds: a.UserSeconds + b.UserSeconds, SystemSeconds: a.SystemSeconds + b.SystemSeconds, RSSBytes: max(a.RSSBytes, b.RSSBytes)}
}

// pausesTogether returns the pauses of two trials. The longest pause, and when it began, are those of one of them.
func pausesTogether(a, b store.Pauses) store.Pauses {
	longest := a
	if b.LongestNs > a.LongestNs {
		longest = b
	}
	return store.Pauses{
		Late: a.Late.Merge(b.Late), Relays: a.Relays.Merge(b.Relays),
		LongestNs: longest.LongestNs, LongestOffsetNs: longest.LongestOffsetNs,
		GCPauseNs: a.GCPauseNs + b.GCPauseNs, StolenSeconds: a.StolenSeconds + b.StolenSeconds, QueuedSeconds: a.QueuedSeconds + b.QueuedSeconds,
	}
}

// sumOfKnown returns the sum of two counts of which −1 stands for one that is not known.
func sumOfKnown(a, b int64) int64 {
	if a < 0 || b < 0 {
		return -1
	}
	return a + b
}

func sumOfBoth(a, b *int64) *int64 {
	if a == nil || b == nil {
		return nil
	}
	return new(*a + *b)
}
