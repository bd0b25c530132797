package rabbitmq

import (
	"slices"
	"strconv"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/brokermark/brokermark/brokers/internal/settle"
)

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
		p.outcomes.Add(pub.slot, back.outcome(pub))
	}
}

// returned are the slots, by message id, whose messages came back unroutable and still await their confirm.
type returned map[string]bool

// outcome of a publication whose confirmation is done. The broker returns a message before it confirms it, and both
// come through the client's one reader: what was returned stands in the channel by now.
func (s returned) outcome(pub publication) error {
	acked := pub.confirmation.Acked()
	if pub.on.returns == nil {
		return fate(acked, pub.on)
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
	id := strconv.FormatUint(uint64(pub.slot), 10)
	defer delete(s, id)
	if s[id] {
		return errReturned
	}
	return fate(acked, pub.on)
}

// final are reasons to close a channel that would come again with the same message.
var final = []int{amqp.ContentTooLarge, amqp.AccessRefused, amqp.PreconditionFailed}

// fate tells a message that got lost with its link from one that the broker doesn't want. The client marks a link as
// dead, and says why, before it gives up the confirmations.
func fate(acked bool, on *link) error {
	switch {
	case acked:
		return nil
	case !on.dead():
		return errNacked
	}
	return on.loss()
}

// loss is why what a broken link has left open is lost, or refused.
func (l *link) loss() error {
	if why := l.why(); why != nil && slices.Contains(final, why.Code) {
		return why
	}
	return errLost
}
