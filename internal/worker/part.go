package worker

import (
	"fmt"
	"slices"

	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/schedule"
)

// Part says which clients of a whole plan a part of it has. Each of them sends exactly what it would send in the whole plan.
type Part struct {
	Clients []int         // by client of the part: its number in the whole plan; rising
	Of      schedule.Deal // how the whole plan deals its schedule out
}

// share returns which share of the whole plan's messages this part sends, from 0 to 1. It may be all where other parts share its
// streams.
func (p *Plan) share() float64 {
	if p.Part == nil || p.Peers != nil {
		return 1
	}
	return float64(len(p.Producers)) / float64(p.Part.Of.Producers)
}

// client returns the number of client i in the whole plan.
func (p *Plan) client(i int) int {
	if p.Part == nil {
		return i
	}
	return p.Part.Clients[i]
}

// own returns the streams of this part's producers. It overwrites streams.
func (p *Plan) own(streams []measure.StreamBooks) []measure.StreamBooks {
	if p.Part == nil {
		return streams
	}
	mine := map[int]bool{}
	for _, producer := range p.Producers {
		mine[producer.ID] = true
	}
	return slices.DeleteFunc(streams, func(s measure.StreamBooks) bool { return !mine[s.Producer] })
}

// counter returns a counter of the arrivals of s that this part sends.
func (p *Plan) counter(s schedule.Schedule) schedule.Counter {
	if p.Part == nil {
		return p.deal().Counter(s)
	}
	var sum counterSum
	for i := range p.Part.Clients {
		sum = append(sum, schedule.Sequential(p.deal().Share(s, p.client(i))))
	}
	return sum
}

// counterSum counts what all of its counters count together.
type counterSum []schedule.Counter

func (c counterSum) Count(d int64) (n int64) {
	for _, counter := range c {
		n += counter.Count(d)
	}
	return n
}

// limits returns, by client, how many of the whole plan's first total arrivals of s it sends.
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

// Split divides a plan into n parts for n agents. Together they send and receive exactly what the plan would. All producers and
// consumers of a topic are in one part, and so are all topics that share connections: no stream is divided.
func (p Plan) Split(n int) ([]Plan, error) {
	if n == 1 {
		return []Plan{p}, nil
	}
	groups := p.groups()
	if len(groups) < n {
		return nil, fmt.Errorf("%d agents, but all streams of a topic, and topics that share connections, run on one agent, and there are %d of these", n, len(groups))
	}
	parts := make([]Plan, n)
	for k := range parts { // groups take turns
		var topics []int
		for g := k; g < len(groups); g += n {
			topics = append(topics, groups[g]...)
		}
		slices.Sort(topics)
		parts[k] = p.part(topics)
	}
	return parts, nil
}

// MaxParts returns into how many parts a plan can be divided.
func (p Plan) MaxParts() int { return len(p.groups()) }

// groups returns the topics that must stay together, as groups in the order of their first topics. Topics in a group rise.
func (p Plan) groups() [][]int {
	// leader[t] is a lower topic of t's group, or t itself if it is the first (disjoint sets).
	leader := make([]int, len(p.Topology.Topics))
	for t := range leader {
		leader[t] = t
	}
	first := func(t int) int {
		for leader[t] != t {
			t = leader[t]
		}
		return t
	}
	join := func(a, b int) {
		a, b = first(a), first(b)
		leader[max(a, b)] = min(a, b)
	}
	clients := p.clients()
	for i := clients; i < len(p.Producers); i++ {
		join(p.Producers[i].Topic, p.Producers[i-clients].Topic) // producers i and i − clients share a client
	}
	for _, c := range p.Consumers {
		for _, t := range c.Also {
			join(c.Topic, t)
		}
	}
	var groups [][]int
	index := map[int]int{} // of the group with this first topic
	for t := range leader {
		f := first(t)
		if f == t {
			index[f] = len(groups)
			groups = append(groups, nil)
		}
		groups[index[f]] = append(groups[index[f]], t)
	}
	return groups
}

// part returns the part of a plan with these topics, which rise. Producers take turns at the clients; a group has all producers of
// its clients, so those that stay keep their order and take the same turns.
func (p Plan) part(topics []int) Plan {
	part := p
	part.Part = &Part{Of: p.deal()}
	part.Topology.Topics, part.Producers, part.Consumers = nil, nil, nil
	newIndex := map[int]int{} // of the part's topics
	for i, t := range topics {
		newIndex[t] = i
		part.Topology.Topics = append(part.Topology.Topics, p.Topology.Topics[t])
	}
	for i, producer := range p.Producers {
		t, mine := newIndex[producer.Topic]
		if !mine {
			continue
		}
		if i < p.clients() { // the first producer of client i
			part.Part.Clients = append(part.Part.Clients, i)
		}
		part.Producers = append(part.Producers, Producer{ID: producer.ID, Topic: t})
	}
	part.Clients = len(part.Part.Clients)
	for _, c := range p.Consumers {
		t, mine := newIndex[c.Topic]
		if !mine {
			continue
		}
		also := c.Also
		c.Topic, c.Also = t, nil // not c.Also[:0]: the whole plan shares its memory
		for _, t := range also {
			c.Also = append(c.Also, newIndex[t])
		}
		part.Consumers = append(part.Consumers, c)
	}
	return part
}
