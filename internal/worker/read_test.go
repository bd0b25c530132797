package worker

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// publishes is a driver whose topic holds batches of payloads, each consumer's, and then an error or nothing more.
type publishes struct {
	driver.Driver
	batches [][]driver.Received
	err     error
}

func (p publishes) Consume(ctx context.Context, _ driver.ConsumerConfig, s driver.Sink, ready func()) error {
	ready()
	for _, batch := range p.batches {
		s.Deliver(batch)
	}
	if p.err != nil {
		return p.err
	}
	<-ctx.Done()
	return nil
}

func TestReadingEndsWithWhatTheTopicHoldsWithSilenceOrWithTime(t *testing.T) {
	stored := [][]driver.Received{{{Payload: []byte("one")}, {Payload: []byte("two")}}, {{Payload: []byte("three")}}}
	const two, messages, bytes = 2, 6, 22 // consumers, of each of whom the three messages are
	for name, c := range map[string]struct {
		reading  Reading
		err      error
		all      bool
		says     string
		least    time.Duration
		messages int64
	}{
		"everything that it holds":   {Reading{For: time.Minute, Messages: messages, Quiet: time.Minute}, nil, true, "", 0, messages},
		"less than the broker said":  {Reading{For: time.Minute, Messages: messages + 1, Quiet: 200 * time.Millisecond}, nil, false, "", 200 * time.Millisecond, messages},
		"for a time":                 {Reading{For: 300 * time.Millisecond}, nil, false, "", 300 * time.Millisecond, messages},
		"nothing after the warm-up":  {Reading{Warmup: 200 * time.Millisecond, For: 200 * time.Millisecond}, nil, false, "", 400 * time.Millisecond, 0},
		"until a consumer is denied": {Reading{For: time.Minute}, errors.New("denied"), false, "of subscription 0: denied", 0, 0},
	} {
		c.reading.Connect, c.reading.Consumers = time.Second, make([]driver.ConsumerConfig, two)
		began := time.Now()
		out := Read(t.Context(), publishes{batches: stored, err: c.err}, c.reading)
		if took := time.Since(began); took < c.least || took > 10*time.Second {
			t.Errorf("%s: it took %v", name, took)
		}
		if c.says != "" {
			if out.Err == nil || !strings.Contains(out.Err.Error(), c.says) {
				t.Errorf("%s: %v", name, out.Err)
			}
			continue
		}
		if out.Err != nil || out.Messages != c.messages || out.All != c.all || c.messages > 0 && out.Bytes != bytes || out.Until < out.From {
			t.Errorf("%s: %d messages of %d bytes, all: %v, %v, from %d until %d", name, out.Messages, out.Bytes, out.All, out.Err, out.From, out.Until)
		}
	}
}
