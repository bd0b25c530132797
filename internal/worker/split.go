package worker

import (
	"fmt"
	"slices"
)

// Split divides a plan into n parts for n agents. Together they send and receive exactly what the plan would. No stream is divided: all
// producers and consumers of a topic are in one part, and so are all topics that share connections.
func (p Plan) Split(n int) ([]Plan, error) {
	if n == 1 {
		return []Plan{p}, nil
	}
	groups := p.topicGroups()
	if len(groups) < n {
		return nil, fmt.Errorf("%d agents, but all streams of a topic, and topics that share connections, run on one agent, and there are %d of these", n, len(groups))
	}
	parts := make([]Plan, n)
	for k := range parts { // group g goes to part g mod n
		var topics []int
		for g := k; g < len(groups); g += n {
			topics = append(topics, groups[g]...)
		}
		slices.Sort(topics)
		parts[k] = p.withTopics(topics)
	}
	return parts, nil
}

// MaxParts returns the most parts that Split can make.
func (p Plan) MaxParts() int { return len(p.topicGroups()) }

// topicGroups returns the topics that must stay on one agent, each group in ascending order, the groups in the order of their first
// topics. It joins disjoint sets of topics (union-find).
func (p Plan) topicGroups() [][]int {
	parent := make([]int, len(p.Topology.Topics)) // a lower topic of the same set; the lowest is its own parent
	for t := range parent {
		parent[t] = t
	}
	root := func(t int) int {
		for parent[t] != t {
			t = parent[t]
		}
		return t
	}
	join := func(a, b int) {
		a, b = root(a), root(b)
		parent[max(a, b)] = min(a, b)
	}
	for i, clients := p.clients(), p.clients(); i < len(p.Producers); i++ {
		join(p.Producers[i].Topic, p.Producers[i-clients].Topic) // both producers use client i mod clients
	}
	for _, c := range p.Consumers {
		for _, t := range c.Also {
			join(c.Topic, t)
		}
	}
	var groups [][]int
	index := map[int]int{} // in groups, by root
	for t := range parent {
		r := root(t)
		if r == t {
			index[r] = len(groups)
			groups = append(groups, nil)
		}
		groups[index[r]] = append(groups[index[r]], t)
	}
	return groups
}

// withTopics returns the part of a plan with these topics, which are whole groups in ascending order. A group has all producers of its
// clients, so producers that stay use the same clients in the same turns.
func (p Plan) withTopics(topics []int) Plan {
	part := p
	part.Part = &Part{Whole: p.deal()}
	part.Topology.Topics, part.Producers, part.Consumers = nil, nil, nil
	newIndex := map[int]int{} // of a topic in the part, by its index in the whole plan
	for i, t := range topics {
		newIndex[t] = i
		part.Topology.Topics = append(part.Topology.Topics, p.Topology.Topics[t])
	}
	for i, producer := range p.Producers {
		t, own := newIndex[producer.Topic]
		if !own {
			continue
		}
		if i < p.clients() { // the first producer of client i
			part.Part.Clients = append(part.Part.Clients, i)
		}
		part.Producers = append(part.Producers, Producer{ID: producer.ID, Topic: t})
	}
	part.Clients = len(part.Part.Clients)
	for _, c := range p.Consumers {
		t, own := newIndex[c.Topic]
		if !own {
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

// Spread divides a plan into n parts for n workers that share its streams: a topic may have producers in one part and consumers in
// another one. Clients of producers go in turn to the parts listed in producing, and consumers to those in consuming. A part that
// is listed twice has twice as many. A nil list means all parts.
//
// Without a list, consumers begin at the part after that of the last client, or at part 1 if that is the last part. So one topic with
// one producer and one consumer, spread over 2 parts, has its producer in part 0 and its consumer in part 1.
func (p Plan) Spread(n int, producing, consuming []int) ([]Plan, error) {
	if n == 1 {
		return []Plan{p}, nil
	}
	parts := make([]Plan, n)
	for k := range parts {
		parts[k] = p
		parts[k].Producers, parts[k].Consumers = nil, nil
		parts[k].Part, parts[k].Peers = &Part{Whole: p.deal()}, &Peers{Producers: p.producerIDs()}
		parts[k].Topology.Existing = p.Topology.Existing || k > 0 // part 0 makes the topics
	}
	if producing == nil {
		producing = partsFrom(0, n)
	}
	if consuming == nil {
		consuming = partsFrom(max(1, p.clients()%n), n)
	}
	for i, producer := range p.Producers {
		client := i % p.clients()
		part := &parts[producing[client%len(producing)]]
		if i == client { // the client's first producer
			part.Part.Clients = append(part.Part.Clients, client)
		}
		part.Producers = append(part.Producers, producer)
	}
	for i, consumer := range p.Consumers {
		part := &parts[consuming[i%len(consuming)]]
		part.Consumers = append(part.Consumers, consumer)
	}
	for k := range parts {
		parts[k].Clients = len(parts[k].Part.Clients)
		if len(parts[k].Producers)+len(parts[k].Consumers) == 0 {
			return nil, fmt.Errorf("nothing is left for one of %d agents: there are %d clients of producers and %d consumers", n, p.clients(), len(p.Consumers))
		}
	}
	return parts, nil
}

// partsFrom lists n parts in turn, beginning with part first.
func partsFrom(first, n int) []int {
	parts := make([]int, n)
	for i := range parts {
		parts[i] = (first + i) % n
	}
	return parts
}
