package kafka

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

// session is one producer and one consumer under one guarantee.
type session struct {
	*livetest.Rig
	guarantee driver.Guarantee
	topic     string
	mayLose   bool // what was acknowledged
	mayFail   bool
	mayRepeat bool
	logged    int // records in the topic, those of commits and aborts included
	end       func()
}

const messages = 3000

func TestGuaranteesHoldThroughKillAndRestart(t *testing.T) {
	testkit.Long(t) // the matrix kills it too
	in, target := livetest.Start(t, provision.Options{Broker: "kafka"})
	sessions := []*session{
		{guarantee: atMost, mayLose: true, mayFail: true},
		{guarantee: atLeast, mayRepeat: true},
		{guarantee: leaderOnly, mayRepeat: true},
		{guarantee: exactly},
	}
	restarted := make(chan struct{})
	var all sync.WaitGroup
	for _, s := range sessions {
		s.topic = "restart-" + string(s.guarantee.Delivery) + "-" + string(s.guarantee.Acks)
		s.Rig = livetest.Open(t, "kafka", livetest.Config(t, "kafka", target, s.guarantee, nil, nil), livetest.Topic(s.topic, 1, "s"))
		s.end = s.Consume(t, driver.ConsumerConfig{})
		all.Go(func() { s.run(t, restarted) })
	}
	for _, s := range sessions { // the broker dies while it works
		if !livetest.Within(livetest.Patience, func() bool { return s.Count().Received > messages/10 }) {
			t.Errorf("messages of %s don't arrive", s.topic)
		}
	}
	err := livetest.Restart(t.Context(), in, 1)
	close(restarted)
	all.Wait()
	livetest.Must(t, err)
	for _, s := range sessions {
		t.Run(string(s.guarantee.Delivery)+", acks "+string(s.guarantee.Acks), s.check)
	}
}

// run sends for some seconds and waits for what the guarantee owes.
func (s *session) run(t *testing.T, restarted <-chan struct{}) {
	for n := range messages {
		if err := s.Book.Send(t.Context(), s.Producer, driver.Message{Payload: fmt.Appendf(nil, "%08d", n)}); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Millisecond)
	}
	<-restarted
	livetest.Within(livetest.Patience, func() bool { // what it has not done then, the book shows
		ends, err := s.Driver.(*kafka).admin.ListEndOffsets(t.Context(), s.topic)
		if offset, ok := ends.Lookup(s.topic, 0); ok && err == nil {
			s.logged = int(offset.Offset)
		}
		c := s.Count()
		return c.Pending == 0 && (c.Lost == 0 || s.mayLose && c.Received >= s.logged)
	})
	time.Sleep(500 * time.Millisecond) // for what would come again
	s.end()
}

func (s *session) check(t *testing.T) {
	c := s.Count()
	t.Logf("%+v, %d in the log", c, s.logged)
	if c.Sent != messages || c.Pending > 0 {
		t.Errorf("%d messages were sent, want %d; %d slots were never completed", c.Sent, messages, c.Pending)
	}
	if c.Lost > 0 && !s.mayLose {
		t.Errorf("%d acknowledged messages were never received", c.Lost)
	}
	if c.Repeated > 0 && !s.mayRepeat {
		t.Errorf("%d messages were received again", c.Repeated)
	}
	if s.mayLose && c.Received < s.logged {
		t.Errorf("%d messages were received, %d are in the log", c.Received, s.logged)
	}
	if c.Failed > 0 && !s.mayFail {
		t.Errorf("%d messages failed, the last with: %v", c.Failed, c.LastErr)
	}
}

// Kafka unpacks a native library for each compression that it meets, and loads it: see livetest.Start.
func TestWhatJavaUnpacksIsInTheBrokersDirectory(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "kafka"})
	for _, compression := range []string{"snappy", "zstd"} {
		c := livetest.Config(t, "kafka", target, atLeast, map[string]any{"compression.type": compression}, nil)
		r := livetest.Open(t, "kafka", c, livetest.Topic("unpacks-"+compression, 1, "s"))
		livetest.Must(t, r.Send(t, strings.Repeat("the same again ", 50)))
	}
}
