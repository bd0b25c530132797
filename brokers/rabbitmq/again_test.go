package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// resends counts what is sent again beside a book.
type resends struct {
	*livetest.Book
	n atomic.Int64
}

func (r *resends) Resent(slots []uint32) { r.n.Add(int64(len(slots))) }

// The server closes a channel on which a message comes that is too large, with everything that was on its way there. Only
// the large ones fail; the others are sent again.
func TestARefusedMessageTakesNoInnocentOnesAlong(t *testing.T) {
	const messages, most = 400, 600
	_, target := livetest.Start(t, provision.Options{Broker: "rabbitmq", Server: map[string]any{"max_message_size": most}})
	for name, c := range map[string]struct {
		g     driver.Guarantee
		large []int
	}{
		"unordered":        {logged, []int{137}},
		"ordered":          {ordered, []int{137}},
		"the first":        {logged, []int{0}},
		"the last of many": {logged, []int{399}},
		"several":          {logged, []int{5, 6, 250}},
		"flushed":          {synced, []int{77}},
	} {
		t.Run(name, func(t *testing.T) {
			book := &resends{Book: livetest.NewBook(t, messages, 1)}
			drv := livetest.SetUp(t, "rabbitmq", livetest.Config(t, "rabbitmq", target, c.g, nil, nil), livetest.Topic("refused-"+strings.ReplaceAll(name, " ", "-"), 1, "s"))
			livetest.Consume(t, drv, driver.ConsumerConfig{}, book.Sink(0))
			p, err := drv.Producer(t.Context(), driver.ProducerConfig{Topics: []int{0}, InFlight: messages, MaxBytes: 1000}, book)
			livetest.Must(t, err)
			t.Cleanup(func() { livetest.Must(t, p.Close()) })
			var batch []driver.Message
			for n := range messages {
				payload := fmt.Sprintf("%04d", n)
				if slices.Contains(c.large, n) {
					payload += strings.Repeat("x", most)
				}
				batch = append(batch, driver.Message{Payload: []byte(payload)})
			}
			livetest.Must(t, book.Send(t.Context(), p, batch...))
			livetest.Eventually(t, "all have their fate, and what was acknowledged has come", func() bool { k := book.Count(); return k.Pending == 0 && k.Lost == 0 })
			k := book.Count()
			var why *amqp.Error
			if k.Failed != len(c.large) || !errors.As(k.LastErr, &why) || why.Code != amqp.PreconditionFailed || errors.Is(k.LastErr, driver.ErrDisconnected) {
				t.Errorf("%d failed, one with %v; want the %d large ones, which the broker refused", k.Failed, k.LastErr, len(c.large))
			}
			if k.Received != messages-len(c.large) || book.n.Load() == 0 || c.g.Ordering == driver.Ordered && k.Late > 0 {
				t.Errorf("%+v, %d sent again", k, book.n.Load())
			}
			before := time.Now()
			livetest.Must(t, book.Send(t.Context(), p, driver.Message{Payload: []byte("after")}))
			livetest.Must(t, book.Fates(t, "after"))
			if took := time.Since(before); took > 10*time.Second {
				t.Errorf("the next message took %v", took)
			}
		})
	}
	t.Run("at most once nothing is sent again", func(t *testing.T) {
		r := livetest.Open(t, "rabbitmq", livetest.Config(t, "rabbitmq", target, sure, nil, nil), livetest.Topic("refused-once", 1, "s"))
		r.ConsumeAll(t)
		livetest.Says(t, r.Send(t, "small", strings.Repeat("x", most+1)), "larger than configured max size")
		livetest.Must(t, again(t, r, "after"))
		if k := r.Count(); k.Repeated > 0 {
			t.Errorf("%+v", k)
		}
	})
}

// again sends until it succeeds: the first Send after a loss reports it.
func again(t *testing.T, r *livetest.Rig, payload string) (err error) {
	t.Helper()
	for range 20 {
		if err = r.Send(t, payload); err == nil {
			break
		}
	}
	return err
}

