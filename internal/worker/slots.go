package worker

import (
	"math/bits"
	"sync/atomic"
)

// slotRing hands out the fixed set of in-flight slots of one producer. take and wait belong to the producing goroutine;
// put may be called from any goroutine.
//
// Free slots sit in a ring that can hold all of them, so put never finds it full: a writer claims the next position
// with one add and stores the slot there, marked with that position. A place whose mark isn't the reader's position is
// claimed but not yet written, or hasn't been used again since the ring last came round; nothing has to be cleared.
type slotRing struct {
	ring    []atomic.Uint64 // position (its lower 32 bits) << 32 | slot
	n       int
	mask    uint64
	head    uint64        // next position to read; only the producing goroutine touches it
	_       [48]byte      // head and tail are on cache lines of their own: different threads write them
	tail    atomic.Uint64 // next position to write
	_       [48]byte
	waiting atomic.Int64 // the tail at which wait is to be woken; 0: nobody waits
	wake    chan struct{}
}

func marked(position uint64, slot uint32) uint64 { return position<<32 | uint64(slot) }

func newSlotRing(n int) *slotRing {
	size := 1 << bits.Len(uint(n-1))
	s := &slotRing{ring: make([]atomic.Uint64, size), n: n, mask: uint64(size - 1), wake: make(chan struct{}, 1)}
	for i := range s.ring {
		s.ring[i].Store(marked(^uint64(0), 0)) // no position of the first lap
	}
	for i := range n {
		s.ring[i].Store(marked(uint64(i), uint32(i)))
	}
	s.tail.Store(uint64(n))
	return s
}

// take fills into with free slots and returns how many there were; it never waits.
func (s *slotRing) take(into []uint32) int {
	for i := range into {
		v := s.ring[s.head&s.mask].Load()
		if uint32(v>>32) != uint32(s.head) {
			return i
		}
		into[i] = uint32(v)
		s.head++
	}
	return len(into)
}

// put frees slots. It never blocks.
func (s *slotRing) put(free []uint32) {
	at := s.tail.Add(uint64(len(free))) - uint64(len(free))
	for i, slot := range free {
		position := at + uint64(i)
		s.ring[position&s.mask].Store(marked(position, slot))
	}
	if want := s.waiting.Load(); want != 0 && int64(at)+int64(len(free)) >= want && s.waiting.CompareAndSwap(want, 0) {
		s.wake <- struct{}{}
	}
}

// wait blocks until at least n slots are free (true) or stop is closed (false). n must be at least 1.
func (s *slotRing) wait(n int, stop <-chan struct{}) bool {
	want := int64(s.head) + int64(n)
	s.waiting.Store(want)
	// Slots may have become free between the caller's last look and the line above. Then put saw nobody waiting, and no other
	// put may ever come to wake us.
	if int64(s.tail.Load()) >= want && s.waiting.CompareAndSwap(want, 0) {
		return true
	}
	select {
	case <-s.wake:
		return true
	case <-stop:
		if !s.waiting.CompareAndSwap(want, 0) {
			<-s.wake // put has reset waiting and is about to wake us; the wake-up must not be left for the next wait
		}
		return false
	}
}

// inFlight lists the slots that are not free. Only the producing goroutine may call it, or one that has waited for its end.
func (s *slotRing) inFlight() []uint32 {
	free := make([]bool, s.n)
	for position := s.head; position < s.head+uint64(len(s.ring)); position++ {
		if v := s.ring[position&s.mask].Load(); uint32(v>>32) == uint32(position) {
			free[uint32(v)] = true
		}
	}
	var out []uint32
	for i := range s.n {
		if !free[i] {
			out = append(out, uint32(i))
		}
	}
	return out
}
