package lab

import (
	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// outage returns the longest times in which nothing was delivered, and nothing was confirmed, although messages were due. Times in
// which the generator itself stood still are left out.
func outage(t trial) *store.Outage {
	sending := commonPauses(t, func(p agent.Part) bool { return p.Outcome.Producers > 0 })
	receiving := commonPauses(t, func(p agent.Part) bool { return p.Outcome.LastReceived > 0 })
	// Nothing is delivered while all senders stand still, nor while all receivers do.
	return &store.Outage{
		ReceiveNs: longestSilence(t.Undelivered, sending.With(receiving)), PublishNs: longestSilence(t.Unconfirmed, sending),
		SampleNs: int64(t.SampleEvery),
	}
}

// commonPauses returns when all agents of one side, producing or consuming, stood still at once. If the generator is this process, it
// returns this process's pauses.
func commonPauses(t trial, onSide func(agent.Part) bool) worker.Pauses {
	common, agents := t.Pauses, 0
	for _, p := range t.Parts {
		if !onSide(p) {
			continue
		}
		if agents++; agents == 1 {
			common = p.Outcome.Pauses
		} else {
			common.Stops = common.Both(p.Outcome.Pauses)
		}
	}
	return common
}

// longestSilence returns the longest silence in ns, without the generator's pauses in it.
func longestSilence(silences []worker.Stop, pauses worker.Pauses) int64 {
	var longest int64
	for _, s := range silences {
		longest = max(longest, s.To-s.From-pauses.Within(s.From, s.To))
	}
	return longest
}
