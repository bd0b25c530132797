package lab

import "github.com/brokermark/brokermark/internal/worker"

// mayDrop says in the books how many messages a limit that the spec asks for may have dropped: none while less was waiting
// than a queue keeps, and never those that it keeps.
func (b *bench) mayDrop(out *worker.Outcome) {
	keeps := b.limit.Messages
	if b.limit.Setting == "" || out.BacklogMax < keeps {
		return
	}
	// What it keeps may be of the warm-up as well.
	kept := max(0, keeps-out.Warmup.Received)
	out.Measured.MayDrop = out.Measured.Expected - min(out.Measured.Expected, kept)
	out.Warmup.MayDrop = out.Warmup.Expected
}
