// Package wire is identity and times inside the payload. It knows bytes; it knows nothing of brokers, of the clock
// the times were read from, or of what a duplicate means.
package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"
)

// A payload begins, little endian, with
//
//	 0..8   identity: producer in the top 22 bits, sequence below
//	 8..16  intended time, ns        ┐
//	16..24  sent time, ns            │ only in payloads of
//	24..28  checksum                 │ HeaderSize and more
//	28..32  magic, version, run      ┘
//
// The checksum is the lower half of the XXH3 hash (64 bits) of the first 24 bytes, seeded with that of everything from
// byte 28 on. The latter is the same for every message sent from one buffer, so Prepare hashes it once and Stamp hashes
// 24 bytes only. A damaged payload is taken for a sound one once in 2³² (decision 018: why no CRC).
const (
	IDSize     = 8  // the smallest payload
	HeaderSize = 32 // the smallest payload that carries times and a checksum

	sumAt = 24
	tagAt = 28

	magic   = 0xB7
	version = 3
)

// ID is the identity of a message: who sent it and its place among that producer's messages.
type ID uint64

const (
	seqBits = 42

	// Producers is how many producers a run may have: a million topics with four producers each, as in the widest
	// workloads of the OpenMessaging Benchmark, are fewer.
	Producers = 1 << (64 - seqBits)
	// MaxSeq is the largest sequence number of one producer; at a million messages per second it lasts for 50 days.
	MaxSeq = 1<<seqBits - 1
)

// MakeID makes an identity; seq beyond MaxSeq and producers beyond Producers lose their upper bits.
func MakeID(producer uint32, seq uint64) ID { return ID(uint64(producer)<<seqBits | seq&MaxSeq) }

// Producer is the number of the producer in its run.
func (id ID) Producer() uint32 { return uint32(id >> seqBits) }

// Seq counts that producer's messages from 0.
func (id ID) Seq() uint64 { return uint64(id) & MaxSeq }

func (id ID) String() string { return fmt.Sprintf("%d/%d", id.Producer(), id.Seq()) }

// Header is what a payload says of itself. Without Timed only ID is known.
type Header struct {
	ID       ID
	Intended int64 // ns, on the sender's axis
	Sent     int64 // ns, on the sender's axis
	Run      uint16
	Timed    bool
}

// Status is whether a payload can be believed.
type Status uint8

// What Read can find.
const (
	OK       Status = iota // checked: every bit is as it was sent
	Bare                   // shorter than HeaderSize: an ID that nothing vouches for
	TooShort               // shorter than IDSize
	Foreign                // no magic: not ours, or damaged
	Damaged                // the checksum is wrong
)

// Corrupt tells whether the payload can't be what was sent. A Bare one may still carry an impossible ID or have been
// cut: its length and ID are for the caller to judge.
func (s Status) Corrupt() bool { return s >= TooShort }

func (s Status) String() string {
	if names := [...]string{"ok", "bare", "too short", "foreign", "damaged"}; int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("status %d", uint8(s))
}

// Prepare writes what all messages of a run have in common into a payload whose body is in place, and returns the
// sum that Stamp needs until the body changes. run tells the messages of this run from what an earlier one left on
// the broker.
func Prepare(payload []byte, run uint16) (bodySum uint64) {
	if len(payload) < HeaderSize {
		return 0
	}
	payload[tagAt], payload[tagAt+1] = magic, version
	binary.LittleEndian.PutUint16(payload[tagAt+2:], run)
	return xxh3.Hash(payload[tagAt:])
}

// Stamp makes a prepared payload one message. Payloads shorter than HeaderSize take the ID only; ones shorter than
// IDSize panic.
func Stamp(payload []byte, id ID, intended, sent int64, bodySum uint64) {
	binary.LittleEndian.PutUint64(payload, uint64(id))
	if len(payload) < HeaderSize {
		return
	}
	binary.LittleEndian.PutUint64(payload[8:], uint64(intended))
	binary.LittleEndian.PutUint64(payload[16:], uint64(sent))
	binary.LittleEndian.PutUint32(payload[sumAt:], checksum(payload, bodySum))
}

func checksum(payload []byte, bodySum uint64) uint32 {
	return uint32(xxh3.HashSeed(payload[:sumAt], bodySum))
}

// Read reads and checks a payload. The header is filled in as far as the status allows: after Foreign and Damaged it
// holds what the bytes say, which is for diagnosis only.
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
		Intended: int64(binary.LittleEndian.Uint64(payload[8:])),
		Sent:     int64(binary.LittleEndian.Uint64(payload[16:])),
		Run:      binary.LittleEndian.Uint16(payload[tagAt+2:]),
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

// ReadID reads the identity alone, unchecked; false if the payload is too short to have one.
func ReadID(payload []byte) (ID, bool) {
	if len(payload) < IDSize {
		return 0, false
	}
	return ID(binary.LittleEndian.Uint64(payload)), true
}
