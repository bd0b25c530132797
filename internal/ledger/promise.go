package ledger

import "slices"

// Guarantee is what was asked of a broker, in the words of a spec (docs/guarantees.md).
type Guarantee struct {
	Delivery    string // at-most-once | at-least-once | exactly-once
	Persistence string // memory | log | fsync
	Acks        string // none | leader | quorum
	Replicas    int    // nodes that hold a copy
	// Failover tells that another node leads when the one that did is gone; else it comes back with what it had.
	Failover bool
	Ordering string // ordered | unordered
	// Counted tells that what came is counted by its identity, so that a delivery that comes again is known: then nothing may
	// count twice, however often it may be delivered.
	Counted bool
}

// MayLose tells that a lost message breaks no promise: at most once.
func (g Guarantee) MayLose() bool { return g.Delivery == "at-most-once" }

// Promise is what came of a guarantee.
type Promise int

// The three answers.
const (
	Kept     Promise = iota
	Broken           // something happened that the guarantee rules out
	NoneMade         // what was done to the broker may cost messages by what was asked for (Gap)
)

// Gap is where a guarantee promises nothing of confirmed messages after what was done to the broker.
type Gap int

// The gaps.
const (
	NoGap      Gap = iota
	InMemory       // they were held in memory, and the process that held them was killed or restarted
	LeaderOnly     // the leader alone had to have them, and another node may have led since
)

// Deviation is a way in which deliveries can differ from what was sent.
type Deviation int

// The deviations, the gravest first. A corrupted message can't be told from the others, so it counts as lost as well.
const (
	Corrupted Deviation = iota
	Lost                // although the broker had confirmed the message
	Duplicated
	Reordered
)

// Count is how many messages show a deviation.
type Count struct {
	Deviation Deviation
	Messages  int64
}

// Verdict is the answer to whether a guarantee was kept.
type Verdict struct {
	Promise  Promise
	Gap      Gap     // of NoneMade
	Breaches []Count // deviations that the guarantee rules out
	Allowed  []Count // deviations that it permits
}

// Keeps judges books by a guarantee. faults names what was done to the broker meanwhile (kill, restart, pause, …).
func Keeps(g Guarantee, faults []string, b Books) Verdict {
	gap := g.gap(faults)
	var v Verdict
	for _, d := range []struct {
		Count
		ruledOut bool
	}{
		{Count{Corrupted, b.Corrupted}, true},
		{Count{Lost, b.Broken()}, !g.MayLose() && gap == NoGap},
		{Count{Lost, b.LostAcked - b.Broken()}, false}, // asked for
		{Count{Duplicated, b.Duplicated}, g.Delivery != "at-least-once" || g.Counted},
		{Count{Reordered, b.Reordered}, g.Ordering == "ordered"},
	} {
		switch {
		case d.Messages == 0:
		case d.ruledOut:
			v.Breaches = append(v.Breaches, d.Count)
		default:
			v.Allowed = append(v.Allowed, d.Count)
		}
	}
	switch {
	case v.Breaches != nil:
		v.Promise = Broken
	case gap != NoGap && !g.MayLose():
		v.Promise, v.Gap = NoneMade, gap
	}
	return v
}

// gap is the only place that says which losses a setting allows.
func (g Guarantee) gap(faults []string) Gap {
	switch {
	case g.Persistence == "memory" && slices.ContainsFunc(faults, endsProcess):
		return InMemory
	case g.Acks == "leader" && g.Replicas > 1 && g.Failover && slices.ContainsFunc(faults, takesNode):
		return LeaderOnly
	}
	return NoGap
}

// takesNode tells that the other nodes may go on without the one that it is done to.
func takesNode(fault string) bool { return endsProcess(fault) || fault == "pause" }

func endsProcess(fault string) bool { return fault == "kill" || fault == "restart" }
