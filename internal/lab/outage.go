package lab

import (
	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// outage is the longest time in which nothing was delivered, and nothing confirmed, while load was due. What the generator stood
// still itself is nobody's outage.
func outage(t trial) *store.Outage {
	sending := stood(t, func(p agent.Part) bool { return p.Outcome.Producers > 0 })
	receiving := stood(t, func(p agent.Part) bool { return p.Outcome.LastReceived > 0 })
	// A delivery fails to come when all senders stand still, and when all receivers do.
	return &store.Outage{
		ReceiveNs: longest(t.Undelivered, sending.With(receiving)), PublishNs: longest(t.Unconfirmed, sending), SampleNs: int64(t.SampleEvery),
	}
}

// stood is when all agents of one side stood still at once, or this process where it is the generator.
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

func longest(silences []worker.Stop, stood worker.Pauses) int64 {
	var ns int64
	for _, s := range silences {
		ns = max(ns, s.To-s.From-stood.Within(s.From, s.To))
	}
	return ns
}
