package measure

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// Pages of a bitmap hold 2^16 sequence numbers in 8 KiB, so that one is allocated per 65,536 messages (0.000015
// allocations per message). Only the first 2^16 numbers lie in smaller ones, the first 512 of them in 64 bytes: of a
// million streams most are short.
//
//	words   0..8  ..16  ..32  ..64  ..128  ..256  ..512  ..1024  ..2048  ..3072  and so on
//	page    0     1     2     3     4      5      6      7       8       9
const (
	pageBits   = 16
	pageWords  = 1 << pageBits / 64
	firstWords = 8
	smallPages = 8
)

type words []atomic.Uint64

// page is a part of a bitmap. Once all of it has been received it lies in full, as every such page does: a stream that
// loses nothing takes no more memory after a day than after a minute.
type page struct {
	words atomic.Pointer[words]
	open  atomic.Int64 // members still to come
}

// full is what every page of the usual size looks like in the end. Adding to it changes nothing.
var full = func() *words {
	w := make(words, pageWords)
	for i := range w {
		w[i].Store(^uint64(0))
	}
	return &w
}()

// addWord puts the members of mask into a word and returns what was there.
func (p *page) addWord(word, mask uint64) uint64 {
	w := *p.words.Load()
	old := w[word].Or(mask)
	if added := mask &^ old; added != 0 && p.open.Add(-int64(bits.OnesCount64(added))) == 0 && len(w) == pageWords {
		p.words.Store(full) // who still holds the old words finds the same there
	}
	return old
}

// place is the page that holds seq and the place of its word there.
func place(seq uint64) (pageNumber, word uint64) {
	w := seq >> 6
	if w >= pageWords {
		return w/pageWords + smallPages - 1, w % pageWords
	}
	n := uint64(bits.Len64(w / firstWords))
	if n == 0 {
		return 0, w
	}
	return n, w - firstWords<<(n-1)
}

func newPage(number int) *page {
	size := pageWords
	switch {
	case number == 0:
		size = firstWords
	case number < smallPages:
		size = firstWords << (number - 1)
	}
	w := make(words, size)
	p := &page{}
	p.words.Store(&w)
	p.open.Store(int64(size) * 64)
	return p
}

// bitmap is a set of sequence numbers, counted from 0, that several goroutines may add to at once. Exact at any
// amount of reordering; in memory, one bit per number of a page that isn't full.
type bitmap struct {
	pages atomic.Pointer[[]*page]
	grow  sync.Mutex
}

// add puts seq into the set and tells whether it was new.
func (b *bitmap) add(seq uint64) bool {
	bit := uint64(1) << (seq & 63)
	return b.addWord(seq, bit)&bit == 0
}

// addWord puts the members of mask into the word of seq and returns what was there.
func (b *bitmap) addWord(seq, mask uint64) uint64 {
	n, word := place(seq)
	return b.page(n).addWord(word, mask)
}

func (b *bitmap) page(i uint64) *page {
	if pages := b.pages.Load(); pages != nil && i < uint64(len(*pages)) {
		return (*pages)[i]
	}
	b.grow.Lock()
	defer b.grow.Unlock()
	var grown []*page
	if pages := b.pages.Load(); pages != nil {
		grown = *pages
	}
	// Readers go on using the old slice without a lock: its length stays, and what it holds.
	for uint64(len(grown)) <= i {
		grown = append(grown, newPage(len(grown)))
	}
	b.pages.Store(&grown)
	return grown[i]
}

// word returns the 64 members of which seq is one.
func (b *bitmap) word(seq uint64) uint64 {
	n, word := place(seq)
	pages := b.pages.Load()
	if pages == nil || n >= uint64(len(*pages)) {
		return 0
	}
	return (*(*pages)[n].words.Load())[word].Load()
}

// count counts the members in [from, to).
func (b *bitmap) count(from, to uint64) int64 {
	var n int64
	eachWord(from, to, func(seq, mask uint64) bool {
		n += int64(bits.OnesCount64(b.word(seq) & mask))
		return true
	})
	return n
}

// eachWord visits the words that cover [from, to) with a mask of the wanted bits, until visit returns false.
func eachWord(from, to uint64, visit func(seq, mask uint64) bool) {
	for seq := from &^ 63; seq < to; seq += 64 {
		mask := ^uint64(0)
		if seq < from {
			mask &= ^uint64(0) << (from - seq)
		}
		if to-seq < 64 {
			mask &= 1<<(to-seq) - 1
		}
		if !visit(seq, mask) {
			return
		}
	}
}
