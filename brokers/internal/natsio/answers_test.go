package natsio

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/testkit"
)

// fates are receipts: what each slot was completed with, in order.
type fates struct {
	mu sync.Mutex
	of map[uint32][]error
}

func (f *fates) Done(slots []uint32, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range slots {
		f.of[s] = append(f.of[s], err)
	}
}

func (f *fates) all(slot uint32) []error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]error(nil), f.of[slot]...)
}

// wait waits until slot was completed n times.
func (f *fates) wait(t *testing.T, slot uint32, n int) []error {
	t.Helper()
	for range 5000 {
		if got := f.all(slot); len(got) >= n {
			return got
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("slot %d was completed with %v, want %d outcomes", slot, f.all(slot), n)
	return nil
}

func (f *fates) require(t *testing.T, slot uint32, want ...error) {
	t.Helper()
	got := f.wait(t, slot, len(want))
	for i, err := range want {
		if len(got) != len(want) || !errors.Is(got[i], err) {
			t.Fatalf("slot %d was completed with %v, want %v", slot, got, want)
		}
	}
}

var errJudged = errors.New("the broker says no")

// rig is a window on a server of this process, and the test that answers in the broker's place.
type rig struct {
	*Window
	*fates
	server *server.Server
	asked  chan *nats.Msg // what was published, with the subject to answer to
	answer func(reply, text string)
}

func newRig(t *testing.T, slots int, timeout time.Duration) *rig {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(s.Shutdown)
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server isn't ready")
	}
	broker, err := nats.Connect(s.ClientURL(), nats.NoReconnect())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(broker.Close)
	r := &rig{fates: &fates{of: map[uint32][]error{}}, server: s, asked: make(chan *nats.Msg, 10_000)}
	if _, err := broker.ChanSubscribe("work", r.asked); err != nil {
		t.Fatal(err)
	}
	if err := broker.Flush(); err != nil {
		t.Fatal(err)
	}
	r.answer = func(reply, text string) {
		if err := errors.Join(broker.Publish(reply, []byte(text)), broker.Flush()); err != nil {
			t.Error(err)
		}
	}
	client, err := driver.Decode(ClientSettings, driver.ClientScope, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := NewDialer(driver.Config{Target: driver.Target{Addresses: []string{strings.TrimPrefix(s.ClientURL(), "nats://")}}, Client: client})
	r.Window, err = NewWindow(d, "test", slots, timeout, r.fates, func(m *nats.Msg) error {
		if string(m.Data) == "no" {
			return errJudged
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// publish sends text from slot and returns the subject to answer to.
func (r *rig) publish(t *testing.T, slot uint32, text string, header nats.Header) string {
	t.Helper()
	if err := r.Publish(slot, &nats.Msg{Subject: "work", Data: []byte(text), Header: header}, false); err != nil {
		t.Fatal(err)
	}
	m := <-r.asked
	if string(m.Data) != text || m.Header.Get("id") != header.Get("id") {
		t.Fatalf("%q, %v was published as %q, %v", text, header, m.Data, m.Header)
	}
	return m.Reply
}

func TestAnAnswerCompletesItsSlotOnceAsItIsJudged(t *testing.T) {
	r := newRig(t, 3, time.Hour)
	defer r.Close()
	a, b, c := r.publish(t, 0, "a", nil), r.publish(t, 1, "b", nats.Header{"id": {"7"}}), r.publish(t, 2, "c", nil)
	r.answer(b, "no")
	r.require(t, 1, errJudged)
	for _, reply := range []string{a, a, strings.Replace(a, ".0.0", ".9.0", 1), strings.Replace(a, ".0.0", ".0", 1), strings.Replace(a, ".0.0", ".x.0", 1), strings.Replace(c, ".2.0", ".2.5", 1), c} {
		r.answer(reply, "yes") // some twice, some to slots or generations that aren't there
	}
	r.require(t, 0, nil)
	r.require(t, 2, nil)
	if again := r.publish(t, 1, "again", nil); again != b {
		t.Errorf("an answered slot has another reply subject: %s, %s before", again, b)
	}
	r.answer(b, "yes")
	r.require(t, 1, errJudged, nil)
}

func TestALateAnswerDoesNotCompleteTheSlotsNextMessage(t *testing.T) {
	const timeout = 100 * time.Millisecond
	r := newRig(t, 2, timeout)
	defer r.Close()
	began := time.Now()
	late := r.publish(t, 0, "first", nil)
	r.require(t, 0, driver.ErrUnanswered)
	if took := time.Since(began); took < timeout || !errors.Is(driver.ErrUnanswered, driver.ErrDisconnected) {
		t.Errorf("given up after %v, want %v at least", took, timeout)
	}
	reply := r.publish(t, 0, "second", nil)
	if reply == late {
		t.Fatalf("the next message has the reply subject of the one given up: %s", reply)
	}
	r.answer(late, "yes")
	r.answer(reply, "no")
	r.require(t, 0, driver.ErrUnanswered, errJudged)
}

// lates are fates that take back what waits to be sent again.
type lates struct {
	fates
	waiting map[uint32]bool
}

func (l *lates) Late(slot uint32, still func() bool) bool {
	if !l.waiting[slot] || !still() {
		return false
	}
	l.Done([]uint32{slot}, nil)
	return true
}

// A slow broker's answer counts wherever the message is by then, and completes no other.
func TestALateAnswerConfirmsTheMessageThatIsSentAgain(t *testing.T) {
	r := newRig(t, 4, 100*time.Millisecond)
	defer r.Close()
	again := func(slot uint32) {
		if err := r.Publish(slot, &nats.Msg{Subject: "work", Data: []byte("again")}, true); err != nil {
			t.Error(err)
		}
	}
	late := &lates{fates: fates{of: map[uint32][]error{}}, waiting: map[uint32]bool{1: true}}
	r.receipts = late
	var replies []string
	for slot := range uint32(4) {
		replies = append(replies, r.publish(t, slot, "first", nil))
	}
	for slot := range uint32(4) {
		late.require(t, slot, driver.ErrUnanswered)
	}
	again(0)
	<-r.asked
	for _, reply := range replies[:3] { // 0 is in flight again, 1 waits, 2 is on its way from the one to the other
		r.answer(reply, "yes")
	}
	late.require(t, 0, driver.ErrUnanswered, nil)
	late.require(t, 1, driver.ErrUnanswered, nil)
	time.Sleep(50 * time.Millisecond)
	again(2)
	late.require(t, 2, driver.ErrUnanswered, nil)
	r.answer(replies[3], "no") // says nothing of the next attempt
	again(3)
	r.answer((<-r.asked).Reply, "yes")
	late.require(t, 3, driver.ErrUnanswered, nil)
	for slot := range uint32(3) {
		next := r.publish(t, slot, "next", nil)
		r.answer(replies[slot], "yes")
		r.answer(next, "no")
		late.wait(t, slot, 3)
		if got := late.all(slot); len(got) != 3 || !errors.Is(got[2], errJudged) {
			t.Errorf("slot %d was completed with %v", slot, got)
		}
	}
}

func TestALostConnectionFailsEverythingInFlight(t *testing.T) {
	r := newRig(t, 4, time.Hour)
	r.answer(r.publish(t, 0, "a", nil), "yes")
	r.publish(t, 1, "b", nil)
	r.publish(t, 2, "c", nil)
	r.require(t, 0, nil)
	r.server.Shutdown()
	r.require(t, 1, driver.ErrDisconnected)
	r.require(t, 2, driver.ErrDisconnected)
	if errors.Is(r.all(1)[0], driver.ErrUnanswered) {
		t.Errorf("%v; the connection was lost, nobody waited for an answer", r.all(1)[0])
	}
	began := time.Now()
	r.Close()
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("closing took %v with nothing in flight and nobody there", took)
	}
	for slot, want := range map[uint32]int{0: 1, 1: 1, 2: 1, 3: 0} {
		if got := r.all(slot); len(got) != want {
			t.Errorf("slot %d was completed with %v, want %d outcomes", slot, got, want)
		}
	}
}

func TestCloseWaitsForTheLastAnswersAndCompletesTheRest(t *testing.T) {
	r := newRig(t, 3, time.Hour)
	a := r.publish(t, 0, "a", nil)
	r.publish(t, 1, "b", nil)
	time.AfterFunc(50*time.Millisecond, func() { r.answer(a, "yes") })
	began := time.Now()
	r.Close()
	if took := time.Since(began); took < drainBudget || took > 2*drainBudget {
		t.Errorf("closing took %v; an answer is missing, and %v are allowed for it", took, drainBudget)
	}
	r.require(t, 0, nil)
	r.require(t, 1, driver.ErrUnanswered)
	if got := r.all(2); len(got) != 0 {
		t.Errorf("an idle slot was completed with %v", got)
	}
}

func TestARefusedMessageIsCompletedByItsPublish(t *testing.T) {
	r := newRig(t, 1, time.Hour)
	defer r.Close()
	err := r.Publish(0, &nats.Msg{Subject: "work", Data: make([]byte, 2<<20)}, false)
	if !errors.Is(err, nats.ErrMaxPayload) {
		t.Errorf("Publish: %v", err)
	}
	r.require(t, 0, nats.ErrMaxPayload)
	r.answer(r.publish(t, 0, "small", nil), "yes")
	r.require(t, 0, nats.ErrMaxPayload, nil)
}

func TestOnlyOneOutcomeEndsTheFlightOfAGeneration(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		var s slot
		generation, flying := uint32(0), false
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "publish") && !flying {
				epoch := rapid.Uint32Range(1, math.MaxUint32).Draw(t, "epoch")
				s.state.Store(uint64(generation)<<32 | uint64(epoch))
				flying = true
				continue
			}
			of, bump := generation+rapid.SampledFrom([]uint32{0, 0, 1, math.MaxUint32}).Draw(t, "of"), rapid.Uint32Range(0, 1).Draw(t, "bump")
			want := flying && of == generation
			if got := s.settle(of, bump); got != want {
				t.Fatalf("generation %d in flight (%v) was ended as %d: %v", generation, flying, of, got)
			}
			if want {
				generation, flying = generation+bump, false
			}
			if state := s.state.Load(); uint32(state>>32) != generation || (uint32(state) != 0) != flying {
				t.Fatalf("state %x, want generation %d in flight: %v", state, generation, flying)
			}
		}
	})
}

func TestASubjectNamesASlotAndItsGeneration(t *testing.T) {
	w := &Window{Flights: NewFlights(5, nil), prefix: "_INBOX.x."}
	testkit.Check(t, func(t *rapid.T) {
		i, generation := rapid.Uint32Range(0, 6).Draw(t, "slot"), rapid.Uint32().Draw(t, "generation")
		a, b, ok := w.parse(w.reply(i, generation))
		if ok != (i < 5) || ok && (a != i || b != generation) {
			t.Fatalf("slot %d, generation %d became %d, %d, %v", i, generation, a, b, ok)
		}
	})
	for _, subject := range []string{"", "_INBOX.y.1.1", "_INBOX.x.", "_INBOX.x.1", "_INBOX.x.1.", "_INBOX.x..1", "_INBOX.x.-1.0", "_INBOX.x.1.x", "_INBOX.x.4294967296.0", "_INBOX.x.1.4294967296"} {
		if i, generation, ok := w.parse(subject); ok {
			t.Errorf("%q is slot %d, generation %d", subject, i, generation)
		}
	}
}

func TestManyAnswersCompleteEverySlotOnce(t *testing.T) {
	const slots, rounds = 500, 4
	r := newRig(t, slots, time.Hour)
	for round := range rounds {
		replies := make([]string, slots)
		for i := range replies {
			replies[i] = r.publish(t, uint32(i), fmt.Sprint(round), nil)
		}
		for _, reply := range replies {
			r.answer(reply, map[bool]string{true: "no", false: "yes"}[round == 2])
		}
		for i := range replies {
			r.wait(t, uint32(i), round+1)
		}
	}
	r.Close()
	for i := range uint32(slots) {
		r.require(t, i, nil, nil, errJudged, nil)
	}
}
