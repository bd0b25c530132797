package artemis

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/go-amqp"

	"github.com/brokermark/brokermark/brokers/internal/amqp10"
)

// managing asks the broker's control through its management address: JSON there, JSON back.
type managing struct{ *amqp10.Requests }

func manage(ctx context.Context, l *amqp10.Link) (managing, error) {
	r, err := amqp10.NewRequests(ctx, l, "activemq.management")
	return managing{r}, err
}

// invoke calls an operation.
func (m managing) invoke(ctx context.Context, operation string, args ...any) error {
	return m.ask(ctx, nil, theBroker, "_AMQ_OperationName", operation, jsonText(args))
}

// theBroker and aQueue, with a queue's name behind it, are the resources that are managed.
const (
	theBroker = "broker"
	aQueue    = "queue."
)

// attribute reads an attribute of a resource into result.
func (m managing) attribute(ctx context.Context, resource, name string, result any) error {
	return m.ask(ctx, result, resource, "_AMQ_Attribute", name, "[]")
}

func (m managing) ask(ctx context.Context, result any, resource, how, name, args string) error {
	reply, err := m.Ask(ctx, &amqp.Message{ApplicationProperties: map[string]any{"_AMQ_ResourceName": resource, how: name}, Value: args})
	if err != nil {
		return fmt.Errorf("ask the broker for %s: %w", name, err)
	}
	text, _ := reply.Value.(string)
	if ok, _ := reply.ApplicationProperties["_AMQ_OperationSucceeded"].(bool); !ok {
		return fmt.Errorf("the broker answered %s with %s", name, text)
	}
	if result == nil {
		return nil
	}
	if err := only(text, result); err != nil {
		return fmt.Errorf("the broker answered %s with %q: %w", name, text, err)
	}
	return nil
}

// only reads an answer, a list of one element, into result, which is a pointer.
func only(text string, result any) error {
	var values []json.RawMessage
	if err := json.Unmarshal([]byte(text), &values); err != nil {
		return err
	}
	if len(values) != 1 {
		return fmt.Errorf("%d values, want one", len(values))
	}
	return json.Unmarshal(values[0], result)
}

// jsonText returns v as JSON; every value that the broker is asked with has a JSON form.
func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
