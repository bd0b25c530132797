package rocketmq

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"

	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

const (
	mostMessages = 32 // of one receive; the broker refuses more
	longPoll     = 10 * time.Second
	pollMargin   = 5 * time.Second // on top of longPoll, until an unanswered receive is given up
	heartbeats   = 10 * time.Second
	greetBound   = 5 * time.Second
	leaveBound   = time.Second // for acknowledgements when a consumer ends
)

// consumer is one client of the proxy. Several receives are under way at once, for each of its topics.
type consumer struct {
	session *session
	link    *link
	sink    driver.Sink
	seat    driver.ConsumerConfig
	early   bool // acknowledge before delivery

	mu    sync.Mutex
	known bool               // the proxy knows this client's settings
	told  bool               // a failed receive was logged since the proxy last got the settings
	lose  context.CancelFunc // ends the telemetry stream, which carries the settings

	listening sync.WaitGroup
}

// Consume implements driver.Driver.
func (s *session) Consume(ctx context.Context, c driver.ConsumerConfig, sink driver.Sink, ready func()) error {
	l, err := dial(s.config, c.ID)
	if err != nil {
		return err
	}
	defer l.close()
	r := &consumer{
		session: s, link: l, sink: driver.OneAtATime(sink), seat: c, early: s.config.Guarantee.Delivery == driver.AtMostOnce, lose: func() {},
	}
	if err := r.introduce(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("introducing a consumer to the proxy: %w", err)
	}
	ready()
	var all sync.WaitGroup
	all.Go(func() { r.beat(ctx) })
	for _, topic := range c.Topics() {
		for range s.receives(len(c.Topics())) {
			all.Go(func() { r.receiveAll(ctx, topic) })
		}
	}
	all.Wait()
	r.mu.Lock()
	r.lose()
	r.mu.Unlock()
	r.listening.Wait()
	return nil
}

// receives returns how many calls a consumer of this many topics has under way for each of them.
func (s *session) receives(topics int) int {
	if s.ordered() {
		return 1
	}
	return max(1, int(s.config.Client.Int("receives"))/topics)
}

// introduce sends the proxy the consumer's settings, without which it answers no receive, and waits until it has them. They
// hold as long as the stream that carried them.
func (r *consumer) introduce(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known {
		return nil
	}
	r.lose()
	life, lose := context.WithCancel(r.link.with(ctx))
	r.lose = lose
	within := time.AfterFunc(greetBound, lose)
	defer within.Stop()
	stream, err := r.link.Telemetry(life)
	if err != nil {
		return err
	}
	if err := stream.Send(r.settings()); err != nil {
		return err
	}
	for {
		command, err := stream.Recv()
		if err != nil {
			return err
		}
		if command.GetSettings() != nil {
			break
		}
		if err := refusal(command.GetStatus()); command.GetStatus() != nil && err != nil {
			return err
		}
	}
	if _, err := r.link.Heartbeat(life, r.heartbeat()); err != nil {
		return err
	}
	r.known, r.told = true, false
	r.listening.Go(func() {
		for {
			if _, err := stream.Recv(); err != nil {
				r.forgotten()
				return
			}
		}
	})
	return nil
}

// forgotten is called when the proxy may not know the settings any more.
func (r *consumer) forgotten() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known = false
}

func (r *consumer) settings() *v2.TelemetryCommand {
	var entries []*v2.SubscriptionEntry
	for _, topic := range r.seat.Topics() {
		entries = append(entries, &v2.SubscriptionEntry{Topic: &v2.Resource{Name: r.session.topicName(topic)}, Expression: everything})
	}
	return &v2.TelemetryCommand{Command: &v2.TelemetryCommand_Settings{Settings: &v2.Settings{
		ClientType: v2.ClientType_SIMPLE_CONSUMER.Enum(), RequestTimeout: durationpb.New(pollMargin),
		UserAgent: &v2.UA{Language: v2.Language_GOLANG, Version: protocol},
		PubSub: &v2.Settings_Subscription{Subscription: &v2.Subscription{
			Group: r.group(r.seat.Topic), Subscriptions: entries, LongPollingTimeout: durationpb.New(longPoll),
		}},
	}}}
}

var everything = &v2.FilterExpression{Type: v2.FilterType_TAG, Expression: "*"}

func (r *consumer) group(topic int) *v2.Resource {
	return &v2.Resource{Name: r.session.groupName(topic, r.seat.Subscription)}
}

func (r *consumer) heartbeat() *v2.HeartbeatRequest {
	return &v2.HeartbeatRequest{Group: r.group(r.seat.Topic), ClientType: v2.ClientType_SIMPLE_CONSUMER}
}

// beat keeps the proxy from forgetting the client.
func (r *consumer) beat(ctx context.Context) {
	for each := time.NewTicker(heartbeats); ; {
		select {
		case <-ctx.Done():
			each.Stop()
			return
		case <-each.C:
		}
		within, cancel := context.WithTimeout(r.link.with(ctx), greetBound)
		reply, err := r.link.Heartbeat(within, r.heartbeat())
		cancel()
		if err == nil && refusal(reply.GetStatus()) != nil {
			r.forgotten()
		}
	}
}

