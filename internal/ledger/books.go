// Package ledger holds the counts of a measured phase, says whether they balance, and judges by them whether a broker
// kept what its guarantee promises. It knows nothing of how messages are counted or how a verdict is shown.
package ledger

// Books count messages; Expected, Received, Lost and the faults count per subscription, where several receive the same
// message.
type Books struct {
	Due        int64 `json:"due,omitempty"`      // by the schedule: sent + unsent; 0 in records of before it was counted
	Unsent     int64 `json:"unsent,omitempty"`   // due, and never handed to the client
	Sent       int64 `json:"sent"`               // handed to the client
	Acked      int64 `json:"acked"`              // confirmed
	Failed     int64 `json:"failed"`             // reported as failed by the client
	Unresolved int64 `json:"unresolved"`         // neither, when the run ended
	Expected   int64 `json:"expected"`           // sent × subscriptions
	Received   int64 `json:"received"`           // distinct messages delivered, over all subscriptions
	Lost       int64 `json:"lost"`               // expected − received
	LostAcked  int64 `json:"lost_acked"`         // confirmed by the broker and yet lost: the broken promise
	MayDrop    int64 `json:"may_drop,omitempty"` // of those, at most, by a limit on what a queue keeps that was asked for and reached
	Duplicated int64 `json:"duplicated"`
	Reordered  int64 `json:"reordered"`
	Corrupted  int64 `json:"corrupted"`
	Resent     int64 `json:"resent,omitempty"`  // sent once more after a lost connection; not counted again above
	Bytes      int64 `json:"bytes,omitempty"`   // payload bytes sent
	Stale      int64 `json:"stale,omitempty"`   // deliveries of an earlier trial's messages
	Untimed    int64 `json:"untimed,omitempty"` // received, without a latency
}

// Add merges the books of another shard, stream or phase.
func (b *Books) Add(o Books) {
	b.Due += o.Due
	b.Unsent += o.Unsent
	b.Sent += o.Sent
	b.Acked += o.Acked
	b.Failed += o.Failed
	b.Unresolved += o.Unresolved
	b.Expected += o.Expected
	b.Received += o.Received
	b.Lost += o.Lost
	b.LostAcked += o.LostAcked
	b.MayDrop += o.MayDrop
	b.Duplicated += o.Duplicated
	b.Reordered += o.Reordered
	b.Corrupted += o.Corrupted
	b.Resent += o.Resent
	b.Bytes += o.Bytes
	b.Stale += o.Stale
	b.Untimed += o.Untimed
}

// Balanced tells whether due = sent + unsent, sent = acked + failed + unresolved and received + lost = expected.
func (b Books) Balanced() bool { return b.Due == b.Sent+b.Unsent && b.balancedFromSent() }

// BalancedAsStored is Balanced for books from a store: those of older records don't say what was due.
func (b Books) BalancedAsStored() bool {
	if b.Due == 0 {
		return b.balancedFromSent()
	}
	return b.Balanced()
}

func (b Books) balancedFromSent() bool {
	return b.Sent == b.Acked+b.Failed+b.Unresolved && b.Received+b.Lost == b.Expected
}

// Broken is how many confirmed messages were lost although no limit asked for it.
func (b Books) Broken() int64 { return max(0, b.LostAcked-b.MayDrop) }
