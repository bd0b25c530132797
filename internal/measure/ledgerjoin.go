package measure

import "math/bits"

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
	stream      *stream
	ledger      *ledger // gets the messages
	high        uint64  // one past the highest number received
	latest      int64   // when the last message came at the latest, ns on the axis of the process that joins
	keys        bitmap  // the keys received
	keysMissing bool    // an agent named no keys: it may have received any, or order is promised over the whole stream

	repeated     Tally // messages that an agent added before had received as well
	neverSent    Tally // messages received that the producer did not send
	late         Tally // messages that came after a later one to the same agent
	provenLate   Tally // messages that the clocks prove to have come after a later one to another agent
	orderUnknown bool  // it is not known whether the messages of different agents came in order
}

// agentAccount is one agent's account of a ledger.
type agentAccount struct {
	account  *Account
	agent    int   // index of the agent's part
	earliest int64 // when its first message came at the earliest, ns on the axis of the process that joins
	latest   int64 // when its last message came at the latest, ns on the same axis
}

// add adds an agent's account. If it fails, the join is of no use.
func (j *ledgerJoin) add(a agentAccount) error {
	messages, err := j.addMessages(a.account.Seen)
	if err != nil {
		return err
	}
	sharesKeys, err := j.addKeys(a.account.Keys)
	if err != nil {
		return err
	}
	cameAfter := a.earliest > j.latest // all its messages came after all those of the agents before
	j.latest = max(j.latest, a.latest)
	j.repeated.add(messages.repeated)
	j.neverSent.add(messages.neverSent)
	if cameAfter && j.ledger.keys == 0 {
		j.provenLate.add(messages.belowHigh)
	}
	if messages.neverSent == (Tally{}) {
		j.late.add(a.account.Reordered)
	} else if a.account.Reordered != (Tally{}) {
		// The agent can't know that a number was never sent. It may have counted lower ones as reordered only because they came later.
		j.orderUnknown = true
	}
	if continues := cameAfter && messages.belowHigh == (Tally{}); sharesKeys && !continues {
		j.orderUnknown = true
	}
	return nil
}

// reordered returns how many messages were reordered at least, and whether that number is exact.
//
// A late message that is repeated may have come in time to another agent. Then it is a duplicate and not reordered. It is
// unknown which ones are, so all repeated messages are subtracted. Those that the clocks prove late count in any case. A
// message can be of both kinds, so the larger number counts and not the sum. For example, 5 late, 2 repeated and 4 proven
// late are max(5 − 2, 4) = 4 at least.
func (j *ledgerJoin) reordered() (reordered Tally, exact bool) {
	for phase := range phases {
		reordered[phase] = max(0, j.late[phase]-j.repeated[phase], j.provenLate[phase])
	}
	return reordered, !j.orderUnknown && (j.late == Tally{} || j.repeated == Tally{})
}

// comparedMessages counts the messages of an agent by what the agents before it received. If those received 1, 2 and 5, and this one 2, 3
// and 6, then 2 is repeated and 3 is belowHigh; 6 is neither.
type comparedMessages struct {
	repeated  Tally // an agent before received them as well
	belowHigh Tally // no agent before received them, but one received a higher number
	neverSent Tally // the producer did not send these numbers
}

// addMessages adds the messages of a packed bitmap that were sent. The others count as neverSent, in the phase in which sending ended.
func (j *ledgerJoin) addMessages(packed []byte) (comparedMessages, error) {
	var c comparedMessages
	end := j.stream.end.Load() // numbers below it were sent
	highBefore := j.high
	neverSent, err := unpackWords(packed, end, func(w bitmapWord) {
		before := j.ledger.seen.addWord(w.first, w.members)
		isNew := w.members &^ before
		c.repeated.add(j.stream.countByPhase(bitmapWord{w.first, w.members & before}))
		c.belowHigh.add(j.stream.countByPhase(bitmapWord{w.first, isNew & maskBelow(w.first, highBefore)}))
		j.high = max(j.high, w.first+uint64(bits.Len64(w.members))) // Len64 is one past the highest bit
	})
	c.neverSent[j.stream.phase(end)] = neverSent
	return c, err
}

// countByPhase returns how many messages of a word belong to each phase.
func (s *stream) countByPhase(w bitmapWord) Tally {
	warmup := maskBelow(w.first, s.measured.Load())
	return Tally{
		Warmup:   int64(bits.OnesCount64(w.members & warmup)),
		Measured: int64(bits.OnesCount64(w.members &^ warmup)),
	}
}

// addKeys adds the keys of a packed bitmap, and reports whether an agent before may have received any of them: as far as it is known.
func (j *ledgerJoin) addKeys(packed []byte) (mayShare bool, err error) {
	err = unpackKeys(packed, j.ledger.keys, func(key int) {
		if isNew := j.keys.add(uint64(key)); !isNew {
			mayShare = true
		}
	})
	j.keysMissing = j.keysMissing || len(packed) == 0
	return mayShare || j.keysMissing, err
}

// Unordered returns the number of ledgers of a joined trial for which the order of messages that came to different agents is not known.
// Their Reordered is a lower bound. The order is known if one agent received everything, if each agent received keys of its own, or if
// each agent's first message came after the others' last, beyond the clocks' bounds, and had a higher number than all of theirs.
func (t *Trial) Unordered() int { return t.unordered }
