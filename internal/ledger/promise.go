package ledger

import "slices"

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
