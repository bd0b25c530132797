package measure

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/testkit"
	"github.com/brokermark/brokermark/internal/wire"
)

// account is a whole trial as one would write it down by hand: several producers that go on counting where the trial
// before ended, several subscriptions, and latencies so small that histograms hold them exactly.
type account struct {
	subscriptions int
	from          int64 // intended times from here on are measured
	producers     []sender
	books         [phases]Books
	latencies     [phases]map[string][]int64
}

type sender struct {
	base     uint64
	messages []sent
}

type sent struct {
	intended, sent, own int64
	size                int
	fate                string // acked, failed, unresolved
	received            []int  // deliveries per subscription
}

func (a *account) phase(intended int64) Phase {
	if intended >= a.from {
		return Measured
	}
	return Warmup
}

func (a *account) note(phase Phase, what string, values ...int64) {
	if a.latencies[phase] == nil {
		a.latencies[phase] = map[string][]int64{}
	}
	a.latencies[phase][what] = append(a.latencies[phase][what], values...)
}

// play sends everything with drawn outcomes, then delivers it with drawn faults.
func (a *account) play(t *rapid.T, trial *Trial) {
	small := rapid.Int64Range(0, 200)
	for i := range a.producers {
		s := &a.producers[i]
		p := trial.Producer(i)
		var acks Acks
		for n := range rapid.IntRange(0, 150).Draw(t, "messages") {
			m := sent{intended: int64(1000*n + 100*i), size: rapid.IntRange(32, 90).Draw(t, "size"), received: make([]int, a.subscriptions)}
			m.sent, m.own = m.intended+small.Draw(t, "lag"), small.Draw(t, "own")
			m.fate = rapid.SampledFrom([]string{"acked", "acked", "acked", "failed", "unresolved"}).Draw(t, "fate")
			a.one(t, trial, p, &acks, s.base+uint64(n), m)
			s.messages = append(s.messages, m)
			if rapid.IntRange(0, 5).Draw(t, "commit") == 0 {
				p.Commit()
				p.Confirm(&acks)
			}
		}
		p.Commit()
		p.Confirm(&acks)
	}
}

func (a *account) one(t *rapid.T, trial *Trial, p *Producer, acks *Acks, seq uint64, m sent) {
	want := a.phase(m.intended)
	b := &a.books[want]
	phase := p.Sent(seq, m.size, m.intended, m.sent, m.own)
	if phase != want {
		t.Fatalf("message %d is of phase %d, want %d", seq, phase, want)
	}
	b.Due, b.Sent, b.Bytes, b.Expected = b.Due+1, b.Sent+1, b.Bytes+int64(m.size), b.Expected+int64(a.subscriptions)
	a.note(phase, "lag", m.sent-m.intended)
	a.note(phase, "own", m.own)
	switch m.fate {
	case "acked":
		now := m.sent + rapid.Int64Range(0, 200).Draw(t, "acked after")
		p.Acked(acks, phase, m.intended, m.sent, now)
		b.Acked++
		a.note(phase, "publish", now-m.intended)
		a.note(phase, "service", now-m.sent)
	case "failed":
		p.Resent(phase)
		b.Resent++
		p.Failed(acks, phase, seq)
		b.Failed++
	default:
		p.Unresolved(seq)
		b.Unresolved++
	}
}

