package worker

import (
	"math/bits"
	"sync/atomic"
)

// slots hands out the fixed set of in-flight slots of one producer. take and wait belong to the producing goroutine;
// put may be called from any goroutine.
//
// Free slots sit in a ring that can hold all of them, so put never finds it full: a writer claims a place with one
// add and stores slot+1 there; the reader empties the place it reads. 0 marks a place that is claimed but not yet
// written.
type slots struct {
	ring    []atomic.Uint32
	n       int
	mask    uint64
	head    uint64 // next place to read
	_       [48]byte
	tail    atomic.Uint64 // next place to write
	_       [48]byte
	waiting atomic.Int64 // 0: nobody waits; else: tail at which to wake
	wake    chan struct{}
}

func newSlots(n int) *slots {
	size := 1 << bits.Len(uint(n-1))
	s := &slots{ring: make([]atomic.Uint32, size), n: n, mask: uint64(size - 1), wake: make(chan struct{}, 1)}
	for i := range n {
		s.ring[i].Store(uint32(i) + 1)
	}
	s.tail.Store(uint64(n))
	return s
}

// take fills into with free slots and returns how many there were; it never waits.
func (s *slots) take(into []uint32) int {
	for i := range into {
		place := &s.ring[s.head&s.mask]
		slot := place.Load()
		if slot == 0 {
			return i
		}
		place.Store(0)
		into[i] = slot - 1
		s.head++
	}
	return len(into)
}

// put frees slots.
func (s *slots) put(free []uint32) {
	at := s.tail.Add(uint64(len(free))) - uint64(len(free))
	for i, slot := range free {
		s.ring[(at+uint64(i))&s.mask].Store(slot + 1)
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

// taken lists the slots that are in flight.
func (s *slots) taken() []uint32 {
	free := make([]bool, len(s.ring))
	for i := range s.ring {
		if slot := s.ring[i].Load(); slot != 0 {
			free[slot-1] = true
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
