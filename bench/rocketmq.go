package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// rocketMessages are those of every run. The unrecorded run can't tell how many fill the time: a cold JVM takes a tenth of what it
// does later.
const rocketMessages = 100_000

func (b *bench) rocketPeak(ctx context.Context) error {
	return b.with(ctx, provision.Options{Broker: "rocketmq"}, func(in *provision.Instance) error {
		broker := in.Endpoints()["broker"]
		r := &peakRun{
			b: b, broker: "rocketmq", bareName: "bare protocol", address: in.Addresses()[0], messages: rocketMessages,
			plan: loopPlan{Client: "rocketmq", Window: plainWindow},
			sets: []string{
				"delivery=at-least-once", "persistence=log", "ordering=unordered", fmt.Sprintf("inFlight.messages=%d", plainWindow),
				"client.brokerAddr=" + broker,
			},
		}
		r.create = func(ctx context.Context, name string) error {
			return r.declare(ctx, name, driver.Log, map[string]any{"brokerAddr": broker})
		}
		return r.compare(ctx, section{
			Title: "RocketMQ, 100 B", oneMode: true,
			Settings: fmt.Sprintf("1 topic with 1 queue, written and not flushed; 1 producer, %d calls of up to %d messages; 1 consumer, %d receives "+
				"of up to %d messages, each acknowledged in one call; the bare loop is over the client that is generated from the protocol",
				rocketSends, rocketBatch, rocketReceives, rocketReceived),
		}, nil)
	})
}

const (
	rocketSends    = 2   // SendMessage calls under way
	rocketBatch    = 500 // messages in each
	rocketReceives = 32  // ReceiveMessage calls under way
	rocketReceived = 32  // messages in each at most, which is the broker's limit
	rocketPoll     = 10 * time.Second
	rocketMargin   = 5 * time.Second // beyond the poll: the proxy refuses a receive without a deadline behind it
)

// rocketClient is one connection to the proxy, which knows it by its client ID.
type rocketClient struct {
	v2.MessagingServiceClient
	conn *grpc.ClientConn
	head metadata.MD
}

func rocketDial(address string) (*rocketClient, error) {
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	return &rocketClient{
		MessagingServiceClient: v2.NewMessagingServiceClient(conn), conn: conn,
		head: metadata.Pairs("x-mq-client-id", "bench-"+rand.Text(), "x-mq-language", "GO", "x-mq-protocol", "GRPC_V2", "x-mq-client-version", "5.1.3"),
	}, nil
}

func (c *rocketClient) with(ctx context.Context) context.Context {
	return metadata.NewOutgoingContext(ctx, c.head)
}

// rocketLoop is RocketMQ's protocol as its generated client has it, with the settings of our driver's defaults: a connection each
// for producer and consumer, many messages a call, one acknowledgement for all messages of a receive. Topic and consumer
// group exist.
func rocketLoop(ctx context.Context, p loopPlan, b *books, started func()) error {
	in, err := rocketDial(p.Address)
	if err != nil {
		return err
	}
	defer in.conn.Close()
	out, err := rocketDial(p.Address)
	if err != nil {
		return err
	}
	defer out.conn.Close()
	topic, group := &v2.Resource{Name: p.Name}, &v2.Resource{Name: p.Name + "-s0"}
	if err := in.introduce(ctx, topic, group); err != nil {
		return fmt.Errorf("introduce the consumer: %w", err)
	}
	started()
	var taking sync.Mutex
	for range rocketReceives {
		go in.receiveAll(ctx, topic, group, func(now time.Time, payload []byte) {
			taking.Lock()
			b.took(now.UnixNano(), payload)
			taking.Unlock()
			b.received.Add(1)
		})
	}
	err = out.sendAll(ctx, topic, p, b)
	<-ctx.Done()
	return err
}

// introduce tells the proxy the consumer's settings, without which it answers no receive. They hold as long as the stream, which
// ends with ctx.
func (c *rocketClient) introduce(ctx context.Context, topic, group *v2.Resource) error {
	stream, err := c.Telemetry(c.with(ctx))
	if err != nil {
		return err
	}
	if err := stream.Send(&v2.TelemetryCommand{Command: &v2.TelemetryCommand_Settings{Settings: &v2.Settings{
		ClientType: v2.ClientType_SIMPLE_CONSUMER.Enum(),
		UserAgent:  &v2.UA{Language: v2.Language_GOLANG, Version: "5.1.3"},
		PubSub: &v2.Settings_Subscription{Subscription: &v2.Subscription{
			Group:              group,
			Subscriptions:      []*v2.SubscriptionEntry{{Topic: topic, Expression: &v2.FilterExpression{Type: v2.FilterType_TAG, Expression: "*"}}},
			LongPollingTimeout: durationpb.New(rocketPoll),
		}},
	}}}); err != nil {
		return err
	}
	for {
		answer, err := stream.Recv()
		if err != nil {
			return err
		}
		if answer.GetSettings() != nil {
			break
		}
	}
	_, err = c.Heartbeat(c.with(ctx), &v2.HeartbeatRequest{Group: group, ClientType: v2.ClientType_SIMPLE_CONSUMER})
	return err
}

