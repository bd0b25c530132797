package measure

import (
	"runtime"
	"strconv"
	"sync"
	"testing"
	"unsafe"

	"github.com/brokermark/brokermark/internal/testkit"
)

func TestEveryNumberHasAPlaceOfItsOwnInABitmap(t *testing.T) {
	page, word := uint64(0), uint64(0)
	for w := uint64(1); w < 5*pageWords; w++ {
		wantPage, wantWord := page, word+1
		if wantWord == uint64(len(*newPage(int(page)).words.Load())) {
			wantPage, wantWord = page+1, 0
		}
		if page, word = locate(w << 6); page != wantPage || word != wantWord {
			t.Fatalf("word %d is word %d of page %d, want word %d of page %d", w, word, page, wantWord, wantPage)
		}
	}
}

func TestALongBitmapGrowsWithoutCopyingItself(t *testing.T) {
	testkit.NotShort(t)
	const pages = 20_000
	var b bitmap
	before := allocated()
	for i := range uint64(pages) {
		b.add(i << pageBits)
	}
	perPage := float64(allocated()-before) / pages
	if most := float64(pageWords*8) * 1.1; perPage > most {
		t.Errorf("%.0f bytes were allocated per page, at most %.0f are wanted", perPage, most)
	}
	if got := b.count(0, pages<<pageBits); got != pages {
		t.Errorf("%d members of %d", got, pages)
	}
}

func TestADayOfMessagesTakesNoMoreMemoryThanAMinute(t *testing.T) {
	testkit.NotShort(t)
	const window = 100_000 // messages that are late, out of order, at any time
	for name, messages := range map[string]uint64{"a day at 20,000/s": 86_400 * 20_000, "an hour at 1,000,000/s": 3600 * 1_000_000} {
		t.Run(name, func(t *testing.T) {
			switch { // with a bit for each message they would still take more than is allowed
			case testkit.Thorough():
			case testing.Short():
				messages /= 20
			default:
				messages /= 10
			}
			var l ledger
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			last := messages &^ 63
			for seq := uint64(0); seq < last; seq += 64 {
				l.seen.addWord(seq, ^uint64(0)&^1) // the first of each word
				if seq >= window {
					l.seen.add((seq - window) &^ 63) // comes much later
				}
			}
			for seq := last - window; seq < last; seq += 64 {
				l.seen.add(seq &^ 63)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			grown := int64(after.HeapAlloc) - int64(before.HeapAlloc)
			t.Attr("grown_bytes", strconv.FormatInt(max(0, grown), 10)) // for make bench
			if grown > 10<<20 {
				t.Errorf("the ledger takes %d MiB", grown>>20)
			}
			if got := l.seen.count(0, last); got != int64(last) {
				t.Errorf("%d of %d are there", got, last)
			}
			if l.seen.add(12_345_678) || l.seen.addWord(64, 5) != ^uint64(0) {
				t.Error("what was received is new to it")
			}
		})
	}
}

func TestPagesThatFillFromSeveralSidesKeepEveryMember(t *testing.T) {
	const goroutines, pages = 8, 12
	var b bitmap
	var added [goroutines]int
	var adding sync.WaitGroup
	for g := range goroutines {
		adding.Go(func() {
			// Each adds everything, from a place of its own.
			const n = pages << pageBits
			for i := range uint64(n) {
				if b.add((i + uint64(g)*n/goroutines) % n) {
					added[g]++
				}
			}
		})
	}
	adding.Wait()
	sum := 0
	for _, n := range added {
		sum += n
	}
	if got := b.count(0, pages<<pageBits); sum != pages<<pageBits || got != pages<<pageBits {
		t.Errorf("%d were new and %d are there, of %d", sum, got, pages<<pageBits)
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func TestAStreamCostsLittleUntilItIsUsed(t *testing.T) {
	const producers = 100_000
	for name, shape := range map[string]Shape{
		"":                                    {},
		", keys":                              {Keys: 10_000},
		", payloads too short for times":      {ShortPayload: true, Outstanding: 4},
		", payloads too short, and keys":      {Keys: 10_000, ShortPayload: true, Outstanding: 4},
		", payloads too short, a long window": {Keys: 10_000, ShortPayload: true, Outstanding: 40_000},
	} {
		shape.Producers, shape.Consumers, shape.Subscriptions = producers, producers, 1
		before := allocated()
		trial := NewTrial(shape)
		shared := uint64(len(trial.counters)) * uint64(unsafe.Sizeof(counters{}))
		if each := (allocated() - before - shared) / producers; each > 300 {
			t.Errorf("a stream%s takes %d bytes before its first message; at most 300 are wanted", name, each)
		}
	}
}

func TestAShortStreamCostsLittle(t *testing.T) {
	const producers, messages = 10_000, 10
	trial := NewTrial(Shape{Producers: producers, Consumers: producers, Subscriptions: 1})
	trial.MeasureFrom(0)
	c := trial.Consumer(0, 0, nil)
	before := allocated()
	for i := range producers {
		p := trial.Producer(i)
		for seq := range messages {
			p.Sent(uint64(seq), size, 0, 0, 0)
		}
		p.Commit()
		for seq := range messages {
			c.Received(header(i, seq), 1)
		}
		c.Commit()
	}
	if each := (allocated() - before) / producers; each > 1000 {
		t.Errorf("a stream of %d messages takes %d bytes; at most 1000 are wanted", messages, each)
	}
	if b := trial.Books(Measured); b.Received != producers*messages || b.Lost != 0 {
		t.Errorf("%+v", b)
	}
}
