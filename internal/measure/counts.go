package measure

import (
	"fmt"
	"sync/atomic"
)

// Tally is a count for each phase.
type Tally [phases]int64

// negative reports whether the count of a phase is below 0, which only damaged data can show.
func (t Tally) negative() bool { return min(t[Warmup], t[Measured]) < 0 }

// add adds the counts of other, phase by phase.
func (t *Tally) add(other Tally) {
	for phase := range phases {
		t[phase] += other[phase]
	}
}

func (t Tally) minus(other Tally) Tally {
	return Tally{Warmup: t[Warmup] - other[Warmup], Measured: t[Measured] - other[Measured]}
}

// atomicTally is a Tally that any goroutine may add to at any time.
type atomicTally [phases]atomic.Int64

func (a *atomicTally) add(t Tally) {
	for phase, n := range t {
		if n != 0 {
			a[phase].Add(n)
		}
	}
}

func (a *atomicTally) subtract(t Tally) { a.add(Tally{}.minus(t)) }

func (a *atomicTally) load() Tally {
	return Tally{Warmup: a[Warmup].Load(), Measured: a[Measured].Load()}
}

// sum returns the count of all phases together.
func (a *atomicTally) sum() int64 { return a[Warmup].Load() + a[Measured].Load() }

// counters are the counters and histograms that some of a trial's producers and consumers record in. A trial spreads its
// producers and consumers over several, so that they don't write to the same cache lines. Totals and Histograms describe
// the counts.
type counters struct {
	sent, bytes, acked, failed, unsent, resent atomicTally
	received, lagging                          atomicTally
	corrupted, stale, untimed                  atomicTally
	lag, generatorLag, publish, service        phasedHistogram
	endToEnd, endToEndService, endToEndLagging phasedHistogram
	early                                      atomic.Int64 // see Early.Deliveries
	earlyBy                                    atomic.Int64 // see Early.By
	_                                          [64]byte     // keeps the next counters off this one's last cache line
}

// maxCounters bounds the counters of a trial, since each takes 0.9 MiB.
const maxCounters = 8

// countersOf returns the counters of producer or consumer i.
func (t *Trial) countersOf(i int) *counters { return &t.counters[i%len(t.counters)] }

// Totals are the counts of a trial that are not kept in the ledgers of its streams.
type Totals struct {
	Sent      Tally // handed to the client
	Bytes     Tally // payload bytes sent
	Acked     Tally
	Failed    Tally // reported as failed by the client
	Unsent    Tally // due, but never handed to the client
	Resent    Tally // sent again, and not counted again in Sent
	Received  Tally // distinct deliveries; each subscription counts a message once
	Lagging   Tally // those of Received that came to consumers that lag (Consumer.Lag)
	Corrupted Tally // deliveries that are damaged, or of messages that were never sent
	Stale     Tally // deliveries of an earlier trial's messages
	Untimed   Tally // received, but their times are no longer known
}

// countedTotal is one of the Totals and the counter that records it.
type countedTotal struct {
	total   *Tally
	counter *atomicTally
}

// pairedWith pairs each of the totals with the counter that records it.
func (c *counters) pairedWith(t *Totals) [11]countedTotal {
	return [...]countedTotal{
		{&t.Sent, &c.sent},
		{&t.Bytes, &c.bytes},
		{&t.Acked, &c.acked},
		{&t.Failed, &c.failed},
		{&t.Unsent, &c.unsent},
		{&t.Resent, &c.resent},
		{&t.Received, &c.received},
		{&t.Lagging, &c.lagging},
		{&t.Corrupted, &c.corrupted},
		{&t.Stale, &c.stale},
		{&t.Untimed, &c.untimed},
	}
}

// totals reads the counters; it may be called at any time.
func (t *Trial) totals() Totals {
	var sum Totals
	for i := range t.counters {
		for _, c := range t.counters[i].pairedWith(&sum) {
			c.total.add(c.counter.load())
		}
	}
	return sum
}

// addTotals adds counts made elsewhere. It adds nothing and fails if a count is below 0.
func (c *counters) addTotals(t Totals) error {
	counts := c.pairedWith(&t)
	for _, count := range counts {
		if count.total.negative() {
			return fmt.Errorf("it has counts below 0: %+v", t)
		}
	}
	for _, count := range counts {
		count.counter.add(*count.total)
	}
	return nil
}

// Count is a momentary view of the counters, all phases together.
type Count struct {
	Sent, Bytes, Acked, Failed, Received int64
	Lagging                              int64 `json:",omitempty"` // of Received
}

// Plus returns the sum of two counts.
func (c Count) Plus(o Count) Count {
	return Count{
		Sent: c.Sent + o.Sent, Bytes: c.Bytes + o.Bytes,
		Acked: c.Acked + o.Acked, Failed: c.Failed + o.Failed, Received: c.Received + o.Received, Lagging: c.Lagging + o.Lagging,
	}
}

// Count reads the live counters; it may be called at any time. It reads outcomes before sent messages, so that neither
// Received nor Acked + Failed ever exceeds what the messages sent allow.
func (t *Trial) Count() Count {
	var sum Count
	for i := range t.counters {
		c := &t.counters[i]
		sum.Received += c.received.sum()
		sum.Lagging += c.lagging.sum()
		sum.Acked += c.acked.sum()
		sum.Failed += c.failed.sum()
	}
	for i := range t.counters {
		c := &t.counters[i]
		sum.Sent += c.sent.sum()
		sum.Bytes += c.bytes.sum()
	}
	return sum
}
