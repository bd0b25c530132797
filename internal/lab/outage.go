package lab

import (
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// outage is the longest time in which nothing was delivered, and nothing confirmed, while load was due. What this process
// stood still itself is nobody's outage.
func outage(t trial) *store.Outage {
	return &store.Outage{ReceiveNs: longest(t, t.Undelivered), PublishNs: longest(t, t.Unconfirmed), SampleNs: int64(t.SampleEvery)}
}

func longest(t trial, silences []worker.Stop) int64 {
	var ns int64
	for _, s := range silences {
		ns = max(ns, s.To-s.From-t.Pauses.Within(s.From, s.To))
	}
	return ns
}
