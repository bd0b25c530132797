// Package wire writes the identity and the times of a message into its payload, and reads and checks them. It knows nothing of brokers,
// of the clock that the times were read from, or of duplicates.
//
// A sender calls Prepare once for each payload buffer, and Stamp for each message:
//
//	sum := wire.Prepare(payload, run)
//	wire.Stamp(payload, wire.MakeID(producer, seq), intended, sent, sum)
//	…
//	header, status := wire.Read(received)
package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"
)

// A payload begins, little endian, with
//
//	 0..8   identity: producer in the top 22 bits, sequence number below
//	 8..16  intended time, ns        ┐
//	16..24  sent time, ns            │ only in payloads of
//	24..28  checksum                 │ HeaderSize and more
//	28..32  magic, version, run      ┘
//
// The checksum is the lower half of the 64-bit XXH3 hash of the first 24 bytes, seeded with the hash of everything from byte 28 on.
// That seed is the same for every message of one buffer, so Prepare computes it once and Stamp hashes only 24 bytes. One damaged payload
// in 2³² has the right checksum by chance. docs/decisions/018-a-faster-checksum.md says why it is no CRC.
const (
	IDSize     = 8  // the smallest payload
	HeaderSize = 32 // the smallest payload that carries times and a checksum

	intendedAt = 8
	sentAt     = 16
	sumAt      = 24
	tagAt      = 28 // magic and version, one byte each
	runAt      = 30

	magic   = 0xB7
	version = 3
)

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

// Header is what a payload carries: the identity of its message, the times, and the run.
type Header struct {
	ID       ID
	Intended int64  // when the message was due, ns on the sender's clock
	Sent     int64  // when it was sent, ns on the sender's clock
	Run      uint16 // as in Prepare
	Timed    bool   // the payload has room for all of these; otherwise only ID is set
}

// Status is the result of checking a payload.
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

// Prepare writes the part of the header that all messages of a run have in common into a payload whose body, the rest of it, is in place. It
// returns the hash of both, which has to be passed to Stamp until the body changes; 0 for payloads shorter than HeaderSize, which have no
// checksum. run is a number that tells the messages of this run from those that an earlier run left on the broker.
func Prepare(payload []byte, run uint16) (bodySum uint64) {
	if len(payload) < HeaderSize {
		return 0
	}
	payload[tagAt], payload[tagAt+1] = magic, version
	binary.LittleEndian.PutUint16(payload[runAt:], run)
	return xxh3.Hash(payload[tagAt:])
}

// Stamp writes a message's identity, times and checksum into a prepared payload; only its identity if the payload is shorter than
// HeaderSize. It panics if the payload is shorter than IDSize.
func Stamp(payload []byte, id ID, intended, sent int64, bodySum uint64) {
	binary.LittleEndian.PutUint64(payload, uint64(id))
	if len(payload) < HeaderSize {
		return
	}
	binary.LittleEndian.PutUint64(payload[intendedAt:], uint64(intended))
	binary.LittleEndian.PutUint64(payload[sentAt:], uint64(sent))
	binary.LittleEndian.PutUint32(payload[sumAt:], checksum(payload, bodySum))
}

func checksum(payload []byte, bodySum uint64) uint32 {
	return uint32(xxh3.HashSeed(payload[:sumAt], bodySum))
}

// Read reads and checks a payload. The header of a Foreign or Damaged payload is for diagnosis only.
func Read(payload []byte) (Header, Status) {
	if len(payload) < HeaderSize {
		id, ok := ReadID(payload)
		if !ok {
			return Header{}, TooShort
		}
		return Header{ID: id}, Bare
	}
	h := Header{
		ID:       ID(binary.LittleEndian.Uint64(payload)),
		Intended: int64(binary.LittleEndian.Uint64(payload[intendedAt:])),
		Sent:     int64(binary.LittleEndian.Uint64(payload[sentAt:])),
		Run:      binary.LittleEndian.Uint16(payload[runAt:]),
		Timed:    true,
	}
	if payload[tagAt] != magic || payload[tagAt+1] != version {
		return h, Foreign
	}
	if checksum(payload, xxh3.Hash(payload[tagAt:])) != binary.LittleEndian.Uint32(payload[sumAt:]) {
		return h, Damaged
	}
	return h, OK
}

// ReadID reads the identity and checks nothing else. ok is false if the payload is too short to have one.
func ReadID(payload []byte) (id ID, ok bool) {
	if len(payload) < IDSize {
		return 0, false
	}
	return ID(binary.LittleEndian.Uint64(payload)), true
}
