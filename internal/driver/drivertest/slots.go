package drivertest

import (
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// slots lends payload buffers to one producer and checks its promises: each lent slot is completed exactly once, no other slot,
// and none after Close. A buffer is overwritten as soon as its slot is Done, so a driver or client that still reads it delivers
// garbage, which the tally notices.
type slots struct {
	free chan uint32

	mu       sync.Mutex
	payloads [][]byte
	keys     [][]byte
	headers  [][][]byte // nil: messages carry none
	lent     map[uint32]identity
	fates    map[identity]error // of all completed messages
	closed   bool
	fewKeys  int // number of keys in use; 0: as the message's identity says

	faults faults
}

var _ driver.Receipts = (*slots)(nil)

func newSlots(n int, headers bool) *slots {
	s := &slots{
		free: make(chan uint32, n), payloads: make([][]byte, n), keys: make([][]byte, n),
		lent: map[uint32]identity{}, fates: map[identity]error{},
	}
	if headers {
		s.headers = make([][][]byte, n)
	}
	for i := range n {
		s.payloads[i] = make([]byte, largest)
		s.keys[i] = make([]byte, identityBytes)
		s.free <- uint32(i)
	}
	return s
}

// lend waits for a free slot and fills it with the message id.
func (s *slots) lend(id identity, patience time.Duration) (driver.Message, error) {
	var slot uint32
	select {
	case slot = <-s.free:
	case <-time.After(patience):
		return driver.Message{}, fmt.Errorf("no slot was completed for %v; %d are outstanding", patience, s.outstanding())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lent[slot] = id
	m := driver.Message{Slot: slot, Topic: id.topic(), Payload: s.payloads[slot][:id.size()]}
	id.fill(m.Payload)
	if s.headers != nil {
		values := make(driver.Headers, len(sentHeaders))
		for i, name := range sentHeaders {
			values[i] = id.header(name)
		}
		m.Headers, s.headers[slot] = &values, values
	}
	switch {
	case s.fewKeys > 0:
		m.Key = s.keys[slot]
		binary.LittleEndian.PutUint64(m.Key, uint64(id.key(s.fewKeys)))
	case id.keyed():
		m.Key = s.keys[slot]
		copy(m.Key, m.Payload)
	}
	return m, nil
}

// Done implements driver.Receipts.
func (s *slots) Done(done []uint32, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, slot := range done {
		if s.closed {
			s.faults.add("slot %d was completed after Close had returned", slot)
		}
		if int(slot) >= len(s.payloads) {
			s.faults.add("slot %d was completed; there are only %d", slot, len(s.payloads))
			continue
		}
		id, ok := s.lent[slot]
		if !ok {
			s.faults.add("slot %d was completed while it was not lent: twice, or never sent", slot)
			continue
		}
		delete(s.lent, slot)
		s.fates[id] = err
		overwrite(s.payloads[slot][:id.size()])
		overwrite(s.keys[slot])
		if s.headers != nil {
			for _, value := range s.headers[slot] {
				overwrite(value)
			}
		}
		s.free <- slot
	}
}

func (s *slots) outstanding() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.lent)
}

// close notes that the producer's Close has returned: every slot must be complete by now.
func (s *slots) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if len(s.lent) > 0 {
		s.faults.add("%d of %d slots were still not completed when Close returned", len(s.lent), len(s.lent)+len(s.fates))
	}
}

func (s *slots) completed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.fates)
}

// failed counts the messages completed with an error and returns one of the errors.
func (s *slots) failed() (n int, example error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, err := range s.fates {
		if err != nil {
			n, example = n+1, err
		}
	}
	return n, example
}

// eachFate calls f for every completed message.
func (s *slots) eachFate(f func(id identity, err error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, err := range s.fates {
		f(id, err)
	}
}

func overwrite(p []byte) {
	for i := range p {
		p[i] = scribble
	}
}
