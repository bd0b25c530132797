package measure

import (
	"cmp"
	"fmt"
	"slices"

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
	join := newLedgerJoin(s, l)
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
