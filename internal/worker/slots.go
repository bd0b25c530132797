package worker

import (
	"math/bits"
	"sync/atomic"
)

// slotRing hands out the slots of one client, numbered from 0. Their number is fixed. The sending goroutine takes slots, and any
// goroutine may put them back, without a lock.
//
// Free slots stand in a ring that can hold all of them, so put never finds it full. A writer claims the next position with one
// atomic add and stores the slot there, marked with that position. If the mark of a place isn't the reader's position, the place
// is claimed but not yet written, or was last used in an earlier lap. So nothing has to be cleared.
//
// For example, a ring of 4 places has slots 0 to 3 at positions 0 to 3. After take has read positions 0 and 1, put(1) writes slot
// 1 at position 4, which is place 0. The reader finds it there in its second lap, with mark 4 instead of 0.
type slotRing struct {
	places  []atomic.Uint64 // mark (lower 32 bits of the position) << 32 | slot; a power of two of them
	slots   int             // their number, free or not
	mask    uint64          // number of places - 1
	head    uint64          // next position to read; only the sending goroutine uses it
	_       [48]byte        // head and tail are on cache lines of their own: different threads write them
	tail    atomic.Uint64   // next position to write
	_       [48]byte
	waiting atomic.Int64 // the tail at which wait is to be woken, which is at least 1; 0: no goroutine waits
	wake    chan struct{}
}

func marked(position uint64, slot uint32) uint64 { return position<<32 | uint64(slot) }

// hasMark reports whether a place was written for a position.
func hasMark(place, position uint64) bool { return uint32(place>>32) == uint32(position) }

// newSlotRing makes a ring in which the slots 0 to n-1 are free; n is at least 1.
func newSlotRing(n int) *slotRing {
	size := 1 << bits.Len(uint(n-1))
	s := &slotRing{places: make([]atomic.Uint64, size), slots: n, mask: uint64(size - 1), wake: make(chan struct{}, 1)}
	for i := range s.places {
		s.places[i].Store(marked(^uint64(0), 0)) // a mark that take expects only after 2³² positions, many laps later
	}
	for i := range n {
		s.places[i].Store(marked(uint64(i), uint32(i)))
	}
	s.tail.Store(uint64(n))
	return s
}

// take fills ids with free slots and returns how many there were. It never waits.
func (s *slotRing) take(ids []uint32) int {
	for i := range ids {
		place := s.places[s.head&s.mask].Load()
		if !hasMark(place, s.head) {
			return i
		}
		ids[i] = uint32(place)
		s.head++
	}
	return len(ids)
}

// put frees slots. It never blocks.
func (s *slotRing) put(ids []uint32) {
	end := s.tail.Add(uint64(len(ids)))
	position := end - uint64(len(ids))
	for _, slot := range ids {
		s.places[position&s.mask].Store(marked(position, slot))
		position++
	}
	want := s.waiting.Load()
	enough := want != 0 && int64(end) >= want
	if enough && s.waiting.CompareAndSwap(want, 0) { // another put may be faster, and wakes then
		s.wake <- struct{}{}
	}
}

// wait blocks until at least n slots are free (true) or stop is closed (false). n must be at least 1.
func (s *slotRing) wait(n int, stop <-chan struct{}) bool {
	want := int64(s.head) + int64(n)
	s.waiting.Store(want)
	// Slots may have become free between the caller's last look and the line above. Then put saw no waiting goroutine, and
	// perhaps no other put will come to wake us.
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

// inFlight lists the slots that are not free. Only the sending goroutine may call it, or one that has waited for its end.
func (s *slotRing) inFlight() []uint32 {
	free := make([]bool, s.slots)
	for position := s.head; position < s.head+uint64(len(s.places)); position++ {
		if place := s.places[position&s.mask].Load(); hasMark(place, position) {
			free[uint32(place)] = true
		}
	}
	var inFlight []uint32
	for slot := range s.slots {
		if !free[slot] {
			inFlight = append(inFlight, uint32(slot))
		}
	}
	return inFlight
}
