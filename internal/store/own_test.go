package store

import (
	"testing"

	"github.com/brokermark/brokermark/internal/hist"
)

func TestADelayOfOursIsTakenOffWhereverItCameAbout(t *testing.T) {
	const ms = int64(1e6)
	// 995 messages took 1 ms, and 5 took 101 ms.
	slow := func(common, rare int64) hist.Snapshot {
		h := hist.New()
		h.RecordN(common, 995)
		h.RecordN(rare, 5)
		return h.Snapshot()
	}
	all, late := slow(ms, 101*ms), slow(0, 100*ms)
	some := hist.New()
	some.RecordN(ms, 900) // 95 others were lost
	some.RecordN(101*ms, 5)
	for _, c := range []struct {
		name     string
		own      OwnDelay
		fromSend hist.Snapshot
		p99, max int64 // at least, without ours
	}{
		{"nothing of ours", OwnDelay{}, all, ms, 101 * ms},
		{"sent late", OwnDelay{Lag: late}, slow(ms, ms), ms, ms},
		{"held up by the client", OwnDelay{Lag: slow(0, 1)}, slow(ms, ms), ms, 101*ms - 1},
		{"stood still", OwnDelay{Lag: slow(0, 0), Pauses: &Pauses{Late: late}, Processes: 1}, all, ms, ms},
		{"one of two processes stood still", OwnDelay{Lag: slow(0, 0), Pauses: &Pauses{Late: late}, Processes: 2}, all, ms, ms},
		{"a pause after the phase", OwnDelay{Lag: slow(0, 0), Pauses: &Pauses{LongestNs: 60 * ms}, Processes: 1}, all, 0, 101*ms - 60*ms - longestUnseen},
		{"a relay stood still", OwnDelay{Lag: slow(0, 0), Pauses: &Pauses{Relays: late}, Processes: 1}, all, ms, ms},
		{"what never came may have come at once", OwnDelay{Lag: late}, some.Snapshot(), ms, 101 * ms},
	} {
		bound := c.own.Without(all, c.fromSend)
		for q, want := range map[float64]int64{0.99: c.p99, 1: c.max} {
			if got := bound(q); got < want-want/200 || got > want+want/200 {
				t.Errorf("%s: at least %d at %v, want %d", c.name, got, q, want)
			}
		}
	}
}
