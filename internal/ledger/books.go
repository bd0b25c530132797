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
	"slices"
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

// Guarantee is what a spec asks of a broker, in the spec's words (docs/guarantees.md). Other words are not refused here; as a
// Delivery they are judged like exactly-once.
type Guarantee struct {
	Delivery    string // at-most-once | at-least-once | exactly-once
	Persistence string // memory | log | fsync
	Acks        string // none | leader | quorum
	Replicas    int    // nodes that hold a copy of each message
	Ordering    string // ordered | unordered
	// Failover reports whether another node takes over when the leader is gone. If false, the leader comes back with
	// what it had.
	Failover bool
	// Counted reports whether the receiver recognises a message that comes again, by its identity. Then a message may be
	// delivered twice, but must not be counted twice.
	Counted bool
}

// MayLose reports whether losing a message breaks no promise: at most once promises no delivery.
func (g Guarantee) MayLose() bool { return g.Delivery == "at-most-once" }

// Promise says what became of a guarantee.
type Promise int

// The three answers.
const (
	Kept     Promise = iota // nothing happened that the guarantee rules out
	Broken                  // something happened that the guarantee rules out
	NoneMade                // after the faults of this run the guarantee covers no confirmed message; Verdict.Gap says why
)

// Gap says why a guarantee does not cover confirmed messages after certain faults.
type Gap int

// The gaps.
const (
	NoGap      Gap = iota
	InMemory       // messages were held in memory only, and the process that held them ended
	LeaderOnly     // only the leader had to hold a message, and another node may have taken over from it
)

// Deviation is a way in which deliveries can differ from the sent messages.
type Deviation int

// The deviations, worst first.
const (
	Corrupted Deviation = iota
	Lost                // after the broker had confirmed the message
	Duplicated
	Reordered
)

// Count says how many messages show a deviation.
type Count struct {
	Deviation Deviation
	Messages  int64
}

// Verdict says whether a guarantee was kept. Both lists are sorted by deviation, the worst first; counts of 0 are left out.
type Verdict struct {
	Promise  Promise
	Gap      Gap     // why no promise was made; NoGap unless Promise is NoneMade
	Breaches []Count // deviations that the guarantee rules out
	Allowed  []Count // deviations that it permits
}

// Keeps judges books by a guarantee. faults are the faults injected during the run, such as "kill" or "pause".
//
// For example, a broker that should deliver at least once and in any order has lost 4 confirmed messages and delivered 2 twice. The
// promise is Broken: Breaches holds the 4 lost ones, and Allowed the 2 duplicated.
func Keeps(g Guarantee, faults []string, b Books) Verdict {
	gap := g.gap(faults)
	wronglyLost := b.WronglyLost()
	if g.MayLose() || gap != NoGap {
		wronglyLost = 0
	}
	wronglyDuplicated := b.Duplicated
	if g.Delivery == "at-least-once" && !g.Counted {
		wronglyDuplicated = 0
	}
	wronglyReordered := b.Reordered
	if g.Ordering != "ordered" {
		wronglyReordered = 0
	}
	var v Verdict
	v.list(Corrupted, b.Corrupted, b.Corrupted)
	v.list(Lost, b.LostAcked, wronglyLost)
	v.list(Duplicated, b.Duplicated, wronglyDuplicated)
	v.list(Reordered, b.Reordered, wronglyReordered)
	switch {
	case len(v.Breaches) > 0:
		v.Promise = Broken
	case gap != NoGap && !g.MayLose():
		v.Promise, v.Gap = NoneMade, gap
	}
	return v
}

// list appends the messages that show a deviation: those that the guarantee rules out to Breaches, the others to Allowed.
func (v *Verdict) list(d Deviation, messages, ruledOut int64) {
	if ruledOut > 0 {
		v.Breaches = append(v.Breaches, Count{Deviation: d, Messages: ruledOut})
	}
	if allowed := messages - ruledOut; allowed > 0 {
		v.Allowed = append(v.Allowed, Count{Deviation: d, Messages: allowed})
	}
}

// gap returns why the guarantee does not cover confirmed messages after these faults. This is the only place that knows
// which losses a setting allows.
func (g Guarantee) gap(faults []string) Gap {
	switch {
	case g.Persistence == "memory" && slices.ContainsFunc(faults, endsProcess):
		return InMemory
	case g.Acks == "leader" && g.Replicas > 1 && g.Failover && slices.ContainsFunc(faults, mayFailOver):
		return LeaderOnly
	}
	return NoGap
}

// mayFailOver reports whether the other nodes may elect a new leader because of a fault.
func mayFailOver(fault string) bool { return endsProcess(fault) || fault == "pause" }

func endsProcess(fault string) bool { return fault == "kill" || fault == "restart" }
