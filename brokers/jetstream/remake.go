package jetstream

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/brokermark/brokermark/brokers/internal/socket"
)

// remake recreates streams in memory and their consumers whenever a connection finds them gone because their server was restarted. Their
// messages are lost, but the producers and consumers continue. Call stop before the connection is closed; it waits.
func (s *session) remake(js jetstream.JetStream) (stop func()) {
	connected := s.conn.StatusChanged(nats.CONNECTED)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-connected:
				s.remakeAll(ctx, js)
			}
		}
	})
	return func() {
		cancel()
		running.Wait()
		s.conn.RemoveStatusListener(connected)
	}
}

func (s *session) remakeAll(ctx context.Context, js jetstream.JetStream) {
	for _, topic := range s.subjects {
		for {
			err := s.remakeOne(ctx, js, topic)
			if err == nil || ctx.Err() != nil {
				break
			}
			s.dialer.Logf("make the stream of topic %s anew: %v", topic, err)
			_ = socket.Pause(ctx, tryPause)
		}
	}
}

// remakeOne recreates the stream of topic if it is missing. It accepts messages only once its consumers exist: a stream with
// retention by interest would acknowledge messages and drop them.
func (s *session) remakeOne(ctx context.Context, js jetstream.JetStream, topic string) error {
	closed := "brokermark.closed." + topic
	var open bool
	err := within(ctx, func(ctx context.Context) error {
		stream, err := js.Stream(ctx, entityName(topic))
		open = err == nil && stream.CachedInfo().Config.Subjects[0] != closed
		return err
	})
	if open || err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return err
	}
	if err := s.create(ctx, js, topic, closed); err != nil {
		return err
	}
	err = within(ctx, func(ctx context.Context) error {
		_, err := js.UpdateStream(ctx, s.streamConfig(topic, topic))
		return err
	})
	if err != nil {
		return fmt.Errorf("open it: %w", err)
	}
	s.dialer.Logf("the stream of topic %s was gone with its server; it was made anew", topic)
	return nil
}

func within(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, tryBudget)
	defer cancel()
	return do(ctx)
}
