package measure

import (
	"math"
	"math/bits"
)

// ledgerJoin joins what several agents received of one stream, for one subscription. The stream is what one producer sent, in the order
// of its numbers. The ledger records which of these numbers the subscription received. Each agent has an account of its part of the
// ledger. The accounts are added one by one, by the time of their first message.
//
// Messages that came to different agents may have been reordered, which no agent sees alone. Suppose that agent A received 1, 2 and 5,
// and agent B 3 and 4:
//
//   - If the clocks show, beyond their bounds, that 3 and 4 came to B after 5 had come to A, then 3 and 4 are reordered.
//   - If B received 6 and 7 instead, and the clocks show the same of them, nothing is reordered.
//   - Otherwise 3 may have come before or after 5. Then only what one agent saw out of order counts, and the order is not known.
//
// If order is promised per key, agents that received different keys can't have reordered anything between them.
type ledgerJoin struct { // of all agents added so far
	stream    *stream
	ledger    *ledger // the messages received
	keys      bitmap  // the keys received
	keysNamed bool    // each agent named its keys; false if order is promised over the whole stream
	latest    int64   // when the last message came at the latest, ns on the axis of the process that joins

	repeated   Tally // messages that an agent added before had received as well
	neverSent  Tally // messages received that the producer did not send
	orderKnown bool  // it is known whether the messages of different agents came in order
	late       Tally // messages that came after a later one to the same agent
	provenLate Tally // messages that the clocks prove to have come after a later one to another agent
}

func newLedgerJoin(s *stream, l *ledger) *ledgerJoin {
	return &ledgerJoin{stream: s, ledger: l, keysNamed: l.keys > 0, latest: math.MinInt64, orderKnown: true}
}

// agentAccount is one agent's account of a ledger.
type agentAccount struct {
	account  *Account
	agent    int   // index of the agent's part
	earliest int64 // when its first message came at the earliest, ns on the axis of the process that joins
	latest   int64 // when its last message came at the latest, ns on the same axis
}

// overlap compares the messages of one agent with those of the agents added before. If those received 1, 2 and 5, and this one 2, 3 and
// 6, then 2 is repeated and 3 is belowHigh.
type overlap struct {
	repeated  Tally // an agent before received them as well
	belowHigh Tally // no agent before received them, but one received a higher number
	neverSent Tally // the producer did not send these numbers
}

// add adds an agent's account.
func (j *ledgerJoin) add(a agentAccount) error {
	o, err := j.addMessages(a.account.Seen)
	if err != nil {
		return err
	}
	sharesKeys, err := j.addKeys(a.account.Keys)
	if err != nil {
		return err
	}
	cameAfter := a.earliest > j.latest // all its messages came after all those of the agents before
	j.latest = max(j.latest, a.latest)
	j.keysNamed = j.keysNamed && len(a.account.Keys) > 0
	j.repeated.add(o.repeated)
	j.neverSent.add(o.neverSent)
	if cameAfter && j.ledger.keys == 0 {
		j.provenLate.add(o.belowHigh)
	}
	if o.neverSent != (Tally{}) && a.account.Reordered != (Tally{}) {
		// The agent can't know that a number was never sent. It may have counted lower ones as reordered only because they came later.
		j.orderKnown = false
		return nil
	}
	j.late.add(a.account.Reordered)
	ownKeys := j.keysNamed && !sharesKeys              // no other agent received its keys
	continues := cameAfter && o.belowHigh == (Tally{}) // its messages continue those of the agents before
	j.orderKnown = j.orderKnown && (ownKeys || continues)
	return nil
}

// reordered returns how many messages were reordered at least, and whether that number is exact.
//
// A late message that is repeated may have come in time to another agent. Then it is a duplicate and not reordered. Nobody knows which
// ones are, so all repeated messages are subtracted. Those that the clocks prove late count in any case. A message can be of both kinds,
// so the larger number counts and not the sum. For example, 5 late, 2 repeated and 4 proven late are max(5 − 2, 4) = 4 at least.
func (j *ledgerJoin) reordered() (reordered Tally, exact bool) {
	for phase := range phases {
		reordered[phase] = max(0, j.late[phase]-j.repeated[phase], j.provenLate[phase])
	}
	return reordered, j.orderKnown && (j.late == Tally{} || j.repeated == Tally{})
}

// addMessages adds the messages of a packed bitmap that were sent. The others count as neverSent, in the phase in which sending ended.
func (j *ledgerJoin) addMessages(packed []byte) (o overlap, err error) {
	end := j.stream.end.Load()   // numbers below it were sent
	high := j.ledger.next.Load() // the agents before received numbers below it
	wordsSent := (end + 63) / 64 // rounded up, so the last word may hold numbers from end on
	for run, err := range packedRuns(packed) {
		if err != nil {
			return o, err
		}
		if run.kind == emptyRun {
			continue
		}
		sent, beyond := run.split(wordsSent)
		neverSent := beyond.count()
		for i := range sent.n {
			w := sent.word(i)
			sentMask := maskBelow(w.first, end)
			neverSent += int64(bits.OnesCount64(w.members &^ sentMask))
			if w.members &= sentMask; w.members != 0 {
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

// countByPhase counts the members of a word. The mask warmup holds the numbers of the warm-up.
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
