package measure

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/testkit"
	"github.com/brokermark/brokermark/internal/wire"
)

// model is the ledger as one would write it without a thought for speed: one producer, one subscription.
type model struct {
	sent     int
	measured int // first message of the measured phase
	keys     int // 0: order is promised for the whole stream
	failed   map[int]bool
	seen     map[int]bool
	last     map[int]int // highest number received, per key
	books    [phases]Books
}

func (m *model) phase(seq int) Phase {
	if seq >= m.measured {
		return Measured
	}
	return Warmup
}

func (m *model) receive(seq int) {
	b := &m.books[m.phase(seq)]
	if m.seen[seq] {
		b.Duplicated++
		return
	}
	m.seen[seq] = true
	b.Received++
	key := 0
	if m.keys > 0 {
		key = seq % m.keys
	}
	if last, ok := m.last[key]; ok && seq < last {
		b.Reordered++
	}
	m.last[key] = max(m.last[key], seq)
}

func (m *model) close() [phases]Books {
	for seq := range m.sent {
		b := &m.books[m.phase(seq)]
		b.Due++
		b.Sent++
		b.Expected++
		b.Bytes += size
		if m.failed[seq] {
			b.Failed++
		} else {
			b.Acked++
		}
		if !m.seen[seq] {
			b.Lost++
			if !m.failed[seq] {
				b.LostAcked++
			}
		}
	}
	return m.books
}

const size = 100

// send sends and resolves n messages in batches of 7; the measured phase begins with message measured.
func send(t *Trial, n, measured int, failed map[int]bool) {
	t.MeasureFrom(int64(measured))
	p := t.Producer(0)
	var acks Acks
	for seq := 0; seq < n; {
		for range min(7, n-seq) {
			phase := p.Sent(uint64(seq), size, int64(seq), int64(seq)+1, 0)
			if failed[seq] {
				p.Failed(&acks, phase, uint64(seq))
			} else {
				p.Acked(&acks, phase, int64(seq), int64(seq)+1, int64(seq)+2)
			}
			seq++
		}
		p.Commit()
		p.Confirm(&acks)
	}
}

func header(producer, seq int) *wire.Header {
	return &wire.Header{ID: wire.MakeID(uint32(producer), uint64(seq)), Intended: int64(seq), Sent: int64(seq) + 1, Timed: true}
}

func TestLedgerAgreesWithANaiveOneUnderAnyDisorder(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 700).Draw(t, "sent")
		m := &model{
			sent: n, measured: rapid.IntRange(0, n).Draw(t, "measured from"), keys: rapid.SampledFrom([]int{0, 0, 1, 5}).Draw(t, "keys"),
			failed: map[int]bool{}, seen: map[int]bool{}, last: map[int]int{},
		}
		for _, seq := range rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 20).Draw(t, "failed") {
			m.failed[seq] = true
		}
		// Mostly in order, some moved by a little or a lot, some left out, some twice.
		order := make([]int, 0, n)
		lost := rapid.SliceOfN(rapid.IntRange(0, n-1), 0, n).Draw(t, "lost")
		for seq := range n {
			if !slices.Contains(lost, seq) {
				order = append(order, seq)
			}
		}
		order = append(order, rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 30).Draw(t, "again")...)
		for range rapid.IntRange(0, 40).Draw(t, "swaps") {
			if len(order) < 2 {
				break
			}
			i, j := rapid.IntRange(0, len(order)-1).Draw(t, "i"), rapid.IntRange(0, len(order)-1).Draw(t, "j")
			order[i], order[j] = order[j], order[i]
		}

		trial := NewTrial(Shape{Producers: 1, Consumers: 3, Subscriptions: 1, Keys: m.keys})
		send(trial, n, m.measured, m.failed)
		var keys KeyOf
		if m.keys > 0 {
			keys = func(_ int, seq uint64) int { return int(seq % uint64(m.keys)) }
		}
		// Several consumers share the subscription and take turns, batch by batch.
		consumers := []*Consumer{trial.Consumer(0, 0, keys), trial.Consumer(1, 0, keys), trial.Consumer(2, 0, keys)}
		for turn := 0; len(order) > 0; turn++ {
			c := consumers[turn%len(consumers)]
			batch := order[:min(len(order), rapid.IntRange(1, 100).Draw(t, "batch"))]
			order = order[len(batch):]
			for _, seq := range batch {
				c.Received(header(0, seq), int64(seq)+10)
				m.receive(seq)
			}
			c.Commit()
		}

		want := m.close()
		for phase := range phases {
			got := trial.Books(phase)
			if got != want[phase] || !got.Balanced() {
				t.Errorf("phase %d: %+v, want %+v", phase, got, want[phase])
			}
			if h := trial.Histograms(phase); h.EndToEnd.Count() != got.Received || h.Publish.Count() != got.Acked || h.Lag.Count() != got.Sent {
				t.Errorf("phase %d: %d, %d, %d latencies", phase, h.EndToEnd.Count(), h.Publish.Count(), h.Lag.Count())
			}
		}
		total := trial.Streams(true)[0]
		if got := ranged(total.Lost); got != total.Books.Lost && !total.LostCut {
			t.Errorf("the ranges hold %d, %d are lost", got, total.Books.Lost)
		}
		for _, r := range total.Lost {
			for seq := r.First; seq <= r.Last; seq++ {
				if m.seen[int(seq)] {
					t.Errorf("%d is in a lost range and was received", seq)
				}
			}
		}
		if missing, w := trial.Missing(), total.Books.LostAcked; missing != w {
			t.Errorf("%d still missing, want %d", missing, w)
		}
	})
}

