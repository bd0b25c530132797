package measure

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/brokermark/brokermark/internal/clock"
)

// Part is a Shard and where the axis of its agent's host lies on that of whoever joins. The zero Line is the same axis.
type Part struct {
	Shard
	Axis clock.Line
}

// Join makes one trial of what several agents counted, as if one had counted it all: a message that one of them sent and
// another one received is counted by its number, one that came to two of them is duplicated, and one that nobody sent is
// corrupted. shape is that of the whole; most is the number of messages above which a stream is taken for damaged. Call
// MeasureFrom afterwards where somebody asks the trial for MeasuredSince.
//
// Two things are less than one agent would know: a message that came to two of them has two latencies, and the order between
// messages that came to different hosts is known only as far as Unordered says.
func Join(shape Shape, most uint64, parts []Part) (*Trial, error) {
	shape.Consumers, shape.ShortPayload, shape.Apart = 0, false, false
	t := NewTrial(shape)
	t.lanes = t.lanes[:1]
	seen := map[ledgerPlace][]seenBy{}
	for i := range parts {
		err := t.takeSent(&parts[i].Shard, most)
		if err == nil {
			err = t.sortSeen(&parts[i], i, seen)
		}
		if err != nil {
			return nil, fmt.Errorf("the counts of agent %d: %w", i, err)
		}
	}
	for at, by := range seen {
		if err := t.takeSeen(at, by); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// ledgerPlace is the place of a ledger.
type ledgerPlace struct{ producer, subscription int }

// seenBy is one agent's account of a ledger; the times are on our axis.
type seenBy struct {
	*Account
	agent       int
	first, last int64
	bound       int64 // of these times
}

// sortSeen adds the accounts of a part to those of their ledgers.
func (t *Trial) sortSeen(p *Part, agent int, seen map[ledgerPlace][]seenBy) error {
	for i := range p.Seen {
		a := &p.Seen[i]
		if a.Producer < 0 || a.Producer >= len(t.streams) || a.Subscription < 0 || a.Subscription >= t.subscriptions {
			return fmt.Errorf("an account of producer %d and subscription %d, which are not there", a.Producer, a.Subscription)
		}
		at := ledgerPlace{a.Producer, a.Subscription}
		if by := seen[at]; len(by) > 0 && by[len(by)-1].agent == agent {
			return fmt.Errorf("two accounts of producer %d and subscription %d", a.Producer, a.Subscription)
		}
		seen[at] = append(seen[at], seenBy{a, agent, p.Axis.Here(a.First), p.Axis.Here(a.Last), p.Axis.Bound})
	}
	return nil
}

// takeSeen joins the accounts of one ledger.
func (t *Trial) takeSeen(at ledgerPlace, by []seenBy) error {
	slices.SortFunc(by, func(a, b seenBy) int { return cmp.Compare(a.first, b.first) })
	s := &t.streams[at.producer]
	l := &s.ledgers[at.subscription]
	known := true
	var keys bitmap
	var late, twice, proven Tally
	for i, b := range by {
		j := joining{stream: s, ledger: l, high: l.next.Load()}
		err := eachRun(b.Seen, j.take)
		common := false
		if err == nil {
			common, err = keys.meet(b.Keys, l.keys)
		}
		if err != nil {
			return fmt.Errorf("the counts of agent %d: producer %d and subscription %d: %w", b.agent, at.producer, at.subscription, err)
		}
		l.next.Store(max(j.high, j.next))
		// What came later here than everything else did elsewhere is in order or not by its numbers.
		later := i > 0 && b.first-b.bound > latest(by[:i])
		for phase := range phases {
			l.duplicated[phase].Add(b.Duplicated[phase] + j.twice[phase])
			late[phase] += b.Reordered[phase]
			twice[phase] += j.twice[phase]
			if later && l.keys == 0 {
				proven[phase] += j.below[phase]
			}
			t.lanes[0].received[phase].Add(-j.twice[phase] - j.unsent[phase])
			t.lanes[0].corrupted[phase].Add(j.unsent[phase])
		}
		known = known && (i == 0 || later && j.below == Tally{} || len(b.Keys) > 0 && !common)
	}
	for phase := range phases {
		// A message that was late at one agent may have come to another one in time, and is a duplicate then.
		l.reordered[phase].Store(max(0, late[phase]-twice[phase], proven[phase]))
	}
	if !known || late != (Tally{}) && twice != (Tally{}) {
		t.unordered++
	}
	return nil
}

// latest is when the last message came to any of them, at the latest.
func latest(by []seenBy) (at int64) {
	for _, b := range by {
		at = max(at, b.last+b.bound)
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

// joining adds what an agent has seen of a ledger to what the agents before it have.
type joining struct {
	stream *stream
	ledger *ledger
	high   uint64 // one past the highest number that those before it had seen
	next   uint64 // one past the highest that it has seen

	twice  Tally // seen by one before it
	below  Tally // new, and below high
	unsent Tally // nobody sent it
}

func (j *joining) take(r packedRun) error {
	if r.kind == emptyRun {
		return nil
	}
	end := j.stream.end.Load()
	n := min(r.n, (end+63)/64-min(r.at, (end+63)/64)) // words that hold messages
	for i := range n {
		j.word((r.at+i)<<6, r.word(i), end)
	}
	for i := n; i < r.n; i++ {
		if r.kind == fullRun {
			j.unsent[j.stream.phase(end)] += int64(64 * (r.n - n))
			break
		}
		j.unsent[j.stream.phase(end)] += int64(bits.OnesCount64(r.word(i)))
	}
	return nil
}

func (j *joining) word(seq, w, end uint64) {
	sent := below(seq, end)
	j.unsent[j.stream.phase(end)] += int64(bits.OnesCount64(w &^ sent))
	if w &= sent; w == 0 {
		return
	}
	j.next = seq + uint64(bits.Len64(w))
	old := j.ledger.seen.addWord(seq, w)
	warmup := below(seq, j.stream.measured.Load())
	late := w &^ old & below(seq, j.high)
	for phase, of := range [phases]uint64{warmup, ^warmup} {
		j.twice[phase] += int64(bits.OnesCount64(w & old & of))
		j.below[phase] += int64(bits.OnesCount64(late & of))
	}
}

// below is a mask of the 64 numbers from seq on that are below end.
func below(seq, end uint64) uint64 {
	switch {
	case end <= seq:
		return 0
	case end-seq >= 64:
		return ^uint64(0)
	}
	return 1<<(end-seq) - 1
}

// Unordered is for how many ledgers messages came to several agents, of a joined trial, in an order that their clocks can't
// tell: Reordered is then what each of them saw for itself, and the least there can have been. It is known where one agent had
// all messages, or of each key all, or where one had its last before the next had its first, by more than the clocks' bounds.
func (t *Trial) Unordered() int { return t.unordered }
