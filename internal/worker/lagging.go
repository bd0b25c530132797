package worker

import (
	"slices"
	"sort"
)

// Lagging says which consumers lag: they are connected after a backlog trial has filled its backlog. They are the consumers of the first
// Topics topics and of the last Subscriptions subscriptions. If these are not all consumers, the others tail: they receive messages as
// they are sent, while the backlog is filled and while it drains. Deliveries and latencies of the two kinds are counted apart.
//
// For example, of 3 topics and 2 subscriptions, Lagging{Topics: 3, Subscriptions: 1} has subscription 0 tail and subscription 1 lag.
// The zero Lagging has none lag.
type Lagging struct{ Topics, Subscriptions int }

// of returns the Lagging of a plan with only these topics, in ascending order.
func (l Lagging) of(topics []int) Lagging {
	return Lagging{sort.SearchInts(topics, l.Topics), l.Subscriptions}
}

// lags reports whether the consumers of a subscription of a topic lag.
func (p *Plan) lags(topic, subscription int) bool {
	return topic < p.Lagging.Topics && subscription >= len(p.Topology.Subscriptions)-p.Lagging.Subscriptions
}

// laggingConsumers returns which of the plan's consumers lag; nil if none does.
func (p *Plan) laggingConsumers() laggards {
	list := make(laggards, len(p.Consumers))
	for i, c := range p.Consumers {
		list[i] = p.lags(c.Topic, c.Subscription)
	}
	if !slices.Contains(list, true) {
		return nil
	}
	return list
}

// laggards says of each consumer whether it lags; nil: none does.
type laggards []bool

// of reports whether consumer i lags.
func (l laggards) of(i int) bool { return l != nil && l[i] }

// apart reports whether some consumers lag and others don't, which are then counted apart.
func (l laggards) apart() bool { return slices.Contains(l, true) && slices.Contains(l, false) }
