package jetstream

import (
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// place is the position of a message.
type place struct {
	stream uint64 // in its stream, from 1
	flow   uint64 // in the deliveries of its consumer since it was made or set back, from 1
	stored int64  // when, in nanoseconds since 1970
}

// placeOf parses the place from the reply subject of a message, as Metadata does, but without allocating:
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
		return place{}, fmt.Errorf("the message's acknowledgement subject %q has no place in the stream", reply)
	}
	return p, nil
}

// documented is the place as the client itself parses it.
func documented(m jetstream.Msg) (place, error) {
	meta, err := m.Metadata()
	if err != nil {
		return place{}, err
	}
	return place{stream: meta.Sequence.Stream, flow: meta.Sequence.Consumer, stored: meta.Timestamp.UnixNano()}, nil
}

// number parses the first token of a subject: digits only, as many as fit.
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

// course is the progress of one subscription in its stream: every message before next was delivered, or is no longer in the
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

// classify returns the verdict on a message by its place. The first message of a flow is due at any place: a flow begins at
// next or before, so no message is skipped. A place that was passed already, with a message newer than all others, is in
// another stream of that name: a stream in memory is empty after a restart of its server, and counts from 1.
func (c *course) classify(at place) verdict {
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
