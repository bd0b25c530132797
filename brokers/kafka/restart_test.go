package kafka

import (
	"context"
	"encoding/binary"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// book counts what was acknowledged and what was received, by the number that each payload begins with. Every message
// has a slot of its own, so the slot is that number.
type book struct {
	mu              sync.Mutex
	acked, received map[uint32]int
	failed          map[uint32]error
}

func (b *book) Done(slots []uint32, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, slot := range slots {
		if err != nil {
			b.failed[slot] = err
		} else {
			b.acked[slot]++
		}
	}
}

func (b *book) Deliver(batch [][]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, payload := range batch {
		b.received[binary.LittleEndian.Uint32(payload)]++
	}
}

func (b *book) settled() (done, missing int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for slot := range b.acked {
		if b.received[slot] == 0 {
			missing++
		}
	}
	return len(b.acked) + len(b.failed), missing
}

func (b *book) distinct() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.received)
}

func TestGuaranteesHoldThroughKillAndRestart(t *testing.T) {
	in := start(t, provision.Options{})
	cases := []struct {
		g         driver.Guarantee
		mayLose   bool // what was acknowledged
		mayFail   bool
		mayRepeat bool
	}{
		{g: atMost, mayLose: true, mayFail: true},
		{g: atLeast, mayRepeat: true},
		{g: leaderOnly, mayRepeat: true},
		{g: exactly},
	}
	sessions := make([]*session, len(cases))
	for i, c := range cases {
		sessions[i] = openSession(t, in, c.g)
		sessions[i].mayLose = c.mayLose
	}
	restarted := make(chan struct{})
	var all sync.WaitGroup
	for _, s := range sessions {
		all.Go(func() { s.run(restarted) })
	}
	time.Sleep(time.Second)
	if err := in.Kill(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if err := in.Restart(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	close(restarted)
	all.Wait()
	for i, c := range cases {
		t.Run(string(c.g.Delivery)+", acks "+string(c.g.Acks), func(t *testing.T) {
			b := &sessions[i].book
			done, lost := b.settled()
			repeated := 0
			for _, n := range b.received {
				if n > 1 {
					repeated++
				}
			}
			t.Logf("%d acknowledged, %d failed, %d received, %d lost, %d repeated, %d in the log", len(b.acked), len(b.failed), len(b.received), lost, repeated, sessions[i].logged)
			for _, err := range sessions[i].errs {
				t.Error(err)
			}
			if done != messages {
				t.Errorf("%d slots were completed, %d were given", done, messages)
			}
			if lost > 0 && !c.mayLose {
				t.Errorf("%d acknowledged messages were never received", lost)
			}
			if repeated > 0 && !c.mayRepeat {
				t.Errorf("%d messages were received again", repeated)
			}
			if c.mayLose && len(b.received) < sessions[i].logged {
				t.Errorf("%d messages were received, %d are in the log", len(b.received), sessions[i].logged)
			}
			for slot, err := range b.failed {
				if !c.mayFail {
					t.Errorf("message %d failed: %v (and %d others)", slot, err, len(b.failed)-1)
				}
				break
			}
		})
	}
}

// session is one producer and one consumer under one guarantee.
type session struct {
	book
	drv      driver.Driver
	producer driver.Producer
	stop     context.CancelFunc
	ended    chan error
	errs     []error
	topic    string
	mayLose  bool
	logged   int // records in the topic, those of commits and aborts included
}

const messages = 3000

func openSession(t *testing.T, in *provision.Instance, g driver.Guarantee) *session {
	t.Helper()
	topics, err := driver.Decode(settings, driver.TopicScope, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &session{book: book{acked: map[uint32]int{}, received: map[uint32]int{}, failed: map[uint32]error{}}, ended: make(chan error, 1)}
	s.drv, err = open(t.Context(), driver.Config{Target: target(in), Guarantee: g, Client: decode(t, nil), Topic: topics, Log: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	s.topic = "restart-" + string(g.Delivery) + "-" + string(g.Acks)
	if err := s.drv.Setup(t.Context(), driver.Topology{Topics: []driver.Topic{{Name: s.topic, Partitions: 1}}, Subscriptions: []string{"s"}}); err != nil {
		t.Fatal(err)
	}
	var consuming context.Context
	consuming, s.stop = context.WithCancel(context.Background())
	ready := make(chan struct{})
	go func() { s.ended <- s.drv.Consume(consuming, driver.ConsumerConfig{}, &s.book, func() { close(ready) }) }()
	<-ready
	if s.producer, err = s.drv.Producer(t.Context(), driver.ProducerConfig{Topics: []int{0}, InFlight: messages, MaxBytes: 8}, &s.book); err != nil {
		t.Fatal(err)
	}
	return s
}

// run sends for some seconds, waits for what the guarantee owes, and closes everything.
func (s *session) run(restarted <-chan struct{}) {
	ctx := context.Background()
	for slot := range uint32(messages) {
		payload := binary.LittleEndian.AppendUint32(nil, slot)
		s.note(s.producer.Send(ctx, []driver.Message{{Slot: slot, Payload: payload}}))
		time.Sleep(time.Millisecond)
	}
	<-restarted
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		ends, err := s.drv.(*kafka).admin.ListEndOffsets(ctx, s.topic)
		if offset, ok := ends.Lookup(s.topic, 0); ok && err == nil {
			s.logged = int(offset.Offset)
		}
		if done, missing := s.settled(); done == messages && (missing == 0 || s.mayLose && s.distinct() >= s.logged) {
			break
		}
	}
	time.Sleep(500 * time.Millisecond) // for what would come again
	s.note(s.producer.Close())
	s.stop()
	s.note(<-s.ended)
	s.note(s.drv.Close())
}

func (s *session) note(err error) {
	if err != nil {
		s.errs = append(s.errs, err)
	}
}
