package measure

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// pageBits sets the size of a bitmap page: 2^16 sequence numbers in 8 KiB, so that a page is allocated once per
// 65,536 messages (0.000015 allocations per message).
const (
	pageBits  = 16
	pageWords = 1 << pageBits / 64
)

type page [pageWords]atomic.Uint64

// bitmap is a set of sequence numbers, counted from 0, that several goroutines may add to at once. Exact at any
// amount of reordering; one bit per number in memory.
type bitmap struct {
	pages atomic.Pointer[[]*page]
	grow  sync.Mutex
}

// add puts seq into the set and tells whether it was new.
func (b *bitmap) add(seq uint64) bool {
	p := b.page(seq >> pageBits)
	bit := uint64(1) << (seq & 63)
	return p[seq>>6&(pageWords-1)].Or(bit)&bit == 0
}

// addWord puts the members of mask, counted from seq, a multiple of 64, into the set and returns what was there.
func (b *bitmap) addWord(seq, mask uint64) uint64 {
	return b.page(seq >> pageBits)[seq>>6&(pageWords-1)].Or(mask)
}

func (b *bitmap) page(i uint64) *page {
	if pages := b.pages.Load(); pages != nil && i < uint64(len(*pages)) {
		return (*pages)[i]
	}
	b.grow.Lock()
	defer b.grow.Unlock()
	var old []*page
	if pages := b.pages.Load(); pages != nil {
		old = *pages
	}
	if i < uint64(len(old)) {
		return old[i]
	}
	// A new slice, since readers go on using the old one without a lock; its pages stay the same.
	grown := append(make([]*page, 0, i+1), old...)
	for uint64(len(grown)) <= i {
		grown = append(grown, new(page))
	}
	b.pages.Store(&grown)
	return grown[i]
}

// word returns 64 members starting at seq, a multiple of 64.
func (b *bitmap) word(seq uint64) uint64 {
	pages := b.pages.Load()
	if pages == nil || seq>>pageBits >= uint64(len(*pages)) {
		return 0
	}
	return (*pages)[seq>>pageBits][seq>>6&(pageWords-1)].Load()
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
