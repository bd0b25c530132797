package measure

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/wire"
)

func TestConsumersOfOneSubscriptionCountEachMessageOnceTogether(t *testing.T) {
	const n, consumers, again, measured = 200_000, 4, 5_000, 70_001
	for name, keys := range map[string]KeyOf{"unkeyed": nil, "keyed": func(_ int, seq uint64) int { return int(seq % 16) }} {
		t.Run(name, func(t *testing.T) {
			trial := NewTrial(Shape{Producers: 1, Consumers: consumers, Subscriptions: 1, Keys: 16})
			rng := rand.New(rand.NewPCG(1, 2))
			share := make([][]int, consumers)
			for seq := range n {
				to := &share[rng.IntN(consumers)]
				*to = append(*to, seq)
			}
			given := map[int]int{}
			for i := range share {
				for range again {
					share[i] = append(share[i], rng.IntN(n))
				}
				for _, seq := range share[i] {
					given[seq]++
				}
			}
			var want [phases]Books
			for seq, times := range given {
				b := &want[Warmup]
				if seq >= measured {
					b = &want[Measured]
				}
				b.Received++
				b.Duplicated += int64(times - 1)
			}
			var all sync.WaitGroup
			all.Go(func() {
				p := trial.Producer(0)
				trial.MeasureFrom(measured)
				for seq := range n {
					p.Sent(uint64(seq), size, int64(seq), int64(seq), 0)
				}
				p.Commit()
			})
			all.Wait()
			for i := range consumers {
				all.Go(func() {
					c := trial.Consumer(i, 0, keys)
					for j, seq := range share[i] {
						if c.Received(header(0, seq), int64(seq)); j%97 == 0 {
							c.Commit()
						}
					}
					c.Commit()
				})
			}
			all.Wait()
			for phase := range phases {
				got := trial.Books(phase)
				if got.Received != want[phase].Received || got.Duplicated != want[phase].Duplicated || got.Received+got.Lost != got.Expected {
					t.Errorf("phase %d: %+v, want %d received and %d duplicated", phase, got, want[phase].Received, want[phase].Duplicated)
				}
			}
			if got, want := trial.Count().Received, want[Warmup].Received+want[Measured].Received; got != want {
				t.Errorf("the live counter says %d, want %d", got, want)
			}
		})
	}
}

// Two consumers receive messages of one key at the same moment. Whichever reports last, the higher number must stand.
func TestTheHighestNumberOfAKeyNeverFalls(t *testing.T) {
	const rounds = 3_000
	l := &newLedgers(1, 1)[0]
	var arrived, wrong atomic.Int64
	await := func(n int64) { // spins, so that both go on at the same moment
		for spins := 1; arrived.Load() < n; spins++ {
			if spins%10_000 == 0 {
				runtime.Gosched()
			}
		}
	}
	var both sync.WaitGroup
	for own := range uint64(2) {
		both.Go(func() {
			var a arrivals
			for round := range uint64(rounds) {
				arrived.Add(1)
				await(int64(4*round + 2))
				n := 2*round + own
				a.add(l, n, l.nextWith(0), Measured, 1)
				arrived.Add(1)
				await(int64(4*round + 4))
				if l.nextWith(0).Load() != 2*round+2 {
					wrong.Add(1)
				}
			}
		})
	}
	both.Wait()
	if wrong.Load() > 0 {
		t.Errorf("the number fell in %d of %d rounds", wrong.Load()/2, rounds)
	}
}

func TestBitmapHoldsWhatSeveralGoroutinesAdd(t *testing.T) {
	const n, goroutines = 5 << pageBits, 8
	var b bitmap
	var added [goroutines]int
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 1))
			for range n / 4 {
				if b.add(rng.Uint64N(n)) {
					added[g]++
				}
			}
		})
	}
	all.Wait()
	sum := 0
	for _, a := range added {
		sum += a
	}
	if got := b.count(0, n); got != int64(sum) {
		t.Errorf("%d members, %d were new when they were added", got, sum)
	}
	for range 100 { // any interval counts the same in two parts
		from, mid, to := rand.Uint64N(n), rand.Uint64N(n), rand.Uint64N(2*n)
		v := []uint64{from, mid, to}
		slices.Sort(v)
		if whole, parts := b.count(v[0], v[2]), b.count(v[0], v[1])+b.count(v[1], v[2]); whole != parts {
			t.Errorf("[%d, %d, %d): %d and %d", v[0], v[1], v[2], whole, parts)
		}
	}
}

