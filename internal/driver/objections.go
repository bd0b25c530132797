package driver

// A broker's refusal reaches the caller in two ways. A message with an outcome is completed with an error that doesn't wrap
// ErrDisconnected: the broker refuses it for good, and the error has the broker's words. A refusal that belongs to no message
// goes to the Objections.

// Objections is implemented by Receipts that want to know what the broker says about a producer apart from the outcomes of
// messages: that it refuses its messages (with at-most-once, or if the broker never answers), and that it accepts none for now.
// Both methods may be called from any goroutine and any number of times, and don't block.
type Objections interface {
	// Refused reports that the broker refuses the producer's messages for good, and why.
	Refused(err error)
	// Held reports why the broker accepts no messages for now, in its own words; an empty reason means that it accepts them again.
	Held(why string)
}

// Refuse reports to r that the broker refuses its producer's messages, if r implements Objections.
func Refuse(r Receipts, err error) {
	if o, ok := r.(Objections); ok {
		o.Refused(err)
	}
}

// Hold reports to r why the broker accepts no messages for now; with an empty reason, that it accepts them again.
func Hold(r Receipts, why string) {
	if o, ok := r.(Objections); ok {
		o.Held(why)
	}
}

// Silent is a Driver of a broker that may stop accepting messages without saying so, for example by no longer reading from the
// connections of publishers. Silence says, as a clause, when the broker does that; empty if it never does under these settings.
type Silent interface {
	Silence() string
}
