package lab

import (
	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// outage returns the longest times in which nothing was delivered, and nothing was confirmed, although messages were due. Times in
// which the generator itself stood still are left out: 3 s without a delivery, for 1 s of which it stood still, are an outage of 2 s.
func outage(t trial) *store.Outage {
	sending := commonStops(t, func(p agent.Part) bool { return p.Outcome.Producers > 0 })
	receiving := commonStops(t, func(p agent.Part) bool { return p.Outcome.LastReceived > 0 })
	// Nothing is delivered while all senders stand still, nor while all receivers do.
	return &store.Outage{
		ReceiveNs: longestSilence(t.DeliverySilences, sending.Union(receiving)),
		PublishNs: longestSilence(t.ConfirmationSilences, sending),
		SampleNs:  int64(t.SampleEvery),
	}
}

// commonStops returns when all agents of one side, producing or consuming, stood still at once. If there is none on that side, it
// returns when this process did, which then is the generator.
func commonStops(t trial, onSide func(agent.Part) bool) worker.Pauses {
	var common worker.Pauses
	agents := 0
	for _, p := range t.Parts {
		if !onSide(p) {
			continue
		}
		if agents == 0 {
			common.Stops = p.Outcome.Pauses.Stops
		} else {
			common.Stops = common.Intersect(p.Outcome.Pauses)
		}
		agents++
	}
	if agents == 0 {
		common.Stops = t.Pauses.Stops
	}
	return common
}

// longestSilence returns the longest silence in ns, without the generator's own stops in it; 0 if there was none.
func longestSilence(silences []worker.Interval, own worker.Pauses) int64 {
	var longest int64
	for _, s := range silences {
		longest = max(longest, s.To-s.From-own.StoodStill(s.From, s.To))
	}
	return longest
}
