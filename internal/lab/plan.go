package lab

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/schedule"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// plan lays out topics, producers and consumers of a bench, one repetition under way. Names of topics are new each time, so messages that
// an earlier point has left on a shared broker are never mistaken for this one's. For example, 2 topics with 3 producers each are
// bm-0a1b2c3d-1-9f3e-0 with the producers 0 to 2 and bm-0a1b2c3d-1-9f3e-1 with 3 to 5, in repetition 1 of point 0a1b2c3d….
func (b *bench) plan() worker.Plan {
	s := b.spec
	p := worker.Plan{
		Payload: b.payload(),
		Headers: b.ownHeaders(),
		Keys:    worker.Keys{Kind: keyKinds[s.KeyDistributor], N: s.Keys, Exponent: s.ZipfExponent, Seed: b.record.Seed},
		// With several partitions or consumers, order holds only for messages of the same key.
		KeyOrdered:    s.PartitionsPerTopic > 1 || s.ConsumerPerSubscription.Largest() > 1,
		InFlight:      s.InFlight.Messages,
		Bytes:         int(s.InFlight.Bytes),
		ProducerDelay: time.Duration(s.ProducerDelay),
		Delay:         worker.Delay{Mean: time.Duration(s.ConsumerDelay), Exponential: s.ConsumerDelays == "exponential", Seed: b.record.Seed},
		Clients:       s.Connections * s.ProducersPerTopic, // 0 if each producer has a client of its own
		Consumers:     consumers(s),
		Run:           uint16(rand.Uint32()),
	}
	p.Lagging.Topics, p.Lagging.Subscriptions = s.Lagging()
	p.Topology = b.topology(p.Run)
	for topic := range s.Topics {
		for range s.ProducersPerTopic {
			p.Producers = append(p.Producers, worker.Producer{ID: len(p.Producers), Topic: topic})
		}
	}
	p.Connect = connectTime(p)
	return p
}

// payload returns what the messages are made of, with their sizes.
func (b *bench) payload() worker.Payload {
	s := b.spec
	p := worker.Payload{
		Random: s.RandomBytesRatio, Pool: s.RandomizedPayloadPoolSize, Samples: s.PayloadFile, Given: b.payloads, Seed: b.record.Seed,
		Untouched: b.record.Identity == store.InHeader,
	}
	for _, size := range s.MessageSize {
		p.Sizes = append(p.Sizes, worker.Size{Bytes: int(size.Size), Weight: size.Weight})
	}
	return p
}

// topology returns the topics, under names for this run number, and the subscriptions. A topic that is the attached broker's own keeps its name,
// and the subscriptions have names for this run number: bm-0a1b2c3d-1-9f3e-s0.
func (b *bench) topology(run uint16) (t driver.Topology) {
	prefix := b.topicName(run)
	t.Found, t.Past = b.spec.TopicName != "", b.spec.Read.From == study.ReadStart
	for i := range b.spec.SubscriptionsPerTopic {
		name := subscriptionName(i)
		if t.Found {
			name = prefix + "-" + name
		}
		t.Subscriptions = append(t.Subscriptions, name)
	}
	if t.Found {
		t.Topics = []driver.Topic{{Name: b.spec.TopicName, Partitions: b.spec.PartitionsPerTopic}}
		return t
	}
	for i := range b.spec.Topics {
		topic := driver.Topic{Name: fmt.Sprintf("%s-%d", prefix, i), Partitions: b.spec.PartitionsPerTopic}
		if b.spec.Relays > 0 {
			topic.Out = topic.Name + "-out"
		}
		t.Topics = append(t.Topics, topic)
	}
	return t
}

// keyKinds maps the spec's key distributors, which are the OpenMessaging Benchmark's and ours, to the worker's. Specs have no others.
var keyKinds = map[string]string{
	"NO_KEY": "none", "KEY_ROUND_ROBIN": "roundrobin", "RANDOM_NANO": "random", "RANDOM": "random", "ZIPF": "zipf",
}

