package drivertest

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// identity is the first 8 bytes of every payload. The rest of the payload and its size follow from it, so that a delivered
// payload can be checked by itself.
type identity uint64

const (
	identityBytes = 8
	scribble      = 0xa5               // overwrites every byte of a completed slot
	scribbled     = 0xa5a5a5a5a5a5a5a5 // as an identity
	largest       = 64<<10 + 7         // more than one TCP segment, one frame and one power of two
)

func newIdentity(sender, topic, sequence int) identity {
	return identity(uint64(sender)<<40 | uint64(topic)<<32 | uint64(sequence))
}

func (id identity) sender() int   { return int(id >> 40) }
func (id identity) topic() int    { return int(id >> 32 & 0xff) }
func (id identity) sequence() int { return int(id & 0xffffffff) }

func (id identity) String() string {
	return fmt.Sprintf("message %d of sender %d to topic %d", id.sequence(), id.sender(), id.topic())
}

// size cycles through the smallest message, odd and even ones; the first and then every 97th is a large one.
func (id identity) size() int {
	if id.sequence()%97 == 0 {
		return largest
	}
	return [...]int{identityBytes, 100, 9, 1023, 100, 4096}[id.sequence()%6]
}

// keyed reports whether the message carries a key, which a third of the messages do: the identity again.
func (id identity) keyed() bool { return id.sequence()%3 == 1 }

// key is one of n keys, if few keys are wanted.
func (id identity) key(n int) int { return id.sequence() % n }

func (id identity) fill(p []byte) {
	binary.LittleEndian.PutUint64(p, uint64(id))
	x := uint64(id)*0x9e3779b97f4a7c15 + 1
	for i := identityBytes; i < len(p); i++ {
		if i%8 == 0 {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
		}
		p[i] = byte(x >> (8 * (i % 8)))
	}
}

// examine returns the identity of a delivered payload, or an error that says what is wrong with the payload.
func examine(p, scratch []byte) (identity, error) {
	if len(p) < identityBytes {
		return 0, fmt.Errorf("a payload of %d bytes was delivered; none that short was sent", len(p))
	}
	id := identity(binary.LittleEndian.Uint64(p))
	if id == scribbled {
		return id, fmt.Errorf("a payload of %d bytes was delivered with what its buffer held after its slot was completed", len(p))
	}
	if len(p) != id.size() {
		return id, fmt.Errorf("%v was delivered with %d bytes, sent with %d", id, len(p), id.size())
	}
	want := scratch[:len(p)]
	id.fill(want)
	if !bytes.Equal(p, want) {
		at := 0
		for p[at] == want[at] {
			at++
		}
		return id, fmt.Errorf("%v was delivered with another content from byte %d of %d on", id, at, len(p))
	}
	return id, nil
}
