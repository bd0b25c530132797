package lab

import (
	"time"

	"github.com/brokermark/brokermark/internal/worker"
)

// mayDrop says in the books how many messages a limit that the spec asks for may have dropped.
func (b *bench) mayDrop(out *worker.Outcome) {
	crowd, age := b.crowdedOut(out), b.outlived(out)
	if max(crowd, age) == 0 {
		return
	}
	if b.limits = b.limit.Setting; age > crowd {
		b.limits = b.limit.AgeSetting
	}
	out.Measured.MayDrop = max(crowd, age)
	out.Warmup.MayDrop = out.Warmup.Expected
}

// crowdedOut is none while less was waiting than a queue keeps, and never those that it keeps.
func (b *bench) crowdedOut(out *worker.Outcome) int64 {
	keeps := b.limit.Messages
	if b.limit.Setting == "" || out.BacklogMax < keeps {
		return 0
	}
	// What it keeps may be of the warm-up as well.
	kept := max(0, keeps-out.Warmup.Received)
	return out.Measured.Expected - min(out.Measured.Expected, kept)
}

// nearlyOld is the share of an age that must have been seen: where the oldest go as soon as they are due, none that arrives
// has waited for all of it.
const nearlyOld = 0.9

// outlived is none while no message is known to have waited for as long as a queue keeps one, and any otherwise.
func (b *bench) outlived(out *worker.Outcome) int64 {
	if b.limit.AgeSetting == "" || float64(waited(out)) < nearlyOld*float64(b.limit.Age) {
		return 0
	}
	return out.Measured.Expected
}

// waited is the longest time that a message is known to have waited since it was sent: one that arrived, or those behind
// which nothing did. What is missing at the end says nothing: it may have been lost at once.
func waited(out *worker.Outcome) time.Duration {
	longest := out.Histograms.EndToEndService.Max()
	for _, s := range out.Undelivered {
		longest = max(longest, s.To-s.From)
	}
	if out.Measured.Received+out.Warmup.Received == 0 && out.FirstSent > 0 {
		longest = max(longest, out.Until-out.FirstSent)
	}
	return time.Duration(longest)
}
