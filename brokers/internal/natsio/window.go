package natsio

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/brokermark/brokermark/internal/driver"
)

var errLost = fmt.Errorf("nats: %w", driver.ErrDisconnected)

const (
	drainBudget = 3 * time.Second // for the last answers, in Close
	epochs      = 4               // an answer is overdue after so many ticks
)

// Window publishes messages that are answered, each with the reply subject of its slot, and turns answers into receipts. No
// allocation and no lock per message.
type Window struct {
	*Flights
	Conn    *Conn                 // of its own
	judge   func(*nats.Msg) error // what an answer says
	prefix  string
	replies []reply // by slot; only Publish touches them
	inbox   *Inbox
	done    []uint32 // of one batch of answers
	stop    chan struct{}
	running sync.WaitGroup
}

// reply is a slot's reply subject: a slot that was given up gets another one with its new generation.
type reply struct {
	subject string
	made    uint32        // for this generation
	first   atomic.Uint32 // the generation in which the slot's message was sent first
	late    atomic.Uint64 // 1 + the generation to which a confirmation has come while the message waited to be sent again; 0: none
}

// NewWindow makes a window of n slots on a connection of its own. A slot without an answer fails after timeout, and
// all of them fail when the connection is lost.
func NewWindow(d *Dialer, name string, n int, timeout time.Duration, r driver.Receipts, judge func(*nats.Msg) error) (*Window, error) {
	w := &Window{Flights: NewFlights(n, r), judge: judge, replies: make([]reply, n), stop: make(chan struct{})}
	w.inbox, w.done = NewInbox(2*n+batchMax), make([]uint32, 0, batchMax)
	conn, err := d.Dial(name, w.Lost, nil)
	if err != nil {
		return nil, err
	}
	w.Conn, w.prefix = conn, nats.NewInbox()+"."
	conn.WhenDenied(func(err error) { driver.Refuse(r, err) })
	for i := range w.replies {
		w.replies[i].subject = w.reply(uint32(i), 0)
	}
	if _, err := conn.ChanSubscribe(w.prefix+">", w.inbox.C); err != nil {
		conn.Shut()
		return nil, err
	}
	w.running.Go(func() { w.inbox.Each(w.answered) })
	w.running.Go(func() { w.expire(timeout / epochs) })
	return w, nil
}

// Publish sends m from slot i, again if it has been sent before and was given up; m is copied before it returns. An error is reported to
// the receipts as well. Publish belongs to one goroutine.
func (w *Window) Publish(i uint32, m *nats.Msg, again bool) error {
	r := &w.replies[i]
	if !again { // before it is in flight: a late answer to the slot's message before would complete it
		r.first.Store(w.generation(i))
	}
	generation := w.Begin(i)
	if again && r.late.Load() > uint64(r.first.Load()) { // see confirmedLate
		w.giveUp(i, generation, nil)
		return nil
	}
	if r.made != generation {
		r.subject, r.made = w.reply(i, generation), generation
	}
	m.Reply = r.subject
	var err error
	if m.Header == nil {
		err = w.Conn.PublishRequest(m.Subject, m.Reply, m.Data)
	} else {
		err = w.Conn.PublishMsg(m)
	}
	if err != nil {
		w.giveUp(i, generation, Disconnected(err))
	}
	return err
}

// Disconnected marks the errors of a message that found no connection, or broke it. An error that the client returns before
// it writes is final.
func Disconnected(err error) error {
	for _, refused := range []error{nats.ErrMaxPayload, nats.ErrBadSubject, nats.ErrHeadersNotSupported, nats.ErrBadHeaderMsg, nats.ErrInvalidMsg} {
		if errors.Is(err, refused) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", errLost, err)
}

// Close waits a little for the last answers, then completes every slot and closes the connection.
func (w *Window) Close() {
	w.Drain(w.Conn)
	close(w.stop)
	w.Conn.Shut()
	w.inbox.End()
	w.running.Wait()
	w.Fail(driver.ErrUnanswered)
}

func (w *Window) reply(i, generation uint32) string {
	return w.prefix + strconv.FormatUint(uint64(i), 10) + "." + strconv.FormatUint(uint64(generation), 10)
}

func (w *Window) answered(batch []*nats.Msg) {
	done := w.done[:0]
	for _, m := range batch {
		i, generation, ok := w.parse(m.Subject)
		if !ok {
			continue
		}
		err := w.judge(m)
		switch {
		case !w.slots[i].settle(generation, 0):
			if err == nil {
				w.confirmedLate(i, generation)
			}
		case err != nil:
			w.receipts.Done([]uint32{i}, err)
		default:
			done = append(done, i)
		}
	}
	if len(done) > 0 {
		w.receipts.Done(done, nil)
	}
}

// confirmedLate completes the message of slot i by an answer to a generation that was given up, if the slot still carries that message:
//
//	generation    3          4           5
//	message       A          A again     B       first is 3 while A is carried, then 5
//	answer              to 3       to 3     to 3: it is not B's
//
// If the message waits to be sent again, the receipts complete it, or else the next Publish.
func (w *Window) confirmedLate(i, generation uint32) {
	r := &w.replies[i]
	still := func() bool { return generation >= r.first.Load() && generation < w.generation(i) }
	current := func() bool { // it is in flight again
		now := w.slots[i].state.Load()
		return still() && uint32(now) != 0 && w.giveUp(i, uint32(now>>32), nil)
	}
	if current() {
		return
	}
	if lates, ok := w.receipts.(driver.Lates); !ok || !still() || lates.Late(i, still) {
		return
	}
	r.late.Store(uint64(generation) + 1)
	current() // Publish may not have seen it
}

func (w *Window) parse(subject string) (i, generation uint32, ok bool) {
	rest, ok := strings.CutPrefix(subject, w.prefix)
	if !ok {
		return 0, 0, false
	}
	first, second, _ := strings.Cut(rest, ".")
	a, errA := strconv.ParseUint(first, 10, 32)
	b, errB := strconv.ParseUint(second, 10, 32)
	return uint32(a), uint32(b), errA == nil && errB == nil && a < uint64(len(w.slots))
}

// expire fails slots whose answer is overdue: a leader that dies takes unanswered messages with it while our own
// connection, to another server, stays up.
func (w *Window) expire(tick time.Duration) {
	t := time.NewTicker(max(tick, time.Millisecond))
	defer t.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-t.C:
			now := w.epoch.Add(1)
			w.failWhere(driver.ErrUnanswered, func(published uint32) bool { return published+epochs < now })
		}
	}
}
