package lab

import (
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// outage is the longest time in which nothing was delivered, and nothing confirmed, while load was due.
func outage(t trial) *store.Outage {
	return &store.Outage{
		ReceiveNs: longestGap(t, func(s worker.Sample) (done, open int64) { return s.Count.Received, s.Undelivered }),
		PublishNs: longestGap(t, func(s worker.Sample) (done, open int64) { return s.Count.Acked, s.Unconfirmed }),
	}
}

// longestGap is the longest time, beginning in the measured phase, in which something was open and nothing got done. One
// that nothing ended counts as far as that phase: afterwards nothing may be due. What this process stood still itself is
// nobody's outage.
func longestGap(t trial, count func(worker.Sample) (done, open int64)) int64 {
	since, last, longest := t.From, int64(0), int64(0)
	gap := func(to int64) int64 { return to - since - t.Pauses.Within(since, to) }
	for _, s := range t.Samples {
		done, open := count(s)
		switch {
		case s.At < t.From:
			last = done
		case done != last:
			if since < t.Until {
				longest = max(longest, gap(s.At))
			}
			since, last = s.At, done
		case open == 0: // nothing was to be done up to now
			since = s.At
		}
	}
	return max(longest, gap(t.Until))
}
