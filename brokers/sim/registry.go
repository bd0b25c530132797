package sim

import (
	"fmt"
	"sync"
)

var registry = struct {
	sync.Mutex
	brokers map[string]*broker
}{brokers: map[string]*broker{}}

// join finds or makes the broker at address and counts a user.
func join(address string, s settings) (*broker, error) {
	registry.Lock()
	defer registry.Unlock()
	b := registry.brokers[address]
	if b == nil {
		b = newBroker(address, s)
		registry.brokers[address] = b
	}
	if b.isKilled() {
		return nil, fmt.Errorf("sim: nothing answers at %s: the broker was killed", address)
	}
	if b.settings != s {
		return nil, fmt.Errorf("sim: the broker at %s is open with other settings", address)
	}
	if b.users == 0 {
		b.mu.Lock()
		err := b.startServer()
		b.mu.Unlock()
		if err != nil {
			return nil, err
		}
	}
	b.users++
	return b, nil
}

// leave stops the server with the last user. Queued messages stay for the next user of the address.
func (b *broker) leave() {
	registry.Lock()
	defer registry.Unlock()
	if b.users--; b.users > 0 {
		return
	}
	b.server.stop()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.server.waker.close() // under the lock: Kill and Resume may want to wake it
	b.server = nil
	b.memory.free = nil
	if b.waiting == 0 { // an address may never be opened again: keep nothing large for it
		b.memory.open, b.memory.taken = nil, 0
		for _, q := range b.queues {
			q.ring, q.head = nil, 0
		}
	}
}

func at(address string) *broker {
	registry.Lock()
	defer registry.Unlock()
	return registry.brokers[address]
}

// Remove forgets the broker at address and everything in it; the next Open begins with a new one. It must not be open.
func Remove(address string) {
	registry.Lock()
	defer registry.Unlock()
	delete(registry.brokers, address)
}

// Kill ends the broker at address without warning: nothing more is delivered or acknowledged, and no driver can open
// the address any more, until Remove. It reports whether there was one.
func Kill(address string) bool {
	b := at(address)
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	first := !b.isKilled()
	if first {
		close(b.killed)
	}
	b.server.wake()
	return first
}

// Pause freezes the broker at address until Resume. It reports whether there was one to pause.
func Pause(address string) bool {
	b := at(address)
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.paused != 0 {
		return false
	}
	b.paused = now()
	return true
}

// Resume lets the broker at address go on where it stood. It reports whether there was a paused one.
func Resume(address string) bool {
	b := at(address)
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.paused == 0 {
		return false
	}
	b.pauses += now() - b.paused
	b.paused = 0
	b.server.wake()
	return true
}

// Counts are the truth about one broker. Lost, Dropped, Duplicated, Reordered and Corrupted count messages; each
// subscription of the message's topic saw it so.
type Counts struct {
	Arrived    int64 // messages taken from producers
	Failed     int64 // refused with an error
	Lost       int64 // by loss.every
	Dropped    int64 // by queue.limit
	Duplicated int64
	Reordered  int64
	Corrupted  int64
	Delivered  int64 // deliveries handed to consumers, over all subscriptions
	Waiting    int64 // deliveries not yet made
	MaxUnacked int64 // most messages of one producer that were unacknowledged at once

	FirstDeparture int64 // ns of broker time since the first message arrived
	LastDeparture  int64
}

func (s *Counts) arrived(departure int64) {
	if s.Arrived == 0 {
		s.FirstDeparture = departure
	}
	s.Arrived++
	s.LastDeparture = departure
}

// Stats returns the statistics of the broker at address, and whether there is one.
func Stats(address string) (Counts, bool) {
	b := at(address)
	if b == nil {
		return Counts{}, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.stats
	s.Waiting = b.waiting
	return s, true
}
