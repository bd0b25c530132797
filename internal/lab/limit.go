package lab

import (
	"time"

	"github.com/brokermark/brokermark/internal/worker"
)

// setMayDrop sets in the books how many messages may have been dropped by a queue limit that the spec asks for: by the number of
// messages that the queue keeps, or by their age. No promise covers those (docs/decisions/023-loss-that-was-asked-for.md).
func (b *bench) setMayDrop(out *worker.Outcome) {
	byNumber, byAge := b.mayDropByNumber(out), b.mayDropByAge(out)
	if byNumber == 0 && byAge == 0 {
		return
	}
	b.limitSetting = b.limit.Setting
	if byAge > byNumber {
		b.limitSetting = b.limit.AgeSetting
	}
	out.Measured.MayDrop = max(byNumber, byAge)
	out.Warmup.MayDrop = out.Warmup.Expected // whether the limit was reached in the warm-up is not known
}

// mayDropByNumber returns how many deliveries of the measured phase the queue may have dropped because it held too many messages.
// It drops none before its limit is reached, and never those that it keeps.
func (b *bench) mayDropByNumber(out *worker.Outcome) int64 {
	limit := b.limit.Messages
	if b.limit.Setting == "" || out.BacklogMax < limit {
		return 0
	}
	kept := max(0, limit-out.Warmup.Received) // some of the messages that it keeps may be of the warm-up
	return max(0, out.Measured.Expected-kept)
}

// nearlyAge is the share of the age limit that a message must have waited for the limit to count as reached. It is below 1
// because messages that reach the age are dropped: none that arrives has waited for all of it.
const nearlyAge = 0.9

// mayDropByAge returns how many deliveries of the measured phase the queue may have dropped because they had waited for too long:
// all of them once the age was reached, since nobody knows which messages waited how long.
func (b *bench) mayDropByAge(out *worker.Outcome) int64 {
	if b.limit.AgeSetting == "" || float64(longestWait(out)) < nearlyAge*float64(b.limit.Age) {
		return 0
	}
	return out.Measured.Expected
}

// longestWait returns the longest time for which a message is known to have waited after it was sent: until it arrived, or while
// nothing arrived although messages were due. Messages that are missing in the end tell nothing: they may have been lost at once.
func longestWait(out *worker.Outcome) time.Duration {
	longest := out.Histograms.EndToEndService.Max()
	for _, silence := range out.Undelivered {
		longest = max(longest, silence.To-silence.From)
	}
	nothingArrived := out.Measured.Received+out.Warmup.Received == 0
	if nothingArrived && out.FirstSent > 0 {
		longest = max(longest, out.Until-out.FirstSent)
	}
	return time.Duration(longest)
}
