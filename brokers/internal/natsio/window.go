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

// ErrUnanswered completes a slot whose message may or may not have been stored: no answer came in time, or before the
// producer was closed. Who would have answered may have been restarted while our own connection went to another server.
var ErrUnanswered = fmt.Errorf("no acknowledgement came in time; the message may have been stored all the same: %w", driver.ErrDisconnected)

var errLost = fmt.Errorf("nats: %w", driver.ErrDisconnected)

const (
	drainBudget = 3 * time.Second // for the last answers, in Close
	epochs      = 4               // an answer is overdue after so many ticks
)

// Window publishes messages that are answered, each with a reply subject of its slot's own, and turns answers into
// receipts. No allocation and no lock per message.
type Window struct {
	conn     *Conn
	receipts driver.Receipts
	judge    func(*nats.Msg) error // what an answer says
	prefix   string
	slots    []slot
	epoch    atomic.Uint32
	inbox    *Inbox
	done     []uint32 // of one batch of answers
	stop     chan struct{}
	running  sync.WaitGroup
	failing  sync.Mutex // Close must not return while somebody else is failing slots
}

// slot is in flight while the lower half of state is not 0. A slot that was given up gets a new generation and with it
// a new reply subject: or else the late answer would complete the slot's next message.
type slot struct {
	state atomic.Uint64 // generation << 32 | epoch of publishing
	reply string        // for generation made; only Publish touches these two
	made  uint32
}

// NewWindow makes a window of n slots on a connection of its own. A slot without an answer fails after timeout, and
// all of them fail when the connection is lost.
func NewWindow(d *Dialer, name string, n int, timeout time.Duration, r driver.Receipts, judge func(*nats.Msg) error) (*Window, error) {
	w := &Window{receipts: r, judge: judge, slots: make([]slot, n), stop: make(chan struct{})}
	w.inbox, w.done = NewInbox(2*n+batchMax), make([]uint32, 0, batchMax)
	w.epoch.Store(1)
	conn, err := d.Dial(name, func(err error) { w.fail(fmt.Errorf("%w: %w", errLost, err)) }, nil)
	if err != nil {
		return nil, err
	}
	w.conn, w.prefix = conn, nats.NewInbox()+"."
	for i := range w.slots {
		w.slots[i].reply = w.reply(uint32(i), 0)
	}
	if _, err := conn.ChanSubscribe(w.prefix+">", w.inbox.C); err != nil {
		conn.Shut()
		return nil, err
	}
	w.running.Go(func() { w.inbox.Each(w.answered) })
	w.running.Go(func() { w.expire(timeout / epochs) })
	return w, nil
}

// Conn is the window's connection.
func (w *Window) Conn() *Conn { return w.conn }

// Publish sends m from slot i; m is copied before it returns. An error is reported to the receipts as well. Publish
// belongs to one goroutine.
func (w *Window) Publish(i uint32, m *nats.Msg) error {
	s := &w.slots[i]
	generation := uint32(s.state.Load() >> 32)
	if s.made != generation {
		s.reply, s.made = w.reply(i, generation), generation
	}
	m.Reply = s.reply
	s.state.Store(uint64(generation)<<32 | uint64(w.epoch.Load()))
	var err error
	if m.Header == nil {
		err = w.conn.PublishRequest(m.Subject, m.Reply, m.Data)
	} else {
		err = w.conn.PublishMsg(m)
	}
	if err != nil && s.settle(generation, 0) {
		w.receipts.Done([]uint32{i}, disconnected(err))
	}
	return err
}

// disconnected marks the errors of a message that found no connection, or broke it. What the client refuses for good it
// refuses before it writes.
func disconnected(err error) error {
	for _, refused := range []error{nats.ErrMaxPayload, nats.ErrBadSubject, nats.ErrHeadersNotSupported, nats.ErrBadHeaderMsg, nats.ErrInvalidMsg} {
		if errors.Is(err, refused) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", errLost, err)
}

// Close waits a little for the last answers, then completes every slot and closes the connection.
func (w *Window) Close() {
	for end := time.Now().Add(drainBudget); w.waiting() && w.conn.IsConnected() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	close(w.stop)
	w.conn.Shut()
	w.inbox.End()
	w.running.Wait()
	w.fail(ErrUnanswered)
}

func (w *Window) reply(i, generation uint32) string {
	return w.prefix + strconv.FormatUint(uint64(i), 10) + "." + strconv.FormatUint(uint64(generation), 10)
}

// settle ends the flight of generation and starts the next one bump later; only one caller succeeds.
func (s *slot) settle(generation, bump uint32) bool {
	now := s.state.Load()
	return uint32(now>>32) == generation && uint32(now) != 0 &&
		s.state.CompareAndSwap(now, uint64(generation+bump)<<32)
}

func (w *Window) waiting() bool {
	for i := range w.slots {
		if uint32(w.slots[i].state.Load()) != 0 {
			return true
		}
	}
	return false
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
			w.failWhere(ErrUnanswered, func(published uint32) bool { return published+epochs < now })
		}
	}
}

func (w *Window) fail(err error) {
	w.failWhere(err, func(uint32) bool { return true })
}

func (w *Window) failWhere(err error, overdue func(published uint32) bool) {
	w.failing.Lock()
	defer w.failing.Unlock()
	var failed []uint32
	for i := range w.slots {
		now := w.slots[i].state.Load()
		if published := uint32(now); published != 0 && overdue(published) && w.slots[i].settle(uint32(now>>32), 1) {
			failed = append(failed, uint32(i))
		}
	}
	if len(failed) > 0 {
		w.receipts.Done(failed, err)
	}
}
