package driver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Shape is the size of a topology and its clients.
type Shape struct {
	Topics        int
	Partitions    int  // of each topic
	Subscriptions int  // of each topic
	Producers     int  // of each topic
	Consumers     int  // of each subscription of a topic, or of the subscription with the most
	Fewest        int  // of the subscription with the fewest; 0: as many as Consumers
	Relays        int  // between producers and consumers
	Connections   int  // that the topics share; 0: every producer and consumer has its own
	MaxBytes      int  // the largest message, as in ProducerConfig; 0: not known yet
	Keyless       bool // no message has a key
	Headers       bool // messages carry headers because of the spec
	InFlight      int  // messages of one producer; 0: not known yet
	Backlog       bool // consumers start after everything has been sent

	Topic  string // of another application; empty: the run makes its topics
	Past   bool   // it is read from its start
	Prefix string // prefix of the names that the run makes
}

// Queues is the largest number of partitions that a consumer reads if each reads its share of them (Partitions).
func (s Shape) Queues() int {
	topics := 1
	if s.Connections > 0 {
		topics = (s.Topics + s.Connections - 1) / s.Connections
	}
	partitions, consumers := max(1, s.Partitions), max(1, cmp.Or(s.Fewest, s.Consumers))
	return topics * ((partitions + consumers - 1) / consumers)
}

// Shape returns the shape of t, without producers and consumers.
func (t Topology) Shape() Shape {
	s := Shape{Topics: len(t.Topics), Subscriptions: len(t.Subscriptions)}
	for _, topic := range t.Topics {
		s.Partitions = max(s.Partitions, topic.Partitions)
		if topic.Out != "" {
			s.Relays = max(1, s.Relays)
		}
	}
	return s
}

// Refusal returns any reason against c on topics of this shape that needs no connection; nil: none. Kind.Fits says which fields
// of c.Target must be set.
func (k Kind) Refusal(c Config, s Shape) error {
	if k.Keyless != nil && s.Partitions > 1 {
		if why := k.Keyless(c.Client); why != "" {
			return Unsupported(fmt.Sprintf("partitionsPerTopic: %d", s.Partitions), "%s; use more topics", why)
		}
	}
	if err := cmp.Or(k.letsIn(c.Target.Login), k.Supports(c.Guarantee)); err != nil {
		return err
	}
	if s.Relays > 0 && !k.Relays {
		return Unsupported(fmt.Sprintf("relays: %d", s.Relays), "the driver of %s can't relay; allowed with: %s", k.Name, strings.Join(relayers(), ", "))
	}
	if err := k.refusesTopics(c, s); err != nil {
		return err
	}
	if why := k.Headerless(c.Guarantee, c.Client); s.Headers && why != "" {
		return Unsupported("headers", "%s", why)
	}
	if k.Share != nil {
		if err := k.Share(c.Guarantee, c.Topic, s.Consumers, s.Partitions); err != nil {
			return err
		}
	}
	if k.Fits != nil {
		if err := k.Fits(c, s); err != nil {
			return err
		}
	}
	return Idle(k.Settings, c.Guarantee, c.Client, c.Topic)
}

// refusesTopics refuses topic names, and topics of other applications, that the driver can't use.
func (k Kind) refusesTopics(c Config, s Shape) error {
	if i := strings.IndexAny(s.Prefix, ":/"); i >= 0 && !strings.Contains(k.Marks, s.Prefix[i:i+1]) {
		return Unsupported("topicPrefix: "+s.Prefix, "a name here has no %q", s.Prefix[i:i+1])
	}
	if s.Topic == "" {
		return nil
	}
	if k.Found == nil {
		return Unsupported("topicName: "+s.Topic, "the driver of %s uses only what it has made; allowed with: %s", k.Name,
			strings.Join(those(func(k Kind) bool { return k.Found != nil }), ", "))
	}
	return k.Found(c, s)
}

// relayers names the kinds that relay.
func relayers() []string { return those(func(k Kind) bool { return k.Relays }) }

// those returns the names of the kinds for which are is true.
func those(are func(Kind) bool) []string {
	return slices.DeleteFunc(Names(), func(name string) bool { k, err := Lookup(name); return err != nil || !are(k) })
}
