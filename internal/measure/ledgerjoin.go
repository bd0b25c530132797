package measure

import (
	"math"
	"math/bits"
)

// ledgerJoin joins what several agents received of one stream and subscription. The account of the agent whose first message came first
// is added first.
//
// Messages that came to different agents may have been reordered, which no agent sees alone. Suppose that agent A received 1, 2 and 5,
// and agent B 3 and 4:
//
//   - If the clocks show, beyond their bounds, that both came to B after 5 had come to A, they are reordered.
//   - If they show the same of 6 and 7 instead of 3 and 4, nothing is reordered.
//   - Otherwise 3 may have come before or after 5. Then only what one agent saw out of order counts, and the order is not known.
//
// If order is promised per key, agents that received different keys can't have reordered anything between them.
//
// A stream is what one producer sent, in the order of its numbers. A ledger is the record of what one subscription received of it.
// Agents that consume for the same subscription each have an account of their part of that ledger.
type ledgerJoin struct {
	stream    *stream
	ledger    *ledger // has the messages of all agents so far
	keys      bitmap  // received by any agent so far
	keysNamed bool    // each agent so far named its keys; false if order is promised over the whole stream
	latest    int64   // when the last message came to any agent so far, at the latest; ns

	orderKnown bool  // of all agents so far
	late       Tally // came after a later message to the same agent
	repeated   Tally // had come to another agent before
	provenLate Tally // came after all messages of the agents before, one of which has a higher number
}

func newLedgerJoin(s *stream, l *ledger) *ledgerJoin {
	return &ledgerJoin{stream: s, ledger: l, keysNamed: l.keys > 0, latest: math.MinInt64, orderKnown: true}
}

// agentAccount is one agent's account of a ledger.
type agentAccount struct {
	account  *Account
	agent    int
	earliest int64 // when its first message came at the earliest, ns on the axis of the process that joins
	latest   int64 // when its last message came at the latest
}

// overlap compares the messages of one agent with those of the agents before.
type overlap struct {
	repeated  Tally // received by an agent before
	belowHigh Tally // not received before, though an agent before received a higher number
	neverSent Tally
}

// add adds an agent's account.
func (j *ledgerJoin) add(a agentAccount) (overlap, error) {
	o, err := j.addMessages(a.account.Seen)
	if err != nil {
		return o, err
	}
	sharesKeys, err := j.addKeys(a.account.Keys)
	if err != nil {
		return o, err
	}
	j.keysNamed = j.keysNamed && len(a.account.Keys) > 0
	ownKeys := j.keysNamed && !sharesKeys
	cameAfter := a.earliest > j.latest // all its messages came after all those of the agents before
	j.latest = max(j.latest, a.latest)
	j.repeated.add(o.repeated)
	if cameAfter && j.ledger.keys == 0 {
		j.provenLate.add(o.belowHigh)
	}
	switch {
	case o.neverSent != Tally{} && a.account.Reordered != Tally{}:
		// The agent can't know that a number was never sent. It may have counted lower ones as reordered only because they came later.
		j.orderKnown = false
		return o, nil
	case ownKeys: // no other agent received its keys
	case cameAfter && o.belowHigh == Tally{}: // its messages continue those of the agents before
	default:
		j.orderKnown = false
	}
	j.late.add(a.account.Reordered)
	return o, nil
}

// reordered returns how many messages were reordered at least, and whether that number is exact.
//
// A message that was late at one agent may have come in time to another one. Then it is a duplicate, so as many of the late messages as
// were repeated may not count. The messages that the clocks prove late count in any case. Both kinds overlap, so the larger number
// counts and not the sum. For example, 5 late messages of which 2 may be duplicates, and 4 that are proven late, are 4 at least.
func (j *ledgerJoin) reordered() (reordered Tally, known bool) {
	for phase := range phases {
		reordered[phase] = max(0, j.late[phase]-j.repeated[phase], j.provenLate[phase])
	}
	return reordered, j.orderKnown && (j.late == Tally{} || j.repeated == Tally{})
}

// addMessages adds the messages of a packed bitmap. One that was never sent counts in the phase in which sending ended.
func (j *ledgerJoin) addMessages(packed []byte) (o overlap, err error) {
	end := j.stream.end.Load()
	high := j.ledger.next.Load()
	for run, err := range packedRuns(packed) {
		if err != nil {
			return o, err
		}
		if run.kind == emptyRun {
			continue
		}
		sent, beyond := run.split((end + 63) / 64)
		neverSent := beyond.count()
		for i := range sent.n {
			w := sent.word(i)
			below := maskBelow(w.first, end)
			neverSent += int64(bits.OnesCount64(w.members &^ below))
			if w.members &= below; w.members != 0 {
				j.addWord(w, high, &o)
			}
		}
		o.neverSent[j.stream.phase(end)] += neverSent
	}
	return o, nil
}

// addWord adds the messages of a word and compares them with those of the agents before, all of which have numbers below high.
func (j *ledgerJoin) addWord(w bitmapWord, high uint64, o *overlap) {
	before := j.ledger.seen.addWord(w.first, w.members)
	j.ledger.next.Store(max(j.ledger.next.Load(), w.first+uint64(bits.Len64(w.members))))
	repeated := w.members & before
	belowHigh := w.members &^ before & maskBelow(w.first, high)
	warmup := maskBelow(w.first, j.stream.measured.Load())
	o.repeated.add(countByPhase(repeated, warmup))
	o.belowHigh.add(countByPhase(belowHigh, warmup))
}

// countByPhase counts the members of a word. Those in the mask belong to the warm-up.
func countByPhase(members, warmup uint64) Tally {
	return Tally{
		Warmup:   int64(bits.OnesCount64(members & warmup)),
		Measured: int64(bits.OnesCount64(members &^ warmup)),
	}
}

// addKeys adds the keys of a packed bitmap, and reports whether an agent before has received any of them.
func (j *ledgerJoin) addKeys(packed []byte) (shared bool, err error) {
	for w, err := range packedWords(packed, uint64(j.ledger.keys), errKey) {
		if err != nil {
			return false, err
		}
		if j.keys.addWord(w.first, w.members)&w.members != 0 {
			shared = true
		}
	}
	return shared, nil
}

// Unordered returns the number of ledgers of a joined trial for which the order of messages that came to different agents is not known.
// Their Reordered is a lower bound. The order is known if one agent received everything, if each agent received keys of its own, or if
// each agent's first message came after the others' last, beyond the clocks' bounds, and had a higher number than all of theirs.
func (t *Trial) Unordered() int { return t.unordered }
