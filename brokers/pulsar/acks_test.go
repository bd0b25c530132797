package pulsar

import (
	"testing"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

// standing is an application that stands still with what it gets.
type standing struct {
	driver.Sink
	has, end chan struct{}
}

func (s *standing) Deliver(batch []driver.Received) {
	close(s.has) // a second message would be one too many
	<-s.end
	s.Sink.Deliver(batch)
}

// What a consumer has not acknowledged waits in the broker while the application works on it, and comes again when the
// connection is lost; the driver recognises it, which its own count of such messages shows. The client reconnects by itself below an
// application that stands still, so no other consumer gets it.
func TestConsumersChooseWhenTheyAcknowledge(t *testing.T) {
	testkit.Long(t)
	_, target := livetest.Start(t, provision.Options{Broker: "pulsar"})
	once := livetest.Guarantee(driver.AtMostOnce, driver.Log, driver.AcksLeader, driver.Unordered)
	for when, unacked := range map[string]int64{driver.AckAfter: 1, driver.AckBefore: 0} {
		t.Run(when, func(t *testing.T) {
			c := livetest.Config(t, "pulsar", target, once, map[string]any{"consumer.ack": when, "ackGroupingTime": "0s"}, nil)
			r := livetest.Open(t, "pulsar", c, livetest.Topic("acks-"+when, 1, "s"))
			s := r.Driver.(*session)
			still := &standing{Sink: r.Sink(0), has: make(chan struct{}), end: make(chan struct{})}
			end := livetest.Consume(t, s, driver.ConsumerConfig{}, still)
			livetest.Must(t, r.Send(t, "held"))
			select {
			case <-still.has:
			case <-time.After(livetest.Patience):
				t.Error("the application got nothing")
			}
			var q driver.Queue
			waits := func() bool {
				var err error
				q, err = s.Queue(t.Context(), 0, 0)
				return err == nil && q.Waiting == unacked && q.Unacked == unacked
			}
			time.Sleep(500 * time.Millisecond) // an acknowledgement before delivery is on its way
			if !livetest.Within(5*time.Second, waits) {
				t.Errorf("the broker says %+v while the application works, want %d unacknowledged", q, unacked)
			}
			if drivertest.Cut(target.Addresses) == 0 {
				t.Error("there was no connection to cut")
			}
			time.Sleep(3 * time.Second) // the client has another one by then
			close(still.end)
			again := s.seenBy(driver.ConsumerConfig{})
			if !livetest.Within(5*time.Second, func() bool { return int64(again.repeated()) == unacked }) || when == driver.AckBefore && comesLater(again) {
				t.Errorf("%d messages came again, want %d", again.repeated(), unacked)
			}
			end()
			if got := r.Received(0); len(got) != 1 {
				t.Errorf("the application got %v", got)
			}
		})
	}
}

// comesLater waits for a message that has been delivered already.
func comesLater(s *seen) bool {
	return livetest.Within(2*time.Second, func() bool { return s.repeated() > 0 })
}

func TestDriverKeepsThePromisesWithManualAcknowledgementsAtMostOnce(t *testing.T) {
	testkit.Long(t)
	s := livetest.Suite(t, provision.Options{Broker: "pulsar"}, livetest.Guarantee(driver.AtMostOnce, driver.Log, driver.AcksLeader, driver.Ordered))
	s.Client = map[string]any{"consumer.ack": driver.AckAfter}
	s.Restart, s.Kill, s.Pause, s.Cost = nil, nil, nil, nil
	s.Bulk, s.QueuedInBatches = 300, true
	drivertest.Run(t, s)
}
