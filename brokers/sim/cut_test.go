package sim

import (
	"context"
	"encoding/binary"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// counted are receipts that count what was sent again.
type counted struct {
	*receipts
	resent chan int
}

func (c counted) Resent(slots []uint32) { c.resent <- len(slots) }

func TestWhatACutLeavesOpenIsSentAgainAndNothingElse(t *testing.T) {
	const n = 2000
	r := newRig(t, 1, map[string]any{"capacity": 4000, "ack.latency": "20ms"})
	again := counted{r.receipts, make(chan int, n)}
	prod, err := r.drv.Producer(context.Background(), driver.ProducerConfig{Topics: []int{0}, InFlight: n + 1, MaxBytes: 100}, again)
	if err != nil {
		t.Fatal(err)
	}
	sent := make(chan error)
	go func() {
		var failed error
		for i := uint32(1); i <= n; i++ {
			payload := binary.LittleEndian.AppendUint32(make([]byte, 0, 16), i)[:16]
			if err := prod.Send(context.Background(), []driver.Message{{Slot: i, Payload: payload}}); err != nil {
				failed = err
			}
			if i%50 == 0 {
				time.Sleep(5 * time.Millisecond) // several cuts shall fall into the sending
			}
		}
		sent <- failed
	}()
	twice := 0
	for range 3 {
		acked, _ := r.receipts.done()
		for now := acked; now < acked+200; now, _ = r.receipts.done() {
			time.Sleep(time.Millisecond)
		}
		twice += Cut(r.address)
		time.Sleep(20 * time.Millisecond) // some are sent into the dark
		Mend(r.address)
	}
	if err := <-sent; err != nil {
		t.Errorf("Send failed although everything was to be sent again: %v", err)
	}
	r.settle(t, n, n+twice)
	if err := prod.Close(); err != nil {
		t.Error(err)
	}
	if acked, nacks := r.receipts.done(); acked != n || nacks != 0 {
		t.Errorf("%d messages were acknowledged and %d failed, of %d", acked, nacks, n)
	}
	delivered := r.sinks[0].delivered()
	missing, _, _, _ := judge(delivered, n)
	if extra := len(delivered) - n; missing != 0 || extra != twice { // one message may be cut off more than once
		t.Errorf("%d messages are missing, %d copies too many came; the cuts took %d acknowledgements", missing, extra, twice)
	}
	if late := firstsOutOfOrder(delivered); late > 0 {
		t.Errorf("%d messages came for the first time after a later one", late)
	}
	resent := 0
	for len(again.resent) > 0 {
		resent += <-again.resent
	}
	if twice == 0 || resent < twice {
		t.Errorf("%d messages were sent again, %d were unacknowledged at the cuts", resent, twice)
	}
}

func firstsOutOfOrder(numbers []int) (late int) {
	seen, highest := map[int]bool{}, 0
	for _, k := range numbers {
		if !seen[k] && k < highest {
			late++
		}
		seen[k], highest = true, max(highest, k)
	}
	return late
}

func TestAMessageSentAtMostOnceIsNeverSentAgain(t *testing.T) {
	r := newRig(t, 1, nil)
	v, err := driver.Decode(declared(), driver.ClientScope, nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := open(context.Background(), driver.Config{Target: driver.Target{Addresses: []string{r.address}}, Guarantee: atMostOnce, Client: v})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Setup(context.Background(), driver.Topology{Topics: []driver.Topic{{Name: "t", Partitions: 1}}, Subscriptions: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	again := counted{r.receipts, make(chan int, 10)}
	prod, err := d.Producer(context.Background(), driver.ProducerConfig{Topics: []int{0}, InFlight: 2, MaxBytes: 16}, again)
	if err != nil {
		t.Fatal(err)
	}
	Cut(r.address)
	if err := prod.Send(context.Background(), []driver.Message{{Slot: 0, Payload: make([]byte, 16)}}); err == nil {
		t.Error("Send succeeded without a connection")
	}
	Mend(r.address)
	if err := prod.Close(); err != nil {
		t.Error(err)
	}
	if acked, nacks := r.receipts.done(); acked != 0 || nacks != 1 || len(again.resent) > 0 {
		t.Errorf("%d acknowledged, %d failed, %d times sent again; want one failed message", acked, nacks, len(again.resent))
	}
}
