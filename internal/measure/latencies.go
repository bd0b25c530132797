package measure

import "github.com/brokermark/brokermark/internal/hist"

// phasedHistogram is a histogram for each phase.
type phasedHistogram [phases]hist.Histogram

// phasedBatch gathers values of one goroutine for a phasedHistogram. Successive values of the same bucket then cost one atomic operation.
type phasedBatch [phases]hist.Batch

func (h *phasedHistogram) add(b *phasedBatch, phase Phase, ns int64) { h[phase].Add(&b[phase], ns) }

// flush adds the values that b still holds, and empties it.
func (h *phasedHistogram) flush(b *phasedBatch) {
	for phase := range phases {
		h[phase].Flush(&b[phase])
	}
}

// snapshot returns the values of all phases together.
func (h *phasedHistogram) snapshot() hist.Snapshot {
	var all hist.Snapshot
	for phase := range phases {
		all = all.Merge(h[phase].Snapshot())
	}
	return all
}

// Histograms are the latencies of a phase, ns.
type Histograms struct {
	EndToEnd        hist.Snapshot // received − intended
	EndToEndLagging hist.Snapshot `json:",omitzero"` // the same of consumers that lag, which are in no other (Consumer.Lag)
	EndToEndService hist.Snapshot // received − sent
	Publish         hist.Snapshot // acknowledged − intended
	Service         hist.Snapshot // acknowledged − sent
	Lag             hist.Snapshot // sent − intended
	GeneratorLag    hist.Snapshot // the part of the lag that the generator caused
}

// each lists the histograms of h; those of counters are in the same order.
func (h *Histograms) each() [7]*hist.Snapshot {
	return [...]*hist.Snapshot{&h.EndToEnd, &h.EndToEndLagging, &h.EndToEndService, &h.Publish, &h.Service, &h.Lag, &h.GeneratorLag}
}

// each lists the histograms of all phases, in the order of Histograms.
func (c *counters) each() [7]*phasedHistogram {
	return [...]*phasedHistogram{&c.endToEnd, &c.endToEndLagging, &c.endToEndService, &c.publish, &c.service, &c.lag, &c.generatorLag}
}

// Histograms returns the latencies of a phase so far.
func (t *Trial) Histograms(phase Phase) Histograms {
	var h Histograms
	for i := range t.counters {
		for j, one := range t.counters[i].each() {
			all := h.each()[j]
			*all = all.Merge(one[phase].Snapshot())
		}
	}
	return h
}

// Merge adds the latencies of other.
func (h *Histograms) Merge(other Histograms) {
	for i, one := range other.each() {
		all := h.each()[i]
		*all = all.Merge(*one)
	}
}

// Sub returns the latencies that were booked after earlier, which are older ones of the same trial.
func (h Histograms) Sub(earlier Histograms) Histograms {
	for i, one := range earlier.each() {
		all := h.each()[i]
		*all = all.Sub(*one)
	}
	return h
}

// addHistograms adds the latencies of a phase that were measured elsewhere.
func (c *counters) addHistograms(phase Phase, h *Histograms) {
	for i, one := range c.each() {
		one[phase].Grow(hist.Snapshot{}, *h.each()[i])
	}
}

// EndToEnd returns the end-to-end latencies so far, all phases together, without those of consumers that lag; the publish
// latencies if there is no subscription.
func (t *Trial) EndToEnd() hist.Snapshot {
	var s hist.Snapshot
	for i := range t.counters {
		h := &t.counters[i].endToEnd
		if t.subscriptions == 0 {
			h = &t.counters[i].publish
		}
		s = s.Merge(h.snapshot())
	}
	return s
}

// Service returns the latencies from the actual send to the acknowledgement so far, all phases together.
func (t *Trial) Service() hist.Snapshot {
	var s hist.Snapshot
	for i := range t.counters {
		s = s.Merge(t.counters[i].service.snapshot())
	}
	return s
}

// FromSend returns the number and the sum, in ns, of the latencies from the actual send to the receipt so far, all phases
// together; to the acknowledgement if there is no subscription.
func (t *Trial) FromSend() (count int64, sum float64) {
	for i := range t.counters {
		h := &t.counters[i].endToEndService
		if t.subscriptions == 0 {
			h = &t.counters[i].service
		}
		for phase := range phases {
			n, ns := h[phase].Totals()
			count, sum = count+n, sum+ns
		}
	}
	return count, sum
}
