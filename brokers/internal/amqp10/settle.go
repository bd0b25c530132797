package amqp10

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/Azure/go-amqp"

	"github.com/brokermark/brokermark/brokers/internal/settle"
)

// delivery is one message on its way.
type delivery struct {
	receipt amqp.SendReceipt
	on      *arrivals
	slot    uint32
}

// arrivals counts the dispositions that a link has brought, so that settle knows whether the next receipt has arrived: the
// client's Wait can't be polled, and a Done for each message would cost as much as the message.
type arrivals struct {
	n     atomic.Uint64
	taken uint64 // by settle
}

// one is called by the client's goroutine for every delivery, after its receipt has been given the state.
func (a *arrivals) one(amqp.DeliveryState) { a.n.Add(1) }

// settle waits for the dispositions in order of sending, which is the order the brokers give them in nearly always.
// It ends when sent is closed and drained; a lost connection settles everything sent on it.
func (p *producer) settle() {
	defer close(p.settled)
	defer p.outcomes.Flush()
	for {
		d, open := settle.Next(p.outcomes, p.sent)
		if !open {
			return
		}
		if d.on.n.Load() <= d.on.taken {
			p.outcomes.Flush()
		}
		d.on.taken++
		state, err := d.receipt.Wait(context.Background())
		if _, released := state.(*amqp.StateReleased); released && err == nil && len(p.d.topology.Subscriptions) == 0 {
			state = &amqp.StateAccepted{} // it was routed to no queue, as there is no subscription
		}
		p.outcomes.Add(d.slot, outcome(state, err))
	}
}

// final are reasons to end a link that would recur with the same message. A broker that can refuse single messages, see
// withOutcomes, does so if it has no room for one.
var final = []amqp.ErrCond{amqp.ErrCondMessageSizeExceeded, amqp.ErrCondUnauthorizedAccess, amqp.ErrCondNotAllowed, amqp.ErrCondResourceLimitExceeded}

// loss distinguishes a message that was refused together with its link from one that was lost with its connection.
func loss(err error) error {
	var link *amqp.LinkError
	if errors.As(err, &link) && link.RemoteErr != nil && slices.Contains(final, link.RemoteErr.Condition) {
		return err
	}
	var session *amqp.SessionError // by which RabbitMQ denies a right
	if errors.As(err, &session) && session.RemoteErr != nil && session.RemoteErr.Condition == amqp.ErrCondUnauthorizedAccess {
		return err
	}
	return fmt.Errorf("%w: %w", errLost, err)
}

func outcome(state amqp.DeliveryState, err error) error {
	if err != nil {
		return loss(err)
	}
	switch state := state.(type) {
	case *amqp.StateAccepted:
		return nil
	case *amqp.StateRejected:
		if state.Error != nil {
			return fmt.Errorf("the broker rejected the message: %w", state.Error)
		}
		return errors.New("the broker rejected the message")
	}
	return fmt.Errorf("the broker did not accept the message: %v", state)
}
