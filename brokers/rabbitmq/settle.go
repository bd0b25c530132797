package rabbitmq

import (
	"fmt"
	"slices"
	"strconv"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/brokermark/brokermark/brokers/internal/settle"
	"github.com/brokermark/brokermark/internal/driver"
)

// rejected wraps a nack after which the message is sent again, as after a lost connection.
type rejected struct{ error }

// Is implements the interface of errors.Is.
func (rejected) Is(target error) bool { return target == driver.ErrDisconnected } //nolint:errorlint // compared by identity

func (r rejected) Unwrap() error { return r.error }

// nacked is the outcome of a message that the broker nacks: its queue failed, or was full by a policy of the server. It is sent
// again unless that breaks the spec: an order, because it would come behind messages accepted meanwhile, or a queue that rejects
// messages when it is full.
func (d *rabbit) nacked() error {
	switch {
	case d.cfg.Topic.String("x-overflow") == "reject-publish":
		return errFull
	case d.cfg.Guarantee.Ordering == driver.Ordered:
		return errNacked
	}
	return rejected{errNacked}
}

// settle waits for the confirms in the order of publishing, which is nearly always the broker's order. It ends when published is
// closed and drained; a lost connection settles all its publications.
func (p *producer) settle() {
	defer close(p.settled)
	defer p.outcomes.Flush()
	back := returned{}
	for {
		pub, open := settle.Next(p.outcomes, p.published)
		if !open {
			return
		}
		select {
		case <-pub.confirmation.Done():
		default:
			p.outcomes.Flush()
			<-pub.confirmation.Done()
		}
		if pub.confirmation.Acked() {
			p.outcomes.Add(pub.slot, back.outcome(pub))
		} else {
			back.forget(pub)
			p.outcomes.Add(pub.slot, p.fate(pub))
		}
	}
}

// returned are the slots, by message ID, whose messages came back unroutable and still await their confirm.
type returned map[string]bool

// outcome is the outcome of a confirmed publication: the broker returns a message before it confirms it, and the client has one
// reader for both, so returned messages are in the channel by now.
func (s returned) outcome(pub publication) error {
	if pub.on.returns == nil {
		return nil
	}
	for more := true; more; {
		var r amqp.Return
		select {
		case r, more = <-pub.on.returns:
			s[r.MessageId] = more
		default:
			more = false
		}
	}
	defer s.forget(pub)
	if s[pub.id()] {
		return errReturned
	}
	return nil
}

func (s returned) forget(pub publication) {
	if pub.on.returns != nil {
		delete(s, pub.id())
	}
}

func (p publication) id() string { return strconv.FormatUint(uint64(p.slot), 10) }

// refusals are reasons to close a channel that the same message would cause again. They don't say which message it was.
var refusals = []int{amqp.ContentTooLarge, amqp.AccessRefused, amqp.PreconditionFailed}

// fate distinguishes, among unconfirmed messages, those lost with their link from those that the broker refuses. The client marks
// a link as dead, with the reason, before it gives up the confirmations.
func (p *producer) fate(pub publication) error {
	switch why := pub.on.refusal(); {
	case !pub.on.dead():
		return p.nacked
	case why == nil:
		return errLost
	case pub.alone:
		pub.on.culprit = true
		return why
	default:
		return fmt.Errorf("%w: %w", errLost, why)
	}
}

// refusal is why the broker closed the channel of a dead link, if a message was the reason.
func (l *link) refusal() error {
	if why := l.why(); why != nil && slices.Contains(refusals, why.Code) {
		return why
	}
	return nil
}
