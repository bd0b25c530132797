package lab

import (
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/worker"
)

// A spec may limit what the broker's queues keep: the number of messages, their age, or both. A queue drops messages beyond its limit.
// They do not count as lost, and no promise covers them (docs/decisions/023-loss-that-was-asked-for.md).

// queueDrops is how many messages the queues may have dropped at most for their limit.
type queueDrops struct {
	warmup, measured int64  // of these phases
	setting          string // that may have dropped the most; empty if nothing may have been dropped
}

// mostDrops returns what the queues may have dropped during a load. For example, a queue that keeps 50 messages and was full may have
// dropped all but the last 50 of 1,000 messages: 950.
func mostDrops(l driver.Limit, out worker.Outcome) queueDrops {
	byNumber, byAge := dropsByNumber(l, out), dropsByAge(l, out)
	if byNumber == 0 && byAge == 0 {
		return queueDrops{}
	}
	// Whether the limit was reached in the warm-up is not known.
	d := queueDrops{warmup: out.Warmup.Expected, measured: max(byNumber, byAge), setting: l.Setting}
	if byAge > byNumber {
		d.setting = l.AgeSetting
	}
	return d
}

// dropsByNumber returns how many deliveries of the measured phase a queue may have dropped because it held too many messages. It drops
// none before its limit is reached, and never those that it keeps.
func dropsByNumber(l driver.Limit, out worker.Outcome) int64 {
	if l.Setting == "" || out.BacklogMax < l.Messages {
		return 0
	}
	kept := max(0, l.Messages-out.Warmup.Received) // for certain: the others that it keeps may be of the warm-up
	return max(0, out.Measured.Expected-kept)
}

// nearlyAge is the share of the age limit that a message must have waited for the limit to count as reached. It is below 1
// because messages that reach the age are dropped: none that arrives has waited for all of it.
const nearlyAge = 0.9

// dropsByAge returns how many deliveries of the measured phase a queue may have dropped because they had waited for too long:
// all of them once the age was reached, since nobody knows which messages waited how long.
func dropsByAge(l driver.Limit, out worker.Outcome) int64 {
	if l.AgeSetting == "" || float64(longestWait(out)) < nearlyAge*float64(l.Age) {
		return 0
	}
	return out.Measured.Expected
}

// longestWait returns the longest time for which a message is known to have waited after it was sent: until it arrived, or while
// nothing arrived although messages were due. How long a message waited that never arrived is not known: it may have been lost at once.
func longestWait(out worker.Outcome) time.Duration {
	longest := out.Histograms.EndToEndService.Max()
	for _, silence := range out.DeliverySilences {
		longest = max(longest, silence.To-silence.From)
	}
	nothingArrived := out.Measured.Received+out.Warmup.Received == 0
	if nothingArrived && out.FirstSent > 0 {
		longest = max(longest, out.Until-out.FirstSent)
	}
	return time.Duration(longest)
}
