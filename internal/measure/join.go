package measure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/brokermark/brokermark/internal/clock"
)

// Part is what one agent hands in for a Join: its shard, which is everything that it counted.
type Part struct {
	Shard Shard
	Axis  clock.Line // converts the times of its host to those of the process that joins; the zero Line leaves them as they are
}

// Join merges the shards of several agents into one trial, as if one agent had counted everything. A message that one agent
// sent and another one received is received; one that two agents received is duplicated; one that no agent sent is
// corrupted. For example, agent 0 sent 0 to 9 and received 0 to 5, agent 1 received 5 to 8 and 10: together 10 sent, 9
// received (0 to 8), 1 lost (9), 1 duplicated (5), 1 corrupted (10).
//
// shape describes all agents together. A stream of more than maxSent messages is refused as damaged. The joined trial has no
// MeasuredSince.
//
// Two things are lost. A message that two agents received has two latencies in the histograms. And the order of messages that came to
// different agents isn't always known (Unordered).
func Join(shape Shape, maxSent uint64, parts []Part) (*Trial, error) {
	t := newJoined(shape)
	accounts := accountsByLedger{}
	for agent := range parts {
		p := &parts[agent]
		err := t.addShard(&p.Shard, maxSent)
		if err == nil {
			err = t.addAccounts(accounts, p, agent)
		}
		if err != nil {
			return nil, fmt.Errorf("the counts of agent %d: %w", agent, err)
		}
	}
	// Only now that all shards are added is it known what each producer sent.
	for i := range t.streams {
		s := &t.streams[i]
		for j := range s.ledgers {
			l := &s.ledgers[j]
			if err := t.joinAccounts(s, l, accounts[l]); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

// newJoined makes the trial that Join fills. Nothing is sent or received in it, so one set of counters is enough for the totals.
func newJoined(shape Shape) *Trial {
	shape.Consumers, shape.ShortPayload, shape.Apart = 0, false, false
	t := NewTrial(shape)
	t.counters = t.counters[:1]
	return t
}

// accountsByLedger holds, for the ledger of each stream and subscription, the accounts of the agents that received anything of it.
type accountsByLedger map[*ledger][]agentAccount

// addAccounts adds the accounts of one agent. It refuses an account of a ledger that doesn't exist, and a second one of the same ledger.
func (t *Trial) addAccounts(accounts accountsByLedger, p *Part, agent int) error {
	for i := range p.Shard.Seen {
		a := &p.Shard.Seen[i]
		l, err := t.ledgerOf(a)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(accounts[l], func(other agentAccount) bool { return other.agent == agent }) {
			return fmt.Errorf("two accounts of producer %d and subscription %d", a.Producer, a.Subscription)
		}
		accounts[l] = append(accounts[l], agentAccount{
			account:  a,
			agent:    agent,
			earliest: p.Axis.OurTime(a.First) - p.Axis.Bound,
			latest:   p.Axis.OurTime(a.Last) + p.Axis.Bound,
		})
	}
	return nil
}

// joinAccounts joins the accounts of one ledger, by the time of their first message. The trial's counters hold the sum of
// what the agents received. Of that, a message that several agents received counts as duplicated instead, and one that no
// agent sent as corrupted.
func (t *Trial) joinAccounts(s *stream, l *ledger, accounts []agentAccount) error {
	slices.SortStableFunc(accounts, func(a, b agentAccount) int { return cmp.Compare(a.earliest, b.earliest) })
	join := &ledgerJoin{stream: s, ledger: l, latest: math.MinInt64}
	for _, a := range accounts {
		if err := join.add(a); err != nil {
			return fmt.Errorf("the counts of agent %d: producer %d and subscription %d: %w",
				a.agent, a.account.Producer, a.account.Subscription, err)
		}
		l.duplicated.add(a.account.Duplicated)
	}
	l.duplicated.add(join.repeated)
	c := t.countersOf(0)
	c.received.subtract(join.repeated)
	c.received.subtract(join.neverSent)
	c.corrupted.add(join.neverSent)
	reordered, exact := join.reordered()
	l.reordered.add(reordered)
	if !exact {
		t.unordered++
	}
	return nil
}

// Host is another host whose producers send to consumers here. Its own agent counts what they send, so every intact message of its
// streams counts as received here; Join finds those that were never sent.
type Host struct {
	axis         clock.Line // converts the host's times to ours
	measuredFrom atomic.Int64
}

// NewHost returns a host whose times axis converts to ours. Every message counts as warm-up until MeasureFrom is called.
func NewHost(axis clock.Line) *Host {
	h := &Host{axis: axis}
	h.measuredFrom.Store(Undecided)
	return h
}

// MeasureFrom begins the measured phase of the host's producers: messages intended at or after ns on the host's own axis belong to it.
// Both hosts have to use the same number; otherwise they would assign a message to different phases.
func (h *Host) MeasureFrom(ns int64) { h.measuredFrom.Store(ns) }

// SetHost sets the host of a producer that is not on this one, and the sequence number of its first message in this trial. Call it
// before a message of the producer arrives. Payloads must carry their times.
func (t *Trial) SetHost(producer int, base uint64, h *Host) {
	t.streams[producer].base, t.streams[producer].host = base, h
}

// phase returns the phase of a message by its intended time on the host's own axis.
func (h *Host) phase(intended int64) Phase { return phaseOf(intended, h.measuredFrom.Load()) }

// Early counts the deliveries that seem to have come before they were sent, because two clocks are known to each other only within a
// bound. They are counted like all others, with a latency of 0. For example, if messages seem to have taken 20, -5 and -30 ns, two
// deliveries were early, by 30 ns at most.
type Early struct {
	Deliveries int64
	By         int64 // the most of them, ns; 0 if there are none
}

// addEarly counts a delivery that seems to have come ns before it was sent.
func (c *counters) addEarly(ns int64) {
	c.early.Add(1)
	raise(&c.earlyBy, ns)
}

// Early reads the counters; it may be called at any time.
func (t *Trial) Early() Early {
	var e Early
	for i := range t.counters {
		e.Deliveries += t.counters[i].early.Load()
		e.By = max(e.By, t.counters[i].earlyBy.Load())
	}
	return e
}

// Possible reports whether clocks that are known within bound, in ns, can explain e. If not, the bound is wrong and the trial is void.
func (e Early) Possible(bound int64) bool { return clock.Possible(-e.By, bound) }
