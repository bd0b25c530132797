package rabbitmqamqp10

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/brokermark/brokermark/brokers/internal/amqp10"
	"github.com/brokermark/brokermark/brokers/internal/rabbitserver"
)

// managementNode answers requests that look like those of HTTP, over a sender and a receiver of the same link name.
const managementNode = "/management"

// askPatience bounds all requests of one call of managed: RabbitMQ treats requests as messages, and blocks them when it blocks those.
const askPatience = 10 * time.Second

type management struct {
	session  *amqp.Session
	requests *amqp.Sender
	replies  *amqp.Receiver
}

// attempts bound how often requests are made again, see managed.
const attempts = 5

// managed runs do on the session that the connection keeps for management. The client grants credit for answers in the
// background, and the broker ends the session if a request arrives before the credit: then do runs again on a new session,
// where repeated requests change nothing.
func managed(ctx context.Context, l *amqp10.Link, do func(*management) error) (err error) {
	l.Kept.Lock()
	defer l.Kept.Unlock()
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	defer context.AfterFunc(ctx, l.Cut)() // a blocked write heeds no context
	defer func() {
		if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("%w; %s", err, rabbitserver.Silence)
		}
	}()
	for range attempts {
		m, kept := l.Kept.Value.(*management)
		if err = nil; !kept {
			m, err = manage(ctx, l)
		}
		if err == nil {
			l.Kept.Value = m
			if err = do(m); err == nil {
				return nil
			}
			l.Kept.Value = nil // an answer may still be on its way
			m.close()
		}
		if early := (*amqp.Error)(nil); !errors.As(err, &early) || early.Condition != amqp.ErrCondPreconditionFailed {
			return err
		}
	}
	return err
}

func manage(ctx context.Context, l *amqp10.Link) (*management, error) {
	const name = "management"
	session, err := l.Conn.NewSession(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("begin a session for %s: %w", managementNode, err)
	}
	m := &management{session: session}
	settled, paired := amqp.SenderSettleModeSettled, map[string]any{"paired": true}
	m.replies, err = session.NewReceiver(ctx, managementNode, &amqp.ReceiverOptions{
		Name: name, Credit: 100, TargetAddress: managementNode, Properties: paired, RequestedSenderSettleMode: &settled,
	})
	if err == nil {
		m.requests, err = session.NewSender(ctx, managementNode, &amqp.SenderOptions{
			Name: name, SourceAddress: managementNode, Properties: paired, SettlementMode: &settled,
		})
	}
	if err != nil {
		m.close()
		return nil, fmt.Errorf("attach to %s: %w", managementNode, err)
	}
	return m, nil
}

// ask sends one request and waits for its answer. It is no error if the object exists already, or is already gone.
func (m *management) ask(ctx context.Context, method, path string, body any) error {
	id, back := "1", "$me"
	if body == nil {
		body = amqp.Null{} // the broker wants a body
	}
	request := &amqp.Message{
		Properties: &amqp.MessageProperties{MessageID: id, To: &path, Subject: &method, ReplyTo: &back}, Value: body,
	}
	if err := m.requests.Send(ctx, request, nil); err != nil {
		return fmt.Errorf("ask RabbitMQ to %s %s: %w", method, path, err)
	}
	answer, err := m.replies.Receive(ctx, nil)
	if err != nil {
		return fmt.Errorf("ask RabbitMQ to %s %s: %w", method, path, err)
	}
	code := ""
	if p := answer.Properties; p != nil && p.Subject != nil {
		code = *p.Subject
	}
	if !strings.HasPrefix(code, "2") && (method != "DELETE" || code != "404") {
		return fmt.Errorf("RabbitMQ answers %s %s with %s: %v", method, path, code, answer.Value)
	}
	return nil
}

func (m *management) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = m.session.Close(ctx)
}
