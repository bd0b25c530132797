package mqtt

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/packets"

	"github.com/brokermark/brokermark/internal/driver"
)

// slotted receipts are called back with what was completed.
type slotted func(slots []uint32, err error)

func (f slotted) Done(slots []uint32, err error) { f(slots, err) }

// The sender has passed the gate of package resend, and waits for the producer's lock while the connection is lost: what
// it hands over then must not reach the next connection before what the lost one has left open.
func TestNothingNewIsTakenBetweenALossAndWhatIsSentAgain(t *testing.T) {
	var p *producer
	completed := map[uint32]error{}
	late := []driver.Message{{Slot: 1, Payload: []byte("second")}}
	p = &producer{
		d: &driving{product: &Product{}, qos: 1, topics: []string{"t"}}, fates: map[uint32]error{}, awake: make(chan struct{}, 1),
		packets: make([]packets.Publish, 2), stages: make([]stage, 2), freed: make([]bool, 2),
	}
	p.receipts = slotted(func(slots []uint32, err error) {
		for _, s := range slots {
			completed[s] = err
		}
		if late != nil {
			batch := late
			late = nil
			_ = p.Send(context.Background(), batch)
		}
	})
	_ = p.Send(context.Background(), []driver.Message{{Slot: 0, Payload: []byte("first")}})
	p.drop(errLost)
	if len(p.queue) > 0 || !errors.Is(completed[0], driver.ErrDisconnected) || !errors.Is(completed[1], driver.ErrDisconnected) {
		t.Fatalf("queued %v, completed %v; want both to be sent again, in their order", p.queue, completed)
	}
	_ = p.Send(context.Background(), []driver.Message{{Slot: 0, Payload: []byte("first"), Resent: true}})
	_ = p.Send(context.Background(), []driver.Message{{Slot: 1, Payload: []byte("second"), Resent: true}})
	if len(p.queue) != 2 || p.queue[0] != 0 || p.queue[1] != 1 {
		t.Errorf("queued %v of what is sent again, want slots 0 and 1", p.queue)
	}
}

func TestWhoeverWaitsToRestoreEndsWithItsContext(t *testing.T) {
	d := &driving{restoring: make(chan struct{}, 1)}
	d.restoring <- struct{}{} // another producer's, which waits for a consumer
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	began := time.Now()
	if err := d.restore(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > restoreBudget/2 {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

// While a producer makes the session of a subscription without a consumer, a consumer that begins waits: of two connections
// with one name the server cuts the first.
func TestAConsumerBeginsAfterItsSessionWasRestored(t *testing.T) {
	d := &driving{
		product: &Product{Name: "nowhere"}, qos: 1, topics: []string{"t"}, subscriptions: []string{"s"},
		ids: map[string]*identifiers{}, seats: map[driver.Seat]*link{}, restoring: make(chan struct{}, 1),
	}
	d.restoring <- struct{}{}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := d.Consume(ctx, driver.ConsumerConfig{}, nil, func() {}); err != nil {
		t.Errorf("while its session was restored: %v; want that it waits", err)
	}
	<-d.restoring
	if err := d.Consume(t.Context(), driver.ConsumerConfig{}, nil, func() {}); err == nil {
		t.Error("it connects to no address")
	}
}
