package measure

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/brokermark/brokermark/internal/clock"
)

// Part is the shard of one agent.
type Part struct {
	Shard
	Axis clock.Line // converts the times of its host to those of the process that joins; the zero Line leaves them as they are
}

// Join merges the shards of several agents into one trial, as if one agent had counted everything. A message that one agent sent and
// another one received is received; one that two agents received is duplicated; one that nobody sent is corrupted. shape describes all
// agents together. A stream of more than maxSent messages is refused as damaged. The joined trial has no MeasuredSince.
//
// Two things are lost. A message that two agents received has two latencies in the histograms. And the order of messages that came to
// different agents isn't always known (Unordered). Suppose that agent A received 1, 2 and 5 of a stream, and agent B 3 and 4:
//
//   - If the clocks show, beyond their bounds, that 3 came to B after 5 had come to A, then 3 and 4 are reordered.
//   - If B's messages came after A's and had higher numbers than all of them, nothing was reordered.
//   - Otherwise 3 may have come before or after 5. Then only what one agent saw out of order counts, and the stream is unordered.
//
// If order is promised per key, agents that received different keys can't have reordered anything between them.
func Join(shape Shape, maxSent uint64, parts []Part) (*Trial, error) {
	t := newJoined(shape)
	accounts := map[ledgerPlace][]agentAccount{}
	for i := range parts {
		err := t.addShard(&parts[i].Shard, maxSent)
		if err == nil {
			err = t.groupByLedger(&parts[i], i, accounts)
		}
		if err != nil {
			return nil, fmt.Errorf("the counts of agent %d: %w", i, err)
		}
	}
	for producer := range t.streams {
		for subscription := range t.subscriptions {
			place := ledgerPlace{producer, subscription}
			if err := t.joinLedger(place, accounts[place]); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

// newJoined makes the trial that Join fills. Nobody sends or receives in it, so one lane is enough for the totals.
func newJoined(shape Shape) *Trial {
	shape.Consumers, shape.ShortPayload, shape.Apart = 0, false, false
	t := NewTrial(shape)
	t.lanes = t.lanes[:1]
	return t
}

// ledgerPlace identifies a ledger.
type ledgerPlace struct{ producer, subscription int }

// agentAccount is one agent's account of a ledger. Its times are on the axis of the process that joins.
type agentAccount struct {
	*Account
	agent       int
	first, last int64
	bound       int64 // how far these times may be off, ns either way
}

// groupByLedger adds the accounts of one agent to those of the same ledgers. It refuses an account of a ledger that doesn't exist,
// and a second one of the same ledger.
func (t *Trial) groupByLedger(p *Part, agent int, accounts map[ledgerPlace][]agentAccount) error {
	for i := range p.Seen {
		a := &p.Seen[i]
		if err := t.checkAccount(a); err != nil {
			return err
		}
		place := ledgerPlace{a.Producer, a.Subscription}
		if others := accounts[place]; len(others) > 0 && others[len(others)-1].agent == agent {
			return fmt.Errorf("two accounts of producer %d and subscription %d", a.Producer, a.Subscription)
		}
		accounts[place] = append(accounts[place], agentAccount{
			Account: a, agent: agent, first: p.Axis.OurTime(a.First), last: p.Axis.OurTime(a.Last), bound: p.Axis.Bound,
		})
	}
	return nil
}

// joinLedger joins the accounts of one ledger, in the order in which their first messages came.
func (t *Trial) joinLedger(place ledgerPlace, accounts []agentAccount) error {
	slices.SortFunc(accounts, func(a, b agentAccount) int { return cmp.Compare(a.first, b.first) })
	s := &t.streams[place.producer]
	l := &s.ledgers[place.subscription]
	order := orderEvidence{byKey: l.keys > 0, known: true}
	var keys bitmap // received by the agents before
	for i, a := range accounts {
		o := overlap{stream: s, ledger: l, high: l.next.Load()}
		err := o.addAll(a.Seen)
		sharesKeys := false
		if err == nil {
			sharesKeys, err = keys.addPacked(a.Keys, l.keys)
		}
		if err != nil {
			return fmt.Errorf("the counts of agent %d: producer %d and subscription %d: %w", a.agent, place.producer, place.subscription, err)
		}
		l.next.Store(max(o.high, o.next))
		t.addOverlap(l, a, o)
		order.add(a, o, i == 0, i > 0 && a.first-a.bound > lastOf(accounts[:i]), sharesKeys)
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

// addOverlap corrects the counts for one agent's account of a ledger. addShard has counted all that the agent received as received. A
// message that another agent received before is a duplicate instead, and one that nobody sent is corrupted.
func (t *Trial) addOverlap(l *ledger, a agentAccount, o overlap) {
	for phase := range phases {
		l.duplicated[phase].Add(a.Duplicated[phase] + o.repeated[phase])
		t.lanes[0].received[phase].Add(-o.repeated[phase] - o.neverSent[phase])
		t.lanes[0].corrupted[phase].Add(o.neverSent[phase])
	}
}

// orderEvidence is the evidence, in the accounts of one ledger, on the order in which its messages came.
type orderEvidence struct {
	byKey bool // order is promised per key, not over the whole stream
	known bool // the order between the agents so far is known

	late     Tally // came after a later message to the same agent
	repeated Tally // had come to another agent before
	proven   Tally // came after all messages of the agents before, with a lower number than one of these
}

// add adds an agent's account. afterOthers is set if all its messages came later than all those of the accounts before; sharesKeys if
// it has keys in common with them.
func (e *orderEvidence) add(a agentAccount, o overlap, first, afterOthers, sharesKeys bool) {
	for phase := range phases {
		e.late[phase] += a.Reordered[phase]
		e.repeated[phase] += o.repeated[phase]
		if afterOthers && !e.byKey {
			e.proven[phase] += o.belowHigh[phase]
		}
	}
	continues := afterOthers && o.belowHigh == Tally{} // all its messages came later and have higher numbers
	ownKeys := len(a.Keys) > 0 && !sharesKeys
	e.known = e.known && (first || continues || ownKeys)
	// An agent that only consumes can't know that a number was never sent, and takes all lower ones that come later as reordered.
	if o.neverSent != (Tally{}) && a.Reordered != (Tally{}) {
		e.known = false
	}
}

// verdict returns how many messages were reordered at least, and whether that number is exact.
//
// A message that was late at one agent may have come in time to another one. Then it is a duplicate, so as many of the late messages as
// were repeated may not count. The messages that the clocks prove late count in any case. Both kinds overlap, so the larger number
// counts and not the sum.
func (e *orderEvidence) verdict() (reordered Tally, known bool) {
	for phase := range phases {
		reordered[phase] = max(0, e.late[phase]-e.repeated[phase], e.proven[phase])
	}
	return reordered, e.known && (e.late == Tally{} || e.repeated == Tally{})
}

// lastOf returns when the last message came to any of the agents, at the latest.
func lastOf(accounts []agentAccount) int64 {
	last := int64(math.MinInt64)
	for _, a := range accounts {
		last = max(last, a.last+a.bound)
	}
	return last
}

// addPacked adds a packed bitmap of numbers below end, and reports whether b had any of them before.
func (b *bitmap) addPacked(packed []byte, end int) (bool, error) {
	common := false
	for r, err := range runsOf(packed) {
		if err != nil {
			return false, err
		}
		if r.kind == emptyRun {
			continue
		}
		for i := range r.n {
			seq, word := (r.first+i)*64, r.word(i)
			if word&^maskBelow(seq, uint64(end)) != 0 {
				return false, errKey
			}
			if word != 0 && b.addWord(seq, word)&word != 0 { // adding nothing would still make a page
				common = true
			}
		}
	}
	return common, nil
}

// overlap adds the messages that an agent received to a ledger, and counts those that are special against the agents before.
type overlap struct {
	stream *stream
	ledger *ledger
	high   uint64 // one past the highest number that the agents before received
	next   uint64 // one past the highest that this agent received

	repeated  Tally // received by an agent before
	belowHigh Tally // not received before, with a number below high
	neverSent Tally
}

// addAll adds the messages of a packed bitmap.
func (o *overlap) addAll(packed []byte) error {
	end := o.stream.end.Load()
	sentWords := (end + 63) / 64 // words that hold messages which were sent
	for r, err := range runsOf(packed) {
		if err != nil {
			return err
		}
		if r.kind == emptyRun {
			continue
		}
		n := min(r.n, sentWords-min(sentWords, r.first)) // words of the run that may hold such messages
		for i := range n {
			o.addWord((r.first+i)*64, r.word(i), end)
		}
		o.neverSent[o.stream.phase(end)] += r.members(n)
	}
	return nil
}

// members counts the members of the run in its words from index on.
func (r packedRun) members(from uint64) int64 {
	if r.kind == fullRun {
		return int64(64 * (r.n - from)) // a loop could take minutes: a damaged run may claim any length
	}
	var n int
	for i := from; i < r.n; i++ {
		n += bits.OnesCount64(r.word(i))
	}
	return int64(n)
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
	for phase, inPhase := range [phases]uint64{Warmup: warmup, Measured: ^warmup} {
		o.repeated[phase] += int64(bits.OnesCount64(word & before & inPhase))
		o.belowHigh[phase] += int64(bits.OnesCount64(belowHigh & inPhase))
	}
}

// Unordered returns the number of ledgers of a joined trial for which the order of messages that came to different agents is not known.
// Their Reordered is a lower bound. The order is known if one agent received everything, if each agent received keys of its own, or if
// each agent's first message came after the others' last, beyond the clocks' bounds, and had a higher number than all of theirs.
func (t *Trial) Unordered() int { return t.unordered }
