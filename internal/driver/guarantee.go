package driver

// Guarantee is what the spec asks of the broker, in the same words for every broker.
type Guarantee struct {
	Delivery    Delivery    `json:"delivery"`
	Persistence Persistence `json:"persistence"`
	Replicas    int         `json:"replicas"`
	Acks        Acks        `json:"acks"`
	Ordering    Ordering    `json:"ordering"`
}

// Delivery is how often a message may reach the application.
type Delivery string

// Persistence is what has happened to a message when it is acknowledged.
type Persistence string

// Acks is who must have a message when it is acknowledged.
type Acks string

// Ordering is whether messages of one stream must arrive in the order sent.
type Ordering string

// The words of a guarantee.
const (
	AtMostOnce  Delivery = "at-most-once"
	AtLeastOnce Delivery = "at-least-once"
	ExactlyOnce Delivery = "exactly-once"

	Memory Persistence = "memory" // not asked to survive the broker process
	Log    Persistence = "log"    // handed to the operating system before the ack
	Fsync  Persistence = "fsync"  // flushed to the disk before the ack

	AcksNone   Acks = "none"
	AcksLeader Acks = "leader"
	AcksQuorum Acks = "quorum"

	Ordered   Ordering = "ordered"
	Unordered Ordering = "unordered"
)