// deliver gives each subscription what it gets: mostly everything, in disorder, some twice, and what isn't of this trial.
func (a *account) deliver(t *rapid.T, trial *Trial, timed bool) {
	for sub := range a.subscriptions {
		consumers := []*Consumer{trial.Consumer(sub, sub, nil), trial.Consumer(sub+a.subscriptions, sub, nil)}
		for i := range a.producers {
			s := &a.producers[i]
			highest := -1
			var order []int
			for n := range s.messages {
				for range rapid.SampledFrom([]int{0, 1, 1, 1, 1, 2}).Draw(t, "copies") {
					order = append(order, n)
				}
			}
			for range min(len(order)/2, 5) {
				j, k := rapid.IntRange(0, len(order)-1).Draw(t, "j"), rapid.IntRange(0, len(order)-1).Draw(t, "k")
				order[j], order[k] = order[k], order[j]
			}
			for _, n := range order {
				c := consumers[n%2]
				m := &s.messages[n]
				phase := a.phase(m.intended)
				now := m.sent + rapid.Int64Range(0, 200).Draw(t, "received after")
				h := wire.Header{ID: wire.MakeID(uint32(i), s.base+uint64(n)), Intended: m.intended, Sent: m.sent, Timed: timed}
				c.Received(&h, now)
				c.Commit()
				b := &a.books[phase]
				if m.received[sub]++; m.received[sub] > 1 {
					b.Duplicated++
					continue
				}
				b.Received++
				if n < highest {
					b.Reordered++
				}
				highest = max(highest, n)
				a.note(phase, "e2e", now-m.intended)
				a.note(phase, "e2e service", now-m.sent)
			}
			a.strangers(consumers[0], uint32(i))
			consumers[0].Commit()
		}
	}
	for i := range a.producers {
		for _, m := range a.producers[i].messages {
			for _, copies := range m.received {
				b := &a.books[a.phase(m.intended)]
				if copies == 0 {
					b.Lost++
					if m.fate == "acked" {
						b.LostAcked++
					}
				}
			}
		}
	}
}

// strangers are deliveries that this trial can't have sent.
func (a *account) strangers(c *Consumer, producer uint32) {
	s := &a.producers[producer]
	if s.base > 0 {
		c.Received(&wire.Header{ID: wire.MakeID(producer, s.base-1), Timed: true}, 1)
		a.books[Measured].Stale++
	}
	c.Received(&wire.Header{ID: wire.MakeID(uint32(len(a.producers)), s.base), Timed: true}, 1)
	a.books[Measured].Corrupted++
	c.Corrupted(a.from)
	a.books[Measured].Corrupted++
	c.Corrupted(a.from - 1)
	a.books[Warmup].Corrupted++
}

// atLeast marks a latency that is a lower bound, which the account writes below 0; and takes the mark away.
func atLeast(v int64) int64 { return -1 - v }

func exactly(values []int64) hist.Snapshot {
	h := hist.New()
	for _, v := range values {
		if v < 0 {
			h.RecordCensored(atLeast(v), 1)
		} else {
			h.Record(v)
		}
	}
	return h.Snapshot()
}

func sameLatency(t *rapid.T, what string, got hist.Snapshot, values []int64) {
	t.Helper()
	if a, b := fmt.Sprint(got), fmt.Sprint(exactly(values)); a != b {
		t.Fatalf("%s: %s, want %s of %v", what, a, b, values)
	}
}

func TestASecondTrialsBooksAreThoseOfItsOwnMessages(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		short := rapid.Bool().Draw(t, "short payloads")
		a := &account{subscriptions: rapid.IntRange(0, 2).Draw(t, "subscriptions"), from: rapid.Int64Range(0, 160_000).Draw(t, "measured from")}
		producers := rapid.IntRange(1, 3).Draw(t, "producers")
		trial := NewTrial(Shape{Producers: producers, Consumers: 2 * a.subscriptions, Subscriptions: a.subscriptions, ShortPayload: short, Outstanding: 1000})
		trial.MeasureFrom(a.from)
		for i := range producers {
			base := rapid.SampledFrom([]uint64{0, 1, 63, 64, 1000, 1 << 30}).Draw(t, "base")
			trial.SetBase(i, base)
			a.producers = append(a.producers, sender{base: base})
		}
		a.play(t, trial)
		a.deliver(t, trial, !short)
		a.leave(t, trial)
		a.missing(t, trial)

		var count Count
		var endToEnd, service []int64
		for phase := range phases {
			got, want := trial.Books(phase), a.books[phase]
			if got != want || !got.Balanced() {
				t.Fatalf("phase %d: %+v\nwant %+v", phase, got, want)
			}
			h := trial.Histograms(phase)
			for what, s := range map[string]hist.Snapshot{
				"lag": h.Lag, "own": h.GeneratorLag, "publish": h.Publish, "service": h.Service, "e2e": h.EndToEnd, "e2e service": h.EndToEndService,
			} {
				sameLatency(t, fmt.Sprintf("%s of phase %d", what, phase), s, a.latencies[phase][what])
			}
			count.Sent, count.Bytes, count.Received = count.Sent+want.Sent, count.Bytes+want.Bytes, count.Received+want.Received
			count.Acked, count.Failed = count.Acked+want.Acked, count.Failed+want.Failed
			service = append(service, a.latencies[phase]["service"]...)
			if a.subscriptions > 0 {
				endToEnd = append(endToEnd, a.latencies[phase]["e2e"]...)
			} else {
				endToEnd = append(endToEnd, a.latencies[phase]["publish"]...)
			}
		}
		if got := trial.Count(); got != count || trial.Subscriptions() != a.subscriptions || trial.MeasuredSince() != a.from {
			t.Fatalf("the live counters say %+v, want %+v", got, count)
		}
		sameLatency(t, "live end to end", trial.EndToEnd(), endToEnd)
		sameLatency(t, "live service", trial.Service(), service)
		a.streams(t, trial)
	})
}

