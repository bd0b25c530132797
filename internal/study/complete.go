package study

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/usual"
)

// Defaults is the complete Spec of an empty study.
func Defaults() Spec { return complete(newDraft("")) }

// fixed are the defaults that don't depend on other settings.
func fixed() Spec {
	return Spec{
		Broker: usual.First(), Nodes: 1, TLS: TLSOff,
		Replicas: 1, Ordering: unordered,
		Topics: 1, PartitionsPerTopic: 1, ProducersPerTopic: 1, SubscriptionsPerTopic: 1, ConsumerPerSubscription: Consumers{1},
		MessageSize: Sizes{{100, 1}}, UseRandomizedPayloads: true, RandomBytesRatio: 0.5,
		KeyDistributor: noKey, Keys: 10_000, ZipfExponent: 1.1,
		Measure:  MeasureSustainable,
		Load:     Load{Shape: constant},
		Warmup:   Warmup{For: seconds(5)},
		Duration: seconds(30),
		Seed:     1, Isolation: fresh,
	}
}

func seconds(s float64) Duration { return Duration(s * float64(time.Second)) }

// complete overlays the given settings on the fixed defaults and derives the rest.
func complete(d *draft) Spec {
	s := fixed()
	for _, g := range d.given {
		if g.path != versionByBroker {
			g.apply(&s)
		}
	}
	completePipeline(&s, d)
	completeGenerator(&s, d)
	completeRead(&s, d)
	completeSubscriptions(&s, d)
	completeBroker(&s, d)
	completeMessages(&s, d)
	completeTimes(&s, d)
	completeMeasure(&s, d)
	completeInFlight(&s, d)
	completeConnections(&s, d)
	if s.Place.Deal == PlaceTopic && !s.Place.Named() { // as if it were not given
		s.Place.Deal = ""
	}
	if s.ConsumerDelay > 0 {
		fill(d, "consumerDelays", &s.ConsumerDelays, constant)
	}
	return s
}

// fill sets a field that was not given.
func fill[T any](d *draft, path string, field *T, value T) {
	if !d.has(path) {
		*field = value
	}
}

// completeSubscriptions sets the number of subscriptions if their consumers were given one by one; equal numbers become one.
func completeSubscriptions(s *Spec, d *draft) {
	c := s.ConsumerPerSubscription
	if len(c) > 1 {
		fill(d, "subscriptionsPerTopic", &s.SubscriptionsPerTopic, len(c))
	}
	if s.SubscriptionsPerTopic == 0 && c.Largest() == 0 { // without consumers, 0 means no consumers
		s.ConsumerPerSubscription = fixed().ConsumerPerSubscription
	}
	if len(c) == s.SubscriptionsPerTopic && c.Smallest() == c.Largest() {
		s.ConsumerPerSubscription = Consumers{c.Largest()}
	}
}