func TestWhatCannotHaveBeenSentIsNotReceived(t *testing.T) {
	trial := NewTrial(Shape{Producers: 1, Subscriptions: 1})
	trial.SetBase(0, 1000)
	trial.MeasureFrom(1005)
	p := trial.Producer(0)
	for seq := 1000; seq < 1010; seq++ {
		p.Sent(uint64(seq), size, int64(seq), int64(seq), 0)
	}
	p.Commit()
	c := trial.Consumer(0, 0, nil)
	for _, h := range []*wire.Header{
		header(0, 999),         // of an earlier trial
		header(0, 1010),        // not yet sent
		header(7, 1003),        // of a producer that isn't there
		header(0, wire.MaxSeq), // damaged beyond recognition
		header(0, 1003), header(0, 1007),
	} {
		c.Received(h, 2000)
	}
	c.Commit()
	c.Corrupted(1004)
	c.Corrupted(1005)
	warm, measured := trial.Books(Warmup), trial.Books(Measured)
	if warm.Received != 1 || measured.Received != 1 || warm.Lost != 4 || measured.Lost != 4 {
		t.Errorf("received %d and %d, lost %d and %d; want 1, 1, 4, 4", warm.Received, measured.Received, warm.Lost, measured.Lost)
	}
	if measured.Stale != 1 || measured.Corrupted != 4 || warm.Corrupted != 1 {
		t.Errorf("%d stale, %d and %d corrupted; want 1, 1 and 4", measured.Stale, warm.Corrupted, measured.Corrupted)
	}
}

func TestAMessageBelongsToItsPhaseByItsIntendedTime(t *testing.T) {
	trial := NewTrial(Shape{Producers: 2, Consumers: 1, Subscriptions: 1})
	if trial.MeasuredSince() != Undecided {
		t.Error("the measured phase has begun before anybody said so")
	}
	c := trial.Consumer(0, 0, nil)
	for i := range 2 { // each producer crosses the boundary at a number of its own
		p := trial.Producer(i)
		for seq := range 100 {
			if seq == 50 {
				trial.MeasureFrom(60_000)
			}
			// Everything is sent late, after the boundary: that must not matter.
			p.Sent(uint64(seq), size, int64(seq*1000+i*30_000), 1e6, int64(seq))
			p.Commit()
		}
		for seq := range 100 {
			c.Received(header(i, seq), 2e6)
		}
	}
	c.Commit()
	for phase, want := range map[Phase]int64{Warmup: 60 + 30, Measured: 40 + 70} {
		if b := trial.Books(phase); b.Sent != want || b.Received != want || b.Expected != want {
			t.Errorf("phase %d: %+v, want %d", phase, b, want)
		}
	}
	if got := trial.Histograms(Measured).GeneratorLag; got.Count() != 110 || got.Min() != 30 || got.Max() != 99 {
		t.Errorf("%d messages have a generator lag of %d to %d ns, want 110 of 30 to 99", got.Count(), got.Min(), got.Max())
	}
}

// What the course of a run shows of latencies: from the send to the receipt, or to the confirmation if there is no consumer.
func TestMomentaryLatenciesAreThoseOfAllPhasesAndOfWhoeverReceives(t *testing.T) {
	for subscriptions := range 3 {
		trial := NewTrial(Shape{Producers: 2, Consumers: subscriptions, Subscriptions: subscriptions})
		trial.MeasureFrom(5000)
		for i := range 2 {
			p := trial.Producer(i)
			var acks Acks
			for seq := range 10 {
				at := int64(1000 * seq)
				phase := p.Sent(uint64(seq), size, at, at+10, 0)
				p.Commit()
				p.Acked(&acks, phase, at, at+10, at+30)
			}
			p.Confirm(&acks)
			for j := range subscriptions {
				c := trial.Consumer(j, j, nil)
				for seq := range 10 {
					at := int64(1000 * seq)
					c.Received(&wire.Header{ID: wire.MakeID(uint32(i), uint64(seq)), Intended: at, Sent: at + 10, Timed: true}, at+70)
				}
				c.Commit()
			}
		}
		messages, fromIntended, fromSend := int64(20), int64(30), 20.0 // of a confirmation
		if subscriptions > 0 {
			messages, fromIntended, fromSend = int64(20*subscriptions), 70, 60
		}
		if n, sum := trial.FromSend(); n != messages || sum != fromSend*float64(messages) {
			t.Errorf("%d subscriptions: %d latencies from the send, %g ns together; want %d of %g ns", subscriptions, n, sum, messages, fromSend)
		}
		if h := trial.EndToEnd(); h.Count() != messages || h.Min() != fromIntended || h.Max() != fromIntended {
			t.Errorf("%d subscriptions: %d latencies from %d to %d ns, want %d of %d ns", subscriptions, h.Count(), h.Min(), h.Max(), messages, fromIntended)
		}
		if h := trial.Service(); h.Count() != 20 || h.Min() != 20 || h.Max() != 20 {
			t.Errorf("%d subscriptions: %d service times from %d to %d ns, want 20 of 20 ns", subscriptions, h.Count(), h.Min(), h.Max())
		}
		if trial.Subscriptions() != subscriptions {
			t.Errorf("%d subscriptions, want %d", trial.Subscriptions(), subscriptions)
		}
	}
}

