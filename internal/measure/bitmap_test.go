package measure

import (
	"runtime"
	"testing"
	"unsafe"
)

func TestEveryNumberHasAPlaceOfItsOwnInABitmap(t *testing.T) {
	page, word := uint64(0), uint64(0)
	for w := uint64(1); w < 5*pageWords; w++ {
		wantPage, wantWord := page, word+1
		if wantWord == uint64(len(newPage(int(page)))) {
			wantPage, wantWord = page+1, 0
		}
		if page, word = place(w << 6); page != wantPage || word != wantWord {
			t.Fatalf("word %d is word %d of page %d, want word %d of page %d", w, word, page, wantWord, wantPage)
		}
	}
}

func TestALongBitmapGrowsWithoutCopyingItself(t *testing.T) {
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
		lanes := uint64(len(trial.lanes)) * uint64(unsafe.Sizeof(lane{}))
		if each := (allocated() - before - lanes) / producers; each > 300 {
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