// receiver makes one receive after the other, of one topic.
type receiver struct {
	*consumer
	topic    int
	request  *v2.ReceiveMessageRequest
	attempt  string
	messages []*v2.Message
	came     driver.Batch
	entries  []*v2.AckMessageEntry
}

// receiveAll receives until ctx ends, whatever happens to the connection.
func (r *consumer) receiveAll(ctx context.Context, topic int) {
	at := &receiver{consumer: r, topic: topic, attempt: rand.Text(), came: driver.NewBatch(r.seat.Headers, mostMessages)}
	at.request = &v2.ReceiveMessageRequest{
		Group: r.group(topic), FilterExpression: everything, BatchSize: mostMessages,
		MessageQueue:       &v2.MessageQueue{Topic: &v2.Resource{Name: r.session.topicName(topic)}, Broker: &v2.Broker{}, Permission: v2.Permission_READ},
		InvisibleDuration:  durationpb.New(r.session.config.Client.Duration("invisibleDuration")),
		LongPollingTimeout: durationpb.New(longPoll), AttemptId: &at.attempt,
	}
	for ctx.Err() == nil {
		err := at.introduce(ctx)
		if err == nil {
			err = at.receive(ctx)
		}
		if err != nil && ctx.Err() == nil {
			r.logOnce(topic, err)
			_ = socket.Pause(ctx, lastPause)
		}
	}
}

// logOnce logs the first failure of a lost connection, which fails all calls under way.
func (r *consumer) logOnce(topic int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.told {
		fmt.Fprintf(r.session.config.Log, "rocketmq: receive from %s: %v\n", r.session.topicName(topic), err)
	}
	r.told = true
}

// receive makes one call, which may bring nothing. A failed call is repeated as the same attempt: messages that an ordered
// group received before the connection was lost then come again at once.
func (r *receiver) receive(ctx context.Context) error {
	within, cancel := context.WithTimeout(r.link.with(ctx), longPoll+pollMargin)
	defer cancel()
	stream, err := r.link.ReceiveMessage(within, r.request)
	if err != nil {
		return err
	}
	var answer *v2.Status
	for r.messages = r.messages[:0]; ; {
		part, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if s := part.GetStatus(); s != nil {
			answer = s
		} else if m := part.GetMessage(); m != nil {
			r.messages = append(r.messages, m)
		}
	}
	switch err := refusal(answer); {
	case answer.GetCode() == v2.Code_MESSAGE_NOT_FOUND:
		return nil
	case err != nil:
		r.forgotten() // the proxy answers so when it has been started again
		return err
	}
	r.attempt = rand.Text()
	r.handOn(ctx)
	return nil
}

// handOn delivers and acknowledges the messages of a receive, in the order that was asked for.
func (r *receiver) handOn(ctx context.Context) {
	if r.early {
		if r.acknowledge(ctx) { // or else it comes again
			r.deliver()
		}
		return
	}
	r.deliver()
	r.acknowledge(ctx)
}

func (r *receiver) deliver() {
	for _, m := range r.messages {
		if !r.early || r.session.once.First(r.topic, r.seat.Subscription, m.GetSystemProperties().GetMessageId()) {
			r.came.Add(m.GetBody(), func(name string) []byte { return driver.Text(m.GetUserProperties(), name) })
		}
	}
	r.came.Deliver(r.sink)
}

// acknowledge acknowledges all messages of a receive, and tries again while the connection is lost: until it succeeds an
// ordered group gets nothing more. At most once it tries once, since it can't find out whether the broker had the first
// try.
func (r *receiver) acknowledge(ctx context.Context) bool {
	r.entries = r.entries[:0]
	for _, m := range r.messages {
		p := m.GetSystemProperties()
		r.entries = append(r.entries, &v2.AckMessageEntry{MessageId: p.GetMessageId(), ReceiptHandle: p.GetReceiptHandle()})
	}
	q := &v2.AckMessageRequest{Group: r.request.GetGroup(), Topic: r.request.GetMessageQueue().GetTopic(), Entries: r.entries}
	expires := time.Now().Add(r.session.config.Client.Duration("invisibleDuration"))
	for {
		within, cancel := context.WithTimeout(r.link.with(context.WithoutCancel(ctx)), greetBound)
		stop := context.AfterFunc(ctx, func() { time.AfterFunc(leaveBound, cancel) })
		reply, err := r.link.AckMessage(within, q)
		stop()
		cancel()
		if err == nil {
			if err = refusal(reply.GetStatus()); err == nil {
				return true
			}
		}
		if ctx.Err() == nil {
			fmt.Fprintf(r.session.config.Log, "rocketmq: acknowledge %d messages: %v\n", len(r.entries), err)
		}
		if r.early || !lost(err) || ctx.Err() != nil || time.Now().After(expires) {
			return false
		}
		_ = socket.Pause(ctx, firstPause)
	}
}
