package rabbitmqstream

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
)

// fates are the receipts of slots that the tests choose.
type fates map[uint32]error

func (f fates) Done(slots []uint32, err error) {
	for _, s := range slots {
		f[s] = err
	}
}

// unwritten is a producer with one lane whose writer doesn't run: what it takes stays in its queue.
func unwritten(t *testing.T, g driver.Guarantee, f fates) (*producer, *lane) {
	t.Helper()
	p := &producer{
		d: &streams{cfg: livetest.Config(t, "rabbitmq-stream", driver.Target{}, g, nil, nil)}, cfg: driver.ProducerConfig{InFlight: 10},
		receipts: f, slots: make([]outgoing, 10), idle: make(chan struct{}, 1),
	}
	p.running, p.stop = context.WithCancel(t.Context())
	l := newLane(p, "s", "name")
	p.lanes, p.routes = []*lane{l}, map[int][]*lane{0: {l}}
	l.rise(&publisher{})
	return p, l
}

func messages(resent bool, slots ...uint32) (batch []driver.Message) {
	for _, s := range slots {
		batch = append(batch, driver.Message{Slot: s, Payload: []byte("x"), Resent: resent})
	}
	return batch
}

func (l *lane) ids() (ids []int64) {
	for _, o := range l.queue {
		ids = append(ids, o.id)
	}
	return ids
}

func TestWhatALostConnectionLeftOpenGoesBeforeAnythingNewUnderItsOldNumbers(t *testing.T) {
	f := fates{}
	p, l := unwritten(t, once, f)
	livetest.Must(t, p.Send(t.Context(), messages(false, 0, 1, 2)))
	if got := l.ids(); !slices.Equal(got, []int64{1, 2, 3}) {
		t.Fatalf("queued as %v", got)
	}
	l.fall(errLost)
	l.rise(&publisher{})
	livetest.Must(t, p.Send(t.Context(), messages(false, 3))) // began before the loss was known
	for slot := range uint32(4) {
		if err := f[slot]; !errors.Is(err, driver.ErrDisconnected) {
			t.Errorf("slot %d: %v; want it disconnected", slot, err)
		}
	}
	livetest.Must(t, p.Send(t.Context(), messages(true, 0, 1, 2, 3)))
	livetest.Must(t, p.Send(t.Context(), messages(false, 4)))
	if got := l.ids(); !slices.Equal(got, []int64{1, 2, 3, 4, 5}) {
		t.Errorf("queued again as %v, want 1 to 5", got)
	}
}

func TestALossWithNothingOpenCostsNoMessage(t *testing.T) {
	f := fates{}
	p, l := unwritten(t, logged, f)
	l.fall(errLost)
	l.rise(&publisher{})
	livetest.Must(t, p.Send(t.Context(), messages(false, 0)))
	if err, failed := f[0]; failed {
		t.Errorf("the message failed: %v", err)
	}
}

func TestWithoutAConnectionASendFailsWhatItHas(t *testing.T) {
	f := fates{}
	p, l := unwritten(t, fast, f)
	l.fall(errLost)
	livetest.Must(t, p.Send(t.Context(), messages(false, 0, 1)))
	if len(f) != 2 || !errors.Is(f[1], driver.ErrDisconnected) || len(l.queue) != 0 {
		t.Errorf("fates %v, %d queued", f, len(l.queue))
	}
	if n := p.open.Load(); n != 0 {
		t.Errorf("%d slots are open", n)
	}
}