func TestWhatWasDueAndNeverSentHasWaitedForEveryone(t *testing.T) {
	trial := NewTrial(Shape{Producers: 2, Consumers: 2, Subscriptions: 3})
	trial.MeasureFrom(1000)
	p := trial.Producer(1)
	p.Sent(0, size, 1500, 1600, 100)
	p.Commit()
	p.Unsent(Warmup, 2, 900, 5000, 0)
	p.Unsent(Measured, 4, 2000, 5000, 700)
	p.Unsent(Measured, 0, 1000, 90_000, 90_000) // of nobody
	p.UnsentUntimed(Measured, 3)
	b := trial.Books(Measured)
	if b.Sent != 1 || b.Unsent != 4+3 || b.Expected != 3 || trial.Books(Warmup).Unsent != 2 {
		t.Errorf("%+v, in warm-up %+v", b, trial.Books(Warmup))
	}
	if b.Due != 8 || !b.Balanced() {
		t.Errorf("without a schedule what was asked for was due: %+v", b)
	}
	if trial.SetDue(2, 9); trial.Books(Measured).Balanced() || trial.Books(Warmup).Due != 2 {
		t.Errorf("a message that was due is neither sent nor unsent, and the books balance: %+v", trial.Books(Measured))
	}
	h := trial.Histograms(Measured)
	for name, c := range map[string]struct {
		got       hist.Snapshot
		n, lo, hi int64
	}{
		"lag": {h.Lag, 5, 100, 3000}, "publish": {h.Publish, 4, 3000, 3000}, "end to end": {h.EndToEnd, 12, 3000, 3000},
		"generator's own": {h.GeneratorLag, 5, 100, 700}, "service": {h.Service, 0, 0, 0}, "end to end from sending": {h.EndToEndService, 0, 0, 0},
	} {
		if c.got.Count() != c.n || c.got.Min() != c.lo || c.got.Max() != c.hi {
			t.Errorf("%s: %d values of %d to %d, want %d of %d to %d", name, c.got.Count(), c.got.Min(), c.got.Max(), c.n, c.lo, c.hi)
		}
	}
}

func TestShortPayloadsAreTimedWhileTheirEntryLasts(t *testing.T) {
	const sent, kept = 3000, 1024
	trial := NewTrial(Shape{Producers: 1, Subscriptions: 2, ShortPayload: true, Outstanding: kept})
	trial.MeasureFrom(0)
	p := trial.Producer(0)
	for seq := range sent {
		p.Sent(uint64(seq), 8, int64(seq)*100, int64(seq)*100+40, 0)
	}
	p.Commit()
	for s := range 2 {
		c := trial.Consumer(0, s, nil)
		for seq := range sent {
			c.Received(&wire.Header{ID: wire.MakeID(0, uint64(seq))}, int64(seq)*100+240)
		}
		c.Commit()
	}
	b, h := trial.Books(Measured), trial.Histograms(Measured)
	if b.Received != 2*sent || b.Untimed != 2*(sent-kept) || b.Lost != 0 {
		t.Errorf("%+v; want %d received, %d untimed", b, 2*sent, 2*(sent-kept))
	}
	if h.EndToEnd.Count() != 2*kept || h.EndToEnd.Min() != 240 || h.EndToEnd.Max() != 240 || h.EndToEndService.Max() != 200 {
		t.Errorf("%d latencies from %d to %d ns", h.EndToEnd.Count(), h.EndToEnd.Min(), h.EndToEnd.Max())
	}
}

func TestATimeTableNeverMixesTwoMessages(t *testing.T) {
	table := newTimeTable(1, 1)
	n := table.mask + 1
	table.put(5, 0, 0)
	var all sync.WaitGroup
	stop := make(chan struct{})
	all.Go(func() {
		for i := uint64(0); ; i++ {
			select {
			case <-stop:
				return
			default:
				table.put(5+n*i, int64(i), int64(i)*3)
			}
		}
	})
	found := 0
	for i := uint64(0); found < 1000; i++ {
		at := uint64((*table.entries.Load())[5].number.Load())
		if at == 0 {
			continue
		}
		round := int64((at - 1 - 5) / n)
		if intended, sent, ok := table.look(at - 1); ok {
			if found++; intended != round || sent != 3*round {
				t.Errorf("entry of round %d holds %d and %d", round, intended, sent)
				break
			}
		}
	}
	close(stop)
	all.Wait()
}