// leave books the messages that were due and never sent.
func (a *account) leave(t *rapid.T, trial *Trial) {
	for range rapid.IntRange(0, 2).Draw(t, "unsent") {
		phase, n := rapid.SampledFrom([]Phase{Warmup, Measured}).Draw(t, "phase"), rapid.Int64Range(0, 3).Draw(t, "n")
		waited, own := rapid.Int64Range(0, 400).Draw(t, "waited"), rapid.Int64Range(0, 400).Draw(t, "own")
		trial.Producer(0).Unsent(phase, n, 1000, 1000+waited, own)
		trial.Producer(0).UnsentUntimed(phase, 1)
		a.books[phase].Unsent += n + 1
		a.books[phase].Due += n + 1
		for range n {
			a.note(phase, "lag", atLeast(waited))
			a.note(phase, "publish", atLeast(waited))
			a.note(phase, "own", own)
			a.note(phase, "e2e", slices.Repeat([]int64{atLeast(waited)}, a.subscriptions)...)
		}
	}
}

// missing books what never came, or was never confirmed.
func (a *account) missing(t *rapid.T, trial *Trial) {
	for i, s := range a.producers {
		for n, m := range s.messages {
			phase, waited := a.phase(m.intended), rapid.Int64Range(0, 400).Draw(t, "waited for")
			trial.BookUnconfirmed(i, uint64(n), m.intended, m.intended+waited)
			trial.BookUndelivered(i, uint64(n), m.intended, m.intended+waited)
			if m.fate != "acked" {
				a.note(phase, "publish", atLeast(waited))
			}
			for _, copies := range m.received {
				if copies == 0 {
					a.note(phase, "e2e", atLeast(waited))
				}
			}
		}
	}
}

// streams compares each ledger, and what is still missing.
func (a *account) streams(t *rapid.T, trial *Trial) {
	var missing int64
	all := trial.Streams(true)
	if len(all) != len(a.producers)*a.subscriptions {
		t.Fatalf("%d ledgers", len(all))
	}
	faulty := 0
	for k, got := range all {
		i, sub := k/a.subscriptions, k%a.subscriptions
		var lost, acked, duplicated int64
		var ranges []Range
		for n, m := range a.producers[i].messages {
			switch copies := m.received[sub]; {
			case copies == 0:
				lost++
				if m.fate == "acked" {
					acked++
				}
				if last := len(ranges) - 1; last >= 0 && ranges[last].Last+1 == uint64(n) {
					ranges[last].Last++
				} else {
					ranges = append(ranges, Range{uint64(n), uint64(n)})
				}
			default:
				duplicated += int64(copies - 1)
			}
		}
		missing += acked
		b := got.Books
		if got.Producer != i || got.Subscription != sub || b.Lost != lost || b.LostAcked != acked || b.Duplicated != duplicated || !slices.Equal(got.Lost, ranges) || got.LostCut {
			t.Fatalf("ledger %d: %+v; want %d lost (%v), %d of them acked, %d duplicated", k, got, lost, ranges, acked, duplicated)
		}
		if b.Sent != int64(len(a.producers[i].messages)) || b.Expected != b.Sent || b.Received+b.Lost != b.Sent {
			t.Fatalf("ledger %d: %+v of %d messages", k, b, len(a.producers[i].messages))
		}
		if b.Lost+b.Duplicated+b.Reordered > 0 {
			faulty++
		}
	}
	if got := len(trial.Streams(false)); got != faulty {
		t.Fatalf("%d ledgers show a fault, want %d", got, faulty)
	}
	if got := trial.Missing(); got != missing {
		t.Fatalf("%d deliveries are missing, want %d", got, missing)
	}
}
