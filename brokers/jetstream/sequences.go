package jetstream

import "sync"

// sequences are the places in a stream whose messages one subscription has delivered, where its consumers share them.
// Exactly-once needs them, and at-most-once: what the server has delivered, and a confirmed acknowledgement, is in its memory only, and one that is
// killed within about a second delivers the message again, under a new count of deliveries.
type sequences struct {
	mu     sync.Mutex
	all    uint64              // everything up to here
	ahead  map[uint64]struct{} // and these
	latest int64               // when the latest of them was stored
}

func (s *session) sequences(subject, durable string) *sequences {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := subject + " " + durable
	if s.seen[key] == nil {
		s.seen[key] = &sequences{ahead: map[uint64]struct{}{}}
	}
	return s.seen[key]
}

// first tells whether a message comes for the first time. One that was stored later than any is in another stream, as
// for course.
func (q *sequences) first(at place) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, ok := q.ahead[at.stream]; ok || at.stream <= q.all {
		if at.stored <= q.latest {
			return false
		}
		q.all = 0
		clear(q.ahead)
	}
	q.latest = max(q.latest, at.stored)
	q.ahead[at.stream] = struct{}{}
	for {
		if _, ok := q.ahead[q.all+1]; !ok {
			return true
		}
		q.all++
		delete(q.ahead, q.all)
	}
}
