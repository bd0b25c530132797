package driver

import "fmt"

// Guarantee is what a spec requires of the broker, in the same words for every broker.
type Guarantee struct {
	Delivery    Delivery    `json:"delivery"`
	Persistence Persistence `json:"persistence"`
	Replicas    int         `json:"replicas"`
	Acks        Acks        `json:"acks"`
	Ordering    Ordering    `json:"ordering"`
}

// Delivery is how often a message may reach the application.
type Delivery string

// Persistence says where a message is stored when it is acknowledged.
type Persistence string

// Acks says which nodes must have a message when it is acknowledged.
type Acks string

// Ordering is whether messages of one stream must arrive in the order sent.
type Ordering string

// The words of a guarantee.
const (
	AtMostOnce  Delivery = "at-most-once"
	AtLeastOnce Delivery = "at-least-once"
	ExactlyOnce Delivery = "exactly-once"

	Memory Persistence = "memory" // need not survive the broker process
	Log    Persistence = "log"    // handed to the operating system before the ack
	Fsync  Persistence = "fsync"  // flushed to the disk before the ack

	AcksNone   Acks = "none"
	AcksLeader Acks = "leader"
	AcksQuorum Acks = "quorum"

	Ordered   Ordering = "ordered"
	Unordered Ordering = "unordered"
)

// TakingTurns refuses a second consumer of a subscription if order is required and the broker distributes a subscription's
// messages among its consumers: each consumer gets its own messages in order, but together they have no order.
func (g Guarantee) TakingTurns(c ConsumerConfig) error { return TakeTurns(g, nil, c.ID+1, 1) }

// TakeTurns is the Kind.Share of such a broker.
func TakeTurns(g Guarantee, _ Values, consumers, _ int) error {
	if g.Ordering != Ordered || consumers < 2 {
		return nil
	}
	return Unsupported(fmt.Sprintf("consumerPerSubscription: %d", consumers),
		"a subscription's consumers take turns here, so that its messages would be in no order; ordering: ordered needs one")
}

// TakeTurnsAtPartitions is the Kind.Share of a broker that distributes the messages of a partition among several consumers of it.
func TakeTurnsAtPartitions(g Guarantee, topic Values, consumers, partitions int) error {
	if consumers <= partitions {
		return nil
	}
	return TakeTurns(g, topic, consumers, partitions)
}