// Streams whose deliveries take turns, number by number, have nothing to do with each other's order or duplicates.
func TestStreamsThatTakeTurnsKeepAccountsOfTheirOwn(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		streams := rapid.IntRange(2, 4).Draw(t, "streams")
		models := make([]*model, streams)
		trial := NewTrial(Shape{Producers: streams, Consumers: 1, Subscriptions: 1})
		trial.MeasureFrom(0)
		for i := range models {
			models[i] = &model{sent: rapid.IntRange(1, 130).Draw(t, "sent"), failed: map[int]bool{}, seen: map[int]bool{}, last: map[int]int{}}
			p := trial.Producer(i)
			var acks Acks
			for seq := range models[i].sent {
				p.Acked(&acks, p.Sent(uint64(seq), size, int64(seq), int64(seq)+1, 0), int64(seq), int64(seq)+1, int64(seq)+2)
			}
			p.Commit()
			p.Confirm(&acks)
		}
		c := trial.Consumer(0, 0, nil)
		for range rapid.IntRange(0, 400).Draw(t, "deliveries") {
			i := rapid.IntRange(0, streams-1).Draw(t, "stream")
			seq := rapid.IntRange(0, models[i].sent-1).Draw(t, "number")
			c.Received(header(i, seq), int64(seq)+10)
			models[i].receive(seq)
		}
		c.Commit()
		got := map[uint32]Books{}
		for _, s := range trial.Streams(true) {
			got[uint32(s.Producer)] = s.Books
		}
		for i, m := range models {
			want := m.close()[Measured]
			want.Due, want.Bytes = 0, 0 // of all streams together
			if got[uint32(i)] != want {
				t.Errorf("stream %d: %+v, want %+v", i, got[uint32(i)], want)
			}
		}
	})
}

func ranged(list []Range) (n int64) {
	for _, r := range list {
		n += int64(r.Last - r.First + 1)
	}
	return n
}

// Two consumers of a subscription receive a message before either has published it.
func TestAMessageThatComesTwiceAtOnceIsNotReordered(t *testing.T) {
	for _, keys := range []KeyOf{nil, func(int, uint64) int { return 0 }} {
		trial := NewTrial(Shape{Producers: 1, Consumers: 2, Subscriptions: 1, Keys: 1})
		send(trial, 3, 0, nil)
		one, other := trial.Consumer(0, 0, keys), trial.Consumer(1, 0, keys)
		for seq := range 3 {
			one.Received(header(0, seq), int64(seq))
			other.Received(header(0, seq), int64(seq))
			other.Commit()
			one.Commit()
		}
		if b := trial.Books(Measured); b.Received != 3 || b.Duplicated != 3 || b.Reordered != 0 {
			t.Errorf("received %d, duplicated %d, reordered %d; want 3, 3 and 0", b.Received, b.Duplicated, b.Reordered)
		}
	}
}

// One consumer receives all messages of a key in order. Another one receives the first again, and is the first to commit.
func TestADuplicateThatIsCommittedFirstIsNotReordered(t *testing.T) {
	trial := NewTrial(Shape{Producers: 1, Consumers: 2, Subscriptions: 1, Keys: 1})
	send(trial, 3, 0, nil)
	oneKey := func(int, uint64) int { return 0 }
	one, other := trial.Consumer(0, 0, oneKey), trial.Consumer(1, 0, oneKey)
	for seq := range 3 {
		one.Received(header(0, seq), int64(seq))
	}
	other.Received(header(0, 0), 3)
	other.Commit()
	one.Commit()
	if b := trial.Books(Measured); b.Received != 3 || b.Duplicated != 1 || b.Reordered != 0 {
		t.Errorf("received %d, duplicated %d, reordered %d; want 3, 1 and 0", b.Received, b.Duplicated, b.Reordered)
	}
}

func TestOrderOfEventsDecidesWhatIsReordered(t *testing.T) {
	for name, c := range map[string]struct {
		order []int
		keys  int
		want  int64
	}{
		"in order":                     {[]int{0, 1, 2, 3}, 0, 0},
		"a gap is not a reorder":       {[]int{0, 2, 3}, 0, 0},
		"neighbours changed":           {[]int{0, 2, 1, 3}, 0, 1},
		"one held back behind three":   {[]int{1, 2, 3, 0}, 0, 1},
		"backwards":                    {[]int{3, 2, 1, 0}, 0, 3},
		"a late duplicate is not late": {[]int{0, 1, 2, 0}, 0, 0},
		"keys apart":                   {[]int{1, 0, 3, 2}, 2, 0},
		"within a key":                 {[]int{2, 0, 1, 3}, 2, 1},
		"over words of the bitmap":     {[]int{200, 10, 70, 130, 201}, 0, 3},
	} {
		t.Run(name, func(t *testing.T) {
			trial := NewTrial(Shape{Producers: 1, Subscriptions: 1, Keys: c.keys})
			send(trial, 300, 0, nil)
			keys := KeyOf(nil)
			if c.keys > 0 {
				keys = func(_ int, seq uint64) int { return int(seq % uint64(c.keys)) }
			}
			consumer := trial.Consumer(0, 0, keys)
			for _, seq := range c.order {
				consumer.Received(header(0, seq), math.MaxInt32)
				consumer.Commit()
			}
			if got := trial.Books(Measured).Reordered; got != c.want {
				t.Errorf("%d reordered, want %d", got, c.want)
			}
		})
	}
}
