package lab

import (
	"maps"
	"slices"

	"github.com/brokermark/brokermark/internal/search"
)

// The bottlenecks above a sustainable rate, as records hold them.
const (
	limitGenerator     = "generator"      // the generator was late, or used up its cores
	limitLatency       = "latency"        // the goal's latency bound
	limitConsumerDelay = "consumer-delay" // the consumers' own work on each message
	limitCPU           = "cpu"            // the cores of the machine
	limitClientWindow  = "client-window"  // places for unconfirmed messages
	limitClientSend    = "client-send"    // the client's Send
	limitUnknown       = "unknown"
)

// The thresholds of bottleneck. It only guesses, so each is well above what a trial with room to spare shows.
const (
	cpuFull     = 0.9 // of all cores: the rest goes to interrupts and to other processes
	blockedMost = 0.5 // of the producers' time: without a wait for a slot they would have sent up to twice as much
	sendingMost = 0.8 // of the producers' time: hardly any is left to wait for the next message to be due
)

// bottleneck guesses what ran out just above the rate found. The first cause that fits wins: what was asked for (a latency, the
// consumers' delay) comes before what the machine lacks, and that before what the client lacks, since a machine without
// free cores makes the client slow as well.
func (s *rateSearch) bottleneck(found search.Bounds) string {
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

// saturatedBetween says how the generator was saturated at the lowest rate between two bounds at which it was; empty if it was at
// none. high is 0 if there is no upper bound.
func (s *rateSearch) saturatedBetween(low, high float64) string {
	for _, rate := range slices.Sorted(maps.Keys(s.tried)) {
		if why := s.tried[rate].saturated; why != "" && rate > low && (high == 0 || rate < high) {
			return why
		}
	}
	return ""
}
