package jetstream

import (
	"sync"

	"github.com/brokermark/brokermark/brokers/internal/spans"
)

// sequences are the places in a stream whose messages one subscription has delivered, for all its consumers. Exactly-once and
// at-most-once need them: the server keeps deliveries and confirmed acknowledgements in memory only, and if it is killed within
// about a second, it delivers the message again, with a new count of deliveries.
type sequences struct {
	mu     sync.Mutex
	places spans.Set
	latest int64 // when the newest of them was stored
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

// first reports whether a message comes for the first time. A message newer than all others is in another stream, as in course.
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