// sendAll has rocketSends calls under way until the plan's messages are sent or ctx ends.
func (c *rocketClient) sendAll(ctx context.Context, topic *v2.Resource, p loopPlan, b *books) error {
	var sent atomic.Int64
	var sending sync.WaitGroup
	errs := make([]error, rocketSends)
	began := time.Now()
	for s := range errs {
		sending.Go(func() {
			ring := bodies(min(rocketBatch, max(1, p.Window/rocketSends)), p.Size)
			for errs[s] == nil {
				q := &v2.SendMessageRequest{}
				for _, body := range ring {
					n := sent.Add(1) - 1
					if !p.more(ctx, n, began) {
						break
					}
					stamp(body, time.Now())
					q.Messages = append(q.Messages, &v2.Message{Topic: topic, Body: body, SystemProperties: &v2.SystemProperties{
						MessageId: p.Name + "-" + strconv.FormatInt(n, 10), MessageType: v2.MessageType_NORMAL, BodyEncoding: v2.Encoding_IDENTITY,
					}})
				}
				if len(q.Messages) == 0 {
					return
				}
				reply, err := c.SendMessage(c.with(ctx), q)
				switch {
				case ctx.Err() != nil: // the time is over
					return
				case err != nil:
					errs[s] = err
				case reply.GetStatus().GetCode() != v2.Code_OK:
					errs[s] = fmt.Errorf("the server answered %v: %s", reply.GetStatus().GetCode(), reply.GetStatus().GetMessage())
				default:
					b.published.Add(int64(len(q.Messages)))
				}
			}
		})
	}
	sending.Wait()
	return errors.Join(errs...)
}

// receiveAll makes one receive after the other until ctx ends or a call fails: what then is missing shows at the end.
func (c *rocketClient) receiveAll(ctx context.Context, topic, group *v2.Resource, took func(now time.Time, payload []byte)) {
	ack := &v2.AckMessageRequest{Group: group, Topic: topic}
	for {
		ack.Entries = ack.Entries[:0]
		if err := c.receive(ctx, topic, group, func(m *v2.Message) {
			took(time.Now(), m.GetBody())
			ack.Entries = append(ack.Entries, &v2.AckMessageEntry{
				MessageId: m.GetSystemProperties().GetMessageId(), ReceiptHandle: m.GetSystemProperties().GetReceiptHandle(),
			})
		}); err != nil {
			if ctx.Err() == nil {
				fmt.Fprintln(os.Stderr, "bench loop: receive:", err)
			}
			return
		}
		if len(ack.Entries) > 0 {
			if _, err := c.AckMessage(c.with(ctx), ack); err != nil {
				return
			}
		}
	}
}

// receive makes one call, which may bring nothing.
func (c *rocketClient) receive(ctx context.Context, topic, group *v2.Resource, took func(*v2.Message)) error {
	within, cancel := context.WithTimeout(c.with(ctx), rocketPoll+rocketMargin)
	defer cancel()
	attempt := rand.Text()
	stream, err := c.ReceiveMessage(within, &v2.ReceiveMessageRequest{
		Group: group, FilterExpression: &v2.FilterExpression{Type: v2.FilterType_TAG, Expression: "*"}, BatchSize: rocketReceived,
		MessageQueue:      &v2.MessageQueue{Topic: topic, Broker: &v2.Broker{}, Permission: v2.Permission_READ},
		InvisibleDuration: durationpb.New(15 * time.Second), LongPollingTimeout: durationpb.New(rocketPoll), AttemptId: &attempt,
	})
	if err != nil {
		return err
	}
	for {
		part, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case part.GetMessage() != nil:
			took(part.GetMessage())
		case part.GetStatus() != nil:
			if s := part.GetStatus(); s.GetCode() != v2.Code_OK && s.GetCode() != v2.Code_MESSAGE_NOT_FOUND {
				return fmt.Errorf("the server answered %v: %s", s.GetCode(), s.GetMessage())
			}
		}
	}
}
