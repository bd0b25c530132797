package worker

import (
	"fmt"
	"slices"

	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/schedule"
)

// Part says which clients of a larger plan a plan has, so that each sends what it would have sent there.
type Part struct {
	Clients []int // of the plan's clients, in order: their numbers in the larger plan
	Of      schedule.Deal
}

// share is the part of all messages that are this plan's.
func (p *Plan) share() float64 {
	if p.Part == nil {
		return 1
	}
	return float64(len(p.Producers)) / float64(p.Part.Of.Producers)
}

// client is the number of client i in the deal.
func (p *Plan) client(i int) int {
	if p.Part == nil {
		return i
	}
	return p.Part.Clients[i]
}

// own leaves of streams those of the plan's producers.
func (p *Plan) own(streams []measure.StreamBooks) []measure.StreamBooks {
	if p.Part == nil {
		return streams
	}
	mine := map[int]bool{}
	for _, one := range p.Producers {
		mine[one.ID] = true
	}
	return slices.DeleteFunc(streams, func(s measure.StreamBooks) bool { return !mine[s.Producer] })
}

// counter counts the arrivals of s that are this plan's.
func (p *Plan) counter(s schedule.Schedule) schedule.Counter {
	if p.Part == nil {
		return p.deal().Counter(s)
	}
	var all counters
	for i := range p.Part.Clients {
		all = append(all, schedule.Sequential(p.deal().Share(s, p.client(i))))
	}
	return all
}

type counters []schedule.Counter

func (c counters) Count(d int64) (n int64) {
	for _, one := range c {
		n += one.Count(d)
	}
	return n
}

// limits are how many of the first total arrivals of s are each client's.
func (p *Plan) limits(s schedule.Schedule, total int64) []int64 {
	all := p.deal().Limits(s, total)
	if p.Part == nil {
		return all
	}
	var own []int64
	for i := range p.Part.Clients {
		own = append(own, all[p.client(i)])
	}
	return own
}

// Split divides a plan into n, each with the whole of its streams: all that send to a topic or receive from it, and all topics that
// share connections with it. The parts together send and receive what the plan would have.
func (p Plan) Split(n int) ([]Plan, error) {
	if n == 1 {
		return []Plan{p}, nil
	}
	groups := p.groups()
	if len(groups) < n {
		return nil, fmt.Errorf("%d agents, but all streams of a topic, and topics that share connections, run on one agent, and there are %d of these", n, len(groups))
	}
	parts := make([]Plan, n)
	for k := range parts {
		var topics []int
		for g := k; g < len(groups); g += n {
			topics = append(topics, groups[g]...)
		}
		slices.Sort(topics)
		parts[k] = p.part(topics)
	}
	return parts, nil
}

// Separable is into how many parts a plan can be divided.
func (p Plan) Separable() int { return len(p.groups()) }

// groups are the topics that must stay together, each group and all of them in order.
func (p Plan) groups() [][]int {
	root := make([]int, len(p.Topology.Topics))
	for i := range root {
		root[i] = i
	}
	find := func(i int) int {
		for root[i] != i {
			i = root[i]
		}
		return i
	}
	join := func(a, b int) {
		a, b = find(a), find(b)
		root[max(a, b)] = min(a, b)
	}
	for i := p.clients(); i < len(p.Producers); i++ {
		join(p.Producers[i].Topic, p.Producers[i-p.clients()].Topic)
	}
	for _, c := range p.Consumers {
		for _, t := range c.Also {
			join(c.Topic, t)
		}
	}
	members := map[int][]int{}
	var first []int
	for t := range root {
		r := find(t)
		if members[r] == nil {
			first = append(first, r)
		}
		members[r] = append(members[r], t)
	}
	var out [][]int
	for _, r := range first {
		out = append(out, members[r])
	}
	return out
}

// part is the plan for some of its topics, in order. A round of the producers' turns is whole but for the last one, so the clients
// that are left take turns as before.
func (p Plan) part(topics []int) Plan {
	index := map[int]int{}
	whole := p
	p.Topology.Topics, p.Producers, p.Consumers = nil, nil, nil
	for i, t := range topics {
		index[t] = i
		p.Topology.Topics = append(p.Topology.Topics, whole.Topology.Topics[t])
	}
	p.Part = &Part{Of: whole.deal()}
	for i, one := range whole.Producers {
		t, mine := index[one.Topic]
		if !mine {
			continue
		}
		if i < whole.clients() {
			p.Part.Clients = append(p.Part.Clients, i)
		}
		p.Producers = append(p.Producers, Producer{ID: one.ID, Topic: t})
	}
	p.Clients = len(p.Part.Clients)
	for _, c := range whole.Consumers {
		t, mine := index[c.Topic]
		if !mine {
			continue
		}
		c.Topic = t
		also := c.Also
		c.Also = nil
		for _, t := range also {
			c.Also = append(c.Also, index[t])
		}
		p.Consumers = append(p.Consumers, c)
	}
	return p
}
