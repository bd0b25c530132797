// Package ledger holds the counts of a measured phase, checks that they balance, and judges by them whether a broker kept
// what its guarantee promises. It does not know how messages are counted, nor how a verdict is shown.
//
// For example, 100 messages are sent at least once to 2 subscriptions. The broker confirms 98 and the client reports 2 as
// failed; 195 of the 200 expected deliveries come, and 4 of the 5 missing ones are of confirmed messages:
//
//	Sent 100 = Acked 98 + Failed 2 + Unresolved 0
//	Expected 200 = Received 195 + Lost 5, LostAcked 4
//
// These books balance. The promise is broken by the 4 missing deliveries of messages that the broker had confirmed. The fifth
// breaks no promise, because the client was told that its message had failed.
package ledger

import (
	"reflect"
	"strings"
)

// Books count the messages of a run or of a part of it, such as a phase or a stream.
type Books struct {
	// Each message counts once.

	Due        int64 `json:"due,omitempty"`    // by the schedule, or sent and unsent without one
	Unsent     int64 `json:"unsent,omitempty"` // due, but never handed to the client
	Sent       int64 `json:"sent"`             // handed to the client
	Acked      int64 `json:"acked"`            // confirmed by the broker; at most once: handed over
	Failed     int64 `json:"failed"`           // reported as failed by the client
	Unresolved int64 `json:"unresolved"`       // neither confirmed nor failed when the run ended

	// Each message counts once for every subscription that should receive it.

	Expected   int64 `json:"expected"`           // sent × subscriptions
	Received   int64 `json:"received"`           // distinct messages delivered
	Lost       int64 `json:"lost"`               // expected, but never delivered
	LostAcked  int64 `json:"lost_acked"`         // of Lost: confirmed by the broker
	MayDrop    int64 `json:"may_drop,omitempty"` // how many a queue limit that the spec asks for may have dropped at most
	Dropped    int64 `json:"dropped,omitempty"`  // deliveries that the client library dropped in the generator's process; the broker made them
	Duplicated int64 `json:"duplicated"`         // deliveries of messages that had come before
	Reordered  int64 `json:"reordered"`          // came after a later message of the stream, or of the key if order is promised per key
	Corrupted  int64 `json:"corrupted"`          // payload damaged; which message it was is unknown, so one is lost as well

	// Each attempt, byte or delivery counts.

	Resent  int64 `json:"resent,omitempty"`  // attempts after a lost connection; Sent doesn't count them
	Bytes   int64 `json:"bytes,omitempty"`   // payload bytes sent
	Stale   int64 `json:"stale,omitempty"`   // deliveries of an earlier trial's messages
	Untimed int64 `json:"untimed,omitempty"` // received, but too late for their latency to be known
}

// Add adds the books of another part of the same run, such as another stream or phase.
func (b *Books) Add(other Books) {
	b.Due += other.Due
	b.Unsent += other.Unsent
	b.Sent += other.Sent
	b.Acked += other.Acked
	b.Failed += other.Failed
	b.Unresolved += other.Unresolved
	b.Expected += other.Expected
	b.Received += other.Received
	b.Lost += other.Lost
	b.LostAcked += other.LostAcked
	b.MayDrop += other.MayDrop
	b.Dropped += other.Dropped
	b.Duplicated += other.Duplicated
	b.Reordered += other.Reordered
	b.Corrupted += other.Corrupted
	b.Resent += other.Resent
	b.Bytes += other.Bytes
	b.Stale += other.Stale
	b.Untimed += other.Untimed
}

// Negative names a count that is below 0, as JSON names it, and returns it. The name is empty if there is none.
func (b Books) Negative() (name string, count int64) {
	counts := reflect.ValueOf(b)
	for i := range counts.NumField() {
		if n := counts.Field(i).Int(); n < 0 {
			name, _, _ = strings.Cut(counts.Type().Field(i).Tag.Get("json"), ",")
			return name, n
		}
	}
	return "", 0
}

// Balanced reports whether the books account for every message:
//
//	Due = Sent + Unsent
//	Sent = Acked + Failed + Unresolved
//	Expected = Received + Lost
func (b Books) Balanced() bool {
	return b.Due == b.Sent+b.Unsent && b.Sent == b.Acked+b.Failed+b.Unresolved && b.Expected == b.Received+b.Lost
}

// WronglyLost returns how many confirmed messages were lost beyond those that a queue limit may have dropped, or the client library has.
func (b Books) WronglyLost() int64 { return max(0, b.LostAcked-b.MayDrop-b.Dropped) }
