package lab

import (
	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// outage returns the longest times in which nothing was delivered, and nothing was confirmed, although messages were due. Times in
// which the generator itself stood still are left out.
func outage(t trial) *store.Outage {
	sending := stood(t, func(p agent.Part) bool { return p.Outcome.Producers > 0 })
	receiving := stood(t, func(p agent.Part) bool { return p.Outcome.LastReceived > 0 })
	// Nothing is delivered while all senders stand still, nor while all receivers do.
	return &store.Outage{
		ReceiveNs: longestSilence(t.Undelivered, sending.With(receiving)), PublishNs: longestSilence(t.Unconfirmed, sending),
		SampleNs: int64(t.SampleEvery),
	}
}

// stood returns when all agents of one side stood still at once, or when this process did if it is the generator.
func stood(t trial, side func(agent.Part) bool) worker.Pauses {
	var all *worker.Pauses
	for _, p := range t.Parts {
		switch {
		case !side(p):
		case all == nil:
			all = &p.Outcome.Pauses
		default:
			all.Stops = all.Both(p.Outcome.Pauses)
		}
	}
	if all == nil {
		return t.Pauses
	}
	return *all
}

// longestSilence returns the longest silence in ns, without the times in which the generator stood still.
func longestSilence(silences []worker.Stop, stood worker.Pauses) int64 {
	var longest int64
	for _, s := range silences {
		longest = max(longest, s.To-s.From-stood.Within(s.From, s.To))
	}
	return longest
}
