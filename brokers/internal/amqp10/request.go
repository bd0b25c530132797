package amqp10

import (
	"context"
	"fmt"
	"time"

	"github.com/Azure/go-amqp"
)

// Requests asks a node of the broker one question at a time, and receives the answers in a queue of its own.
type Requests struct {
	sender  *amqp.Sender
	replies *amqp.Receiver
}

// NewRequests attaches to the node. Close it: the link may serve for others.
func NewRequests(ctx context.Context, l *Link, node string) (*Requests, error) {
	replies, err := l.Session.NewReceiver(ctx, "", &amqp.ReceiverOptions{DynamicAddress: true})
	if err != nil {
		return nil, fmt.Errorf("make a queue for the answers of %s: %w", node, err)
	}
	sender, err := l.Session.NewSender(ctx, node, nil)
	if err != nil {
		return nil, fmt.Errorf("attach to %s: %w", node, err)
	}
	return &Requests{sender, replies}, nil
}

// Ask sends the request with the address for its answer, and waits for that.
func (r *Requests) Ask(ctx context.Context, request *amqp.Message) (*amqp.Message, error) {
	to := r.replies.Address()
	request.Properties = &amqp.MessageProperties{ReplyTo: &to, MessageID: uint64(1), CorrelationID: uint64(1)}
	if err := r.sender.Send(ctx, request, nil); err != nil {
		return nil, err
	}
	reply, err := r.replies.Receive(ctx, nil)
	if err != nil {
		return nil, err
	}
	return reply, r.replies.AcceptMessage(ctx, reply)
}

// Close detaches.
func (r *Requests) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = r.sender.Close(ctx)
	_ = r.replies.Close(ctx)
}
