package measure

import "github.com/brokermark/brokermark/internal/hist"

// Receipts are what the consumers of a trial have received so far, as plain data for another process. The counts only rise.
type Receipts struct {
	Received, Corrupted, Stale, Untimed Tally
	// Latencies by phase, as in Histograms: received − intended, and received − sent. Both are nil if these receipts come without them.
	EndToEnd, Service *[phases]hist.Snapshot `json:",omitempty"`
}

// Receipts reads the counters, and the histograms if withLatencies is set; it may be called at any time.
func (t *Trial) Receipts(withLatencies bool) Receipts {
	c := t.totals()
	r := Receipts{Received: c.Received, Corrupted: c.Corrupted, Stale: c.Stale, Untimed: c.Untimed}
	if !withLatencies {
		return r
	}
	r.EndToEnd, r.Service = new([phases]hist.Snapshot), new([phases]hist.Snapshot)
	for i := range t.counters {
		for phase := range phases {
			r.EndToEnd[phase] = r.EndToEnd[phase].Merge(t.counters[i].endToEnd[phase].Snapshot())
			r.Service[phase] = r.Service[phase].Merge(t.counters[i].endToEndService[phase].Snapshot())
		}
	}
	return r
}

// Absorb books what the consumers in another process have received between two of their receipts. The first call takes the zero value as
// before, each further one what the last one returned: now, with the latencies of before if now comes without any. For example, if
// before has 100 received and now has 130, 30 are booked. Absorb belongs to one goroutine.
func (t *Trial) Absorb(before, now Receipts) Receipts {
	c := t.countersOf(0)
	c.received.add(now.Received.minus(before.Received))
	c.corrupted.add(now.Corrupted.minus(before.Corrupted))
	c.stale.add(now.Stale.minus(before.Stale))
	c.untimed.add(now.Untimed.minus(before.Untimed))
	if now.EndToEnd == nil || now.Service == nil {
		now.EndToEnd, now.Service = before.EndToEnd, before.Service
		return now
	}
	if before.EndToEnd == nil {
		before.EndToEnd, before.Service = new([phases]hist.Snapshot), new([phases]hist.Snapshot)
	}
	for phase := range phases {
		c.endToEnd[phase].Grow(before.EndToEnd[phase], now.EndToEnd[phase])
		c.endToEndService[phase].Grow(before.Service[phase], now.Service[phase])
	}
	return now
}
