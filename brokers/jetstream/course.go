package jetstream

import (
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// place is where a message stands.
type place struct {
	stream uint64 // in its stream, from 1
	flow   uint64 // among what its consumer was sent since it was made or set back, from 1
	stored int64  // when, in nanoseconds since 1970
}

// placeOf reads what the subject of an acknowledgement says of its message, as Metadata does, without making an object
// of it:
//
//	$JS.ACK.[<domain>.<account>.]<stream>.<consumer>.<delivered>.<place in the stream>.<in the flow>.<stored>.<pending>…
func placeOf(reply string) (place, error) {
	before := 5
	if strings.Count(reply, ".") > 8 {
		before = 7
	}
	rest := reply
	for range before {
		rest = rest[strings.IndexByte(rest, '.')+1:]
	}
	var p place
	var stored uint64
	ok := [3]bool{}
	p.stream, rest, ok[0] = number(rest)
	p.flow, rest, ok[1] = number(rest)
	stored, _, ok[2] = number(rest)
	if p.stored = int64(stored); ok != [3]bool{true, true, true} {
		return place{}, fmt.Errorf("the message's acknowledgement subject %q tells no place in the stream", reply)
	}
	return p, nil
}

// documented is the place as the client itself reads it.
func documented(m jetstream.Msg) (place, error) {
	meta, err := m.Metadata()
	if err != nil {
		return place{}, err
	}
	return place{stream: meta.Sequence.Stream, flow: meta.Sequence.Consumer, stored: meta.Timestamp.UnixNano()}, nil
}

// number reads the first token of a subject; it has no sign, and no more digits than fit.
func number(subject string) (n uint64, rest string, ok bool) {
	for i := range len(subject) {
		c := subject[i]
		if c == '.' {
			return n, subject[i+1:], i > 0 && i < 20
		}
		if c < '0' || c > '9' {
			return 0, "", false
		}
		n = 10*n + uint64(c-'0')
	}
	return 0, "", false
}

// course is how far one subscription has come in its stream: everything before next was delivered, or is gone from the
// stream.
type course struct {
	next   uint64
	latest int64 // when the latest of them was stored
}

type verdict int

const (
	due verdict = iota
	repeated
	early
)

func (s *session) course(subject, durable string, acknowledged uint64) *course {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := subject + " " + durable
	if s.courses[key] == nil {
		c := &course{next: acknowledged + 1}
		if acknowledged > 0 { // by an earlier process
			c.latest = time.Now().UnixNano()
		}
		s.courses[key] = c
	}
	return s.courses[key]
}

// judge tells what a message's place means. The first of a flow is due wherever it stands: a flow begins at next or
// before, so that nothing is left between. A place that was passed already, with a message stored later than any,
// is in another stream of that name: one in memory is empty after its server's restart, and counts from 1.
func (c *course) judge(at place) verdict {
	if at.stream < c.next && at.stored > c.latest {
		c.next = 1
	}
	switch {
	case at.stream < c.next:
		return repeated
	case at.stream == c.next || at.flow == 1:
		return due
	}
	return early
}

func (c *course) pass(at place) {
	c.next, c.latest = at.stream+1, max(c.latest, at.stored)
}