func subscriptionName(i int) string { return fmt.Sprintf("s%d", i) }

// topicName returns a name that no other point or repetition uses. The run number, which is drawn at random, also keeps apart two runs of
// the same repetition; one pair in 65,536 draws the same.
func (b *bench) topicName(run uint16) string {
	return fmt.Sprintf("%sbm-%s-%d-%04x", b.spec.TopicPrefix, b.record.PointID[:8], b.record.Repetition, run)
}

// consumers returns the consumers of all topics and subscriptions. If topics share n connections, which are no more than the topics, each
// consumer reads the topics t, t+n, t+2n and so on, which are also those that share a producer's connection.
func consumers(s study.Spec) []driver.ConsumerConfig {
	connections := s.Topics
	if s.Connections > 0 {
		connections = s.Connections
	}
	var list []driver.ConsumerConfig
	for first := range connections {
		var also []int
		for t := first + connections; t < s.Topics; t += connections {
			also = append(also, t)
		}
		for subscription := range s.SubscriptionsPerTopic {
			count := s.ConsumerPerSubscription.Of(subscription)
			for id := range count {
				list = append(list, driver.ConsumerConfig{
					ID: id, Of: count, Topic: first, Also: also, Subscription: subscription, Delay: time.Duration(s.ConsumerDelay),
				})
			}
		}
	}
	return list
}

// connectTime bounds connecting, creating topics and probing: a minute, and 10 ms for each producer, consumer and partition, but no more
// than an hour. For example, 10,000 partitions with a producer and a consumer each have 6 minutes.
func connectTime(p worker.Plan) time.Duration {
	const each, longest = 10 * time.Millisecond, time.Hour
	n := len(p.Producers) + len(p.Consumers)
	for _, t := range p.Topology.Topics {
		n += t.Partitions
	}
	return min(time.Minute+time.Duration(n)*each, longest)
}

// threads returns how many threads of Go code a client gets that is served best by a few: half of the cores, since it shares them with
// the broker, but not fewer than serve it best. 1 thread on 4 cores makes 2, and 3 on 4 make 3. If best is 0, the client has no such
// number, and threads returns 0: no limit.
func threads(best, cores int) int {
	if best == 0 {
		return 0
	}
	return max(best, cores/2)
}

// schedule returns the schedule of the spec's load.
func (b *bench) schedule() (schedule.Schedule, error) {
	return loadSchedule(b.spec.Load, time.Duration(b.spec.Duration), b.record.Seed)
}

// arrivals returns the schedule of a steady load, constant or Poisson as the spec says. number is that of the load in the repetition's
// search or curve, from 1 on; Poisson arrivals of other numbers are others.
func (b *bench) arrivals(rate float64, number int) (schedule.Schedule, error) {
	return loadSchedule(study.Load{Shape: b.spec.Load.Shape, Rate: rate}, 0, seedOf(b.record.Seed, number))
}

// changing reports whether a load changes over the measured phase, so that its schedule has to begin with that phase.
func changing(l study.Load) bool { return l.Shape != "constant" && l.Shape != "poisson" }

// meanRate returns the constant rate at which as many messages are due as s has over a time. It is the warm-up of a changing load.
func meanRate(s schedule.Schedule, over time.Duration) (schedule.Schedule, error) {
	return schedule.Constant(float64(schedule.Sequential(s).Count(int64(over))) / over.Seconds())
}

