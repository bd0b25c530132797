package natsio

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// Flights are the slots of a producer whose messages are answered: each is completed once, by its answer or when it is
// given up. No allocation and no lock per message.
type Flights struct {
	receipts driver.Receipts
	slots    []slot
	epoch    atomic.Uint32
	failing  sync.Mutex // Close must not return while another goroutine is failing slots
}

// slot is in flight while the lower half of state is not 0. A slot that was given up gets a new generation: or else the
// late answer would complete the slot's next message.
type slot struct {
	state atomic.Uint64 // generation << 32 | epoch of publishing
}

// NewFlights makes n slots.
func NewFlights(n int, r driver.Receipts) *Flights {
	f := &Flights{receipts: r, slots: make([]slot, n)}
	f.epoch.Store(1)
	return f
}

// Begin notes that a message is about to be published from slot i. Begin belongs to one goroutine.
func (f *Flights) Begin(i uint32) (generation uint32) {
	generation = f.generation(i)
	f.slots[i].state.Store(uint64(generation)<<32 | uint64(f.epoch.Load()))
	return generation
}

// generation returns that of slot i, which changes only while the slot is in flight.
func (f *Flights) generation(i uint32) uint32 { return uint32(f.slots[i].state.Load() >> 32) }

// Settle completes slot i, unless that generation of it was completed already.
func (f *Flights) Settle(i, generation uint32, err error) {
	if f.slots[i].settle(generation, 0) {
		f.receipts.Done([]uint32{i}, err)
	}
}

// giveUp completes slot i without the answer to that generation, which is then ignored, and reports whether it did.
func (f *Flights) giveUp(i, generation uint32, err error) bool {
	done := f.slots[i].settle(generation, 1)
	if done {
		f.receipts.Done([]uint32{i}, err)
	}
	return done
}

// settle ends the flight of generation and starts the next one bump later; only one caller succeeds.
func (s *slot) settle(generation, bump uint32) bool {
	now := s.state.Load()
	return uint32(now>>32) == generation && uint32(now) != 0 &&
		s.state.CompareAndSwap(now, uint64(generation+bump)<<32)
}

// Drain waits a little for the last answers on c.
func (f *Flights) Drain(c *Conn) {
	for end := time.Now().Add(drainBudget); f.waiting() && c.IsConnected() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

func (f *Flights) waiting() bool {
	for i := range f.slots {
		if uint32(f.slots[i].state.Load()) != 0 {
			return true
		}
	}
	return false
}

// Lost fails everything in flight when a connection is lost; Dialer.Dial calls it.
func (f *Flights) Lost(err error) { f.Fail(fmt.Errorf("%w: %w", errLost, err)) }

// Fail completes everything in flight with err.
func (f *Flights) Fail(err error) {
	f.failWhere(err, func(uint32) bool { return true })
}

func (f *Flights) failWhere(err error, overdue func(published uint32) bool) {
	f.failing.Lock()
	defer f.failing.Unlock()
	var failed []uint32
	for i := range f.slots {
		now := f.slots[i].state.Load()
		if published := uint32(now); published != 0 && overdue(published) && f.slots[i].settle(uint32(now>>32), 1) {
			failed = append(failed, uint32(i))
		}
	}
	if len(failed) > 0 {
		f.receipts.Done(failed, err)
	}
}
