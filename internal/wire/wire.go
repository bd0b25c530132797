// Package wire writes the identity and the times of a message into its body or into a header beside it, and reads and checks them. It knows
// nothing of brokers, of the clock that the times were read from, or of duplicates.
//
// A sender calls Prepare once for each payload buffer, and Stamp for each message:
//
//	stamp, body := wire.Split(payload)
//	sum := wire.Prepare(stamp, body, run)
//	wire.Stamp(stamp, wire.MakeID(producer, seq), intended, sent, sum)
//	…
//	status := header.Read(wire.Split(received))
//
// Where the body has to arrive as it is, the stamp is a buffer of HeaderSize bytes of its own, and travels as Text.
package wire

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"
)

// A stamp is, little endian,
//
//	 0..8   identity: producer in the top 22 bits, sequence number below
//	 8..16  intended time, ns        ┐
//	16..24  sent time, ns            │ only in stamps of
//	24..28  magic, version, run      │ HeaderSize bytes
//	28..32  checksum                 ┘
//
// The checksum is the lower half of the 64-bit XXH3 hash of the first 24 bytes, seeded with the hash of the body and the run. That seed is the
// same for every message of one buffer, so Prepare computes it once and Stamp hashes only 24 bytes: 28 would take XXH3 four times as long.
// Magic and version have one value. One damaged message in 2³² has the right checksum by chance. docs/decisions/018-a-faster-checksum.md says why it is no CRC.
const (
	IDSize     = 8  // the smallest stamp
	HeaderSize = 32 // of a stamp that has times and a checksum

	intendedAt = 8
	sentAt     = 16
	tagAt      = 24 // magic and version, one byte each
	runAt      = 26
	sumAt      = 28

	magic   = 0xB7
	version = 4
)

// Name is the name of the header that carries a stamp beside a body. It is one word, since some protocols allow identifiers only.
const Name = "brokermark"

// TextSize is the length of a stamp as Text.
const TextSize = (HeaderSize*8 + 5) / 6

// ID is the identity of a message: its producer and its sequence number. Message 7 of producer 3 has the ID 3<<42 | 7.
type ID uint64

const (
	seqBits = 42

	// MaxProducers is how many producers a run may have. 4,194,304 are enough for a million topics with four producers each, as in the
	// widest workloads of the OpenMessaging Benchmark.
	MaxProducers = 1 << (64 - seqBits)
	// MaxSeq is the largest sequence number of a producer. A million messages per second reach it after 50 days.
	MaxSeq = 1<<seqBits - 1
)

// MakeID makes an identity. It cuts off the upper bits of a seq above MaxSeq and of a producer from MaxProducers on.
func MakeID(producer uint32, seq uint64) ID { return ID(uint64(producer)<<seqBits | seq&MaxSeq) }

// Producer returns the number of the producer in its run.
func (id ID) Producer() uint32 { return uint32(id >> seqBits) }

// Seq returns the sequence number, which counts the producer's messages from 0.
func (id ID) Seq() uint64 { return uint64(id) & MaxSeq }

func (id ID) String() string { return fmt.Sprintf("%d/%d", id.Producer(), id.Seq()) }

// Header is the content of a stamp: the identity of its message, the times, and the run.
type Header struct {
	ID       ID
	Intended int64  // when the message was due, ns on the sender's clock
	Sent     int64  // when it was sent, ns on the sender's clock
	Run      uint16 // as in Prepare
	Timed    bool   // the stamp has room for all of these; otherwise only ID is set
}

// Status is the result of checking a message.
type Status uint8

// The results of Read.
const (
	OK       Status = iota // the checksum is right
	Bare                   // shorter than HeaderSize: it has an ID and no checksum
	TooShort               // shorter than IDSize
	Foreign                // another magic or version: not ours, or damaged
	Damaged                // the checksum is wrong
)

// Corrupt reports whether the payload certainly differs from the one that was sent. A Bare payload may be damaged, too: the caller has to
// check its length and ID.
func (s Status) Corrupt() bool { return s != OK && s != Bare }

