package rabbitmq

import (
	"fmt"
	"slices"
	"strconv"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/brokermark/brokermark/brokers/internal/settle"
	"github.com/brokermark/brokermark/internal/driver"
)

// rejected is a nack after which the message is sent again, as what a lost connection left open is.
type rejected struct{ error }

// Is implements what errors.Is asks for.
func (rejected) Is(target error) bool { return target == driver.ErrDisconnected } //nolint:errorlint // it is asked for the very error

func (r rejected) Unwrap() error { return r.error }

// nacked is the outcome of a message that the broker nacks: its queue failed, or was full by a policy of the server. It is
// sent again unless the spec asks for what that would break: the order, in which it would come behind those that were
// taken in meanwhile, or a queue that refuses what it has no room for.
func (d *rabbit) nacked() error {
	switch {
	case d.cfg.Topic.String("x-overflow") == "reject-publish":
		return errFull
	case d.cfg.Guarantee.Ordering == driver.Ordered:
		return errNacked
	}
	return rejected{errNacked}
}

// settle waits for the confirms in order of publishing, which is the order the broker gives them in nearly always.
// It ends when published is closed and drained; a lost connection settles everything published on it.
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

// returned are the slots, by message id, whose messages came back unroutable and still await their confirm.
type returned map[string]bool

// outcome of a confirmed publication: the broker returns a message before it confirms it, and both come through the
// client's one reader, so that what was returned stands in the channel by now.
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

// refusals are reasons to close a channel that would come again with the same message. They don't say which message it was.
var refusals = []int{amqp.ContentTooLarge, amqp.AccessRefused, amqp.PreconditionFailed}

// fate tells, of messages that were not confirmed, what got lost with its link from what the broker doesn't want. The client
// marks a link as dead, and says why, before it gives up the confirmations.
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

// refusal is why the broker closed the channel of a dead link, where that was because of a message.
func (l *link) refusal() error {
	if why := l.why(); why != nil && slices.Contains(refusals, why.Code) {
		return why
	}
	return nil
}
