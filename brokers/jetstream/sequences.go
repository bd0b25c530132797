package jetstream

import (
	"sync"

	"github.com/brokermark/brokermark/brokers/internal/spans"
)

// sequences are the places in a stream whose messages one subscription has delivered, where its consumers share them.
// Exactly-once needs them, and at-most-once: what the server has delivered, and a confirmed acknowledgement, is in its
// memory only, and one that is killed within about a second delivers the message again, under a new count of deliveries.
type sequences struct {
	mu     sync.Mutex
	places spans.Set
	latest int64 // when the latest of them was stored
}

func (s *session) sequences(subject, durable string) *sequences {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := subject + " " + durable
	if s.seen[key] == nil {
		s.seen[key] = &sequences{}
	}
	return s.seen[key]
}

// first reports whether a message comes for the first time. One that was stored later than any is in another stream, as
// for course.
func (q *sequences) first(at place) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.places.Add(at.stream) {
		if at.stored <= q.latest {
			return false
		}
		q.places.Clear()
		q.places.Add(at.stream)
	}
	q.latest = max(q.latest, at.stored)
	return true
}