func TestLostRangesAreTheFirstOnesAndWhole(t *testing.T) {
	const n = 1000
	for _, c := range []struct {
		name     string
		lost     func(seq int) bool
		measured int
		ranges   int
		first    Range
		cut      bool
	}{
		{"everything", func(int) bool { return true }, 500, 1, Range{0, n - 1}, false},
		{"one across the phases", func(seq int) bool { return seq >= 480 && seq < 520 }, 500, 1, Range{480, 519}, false},
		{"every other one", func(seq int) bool { return seq%2 == 1 }, 500, maxRanges, Range{1, 1}, true},
		{"nothing", func(int) bool { return false }, 500, 0, Range{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			trial := NewTrial(Shape{Producers: 1, Subscriptions: 2})
			send(trial, n, c.measured, nil)
			good, bad := trial.Consumer(0, 0, nil), trial.Consumer(1, 1, nil)
			for seq := range n {
				good.Received(header(0, seq), n)
				if !c.lost(seq) {
					bad.Received(header(0, seq), n)
				}
			}
			good.Commit()
			bad.Commit()
			streams := trial.Streams(false)
			if c.ranges == 0 {
				if len(streams) != 0 {
					t.Errorf("%+v without a fault", streams)
				}
				return
			}
			if len(streams) != 1 || streams[0].Subscription != 1 {
				t.Fatalf("%+v; want the ledger of subscription 1 alone", streams)
			}
			s := streams[0]
			if len(s.Lost) != c.ranges || s.Lost[0] != c.first || s.LostCut != c.cut {
				t.Errorf("%d ranges, the first %v, cut %v; want %d, %v, %v", len(s.Lost), s.Lost[0], s.LostCut, c.ranges, c.first, c.cut)
			}
			if all := trial.Streams(true); len(all) != 2 || all[0].Books.Received != n {
				t.Errorf("every ledger: %+v", all)
			}
		})
	}
}

func TestUnresolvedMessagesMayBeLostWithoutABrokenPromise(t *testing.T) {
	trial := NewTrial(Shape{Producers: 1, Subscriptions: 1})
	trial.MeasureFrom(0)
	p := trial.Producer(0)
	var acks Acks
	for seq := range 10 {
		phase := p.Sent(uint64(seq), size, 0, 0, 0)
		switch {
		case seq < 5:
			p.Acked(&acks, phase, 0, 0, 1)
		case seq < 7:
			p.Failed(&acks, phase, uint64(seq))
		default:
			p.Unresolved(uint64(seq))
		}
	}
	p.Commit()
	p.Confirm(&acks)
	c := trial.Consumer(0, 0, nil)
	c.Received(header(0, 0), 1)
	c.Received(header(0, 6), 1) // reported as failed, and there all the same
	c.Commit()
	want := Books{
		Due:  10,
		Sent: 10, Acked: 5, Failed: 2, Unresolved: 3, Expected: 10, Received: 2, Lost: 8, LostAcked: 4, Bytes: 10 * size,
	}
	if got := trial.Books(Measured); got != want || !got.Balanced() {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := trial.Missing(); got != 4 {
		t.Errorf("%d deliveries are missing, want 4", got)
	}
}

// A second recorder of a producer, such as one for messages that were never sent, must not undo what the first has sent.
func TestARecorderThatSentNothingLeavesTheStreamAlone(t *testing.T) {
	trial := NewTrial(Shape{Producers: 1, Subscriptions: 1})
	send(trial, 10, 0, nil)
	trial.Producer(0).Commit()
	if b := trial.Books(Measured); b.Sent != 10 || b.Lost != 10 {
		t.Errorf("%+v; want 10 sent and 10 lost", b)
	}
}

func TestRecordingAllocatesNothing(t *testing.T) {
	for _, short := range []bool{false, true} {
		t.Run(fmt.Sprintf("short %v", short), func(t *testing.T) {
			trial := NewTrial(Shape{Producers: 1, Subscriptions: 1, ShortPayload: short, Outstanding: 1024})
			trial.MeasureFrom(0)
			p, c := trial.Producer(0), trial.Consumer(0, 0, nil)
			var acks Acks
			seq := 0
			const batch, runs = 100, 300 // within the first page
			once := func() {
				for i := range batch {
					phase := p.Sent(uint64(seq+i), size, int64(seq), int64(seq), 0)
					p.Acked(&acks, phase, int64(seq), int64(seq), int64(seq+i))
				}
				p.Commit()
				p.Confirm(&acks)
				for i := range batch {
					h := header(0, seq+i)
					h.Timed = !short
					c.Received(h, int64(seq+10*i))
				}
				c.Commit()
				seq += batch
			}
			once()
			if got := testing.AllocsPerRun(runs, once); got != 0 {
				t.Errorf("%g allocations per batch", got)
			}
		})
	}
}
