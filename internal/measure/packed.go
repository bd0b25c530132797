package measure

import (
	"encoding/binary"
	"errors"
	"iter"

	"github.com/brokermark/brokermark/internal/wire"
)

// A packed bitmap is a sequence of runs of words of one kind. A run begins with an unsigned varint: its number of words, shifted left
// by kindBits, and its kind in the lowest bits. The words of a mixed run follow, little endian. Empty words at the end are left out.
//
// For example, a million messages without a gap are one full run of 15,625 words: 3 bytes.
const (
	emptyRun = iota // no number of these words is a member
	fullRun         // all are
	mixedRun
	kindBits = 2
)

var (
	errPacked = errors.New("its packed bitmap is damaged: a run is cut short, empty or of an unknown kind")
	errUnsent = errors.New("it holds messages that were never sent")
	errKey    = errors.New("it holds keys that the trial does not have")
)

// pack returns the members of b as a packed bitmap; nil if b never had any.
func (b *bitmap) pack() []byte {
	pages := b.pages.Load()
	if pages == nil {
		return nil
	}
	var p packer
	for _, page := range *pages {
		words := *page.words.Load()
		for i := range words {
			p.add(words[i].Load())
		}
	}
	if p.kind != emptyRun {
		p.endRun()
	}
	return p.packed
}

// packer packs words one after the other.
type packer struct {
	packed []byte // the runs that have ended
	kind   uint64 // of the run under way
	n      uint64 // its words
	mixed  []byte // and what they hold, if it is mixed
}

func (p *packer) add(word uint64) {
	kind := uint64(mixedRun)
	switch word {
	case 0:
		kind = emptyRun
	case ^uint64(0):
		kind = fullRun
	}
	if kind != p.kind {
		p.endRun()
		p.kind = kind
	}
	p.n++
	if kind == mixedRun {
		p.mixed = binary.LittleEndian.AppendUint64(p.mixed, word)
	}
}

func (p *packer) endRun() {
	if p.n > 0 {
		p.packed = binary.AppendUvarint(p.packed, p.n<<kindBits|p.kind)
		p.packed = append(p.packed, p.mixed...)
	}
	p.n, p.mixed = 0, p.mixed[:0]
}

// unpack adds the members of a packed bitmap. It refuses one with members from end on.
func (b *bitmap) unpack(packed []byte, end uint64) error {
	for r, err := range runsOf(packed) {
		switch {
		case err != nil:
			return err
		case r.kind == emptyRun:
			continue
		}
		for i := range r.n {
			seq, word := (r.first+i)*64, r.word(i)
			if word&^maskBelow(seq, end) != 0 {
				return errUnsent
			}
			b.addWord(seq, word)
		}
	}
	return nil
}

// packedRun is n words of one kind.
type packedRun struct {
	first uint64 // index of its first word in the bitmap
	n     uint64
	kind  uint64
	mixed []byte // the words of a mixed run
}

// word returns the i-th word of the run.
func (r packedRun) word(i uint64) uint64 {
	switch r.kind {
	case emptyRun:
		return 0
	case fullRun:
		return ^uint64(0)
	}
	return binary.LittleEndian.Uint64(r.mixed[8*i:])
}

// allWords is the number of words in a bitmap of all sequence numbers.
const allWords = (wire.MaxSeq + 1) / 64

// runsOf yields the runs of a packed bitmap. It ends with an error if the bitmap is damaged.
func runsOf(packed []byte) iter.Seq2[packedRun, error] {
	return func(yield func(packedRun, error) bool) {
		rest, first := packed, uint64(0)
		for len(rest) > 0 {
			r, after, err := cutRun(rest, first)
			if !yield(r, err) || err != nil {
				return
			}
			rest, first = after, first+r.n
		}
	}
}

// cutRun reads the run that packed begins with, and returns the rest of packed. first is the index of the run's first word.
func cutRun(packed []byte, first uint64) (r packedRun, rest []byte, err error) {
	head, size := binary.Uvarint(packed)
	r = packedRun{first: first, n: head >> kindBits, kind: head & (1<<kindBits - 1)}
	if size <= 0 || r.n == 0 || r.kind > mixedRun {
		return packedRun{}, nil, errPacked
	}
	if r.n > allWords || first+r.n > allWords {
		return packedRun{}, nil, errUnsent
	}
	rest = packed[size:]
	if r.kind == mixedRun {
		if uint64(len(rest)) < 8*r.n {
			return packedRun{}, nil, errPacked
		}
		r.mixed, rest = rest[:8*r.n], rest[8*r.n:]
	}
	return r, rest, nil
}
