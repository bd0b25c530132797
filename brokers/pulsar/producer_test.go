package pulsar

import (
	"errors"
	"testing"

	client "github.com/apache/pulsar-client-go/pulsar"

	"github.com/brokermark/brokermark/internal/driver"
)

type outcomes map[uint32][]error

func (o outcomes) Done(slots []uint32, err error) {
	for _, s := range slots {
		o[s] = append(o[s], err)
	}
}

// The client's Close returns at once where the client is closing the producer by itself, and fails what is queued later.
func TestALateAnswerOfALostLinkIsNoneToTheSlotsNextMessage(t *testing.T) {
	got := outcomes{}
	p := &producer{messages: make([]outgoing, 1), via: make([]*link, 1), receipts: got, idle: make(chan struct{})}
	message := &p.messages[0].ProducerMessage
	old, next := &link{lost: func() {}}, &link{lost: func() {}}
	p.lend([]driver.Message{{Slot: 0}}, old)
	p.fail(old, errLost)
	p.lend([]driver.Message{{Slot: 0}}, next)
	p.answered(old, nil, message, client.ErrProducerClosed)
	if len(got[0]) != 1 || p.open != 1 {
		t.Fatalf("the slot was completed with %v, and %d are open; want the first message lost and the second one open", got[0], p.open)
	}
	p.answered(next, place{size: 1}, message, nil)
	if len(got[0]) != 2 || !errors.Is(got[0][0], errLost) || got[0][1] != nil || p.open != 0 {
		t.Errorf("the slot was completed with %v, and %d are open; want the second message acknowledged", got[0], p.open)
	}
}
