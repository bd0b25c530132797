package measure

import (
	"iter"
	"math/bits"
	"sync"
	"sync/atomic"
)

// bitmap is a set of sequence numbers, counted from 0, that several goroutines may add to at once.
// It is exact in whatever order the numbers come. It takes one bit of memory for each number up to
// the highest member, except in pages whose numbers are all members. Its zero value is empty.
type bitmap struct {
	pages atomic.Pointer[[]*page]
	grow  sync.Mutex // held while pages are appended
}

// add adds a number and reports whether it was new.
func (b *bitmap) add(seq uint64) bool {
	bit := uint64(1) << (seq % 64)
	return b.addWord(seq, bit)&bit == 0
}

// addWord adds the numbers of a mask: bit i stands for the i-th number of the word that holds seq.
// It returns the members that the word had before.
func (b *bitmap) addWord(seq, mask uint64) uint64 {
	pageIndex, wordIndex := locate(seq)
	return b.pageAt(pageIndex).addWord(wordIndex, mask)
}

// word returns the members in the word that holds seq.
func (b *bitmap) word(seq uint64) uint64 {
	pageIndex, wordIndex := locate(seq)
	pages := b.made()
	if pageIndex >= uint64(len(pages)) {
		return 0
	}
	words := *pages[pageIndex].words.Load()
	return words[wordIndex].Load()
}

// has reports whether a number is a member.
func (b *bitmap) has(seq uint64) bool { return b.word(seq)>>(seq%64)&1 != 0 }

// count counts the members in [from, to).
func (b *bitmap) count(from, to uint64) int64 {
	var n int
	for seq, mask := range wordsOf(from, to) {
		n += bits.OnesCount64(b.word(seq) & mask)
	}
	return int64(n)
}

// made returns the pages that exist.
func (b *bitmap) made() []*page {
	if pages := b.pages.Load(); pages != nil {
		return *pages
	}
	return nil
}

// pageAt returns page i. It makes those up to i that don't exist yet.
func (b *bitmap) pageAt(i uint64) *page {
	if pages := b.made(); i < uint64(len(pages)) {
		return pages[i]
	}
	b.grow.Lock()
	defer b.grow.Unlock()
	pages := b.made()
	// Readers of the old slice need no lock: appending changes neither its length nor its elements.
	for uint64(len(pages)) <= i {
		pages = append(pages, newPage(len(pages)))
	}
	b.pages.Store(&pages)
	return pages[i]
}

// The pages of a bitmap begin at these words:
//
//	page    0  1   2   3   4    5    6    7    8     9     10    …
//	word    0  8  16  32  64  128  256  512  1024  2048  3072    …
//
// The first pages are small, because most of a million streams are short: page 0 takes 64 bytes.
// From page 8 on each takes 8 KiB, one allocation per 65,536 messages.
const (
	pageBits       = 16
	pageWords      = 1 << pageBits / 64 // of a page of full size
	firstPageWords = 8
	smallPages     = 8
)

// locate returns which page holds a number, and which word of that page does.
func locate(seq uint64) (pageIndex, wordIndex uint64) {
	word := seq / 64
	switch {
	case word < firstPageWords:
		return 0, word
	case word >= pageWords:
		return word/pageWords + smallPages - 1, word % pageWords
	}
	pageIndex = uint64(bits.Len64(word / firstPageWords))
	return pageIndex, word - firstPageWords<<(pageIndex-1)
}

// page is a part of a bitmap. A page of full size whose numbers have all been added drops its words
// and uses fullWords, so that a stream that loses nothing needs no more memory after a day than
// after a minute.
type page struct {
	words   atomic.Pointer[[]atomic.Uint64]
	missing atomic.Int64 // how many numbers have not been added
}

func newPage(number int) *page {
	size := pageWords
	switch {
	case number == 0:
		size = firstPageWords
	case number < smallPages:
		size = firstPageWords << (number - 1)
	}
	words := make([]atomic.Uint64, size)
	p := &page{}
	p.words.Store(&words)
	p.missing.Store(int64(size) * 64)
	return p
}

// addWord adds the numbers of a mask to a word and returns the members that it had before.
func (p *page) addWord(word, mask uint64) uint64 {
	words := *p.words.Load()
	before := words[word].Or(mask)
	added := bits.OnesCount64(mask &^ before)
	if added > 0 && p.missing.Add(-int64(added)) == 0 && len(words) == pageWords {
		p.words.Store(fullWords) // a goroutine that still reads the old words finds the same bits there
	}
	return before
}

// fullWords are the words of every complete page of full size. Adding to them changes nothing.
var fullWords = func() *[]atomic.Uint64 {
	words := make([]atomic.Uint64, pageWords)
	for i := range words {
		words[i].Store(^uint64(0))
	}
	return &words
}()

// wordsOf yields the words that overlap [from, to): the first number of each, and a mask of the
// bits that lie in the range.
func wordsOf(from, to uint64) iter.Seq2[uint64, uint64] {
	return func(yield func(seq, mask uint64) bool) {
		for seq := from &^ 63; seq < to; seq += 64 {
			if !yield(seq, maskBelow(seq, to)&^maskBelow(seq, from)) {
				return
			}
		}
	}
}

// maskBelow returns the mask of the numbers below end in the word that begins with seq.
func maskBelow(seq, end uint64) uint64 {
	switch {
	case end <= seq:
		return 0
	case end-seq >= 64:
		return ^uint64(0)
	}
	return 1<<(end-seq) - 1
}
