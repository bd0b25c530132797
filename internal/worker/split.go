package worker

import (
	"fmt"
	"slices"

	"github.com/brokermark/brokermark/internal/driver"
)

// Split divides a plan into n parts for n agents, n being at least 1. Together they send and receive exactly what the plan would.
// No stream is divided: all producers and consumers of a topic are in one part, and so are all topics that share connections.
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

// topicGroups returns the groups of topics that must stay on one agent, because they share a client or a consumer. Each group is
// in ascending order, and the groups are in the order of their first topics. For example, if producers 0 and 2 share client 0 and
// send to topics 0 and 2, and producer 1 sends to topic 1, the groups are {0, 2} and {1}. The algorithm is union-find.
func (p Plan) topicGroups() [][]int {
	sets := make(topicSets, len(p.Topology.Topics))
	for t := range sets {
		sets[t] = t
	}
	clients := p.clients()
	for i := clients; i < len(p.Producers); i++ {
		sets.join(p.Producers[i].Topic, p.Producers[i-clients].Topic) // both producers use client i mod clients
	}
	if 0 < p.Lagging.Topics && p.Lagging.Topics < len(sets) { // one agent drains the backlog while the others' topics are sent to
		for t := range sets {
			sets.join(t, 0)
		}
	}
	for _, c := range p.Consumers {
		for _, t := range c.Also {
			sets.join(c.Topic, t)
		}
	}
	groups := make([][]int, len(sets)) // by lowest topic; empty for all other topics
	for t := range sets {
		lowest := sets.lowest(t)
		groups[lowest] = append(groups[lowest], t)
	}
	return slices.DeleteFunc(groups, func(group []int) bool { return len(group) == 0 })
}

// topicSets divides the topics into sets. It has, for each topic, a lower one of the same set; for the lowest, itself.
type topicSets []int

// lowest returns the lowest topic of the set that a topic is in.
func (s topicSets) lowest(topic int) int {
	for s[topic] != topic {
		topic = s[topic]
	}
	return topic
}

// join makes one set of the sets that two topics are in.
func (s topicSets) join(a, b int) {
	a, b = s.lowest(a), s.lowest(b)
	s[max(a, b)] = min(a, b)
}

// withTopics returns the part of a plan with these topics, which are whole groups in ascending order. A group has all producers
// of its clients.
func (p Plan) withTopics(topics []int) Plan {
	newIndex := map[int]int{} // of a topic in the part, by its index in the whole plan
	for i, t := range topics {
		newIndex[t] = i
	}
	var clients []int
	for client, first := range p.Producers[:p.clients()] {
		if _, own := newIndex[first.Topic]; own {
			clients = append(clients, client)
		}
	}
	var consumers []driver.ConsumerConfig
	for _, c := range p.Consumers {
		if _, own := newIndex[c.Topic]; own {
			consumers = append(consumers, c)
		}
	}
	part := p.part(clients, consumers)
	part.Lagging = p.Lagging.of(topics)
	part.Topology.Topics = nil
	for _, t := range topics {
		part.Topology.Topics = append(part.Topology.Topics, p.Topology.Topics[t])
	}
	for i := range part.Producers {
		part.Producers[i].Topic = newIndex[part.Producers[i].Topic]
	}
	for i := range part.Consumers {
		c := &part.Consumers[i]
		c.Topic, c.Also = newIndex[c.Topic], slices.Clone(c.Also) // the whole plan keeps its list
		for k, t := range c.Also {
			c.Also[k] = newIndex[t]
		}
	}
	return part
}

// part returns the part of a plan with these clients, in ascending order, and consumers. Its clients have the same producers in
// the same turns.
func (p Plan) part(clients []int, consumers []driver.ConsumerConfig) Plan {
	part := p
	part.Part = &Part{Clients: clients, Whole: p.deal()}
	part.Clients, part.Producers, part.Consumers = len(clients), nil, consumers
	for i, producer := range p.Producers {
		if _, own := slices.BinarySearch(clients, i%p.clients()); own {
			part.Producers = append(part.Producers, producer)
		}
	}
	return part
}

// Spread divides a plan into n parts for n workers that share its streams, n being at least 1: a topic may have producers in one
// part and consumers in another one. Clients of producers go in turn to the parts listed in producing, by numbers below n, and
// consumers to those in consuming. A part that is listed twice gets twice as many. An empty list means all parts.
//
// If consuming is empty, consumers begin at the part after that of the last client, as if clients went to all parts, or at part 1 if that
// is the last part. So one topic with one producer and one consumer, spread over 2 parts, has its producer in part 0 and its consumer in
// part 1.
func (p Plan) Spread(n int, producing, consuming []int) ([]Plan, error) {
	if n == 1 {
		return []Plan{p}, nil
	}
	if len(producing) == 0 {
		producing = partsFrom(0, n)
	}
	if len(consuming) == 0 {
		consuming = partsFrom(max(1, p.clients()%n), n)
	}
	clients, consumers := make([][]int, n), make([][]driver.ConsumerConfig, n) // indices by part
	for client := range p.clients() {
		k := producing[client%len(producing)]
		clients[k] = append(clients[k], client)
	}
	for i, consumer := range p.Consumers {
		k := consuming[i%len(consuming)]
		consumers[k] = append(consumers[k], consumer)
	}
	parts := make([]Plan, n)
	for k := range parts {
		if len(clients[k])+len(consumers[k]) == 0 {
			return nil, fmt.Errorf("nothing is left for one of %d agents: there are %d clients of producers and %d consumers", n, p.clients(), len(p.Consumers))
		}
		parts[k] = p.part(clients[k], consumers[k])
		parts[k].Peers = &Peers{Producers: p.producerIDs()}
		parts[k].Topology.Existing = p.Topology.Existing || k > 0 // part 0 makes the topics
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
