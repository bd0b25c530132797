package artemis

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/brokermark/brokermark/brokers/internal/amqp10"
)

// managing asks the broker through its management address: JSON there, JSON back.
type managing struct {
	sender  *amqp.Sender
	replies *amqp.Receiver
}

func manage(ctx context.Context, l *amqp10.Link) (*managing, error) {
	replies, err := l.Session.NewReceiver(ctx, "", &amqp.ReceiverOptions{DynamicAddress: true})
	if err != nil {
		return nil, fmt.Errorf("make a queue for the answers of activemq.management: %w", err)
	}
	sender, err := l.Session.NewSender(ctx, "activemq.management", nil)
	if err != nil {
		return nil, fmt.Errorf("attach to activemq.management: %w", err)
	}
	return &managing{sender, replies}, nil
}

// invoke calls an operation of the broker's control; result may be nil.
func (m *managing) invoke(ctx context.Context, result any, operation string, args ...any) error {
	return m.ask(ctx, result, map[string]any{"_AMQ_ResourceName": "broker", "_AMQ_OperationName": operation}, jsonText(args))
}

// attribute reads an attribute of the broker's control.
func (m *managing) attribute(ctx context.Context, name string, result any) error {
	return m.ask(ctx, result, map[string]any{"_AMQ_ResourceName": "broker", "_AMQ_Attribute": name}, "[]")
}

func (m *managing) ask(ctx context.Context, result any, what map[string]any, args string) error {
	to := m.replies.Address()
	request := &amqp.Message{Properties: &amqp.MessageProperties{ReplyTo: &to}, ApplicationProperties: what, Value: args}
	if err := m.sender.Send(ctx, request, nil); err != nil {
		return err
	}
	reply, err := m.replies.Receive(ctx, nil)
	if err != nil {
		return err
	}
	if err := m.replies.AcceptMessage(ctx, reply); err != nil {
		return err
	}
	text, _ := reply.Value.(string)
	if ok, _ := reply.ApplicationProperties["_AMQ_OperationSucceeded"].(bool); !ok {
		return fmt.Errorf("%v: %s", what, text)
	}
	if result == nil {
		return nil
	}
	values := []any{result} // the answer is a list of one
	if err := json.Unmarshal([]byte(text), &values); err != nil {
		return fmt.Errorf("%v answered %q: %w", what, text, err)
	}
	return nil
}

func (m *managing) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = m.sender.Close(ctx)
	_ = m.replies.Close(ctx)
}

// jsonText is v as JSON; what is asked of the broker always has one.
func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
