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

// RemoteConsumers books in a trial what consumers in another process have received. It belongs to one goroutine.
type RemoteConsumers struct {
	counters *counters
	booked   Receipts // so far
}

// RemoteConsumers returns a recorder for consumers in another process, which have received nothing yet.
func (t *Trial) RemoteConsumers() *RemoteConsumers {
	return &RemoteConsumers{
		counters: t.countersOf(0), booked: Receipts{EndToEnd: new([phases]hist.Snapshot), Service: new([phases]hist.Snapshot)},
	}
}

// Book books what the consumers have received since the last call, and reports whether they have received any message. For example, if
// the last receipts had 100 received and now has 130, 30 are booked. The latencies are booked by the next receipts that have them.
func (r *RemoteConsumers) Book(now Receipts) (received bool) {
	c, before := r.counters, r.booked
	c.received.add(now.Received.minus(before.Received))
	c.corrupted.add(now.Corrupted.minus(before.Corrupted))
	c.stale.add(now.Stale.minus(before.Stale))
	c.untimed.add(now.Untimed.minus(before.Untimed))
	r.booked = now
	if now.EndToEnd == nil || now.Service == nil {
		r.booked.EndToEnd, r.booked.Service = before.EndToEnd, before.Service
		return now.Received != before.Received
	}
	for phase := range phases {
		c.endToEnd[phase].Grow(before.EndToEnd[phase], now.EndToEnd[phase])
		c.endToEndService[phase].Grow(before.Service[phase], now.Service[phase])
	}
	return now.Received != before.Received
}