func completeBroker(s *Spec, d *draft) {
	if g, ok := d.given[versionByBroker]; ok {
		s.Version = g.value.(map[string]string)[s.Broker] // validation reports a broker that doesn't exist
	}
	if g, attached := d.given["attach"]; attached && d.rankOf("version", versionByBroker) < g.rank {
		s.Version = majorOf(s.Version)
	}
	broker := usual.Of(s.Broker)
	// A broker that keeps no copy of a message is compared at its usual guarantee.
	fill(d, "delivery", &s.Delivery, either(broker.NoCopy, atMostOnce, atLeastOnce))
	inMemory := broker.Persistence == usual.Memory || broker.Persistence == usual.MemoryAtMostOnce && s.Delivery == atMostOnce
	fill(d, "persistence", &s.Persistence, either(inMemory, memory, log))
	acks := acksLeader
	switch {
	case s.Delivery == atMostOnce:
		acks = acksNone
	case s.Replicas > 1:
		acks = acksQuorum
	}
	fill(d, "acks", &s.Acks, acks)
	if len(s.Attach) > 0 {
		fill(d, "nodes", &s.Nodes, len(s.Attach))
		fill(d, "isolation", &s.Isolation, shared)
	}
	s.Faults = slices.Clone(s.Faults)
	for i := range s.Faults {
		s.Faults[i].Node = cmp.Or(s.Faults[i].Node, "1")
	}
	slices.SortStableFunc(s.Faults, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
}

// majorOf is the major version of a version, with the minor one if the major is 0: 4 of 4.3.1, 0.17 of 0.17.0. An attached broker
// of another release than a study compares represents it if the major versions are equal.
func majorOf(version string) string {
	parts := strings.Split(version, ".")
	if parts[0] == "0" && len(parts) > 1 {
		return parts[0] + "." + parts[1]
	}
	return parts[0]
}

// fewTopics is the largest number of topics for which every producer and consumer has a connection of its own, as separate
// applications have. One application that uses more topics shares connections.
const fewTopics = 16

// completeConnections makes many topics share as many connections as applications open, if the client is made to be shared and
// sharing was measured to cost nothing.
func completeConnections(s *Spec, d *draft) {
	if s.Topics > fewTopics {
		fill(d, "connections", &s.Connections, usual.Of(s.Broker).Connections(s.Topics, s.PartitionsPerTopic))
	}
	if s.Connections == s.Topics {
		s.Connections = 0
	}
}

// poolBytes bounds the generated payloads in memory.
const poolBytes = 16 << 20

func completeMessages(s *Spec, d *draft) {
	s.MessageSize = slices.Clone(s.MessageSize)
	slices.SortStableFunc(s.MessageSize, bySize)
	if len(s.MessageSize) == 1 && s.MessageSize[0].Weight > 0 {
		s.MessageSize[0].Weight = 1
	}
	if s.UseRandomizedPayloads && d.has("useRandomizedPayloads") {
		s.PayloadFile, s.PayloadColumn = "", "" // as in the OpenMessaging Benchmark
	}
	switch {
	case s.PayloadFile != "":
		s.UseRandomizedPayloads, s.RandomBytesRatio, s.RandomizedPayloadPoolSize = false, 0, 0
	case !s.UseRandomizedPayloads:
		s.RandomBytesRatio, s.RandomizedPayloadPoolSize = 0, 1
	default:
		largest := max(1, int64(s.MessageSize.Largest())*int64(len(s.MessageSize)))
		fill(d, "randomizedPayloadPoolSize", &s.RandomizedPayloadPoolSize, int(max(1, min(1000, poolBytes/largest))))
	}
}

// ombWarmup is how long the OpenMessaging Benchmark warms up by default.
const ombWarmup = Duration(60e9)

func completeTimes(s *Spec, d *draft) {
	switch {
	case s.Measure == MeasureCount || s.Measure == MeasureBacklog:
		fill(d, "warmup.for", &s.Warmup.For, 0)
	case d.given["duration"].as == "testDurationMinutes":
		fill(d, "warmup.for", &s.Warmup.For, ombWarmup)
	}
	if s.Warmup.Auto {
		fill(d, "warmup.for", &s.Warmup.For, max(s.Warmup.For, seconds(1)))
		fill(d, "warmup.max", &s.Warmup.Max, max(seconds(30), s.Warmup.For))
	}
	drain := seconds(10)
	switch s.Measure {
	case MeasurePeak: // consumers may fall behind for the whole run
		drain = seconds(60)
	case MeasureCount:
		drain = seconds(120)
	case MeasureBacklog:
		drain = seconds(600)
	}
	fill(d, "drain", &s.Drain, drain)
}

func completeMeasure(s *Spec, d *draft) {
	switch s.Measure {
	case MeasureSustainable:
		completeSearch(&s.Sustainable, d)
	case MeasureCurve:
		if !d.has("curve.rates") {
			fill(d, "curve.fractions", &s.Curve.Fractions, []float64{0.1, 0.25, 0.5, 0.75, 0.9})
			completeSearch(&s.Sustainable, d)
		}
	case MeasureCount:
		if !d.has("count.bytes") {
			fill(d, "count.messages", &s.Count.Messages, 1_000_000)
		}
	case MeasureBacklog:
		if !d.has("backlog.bytes") {
			fill(d, "backlog.messages", &s.Backlog.Messages, 100_000)
		}
		fill(d, "backlog.drainRatio", &s.Backlog.DrainRatio, 1)
		if d.has("backlog.rate") {
			fill(d, "backlog.keepSending", &s.Backlog.KeepSending, true)
		}
		if d.given["backlog.keepSending"].as == "consumerBacklogSizeGB" && !d.has("load.rate") && !d.has("backlog.rate") {
			s.Backlog.KeepSending = false // without a given rate: implied, not asked for
		}
	}
}

func completeSearch(s *Sustainable, d *draft) {
	fill(d, "sustainable.width", &s.Width, 0.05)
	fill(d, "sustainable.trial", &s.Trial, seconds(1))
	fill(d, "sustainable.confirm", &s.Confirm, seconds(20))
	fill(d, "sustainable.confirms", &s.Confirms, 1)
	fill(d, "sustainable.exceed", &s.Exceed, 0.34)
	fill(d, "sustainable.warmup", &s.Warmup, seconds(0.5))
	fill(d, "sustainable.maxTrials", &s.MaxTrials, 40)
	fill(d, "sustainable.quantile", &s.Quantile, 0.99)
	s.Goals = slices.Clone(s.Goals)
	for i := range s.Goals {
		if s.Goals[i].Latency > 0 {
			s.Goals[i].Quantile = cmp.Or(s.Goals[i].Quantile, 0.99)
		}
	}
}

// UsualWindow is the default limit of a producer's unconfirmed messages.
func (s *Spec) UsualWindow() int {
	if s.Pipeline != nil { // a producer is returned to the pool when its ride is confirmed
		return 1
	}
	return max(1, min(10_000, 100_000/max(1, s.Topics*s.ProducersPerTopic)))
}

// completeInFlight divides one budget of memory among the producers.
func completeInFlight(s *Spec, d *draft) {
	producers := max(1, int64(s.Topics)*int64(s.ProducersPerTopic))
	fill(d, "inFlight.messages", &s.InFlight.Messages, s.UsualWindow())
	largest := s.MessageSize.Largest()
	bytes := max(min(16<<20, 64<<20/Size(producers)), largest)
	if few := 4 * largest; s.InFlight.Messages > 1 && few*Size(producers) <= 128<<20 { // a window of one message would be another experiment
		bytes = max(bytes, few)
	}
	fill(d, "inFlight.bytes", &s.InFlight.Bytes, bytes)
}
