package measure

import "github.com/brokermark/brokermark/internal/hist"

// Receipts are what the consumers of a trial have received so far, as plain data for another process. The counts only rise.
type Receipts struct {
	Received, Lagging, Corrupted, Stale, Untimed Tally
	// Latencies are nil if these receipts come without them.
	Latencies *ReceiptLatencies `json:",omitempty"`
}

// ReceiptLatencies are latencies by phase, as in Histograms.
type ReceiptLatencies struct{ EndToEnd, Lagging, Service [phases]hist.Snapshot }

// Receipts reads the counters, and the histograms if withLatencies is set; it may be called at any time.
func (t *Trial) Receipts(withLatencies bool) Receipts {
	c := t.totals()
	r := Receipts{Received: c.Received, Lagging: c.Lagging, Corrupted: c.Corrupted, Stale: c.Stale, Untimed: c.Untimed}
	if !withLatencies {
		return r
	}
	r.Latencies = new(ReceiptLatencies)
	for phase := range phases {
		h := t.Histograms(phase)
		r.Latencies.EndToEnd[phase], r.Latencies.Lagging[phase], r.Latencies.Service[phase] = h.EndToEnd, h.EndToEndLagging, h.EndToEndService
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
	return &RemoteConsumers{counters: t.countersOf(0), booked: Receipts{Latencies: new(ReceiptLatencies)}}
}

// Book books what the consumers have received since the last call, and reports whether they have received any message. For example, if
// the last receipts had 100 received and now has 130, 30 are booked. The latencies are booked by the next receipts that have them.
func (r *RemoteConsumers) Book(now Receipts) (received bool) {
	c, before := r.counters, r.booked
	if now.Latencies == nil {
		now.Latencies = before.Latencies
	} else {
		for phase := range phases {
			c.endToEnd[phase].Grow(before.Latencies.EndToEnd[phase], now.Latencies.EndToEnd[phase])
			c.endToEndLagging[phase].Grow(before.Latencies.Lagging[phase], now.Latencies.Lagging[phase])
			c.endToEndService[phase].Grow(before.Latencies.Service[phase], now.Latencies.Service[phase])
		}
	}
	c.received.add(now.Received.minus(before.Received))
	c.lagging.add(now.Lagging.minus(before.Lagging))
	c.corrupted.add(now.Corrupted.minus(before.Corrupted))
	c.stale.add(now.Stale.minus(before.Stale))
	c.untimed.add(now.Untimed.minus(before.Untimed))
	r.booked = now
	return now.Received != before.Received
}
