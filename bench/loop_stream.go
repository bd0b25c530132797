package main

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/amqp"
	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/stream"
)

// streamLoop is rabbitmq-stream-go-client as its documentation uses it: one stream, a producer that sends message by
// message behind a window of unconfirmed ones, and a consumer that stores its offset every 10,000 messages. Its
// sockets have the system's buffers, as the driver's: the client's own 8 KiB would be what is measured.
func streamLoop(ctx context.Context, p loopPlan, b *books, started func()) error {
	env, err := streamEnvironment(p.Address)
	if err != nil {
		return err
	}
	defer func() { _ = env.Close() }()
	if err := env.DeclareStream(p.Name, nil); err != nil {
		return err
	}
	defer func() { _ = env.DeleteStream(p.Name) }()
	handler := func(_ stream.ConsumerContext, m *amqp.Message) {
		b.arrived(m.Data[0])
	}
	options := stream.NewConsumerOptions().SetConsumerName("bench").SetOffset(stream.OffsetSpecification{}.First()).
		SetAutoCommit(stream.NewAutoCommitStrategy())
	if _, err := env.NewConsumer(p.Name, handler, options); err != nil {
		return err
	}
	producer, err := env.NewProducer(p.Name, stream.NewProducerOptions().SetBatchSize(streamBatch).SetQueueSize(p.Window+1))
	if err != nil {
		return err
	}
	window := make(chan struct{}, p.Window)
	confirms := producer.NotifyPublishConfirmation()
	go func() {
		for list := range confirms {
			for _, c := range list {
				if c.IsConfirmed() {
					b.published.Add(1)
				}
				<-window
			}
		}
	}()
	started()
	body := bodies(1, p.Size)[0] // encoded before Send returns
	for i, began := int64(0), time.Now(); p.more(ctx, i, began); i++ {
		window <- struct{}{}
		stamp(body, time.Now())
		if err := producer.Send(amqp.NewMessage(body)); err != nil {
			return fmt.Errorf("send: %w", err)
		}
	}
	<-ctx.Done()
	return nil
}

func streamEnvironment(address string) (*stream.Environment, error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, err
	}
	return stream.NewEnvironment(stream.NewEnvironmentOptions().SetHost(host).SetPort(port).SetReadBuffer(0).SetWriteBuffer(0))
}