// loadSchedule returns the schedule of a load. over is the length of the measured phase, for which a ramp lasts.
func loadSchedule(l study.Load, over time.Duration, seed int64) (schedule.Schedule, error) {
	switch l.Shape {
	case "constant":
		return schedule.Constant(l.Rate)
	case "poisson":
		return schedule.Poisson(l.Rate, uint64(seed))
	case "steps":
		steps := make([]schedule.Step, len(l.Steps))
		for i, s := range l.Steps {
			steps[i] = schedule.Step{Rate: s.Rate, To: s.End(), For: time.Duration(s.For)}
		}
		return schedule.Steps(steps, l.Repeat)
	case "ramp":
		return schedule.Steps([]schedule.Step{{Rate: l.Rate, To: l.To, For: over}}, false)
	case "bursts":
		if l.Burst == nil {
			return nil, errors.New("load.burst: a bursty load needs rate, every and for")
		}
		burst, rest := time.Duration(l.Burst.For), time.Duration(l.Burst.Every-l.Burst.For)
		return schedule.Steps([]schedule.Step{{Rate: l.Burst.Rate, To: l.Burst.Rate, For: burst}, {Rate: l.Rate, To: l.Rate, For: rest}}, true)
	}
	return nil, fmt.Errorf("load.shape: unknown word %q; allowed: constant, poisson, steps, ramp, bursts", l.Shape)
}

// Arrivals of Poisson loads, exponential consumer delays, keys, and the contents and choice of payloads are drawn at random. Each
// repetition draws anew; all points of one repetition draw the same, so that what differs between two brokers is not their luck.

// seedOf derives the seed of the part'th part of a whole that has a seed: of repetition 3 of a spec, or of load 3 of a
// repetition. It is Mix(Mix(seed) + part), of which the upper 53 bits are kept: readers of JSON hold them exactly.
func seedOf(seed int64, part int) int64 {
	return int64(schedule.Mix(schedule.Mix(uint64(seed))+uint64(part)) >> 11)
}

// A payload that is made up has its message's identity and times in it. One from a file arrives as it is, with these in a header, unless
// the driver's messages have no headers.

// identityIn returns where the identity of a spec's messages is, as a record says it. why says, as a clause, why it isn't in a header.
func identityIn(s study.Spec, kind driver.Kind, c driver.Config) (in, why string) {
	if s.PayloadFile == "" {
		return "", ""
	}
	if why = kind.Headerless(c.Guarantee, c.Client); why != "" {
		return store.InBody, why
	}
	return store.InHeader, ""
}

// IdentityNote returns a sentence about where a point's messages carry their identity; empty if their payloads are made up.
func IdentityNote(s study.Spec) string {
	kind, err := driver.Lookup(s.Broker)
	if err != nil {
		return ""
	}
	c, err := decoded(kind, s)
	if err != nil {
		return ""
	}
	switch in, why := identityIn(s, kind, c); in {
	case store.InHeader:
		return fmt.Sprintf("%s: payloads of the file arrive as they are; identity and times of a message are in a header.", s.Broker)
	case store.InBody:
		return fmt.Sprintf("%s: identity and times of a message replace the first bytes of its payload, up to 32, since %s.", s.Broker, why)
	}
	return ""
}

// noteIdentity notes in the record where the identity of messages is, and in the bench what their headers take.
func (b *bench) noteIdentity(kind driver.Kind, c driver.Config) {
	in, why := identityIn(b.spec, kind, c)
	b.record.Identity, b.headerBytes = in, headerBytes(b.spec, kind, c)
	if in == store.InBody {
		b.doubt(doubt.Stamped, "identity and times replaced the first bytes of each payload, up to 32, since %s", why)
	}
}

// headerBytes returns by how many bytes headers make a message of a spec larger.
func headerBytes(s study.Spec, kind driver.Kind, c driver.Config) int {
	in, _ := identityIn(s, kind, c)
	p := worker.Plan{Payload: worker.Payload{Untouched: in == store.InHeader}, Headers: ownHeaders(s, 0)}
	return p.HeaderSize()
}

func (b *bench) ownHeaders() []driver.Header { return ownHeaders(b.spec, b.record.Seed) }

// ownHeaders returns the headers that a spec asks for. Values that are made up are letters.
func ownHeaders(s study.Spec, seed int64) []driver.Header {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	var list []driver.Header
	rng := rand.New(rand.NewPCG(uint64(seed), 1))
	for _, h := range s.Headers.List() {
		value := []byte(h.Value)
		for range h.Size {
			value = append(value, letters[rng.IntN(len(letters))])
		}
		list = append(list, driver.Header{Name: h.Name, Value: value})
	}
	return list
}
