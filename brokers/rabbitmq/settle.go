package rabbitmq

import (
	"slices"
	"strconv"
	"sync/atomic"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/brokermark/brokermark/internal/driver"
)

// settlement gathers the outcomes of publications, so that a confirm for many messages becomes one Done.
type settlement struct {
	receipts driver.Receipts
	slots    []uint32
	err      error           // of all the gathered slots
	returned map[string]bool // slots by message id that came back unroutable and still await their confirm
	taken    *atomic.Uint64  // how many slots were reported
}

// settle waits for the confirms in order of publishing, which is the order the broker gives them in nearly always.
// It ends when published is closed and drained; a lost connection settles everything published on it.
func (p *producer) settle() {
	defer close(p.settled)
	s := settlement{receipts: p.receipts, slots: make([]uint32, 0, p.cfg.InFlight), returned: map[string]bool{}, taken: &p.taken}
	defer s.flush()
	for {
		pub, open := s.next(p.published)
		if !open {
			return
		}
		select {
		case <-pub.confirmation.Done():
		default:
			s.flush()
			<-pub.confirmation.Done()
		}
		s.add(pub.slot, s.outcome(pub))
	}
}

// next takes the next publication; before it waits for one it reports what is known.
func (s *settlement) next(published <-chan publication) (pub publication, open bool) {
	select {
	case pub, open = <-published:
	default:
		s.flush()
		pub, open = <-published
	}
	return pub, open
}

func (s *settlement) add(slot uint32, err error) {
	if err != s.err {
		s.flush()
	}
	s.slots, s.err = append(s.slots, slot), err
}

func (s *settlement) flush() {
	if len(s.slots) > 0 {
		s.receipts.Done(s.slots, s.err)
		s.taken.Add(uint64(len(s.slots)))
		s.slots = s.slots[:0]
	}
}

// outcome of a publication whose confirmation is done. The broker returns a message before it confirms it, and both
// come through the client's one reader: what was returned stands in the channel by now.
func (s *settlement) outcome(pub publication) error {
	acked := pub.confirmation.Acked()
	if pub.on.returns == nil {
		return fate(acked, pub.on)
	}
	for more := true; more; {
		var r amqp.Return
		select {
		case r, more = <-pub.on.returns:
			s.returned[r.MessageId] = more
		default:
			more = false
		}
	}
	id := strconv.FormatUint(uint64(pub.slot), 10)
	defer delete(s.returned, id)
	if s.returned[id] {
		return errReturned
	}
	return fate(acked, pub.on)
}

// final are reasons to close a channel that would come again with the same message.
var final = []int{amqp.ContentTooLarge, amqp.AccessRefused, amqp.PreconditionFailed}

// fate tells a message that got lost with its link from one that the broker doesn't want. The client marks a link as
// dead, and says why, before it gives up the confirmations.
func fate(acked bool, on *link) error {
	switch {
	case acked:
		return nil
	case !on.dead():
		return errNacked
	}
	return on.loss()
}

// loss is why what a broken link has left open is lost, or refused.
func (l *link) loss() error {
	if why := l.why(); why != nil && slices.Contains(final, why.Code) {
		return why
	}
	return errLost
}
