package study

import (
	"fmt"
	"slices"
)

// Words of a pipeline.
const (
	none      = "none"
	haproxy   = "haproxy"
	nginx     = "nginx"
	confirmed = "confirmed"
	atOnce    = "at-once"
	sqlite    = "sqlite"
	postgres  = "postgres"
)

// Targets of a pipeline's faults beside the broker's nodes; servers have a number behind the word.
const (
	PartServer   = "server"
	PartBalancer = "balancer"
	PartConsumer = "consumer"
)

// PartRelay is the target of faults on relays, with a number behind the word.
const PartRelay = "relay"

const (
	usualThreads    = 32 // of the consumer, as in the original assignment
	usualPool       = 20
	usualClients    = 100
	rideBytes       = 200 // the largest size of a ride as a message
	mostServers     = 16
	mostRelays      = 64
	mostConnections = 10_000
)

// completePipeline fills in the settings of clients and messages that follow from a pipeline, before their own defaults.
func completePipeline(s *Spec, d *draft) {
	p := s.Pipeline
	if p == nil {
		return
	}
	fill(d, "pipeline.servers", &p.Servers, 1)
	fill(d, "pipeline.balancer", &p.Balancer, either(p.Servers > 1, haproxy, none))
	fill(d, "pipeline.pool", &p.Pool, usualPool)
	fill(d, "pipeline.answer", &p.Answer, confirmed)
	fill(d, "pipeline.threads", &p.Threads, usualClients)
	fill(d, "pipeline.state", &p.State, memory)
	fill(d, "consumerPerSubscription", &s.ConsumerPerSubscription, Consumers{usualThreads})
	s.ProducersPerTopic = max(1, p.Servers*p.Pool)
	s.MessageSize = Sizes{{rideBytes, 1}}
}

// Parts are the processes around the broker that can be targets of faults.
func (s Spec) Parts() (names []string) {
	for n := range min(s.Relays, mostRelays) {
		names = append(names, fmt.Sprintf("%s-%d", PartRelay, n+1))
	}
	if s.Pipeline == nil {
		return names
	}
	for n := range min(s.Pipeline.Servers, mostServers) {
		names = append(names, fmt.Sprintf("%s-%d", PartServer, n+1))
	}
	if s.Pipeline.Balancer != none {
		names = append(names, PartBalancer)
	}
	return append(names, PartConsumer)
}

// BrokerFaults are the faults of the broker, such as "kill". A fault of another part costs no messages in the broker.
func (s Spec) BrokerFaults() (do []string) {
	for _, f := range s.Faults {
		if !slices.Contains(s.Parts(), f.Node) {
			do = append(do, f.Do)
		}
	}
	return do
}

// decidedByPipeline are settings that follow from a pipeline.
var decidedByPipeline = []string{
	"producersPerTopic", "messageSize", "payloadFile", "payloadColumn", "useRandomizedPayloads", "randomBytesRatio", "randomizedPayloadPoolSize",
	"keyDistributor", "producerDelay", "consumerDelay", "connections", "count.bytes", "warmup.auto",
}

func (v *validator) pipeline() {
	s := v.spec
	p := s.Pipeline
	if p == nil {
		return
	}
	for _, path := range append(v.given.under("headers"), decidedByPipeline...) {
		if g, ok := v.given.given[path]; ok && g.value != false {
			v.fail(path, "not used with pipeline: what is posted are rides, by as many producers as the servers have")
		}
	}
	if s.Relays > 0 {
		v.fail("relays", "not used with pipeline, whose consumer keeps what it reads")
	}
	if s.ConsumersApart {
		v.fail("consumersApart", "not used with pipeline, whose consumer is a process of its own")
	}
	if s.Place.Spread() {
		v.fail("place", "not used with pipeline, whose parts run on this machine")
	}
	if s.Topics != 1 {
		v.fail("topics", "%d; a pipeline has 1", s.Topics)
	}
	if s.SubscriptionsPerTopic != 1 {
		v.fail("subscriptionsPerTopic", "%d; a pipeline has 1", s.SubscriptionsPerTopic)
	}
	if len(s.Attach) > 0 {
		v.fail("pipeline", "can't be combined with attach; allowed: a broker that is started here (brokermark pipeline attaches)")
	}
	v.within("pipeline.servers", p.Servers, 1)
	v.within("pipeline.pool", p.Pool, 1)
	v.within("pipeline.threads", p.Threads, 1)
	if p.Servers > 1 && p.Balancer == none {
		v.fail("pipeline.balancer", "none, and %d servers; allowed before several: haproxy, nginx", p.Servers)
	}
	mortal := p.State == memory
	if mortal && slices.ContainsFunc(s.Faults, func(f Fault) bool { return f.Node == PartConsumer && (f.Do == "kill" || f.Do == "restart") }) {
		v.fail("pipeline.state", "memory ends with the consumer that is killed; allowed then: sqlite, postgres")
	}
	for _, f := range s.Faults {
		if f.Do == "kill" && f.For == 0 && slices.Contains(s.Parts(), f.Node) {
			v.fail("faults", "kill at %s: %s would not come back; add for", f.At, f.Node)
		}
	}
}
