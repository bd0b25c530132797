package driver

// What a broker won't take reaches the caller in two ways. A message that has an outcome is completed with an error that doesn't hold
// ErrDisconnected: the broker refuses it for good, in its own words. What belongs to no message goes to the Objections.

// Objections is implemented by Receipts that want to know what the broker says of a producer beside the outcomes of its messages: that it
// refuses them, at most once or where it never answers, and that it takes none for now. Both methods may be called from any goroutine, in any
// number, and don't block.
type Objections interface {
	// Refused tells why the broker refuses what the producer sends, for good.
	Refused(err error)
	// Held tells why the broker takes no messages for now, in its own words; empty: it takes them again.
	Held(why string)
}

// Refuse tells r that the broker refuses what its producer sends, unless r doesn't want to know.
func Refuse(r Receipts, err error) {
	if o, ok := r.(Objections); ok {
		o.Refused(err)
	}
}

// Hold tells r why the broker takes no messages for now; with an empty reason, that it takes them again.
func Hold(r Receipts, why string) {
	if o, ok := r.(Objections); ok {
		o.Held(why)
	}
}

// Silent is a Driver of a broker that may stop taking messages without a word, such as one that no longer reads from the connections of
// publishers. Silence says, as a clause, when the broker does that; empty if it never does as it is used.
type Silent interface {
	Silence() string
}