func (s Status) String() string {
	if names := [...]string{"ok", "bare", "too short", "foreign", "damaged"}; int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("status %d", uint8(s))
}

// Split divides a payload that carries its stamp itself: the stamp is its first HeaderSize bytes, or all of a shorter payload.
func Split(payload []byte) (stamp, body []byte) {
	n := min(len(payload), HeaderSize)
	return payload[:n], payload[n:]
}

// Prepare writes the part that all messages of a run have in common into a stamp, and returns the seed of the checksum, which has to be passed to
// Stamp until the body changes; 0 for stamps shorter than HeaderSize, which have no checksum. run is a number that tells the messages of this
// run from those that an earlier run left on the broker.
func Prepare(stamp, body []byte, run uint16) (bodySum uint64) {
	if len(stamp) < HeaderSize {
		return 0
	}
	stamp[tagAt], stamp[tagAt+1] = magic, version
	binary.LittleEndian.PutUint16(stamp[runAt:], run)
	return seed(body, run)
}

// Stamp writes a message's identity, times and checksum into a prepared stamp; only its identity if that is shorter than HeaderSize. It
// panics if the stamp is shorter than IDSize.
func Stamp(stamp []byte, id ID, intended, sent int64, bodySum uint64) {
	binary.LittleEndian.PutUint64(stamp, uint64(id))
	if len(stamp) < HeaderSize {
		return
	}
	binary.LittleEndian.PutUint64(stamp[intendedAt:], uint64(intended))
	binary.LittleEndian.PutUint64(stamp[sentAt:], uint64(sent))
	binary.LittleEndian.PutUint32(stamp[sumAt:], checksum(stamp, bodySum))
}

// seed is what body and run add to a checksum. The factor spreads the bits of run (2⁶⁴ over the golden ratio, Knuth's multiplicative hash).
func seed(body []byte, run uint16) uint64 { return xxh3.Hash(body) ^ uint64(run)*0x9E3779B97F4A7C15 }

func checksum(stamp []byte, seed uint64) uint32 {
	return uint32(xxh3.HashSeed(stamp[:tagAt], seed))
}

// Read reads the stamp of a body into h, and checks it. What it reads of a Foreign or Damaged message is for diagnosis only. It sets every
// field, one by one: copying a whole Header right after that stalls the processor for as long as its checksum takes.
func (h *Header) Read(stamp, body []byte) Status {
	if len(stamp) < HeaderSize {
		id, ok := ReadID(stamp)
		if *h = (Header{ID: id}); !ok {
			return TooShort
		}
		return Bare
	}
	h.ID = ID(binary.LittleEndian.Uint64(stamp))
	h.Intended = int64(binary.LittleEndian.Uint64(stamp[intendedAt:]))
	h.Sent = int64(binary.LittleEndian.Uint64(stamp[sentAt:]))
	h.Run = binary.LittleEndian.Uint16(stamp[runAt:])
	h.Timed = true
	if stamp[tagAt] != magic || stamp[tagAt+1] != version {
		return Foreign
	}
	if checksum(stamp, seed(body, h.Run)) != binary.LittleEndian.Uint32(stamp[sumAt:]) {
		return Damaged
	}
	return OK
}

// ReadID reads the identity and checks nothing else. ok is false if the stamp is too short to have one.
func ReadID(stamp []byte) (id ID, ok bool) {
	if len(stamp) < IDSize {
		return 0, false
	}
	return ID(binary.LittleEndian.Uint64(stamp)), true
}

// PutText writes a stamp of HeaderSize bytes as text, TextSize characters that every protocol takes in a header.
func PutText(text, stamp []byte) { base64.RawURLEncoding.Encode(text, stamp) }

// ReadText is Read for a stamp that came as text beside the body. What is no such text is Foreign.
func (h *Header) ReadText(text, body []byte) Status {
	var stamp [HeaderSize]byte
	*h = Header{}
	if len(text) != TextSize {
		return Foreign
	}
	if _, err := base64.RawURLEncoding.Strict().Decode(stamp[:], text); err != nil {
		return Foreign
	}
	return h.Read(stamp[:], body)
}
