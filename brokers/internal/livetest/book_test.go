package livetest

import (
	"errors"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
)

func TestABookTellsWhatIsLostWhatFailedAndWhatCameAgain(t *testing.T) {
	refused := errors.New("refused")
	b := emptyBook(2)
	b.free = []uint32{4, 3, 2, 1, 0}
	slots := map[string]uint32{}
	for _, payload := range []string{"arrives", "lost by one", "fails", "fails, arrives", "open"} {
		m := driver.Message{Payload: []byte(payload)}
		if !b.lend(&m) {
			t.Fatalf("no slot for %q", payload)
		}
		slots[payload] = m.Slot
	}
	if b.lend(&driver.Message{}) {
		t.Error("a sixth of five slots was lent")
	}
	b.Sink(0).Deliver([]driver.Received{{Payload: []byte("arrives")}, {Payload: []byte("arrives")}, {Payload: []byte("lost by one")}})
	b.Done([]uint32{slots["arrives"], slots["lost by one"]}, nil)
	b.Done([]uint32{slots["fails"], slots["fails, arrives"]}, refused)
	b.Sink(1).Deliver([]driver.Received{{Payload: []byte("arrives")}, {Payload: []byte("fails, arrives")}, {Payload: []byte("fails")}, {Payload: []byte("nobody's")}})
	if got, want := b.Count(), (Count{Sent: 5, Pending: 1, Acked: 2, Failed: 2, LastErr: refused, Received: 6, Repeated: 1, Late: 1, Lost: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	again := driver.Message{Payload: []byte("lost by one")}
	if !b.lend(&again) || again.Slot != slots["fails, arrives"] {
		t.Errorf("slot %d was lent, want %d, which was completed last", again.Slot, slots["fails, arrives"])
	}
	if got := b.Count(); got.Acked != 1 || got.Lost != 0 || got.Pending != 2 {
		t.Errorf("sent again, %+v; want one acknowledged, none lost, two open", got)
	}
	b.Done([]uint32{again.Slot, again.Slot}, nil)
	if got := b.Count(); got.Acked != 2 || got.Lost != 1 || len(b.foreign) != 1 {
		t.Errorf("completed twice: %+v, %q", got, b.foreign)
	}
}
