package worker

import (
	"math/bits"
	"sync/atomic"
)

// slots hands out the fixed set of in-flight slots of one producer. take and wait belong to the producing goroutine;
// put may be called from any goroutine.
//
// Free slots sit in a ring that can hold all of them, so put never finds it full: a writer claims the next position
// with one add and stores the slot there, marked with that position. A place whose mark isn't the reader's position is
// claimed but not yet written, or hasn't been used again since the ring last came round; nothing has to be cleared.
type slots struct {
	ring    []atomic.Uint64 // position (its lower 32 bits) << 32 | slot
	n       int
	mask    uint64
	head    uint64 // next position to read
	_       [48]byte
	tail    atomic.Uint64 // next position to write
	_       [48]byte
	waiting atomic.Int64 // 0: nobody waits; else: tail at which to wake
	wake    chan struct{}
}

func marked(position uint64, slot uint32) uint64 { return position<<32 | uint64(slot) }

func newSlots(n int) *slots {
	size := 1 << bits.Len(uint(n-1))
	s := &slots{ring: make([]atomic.Uint64, size), n: n, mask: uint64(size - 1), wake: make(chan struct{}, 1)}
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
func (s *slots) take(into []uint32) int {
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

// put frees slots.
func (s *slots) put(free []uint32) {
	at := s.tail.Add(uint64(len(free))) - uint64(len(free))
	for i, slot := range free {
		position := at + uint64(i)
		s.ring[position&s.mask].Store(marked(position, slot))
	}
	if want := s.waiting.Load(); want != 0 && int64(at)+int64(len(free)) >= want && s.waiting.CompareAndSwap(want, 0) {
		s.wake <- struct{}{}
	}
}

// wait blocks until at least n slots have become free or stop is closed, and tells which. Waking up for several at
// once keeps a full window from degenerating into batches of one.
func (s *slots) wait(n int, stop <-chan struct{}) bool {
	want := int64(s.head) + int64(n)
	s.waiting.Store(want)
	// Freed between the caller's last look and the line above: nobody else may come to wake us.
	if int64(s.tail.Load()) >= want && s.waiting.CompareAndSwap(want, 0) {
		return true
	}
	select {
	case <-s.wake:
		return true
	case <-stop:
		if !s.waiting.CompareAndSwap(want, 0) {
			<-s.wake // put has taken the order and is about to wake us
		}
		return false
	}
}

// taken lists the slots that are in flight. It belongs to the producing goroutine, or to whoever has waited for its end.
func (s *slots) taken() []uint32 {
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
