package matrixtest

import (
	"fmt"
	"sync"

	"github.com/brokermark/brokermark/internal/driver"
)

// ledger holds the sent messages, how each of them ended, and the arrivals.
type ledger struct {
	mu       sync.Mutex
	stem     string // every payload of the cell begins with it
	sent     int
	fates    map[int]error // by number
	inSlot   []int         // the number that a slot carries
	arrivals map[int]int
	last     int // highest number that has arrived, plus one
	late     int // first arrivals after a later number
	ordered  int // numbers below it have to arrive in order
	strange  []string
}

func newLedger(stem string, slots int) *ledger {
	l := &ledger{stem: stem, fates: map[int]error{}, arrivals: map[int]int{}, inSlot: make([]int, slots)}
	return l
}

func (l *ledger) payload(n int) []byte { return fmt.Appendf(nil, "%s%08d", l.stem, n) }

// next books a message to be sent in slot and returns its number.
func (l *ledger) next(slot uint32) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.sent
	l.sent++
	l.inSlot[slot] = n
	return n
}

// expectOrder demands that the messages below n arrive in the order sent.
func (l *ledger) expectOrder(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ordered = n
}

// Done implements driver.Receipts.
func (l *ledger) Done(slots []uint32, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range slots {
		n := l.inSlot[s]
		if _, twice := l.fates[n]; twice {
			l.strange = append(l.strange, fmt.Sprintf("message %d was completed twice", n))
		}
		l.fates[n] = err
	}
}

// Deliver implements driver.Sink.
func (l *ledger) Deliver(batch []driver.Received) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range batch {
		p := m.Payload
		var n int
		if rest, ok := cut(p, l.stem); !ok {
			l.strange = append(l.strange, fmt.Sprintf("%q arrived, which it did not send", p))
			continue
		} else if _, err := fmt.Sscanf(rest, "%08d", &n); err != nil || n >= l.sent {
			l.strange = append(l.strange, fmt.Sprintf("%q arrived, which was never sent", p))
			continue
		}
		l.arrivals[n]++
		if l.arrivals[n] == 1 && n < l.last && n < l.ordered {
			l.late++
		}
		l.last = max(l.last, n+1)
	}
}

func cut(p []byte, stem string) (string, bool) {
	if len(p) < len(stem) || string(p[:len(stem)]) != stem {
		return "", false
	}
	return string(p[len(stem):]), true
}

// settled reports whether every message up to n has a fate.
func (l *ledger) settled(n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range n {
		if _, ok := l.fates[i]; !ok {
			return false
		}
	}
	return true
}

// known lists the numbers that have a fate, those from the last stage.
func (l *ledger) known() (list []int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for n := max(0, l.sent-inFlight-spare); n < l.sent; n++ {
		if _, ok := l.fates[n]; ok {
			list = append(list, n)
		}
	}
	return list
}

// count is the books: acknowledged messages that didn't arrive, arrivals beyond the first, failed ones.
type count struct{ acked, lost, again, failed, late int }

// books counts the messages from..to.
func (l *ledger) books(from, to int) count {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := count{late: l.late}
	for n := from; n < to; n++ {
		fate, known := l.fates[n]
		switch {
		case known && fate == nil:
			c.acked++
			if l.arrivals[n] == 0 {
				c.lost++
			}
		default:
			c.failed++
		}
		c.again += max(0, l.arrivals[n]-1)
	}
	return c
}

func (l *ledger) failure(from, to int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for n := from; n < to; n++ {
		if err := l.fates[n]; err != nil {
			return err
		}
	}
	return nil
}
