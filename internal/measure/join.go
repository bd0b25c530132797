package measure

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/brokermark/brokermark/internal/clock"
)

// Part is what one agent counted. Axis converts the times of its host to those of the process that joins; the zero Line leaves
// them as they are.
type Part struct {
	Shard
	Axis clock.Line
}

// Join makes one trial of what several agents counted, as if one had counted it all: a message that one of them sent and
// another one received is counted by its number, one that came to two of them is duplicated, and one that nobody sent is
// corrupted. shape is that of the whole; most is the number of messages above which a stream is taken for damaged. Call
// MeasureFrom afterwards where somebody asks the trial for MeasuredSince.
//
// Two things are lost. A message that two agents received has two latencies in the histograms. Which messages were reordered
// between agents can't always be told (Unordered). Suppose that agent A received 1, 2 and 5 of a stream, and agent B 3 and 4:
//
//   - If B's clock shows that 3 came after 5 had come to A, by more than both clocks' bounds, 3 and 4 were late: 2 reordered.
//   - If B's messages came after A's and had higher numbers than all of them, nothing was reordered.
//   - Else 3 may have come before or after 5. The books have what each agent saw for itself, and the stream counts as unordered.
//
// Where order is promised by key, no two agents that share no key can have reordered anything.
func Join(shape Shape, most uint64, parts []Part) (*Trial, error) {
	t := newJoined(shape)
	accounts := map[ledgerPlace][]agentAccount{}
	for i := range parts {
		err := t.takeSent(&parts[i].Shard, most)
		if err == nil {
			err = t.groupByLedger(&parts[i], i, accounts)
		}
		if err != nil {
			return nil, fmt.Errorf("the counts of agent %d: %w", i, err)
		}
	}
	for producer := range t.streams {
		for subscription := range t.subscriptions {
			if err := t.joinLedger(ledgerPlace{producer, subscription}, accounts); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

// newJoined is a trial that counts what others counted: nobody receives into it, so it has no consumers and one lane for totals.
func newJoined(shape Shape) *Trial {
	shape.Consumers, shape.ShortPayload, shape.Apart = 0, false, false
	t := NewTrial(shape)
	t.lanes = t.lanes[:1]
	return t
}

// ledgerPlace is the place of a ledger.
type ledgerPlace struct{ producer, subscription int }

// agentAccount is one agent's account of a ledger. Its times are on the axis of the process that joins.
type agentAccount struct {
	*Account
	agent       int
	first, last int64
	bound       int64 // by how much these times may be wrong
}

// groupByLedger adds the accounts of one agent to those of the same ledgers. It refuses an account of a ledger that doesn't exist,
// and a second one of the same ledger.
func (t *Trial) groupByLedger(p *Part, agent int, accounts map[ledgerPlace][]agentAccount) error {
	for i := range p.Seen {
		a := &p.Seen[i]
		if a.Producer < 0 || a.Producer >= len(t.streams) || a.Subscription < 0 || a.Subscription >= t.subscriptions {
			return fmt.Errorf("an account of producer %d and subscription %d, which are not there", a.Producer, a.Subscription)
		}
		at := ledgerPlace{a.Producer, a.Subscription}
		if others := accounts[at]; len(others) > 0 && others[len(others)-1].agent == agent {
			return fmt.Errorf("two accounts of producer %d and subscription %d", a.Producer, a.Subscription)
		}
		accounts[at] = append(accounts[at], agentAccount{a, agent, p.Axis.Here(a.First), p.Axis.Here(a.Last), p.Axis.Bound})
	}
	return nil
}

// joinLedger joins the accounts of one ledger, in the order in which their first messages came.
func (t *Trial) joinLedger(at ledgerPlace, accounts map[ledgerPlace][]agentAccount) error {
	all := accounts[at]
	slices.SortFunc(all, func(a, b agentAccount) int { return cmp.Compare(a.first, b.first) })
	s := &t.streams[at.producer]
	l := &s.ledgers[at.subscription]
	order := orderEvidence{byKey: l.keys > 0, known: true}
	var keys bitmap
	for i, a := range all {
		o := overlap{stream: s, ledger: l, high: l.next.Load()}
		err := eachRun(a.Seen, o.addRun)
		sharesKeys := false
		if err == nil {
			sharesKeys, err = keys.meet(a.Keys, l.keys)
		}
		if err != nil {
			return fmt.Errorf("the counts of agent %d: producer %d and subscription %d: %w", a.agent, at.producer, at.subscription, err)
		}
		l.next.Store(max(o.high, o.next))
		t.addCounts(l, a, o)
		order.add(a, o, i == 0, i > 0 && a.first-a.bound > latest(all[:i]), sharesKeys)
	}
	reordered, known := order.verdict()
	for phase, n := range reordered {
		l.reordered[phase].Store(n)
	}
	if !known {
		t.unordered++
	}
	return nil
}

// addCounts adds what an agent counted of a ledger. takeSent has added all that it received already: what another agent had
// received before is taken out again as a duplicate, what nobody sent as corrupted.
func (t *Trial) addCounts(l *ledger, a agentAccount, o overlap) {
	for phase := range phases {
		l.duplicated[phase].Add(a.Duplicated[phase] + o.repeated[phase])
		t.lanes[0].received[phase].Add(-o.repeated[phase] - o.neverSent[phase])
		t.lanes[0].corrupted[phase].Add(o.neverSent[phase])
	}
}

// orderEvidence is what the accounts of one ledger tell about the order in which its messages came.
type orderEvidence struct {
	byKey bool // order is promised for each key, not for the whole stream
	known bool // so far

	late     Tally // reordered, as each agent saw for itself
	repeated Tally // came to another agent before
	proven   Tally // came after all messages of the agents before, with a lower number than one of them
}

// add adds an agent's account. afterOthers tells that all of it came later than all of the accounts before.
func (e *orderEvidence) add(a agentAccount, o overlap, first, afterOthers, sharesKeys bool) {
	for phase := range phases {
		e.late[phase] += a.Reordered[phase]
		e.repeated[phase] += o.repeated[phase]
		if afterOthers && !e.byKey {
			e.proven[phase] += o.belowHigh[phase]
		}
	}
	continues := afterOthers && o.belowHigh == Tally{} // everything came later, and has higher numbers
	ownKeys := len(a.Keys) > 0 && !sharesKeys
	e.known = e.known && (first || continues || ownKeys)
	// An agent that only consumes can't know that a number was never sent. It takes all lower ones that come later for reordered.
	if o.neverSent != (Tally{}) && a.Reordered != (Tally{}) {
		e.known = false
	}
}

// verdict returns the least that was reordered, and whether that is all.
//
// A message that was late at one agent may have come in time to another one. It is a duplicate then, so up to the repeated ones
// of the late are none. Those that the clocks prove were late wherever they are counted. The two overlap, so the larger counts and
// not the sum.
func (e *orderEvidence) verdict() (reordered Tally, known bool) {
	for phase := range phases {
		reordered[phase] = max(0, e.late[phase]-e.repeated[phase], e.proven[phase])
	}
	return reordered, e.known && (e.late == Tally{} || e.repeated == Tally{})
}

// latest is when the last message came to any of the agents, at the latest.
func latest(accounts []agentAccount) (at int64) {
	for _, a := range accounts {
		at = max(at, a.last+a.bound)
	}
	return at
}

// meet adds a packed bitmap of at most n members and tells whether they had any in common.
func (b *bitmap) meet(packed []byte, n int) (common bool, err error) {
	err = eachRun(packed, func(r packedRun) error {
		if r.kind == emptyRun {
			return nil
		}
		for i := range r.n {
			w := r.word(i)
			if w == 0 {
				continue
			}
			seq := (r.at + i) << 6
			if seq+uint64(bits.Len64(w)) > uint64(n) {
				return errKey
			}
			common = b.addWord(seq, w)&w != 0 || common
		}
		return nil
	})
	return common, err
}

// overlap adds the messages that an agent received to a ledger, and counts what that ledger, with the agents before, says of them.
type overlap struct {
	stream *stream
	ledger *ledger
	high   uint64 // one past the highest number that the agents before received
	next   uint64 // one past the highest that this agent received

	repeated  Tally // received by one before
	belowHigh Tally // new, with a number below high
	neverSent Tally
}

func (o *overlap) addRun(r packedRun) error {
	if r.kind == emptyRun {
		return nil
	}
	end := o.stream.end.Load()
	sentWords := (end + 63) / 64 // that hold messages which were sent
	var n uint64                 // of the run's words
	if r.at < sentWords {
		n = min(r.n, sentWords-r.at)
	}
	for i := range n {
		o.addWord((r.at+i)<<6, r.word(i), end)
	}
	unsent := int64(0)
	if r.kind == fullRun {
		unsent = int64(64 * (r.n - n)) // eachRun bounds it
	} else {
		for i := n; i < r.n; i++ {
			unsent += int64(bits.OnesCount64(r.word(i)))
		}
	}
	o.neverSent[o.stream.phase(end)] += unsent
	return nil
}

// addWord adds the messages of a word: bit i stands for number seq + i. The stream's numbers are below end.
func (o *overlap) addWord(seq, word, end uint64) {
	sent := maskBelow(seq, end)
	o.neverSent[o.stream.phase(end)] += int64(bits.OnesCount64(word &^ sent))
	word &= sent
	if word == 0 {
		return
	}
	o.next = seq + uint64(bits.Len64(word))
	before := o.ledger.seen.addWord(seq, word)
	warmup := maskBelow(seq, o.stream.measured.Load())
	belowHigh := word &^ before & maskBelow(seq, o.high)
	for phase, ofPhase := range [phases]uint64{warmup, ^warmup} {
		o.repeated[phase] += int64(bits.OnesCount64(word & before & ofPhase))
		o.belowHigh[phase] += int64(bits.OnesCount64(belowHigh & ofPhase))
	}
}

// maskBelow has the bits set that stand for numbers below end, of the 64 numbers from seq on.
func maskBelow(seq, end uint64) uint64 {
	switch {
	case end <= seq:
		return 0
	case end-seq >= 64:
		return ^uint64(0)
	}
	return 1<<(end-seq) - 1
}

// Unordered returns the number of ledgers of a joined trial whose order across agents is not known. Their Reordered is the least there
// can have been. The order is known if one agent received all, if each received keys of its own, or if each one's first message came
// after the others' last, by more than the clocks' bounds, and all numbers after theirs.
func (t *Trial) Unordered() int { return t.unordered }
