package qpid

import (
	"context"
	"fmt"
	"slices"

	"github.com/Azure/go-amqp"

	"github.com/brokermark/brokermark/brokers/internal/amqp10"
)

// Types of the broker's objects, as its management node calls them.
const (
	queueType    = "org.apache.qpid.Queue"
	exchangeType = "org.apache.qpid.FanoutExchange"
)

// Codes of answers that count as success: the object exists already, or is already gone.
const (
	conflict = 409
	notFound = 404
)

// managing works on the virtual host that the connection is to.
type managing struct{ *amqp10.Requests }

func manage(ctx context.Context, l *amqp10.Link) (managing, error) {
	r, err := amqp10.NewRequests(ctx, l, "$management")
	return managing{r}, err
}

func (m managing) create(ctx context.Context, kind, name string, attributes map[string]any) error {
	attributes["object-path"], attributes["name"] = name, name
	return m.operate(ctx, map[string]any{"operation": "CREATE", "type": kind}, attributes, conflict)
}

func (m managing) remove(ctx context.Context, kind, name string) error {
	return m.operate(ctx, on(kind, name, "DELETE"), nil, notFound)
}

func (m managing) bind(ctx context.Context, exchange, queue string) error {
	what := on(exchangeType, exchange, "bind")
	what["destination"], what["bindingKey"] = queue, queue // the arguments of an operation stand beside its name
	return m.operate(ctx, what, nil)
}

func on(kind, name, operation string) map[string]any {
	return map[string]any{"operation": operation, "type": kind, "index": "object-path", "key": name}
}

func (m managing) operate(ctx context.Context, what, args map[string]any, alsoGood ...int32) error {
	if args == nil {
		args = map[string]any{}
	}
	reply, err := m.Ask(ctx, &amqp.Message{ApplicationProperties: what, Value: args})
	if err != nil {
		return fmt.Errorf("ask the broker to %v: %w", what["operation"], err)
	}
	code, _ := reply.ApplicationProperties["statusCode"].(int32)
	if code/100 != 2 && !slices.Contains(alsoGood, code) {
		return fmt.Errorf("the broker answered %v of a %v %v with %d: %v", what["operation"], what["type"], args["name"], code, reply.ApplicationProperties["statusDescription"])
	}
	return nil
}
