package store

import (
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/hist"
)

// OwnDelay is what is known of the generator's own part in the latencies of a measured phase. The generator can delay a message
// three times: when it is sent (Lag), in a relay, and on arrival while the process is stalled.
type OwnDelay struct {
	Lag    hist.Snapshot // of each message, at its send
	Pauses *Pauses       // nil: not known
	// Processes is the number of processes whose wake-ups Pauses.Late mixes, of which each message waits for one: 2 if the
	// consumers had a process of their own. If one of two woke late at 2 of 100 wake-ups and the other never, Late has 1 of 100,
	// but 2 of 100 messages were late.
	Processes int
}

// OwnDelay returns the generator's own part in the latencies of m.
func (m Measurement) OwnDelay() OwnDelay {
	o := OwnDelay{Lag: m.Latency.GeneratorLag, Pauses: m.Pauses, Processes: 1}
	if m.Cost.Sides != nil {
		o.Processes = 2
	}
	return o
}

// longestUnseen is how much of a stall the watching thread may miss: the longest time between two of its wake-ups.
const longestUnseen = int64(clock.WatchEvery) * 3 / 2

// longest returns the longest delay that a pause of the process may have caused, in ns, with longestUnseen added.
func (p *Pauses) longest() int64 {
	longest := max(p.LongestNs, p.Late.Max())
	if longest >= int64(clock.Standstill) {
		longest += longestUnseen
	}
	return longest
}

// WithoutPauses returns lower bounds of the quantiles, in ns, that a latency would have without the pauses of generator and relays. The
// pauses are known over time, so the bounds hold where messages arrive evenly over time. The maximum loses the longest pause.
func (o OwnDelay) WithoutPauses(latency hist.Quantiles) hist.Quantiles {
	if o.Pauses == nil {
		return latency
	}
	without := latency.Without(o.Pauses.Late, float64(o.Processes), o.Pauses.longest())
	return without.Without(o.Pauses.Relays, 1, 0)
}

// Without returns lower bounds of the quantiles, in ns, that a latency from the intended time of sending would have without the
// generator's part. fromSend is the same latency from the actual send. There are two bounds, and the higher one holds:
//
//   - fromSend, which leaves out all the time that a message waited before its send, because of the generator's own lag or of the client;
//   - the latency without the distribution of the own lag (hist.Quantiles.Without), which keeps the client's part.
//
// Pauses are taken off both (WithoutPauses). For example, the p99.9 is 72 ms from the intended time, and 0.4 ms from the send. The process
// stood still for 100 ms of 30 s, so 0.3 % of the messages may have waited for it once more when they arrived: the bound is 0.4 ms less what
// the other wake-ups were late by.
func (o OwnDelay) Without(latency, fromSend hist.Snapshot) hist.Quantiles {
	withoutLag := hist.Quantiles(latency.Quantile).Without(o.Lag, 1, 0)
	if o.Lag.Count() == 0 || fromSend.Count() == 0 {
		return o.WithoutPauses(withoutLag)
	}
	// Messages that were never sent or never came are in latency but not in fromSend. There they count as 0.
	missing := max(0, float64(latency.Count()-fromSend.Count()))
	return o.WithoutPauses(func(q float64) int64 {
		known := (q*float64(latency.Count()) - missing) / float64(fromSend.Count())
		if missing == 0 {
			known = q
		}
		if known <= 0 {
			return withoutLag(q)
		}
		return max(withoutLag(q), min(fromSend.Quantile(known), latency.Quantile(q)))
	})
}

// MeanWithout returns the least mean, in ns, that a latency with this mean would have without the generator's part, whose mean is
// subtracted; ofSend says whether the latency contains the lag of the send.
func (o OwnDelay) MeanWithout(mean float64, ofSend bool) float64 {
	if ofSend {
		mean -= o.Lag.Mean()
	}
	if o.Pauses != nil {
		mean -= o.Pauses.Late.Mean()*float64(o.Processes) + o.Pauses.Relays.Mean()
	}
	return max(0, mean)
}