// Somebody else's queue at the same exchange refuses what it has no room for, and so the server nacks.
func TestWhatABrokerNacksIsSentAgainWhereThatBreaksNothing(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "rabbitmq"})
	conn, err := amqp.Dial("amqp://guest:guest@" + target.Addresses[0] + "/")
	livetest.Must(t, err)
	defer conn.Close()
	other, err := conn.Channel()
	livetest.Must(t, err)
	for name, c := range map[string]struct {
		g       driver.Guarantee
		resends bool
	}{"at-least-once": {logged, true}, "ordered": {ordered, false}, "at-most-once": {sure, false}} {
		t.Run(name, func(t *testing.T) {
			const messages = 300
			book := &resends{Book: livetest.NewBook(t, messages, 1)}
			drv := livetest.SetUp(t, "rabbitmq", livetest.Config(t, "rabbitmq", target, c.g, nil, map[string]any{"exchange": "fanout"}), livetest.Topic("nack-"+name, 1, "s"))
			full, err := other.QueueDeclare("full-"+name, false, false, false, false, amqp.Table{"x-max-length": 10, "x-overflow": "reject-publish"})
			livetest.Must(t, err)
			livetest.Must(t, other.QueueBind(full.Name, "", "nack-"+name, false, nil))
			livetest.Consume(t, drv, driver.ConsumerConfig{}, book.Sink(0))
			p, err := drv.Producer(t.Context(), driver.ProducerConfig{Topics: []int{0}, InFlight: messages, MaxBytes: 1000}, book)
			livetest.Must(t, err)
			t.Cleanup(func() { livetest.Must(t, p.Close()) })
			var batch []driver.Message
			for n := range messages {
				batch = append(batch, driver.Message{Payload: fmt.Appendf(nil, "%d", n)})
			}
			livetest.Must(t, book.Send(t.Context(), p, batch...))
			if c.resends { // until then nobody reads the full queue
				livetest.Eventually(t, "some is sent again", func() bool { return book.n.Load() > 0 })
				deliveries, err := other.Consume(full.Name, "", true, false, false, false, nil)
				livetest.Must(t, err)
				go func() {
					for range deliveries { // until the connection is closed
					}
				}()
			}
			livetest.Eventually(t, "all is settled", func() bool { k := book.Count(); return k.Pending == 0 && k.Lost == 0 })
			k := book.Count()
			if c.resends != (book.n.Load() > 0) || c.resends != (k.Failed == 0) || !c.resends && !errors.Is(k.LastErr, errNacked) {
				t.Errorf("%+v, %d sent again", k, book.n.Load())
			}
		})
	}
}

func TestWhatIsNackedIsAnOutcomeOrAReasonToSendAgain(t *testing.T) {
	reject := map[string]any{"x-overflow": "reject-publish", "x-max-length": 5}
	for name, c := range map[string]struct {
		g     driver.Guarantee
		topic map[string]any
		again bool
	}{
		"at least once":                          {logged, nil, true},
		"behind those that were taken meanwhile": {ordered, nil, false},
		"by a queue that is to refuse":           {logged, reject, false},
		"by a queue that drops the oldest":       {logged, map[string]any{"x-max-length": 5}, true},
	} {
		err := settled(livetest.Config(t, "rabbitmq", driver.Target{}, c.g, nil, c.topic)).nacked()
		if errors.Is(err, driver.ErrDisconnected) != c.again || !errors.Is(err, errNacked) || !strings.HasPrefix(err.Error(), errNacked.Error()) || errors.Is(err, context.Canceled) {
			t.Errorf("%s: sent again %v, want %v (%v)", name, !c.again, c.again, err)
		}
	}
}

func TestConsumersChooseWhenTheyAcknowledge(t *testing.T) {
	livetest.ConsumersChooseWhenTheyAcknowledge(t, provision.Options{Broker: "rabbitmq"}, fast,
		livetest.Guarantee(driver.AtLeastOnce, driver.Memory, driver.AcksLeader, driver.Unordered), map[string]any{"ack.every": 1})
}
