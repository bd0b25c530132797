package lab

import (
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// outage is the longest time in which nothing was delivered, and nothing confirmed, while load was due.
func outage(t trial) *store.Outage {
	return &store.Outage{
		ReceiveNs: longestGap(t, func(s worker.Sample) int64 { return s.Count.Received }),
		PublishNs: longestGap(t, func(s worker.Sample) int64 { return s.Count.Acked }),
	}
}

// longestGap is the longest time without a change of count that begins in the measured phase. One that nothing ended
// counts as far as that phase: afterwards nothing may be due.
func longestGap(t trial, count func(worker.Sample) int64) int64 {
	since, last, longest := t.From, int64(0), int64(0)
	for _, s := range t.Samples {
		n := count(s)
		if s.At < t.From {
			last = n
			continue
		}
		if n == last {
			continue
		}
		if since < t.Until {
			longest = max(longest, s.At-since)
		}
		since, last = s.At, n
	}
	return max(longest, t.Until-since)
}
