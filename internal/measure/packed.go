package measure

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math/bits"

	"github.com/brokermark/brokermark/internal/wire"
)

// A packed bitmap is a set of numbers as bytes, for another process. Its words of 64 numbers are gathered into runs of words of one
// kind. A run begins with an unsigned varint: its number of words, shifted left by kindBits, and its kind in the lowest bits. The words
// of a mixed run follow, little endian. Empty words at the end are left out; a set without members has no bytes.
//
// For example, the numbers from 0 to 999,999 are one full run of 15,625 words: 3 bytes. Without number 5 they are a mixed run of 1 word
// and a full run of 15,624: 1 + 8 + 3 bytes.
const (
	emptyRun = iota // no number of these words is a member
	fullRun         // all are
	mixedRun        // some may be
)

const kindBits = 2

// What is wrong with an account. These errors follow the account's name, such as "the account of producer 1 and subscription 0: ".
var (
	errPacked   = errors.New("its packed bitmap is damaged: a run is cut short, empty or of an unknown kind")
	errAboveMax = fmt.Errorf("its packed bitmap has numbers above %d, which were never sent", uint64(wire.MaxSeq))
	errUnsent   = errors.New("it holds messages that were never sent")
	errKey      = errors.New("it holds keys that the trial does not have")
)

// pack returns the members of b as a packed bitmap.
func (b *bitmap) pack() []byte {
	var p packer
	for _, part := range b.made() { // one follows the other without a gap, from number 0 on
		words := *part.words.Load()
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
	n      uint64 // how many words that run has
	mixed  []byte // these words, if the run is mixed
}

func (p *packer) add(members uint64) {
	kind := uint64(mixedRun)
	switch members {
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
		p.mixed = binary.LittleEndian.AppendUint64(p.mixed, members)
	}
}

func (p *packer) endRun() {
	if p.n > 0 {
		p.packed = binary.AppendUvarint(p.packed, p.n<<kindBits|p.kind)
		p.packed = append(p.packed, p.mixed...)
	}
	p.n, p.mixed = 0, p.mixed[:0]
}

// unpack adds the members of a packed bitmap of message numbers to b. It refuses numbers that were never sent: end and above. If it
// fails, it may have added some of the others.
func (b *bitmap) unpack(packed []byte, end uint64) error {
	neverSent, err := unpackWords(packed, end, func(w bitmapWord) { b.addWord(w.first, w.members) })
	if err == nil && neverSent > 0 {
		err = errUnsent
	}
	return err
}

// unpackKeys calls use with each key of a packed bitmap of keys. It refuses keys that the trial does not have: end and above. If it
// fails, use may have been called for some of the others.
func unpackKeys(packed []byte, end int, use func(key int)) error {
	unknown, err := unpackWords(packed, uint64(end), func(w bitmapWord) {
		for key := range w.numbers() {
			use(int(key))
		}
	})
	if err == nil && unknown > 0 {
		err = errKey
	}
	return err
}

// bitmapWord is one word of a bitmap.
type bitmapWord struct {
	first   uint64 // the number that bit 0 stands for; bit i stands for first + i
	members uint64 // which of these 64 numbers are members
}

// numbers yields the members in ascending order.
func (w bitmapWord) numbers() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for rest := w.members; rest != 0; rest &= rest - 1 { // clears the lowest bit
			if !yield(w.first + uint64(bits.TrailingZeros64(rest))) {
				return
			}
		}
	}
}

// unpackWords reads a packed bitmap. It calls use with each word that has members below end, and only with those members. It returns how
// many members are not below end. For example, of the members 3, 70, 75 and 200, with end 75, use gets a word with 3 and one with 70, and
// the result is 2. It fails if the bitmap is damaged; use may have been called by then.
func unpackWords(packed []byte, end uint64, use func(bitmapWord)) (notBelow int64, err error) {
	rest, start := packed, uint64(0)
	for len(rest) > 0 {
		var r packedRun
		r, rest, err = cutRun(rest, start)
		if err != nil {
			return 0, err
		}
		start += r.n
		if r.kind == emptyRun {
			continue
		}
		for i := range r.n {
			w := r.word(i)
			if r.kind == fullRun && w.first >= end {
				notBelow += int64(64 * (r.n - i)) // counting up to 2^36 words one by one would take minutes
				break
			}
			below := maskBelow(w.first, end)
			notBelow += int64(bits.OnesCount64(w.members &^ below))
			if w.members &= below; w.members != 0 {
				use(w)
			}
		}
	}
	return notBelow, nil
}

// packedRun is n words of one kind.
type packedRun struct {
	start uint64 // index of its first word in the bitmap
	n     uint64 // at least 1; up to 2^36 if the run is empty or full
	kind  uint64
	mixed []byte // the words of a mixed run
}

// word returns the i-th word of the run.
func (r packedRun) word(i uint64) bitmapWord {
	w := bitmapWord{first: (r.start + i) * 64}
	switch r.kind {
	case fullRun:
		w.members = ^uint64(0)
	case mixedRun:
		w.members = binary.LittleEndian.Uint64(r.mixed[8*i:])
	}
	return w
}

// cutRun reads the run that packed begins with, and returns the rest of packed. start is the index of the run's first word.
func cutRun(packed []byte, start uint64) (r packedRun, rest []byte, err error) {
	const allWords = (wire.MaxSeq + 1) / 64 // in a bitmap of all sequence numbers
	head, size := binary.Uvarint(packed)
	r = packedRun{start: start, n: head >> kindBits, kind: head & (1<<kindBits - 1)}
	if size <= 0 || r.n == 0 || r.kind > mixedRun {
		return packedRun{}, nil, errPacked
	}
	if r.n > allWords-start {
		return packedRun{}, nil, errAboveMax
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
