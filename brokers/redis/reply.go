package redis

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// message is one entry of a stream: its parts are slices of the reply.
type message struct {
	id, payload []byte
	headers     []byte // the encoded fields before the payload
}

// header returns a header's value; nil if there is none of that name.
func (m *message) header(name string) []byte {
	for p := (parser{rest: m.headers}); len(p.rest) > 0 && p.err == nil; {
		field, value := p.bulk(), p.bulk()
		if own, ok := bytes.CutPrefix(field, []byte(headerPrefix)); ok && string(own) == name {
			return value
		}
	}
	return nil
}

var errReply = errors.New("an unexpected reply of XREADGROUP")

// parser parses a reply of XREADGROUP:
//
//	*streams ( *2 $name *entries ( *2 $id *fields ( $field $value … ) ) … ) …
//
// The client's own result is a map per message, which costs more than everything else in consuming it.
type parser struct {
	rest []byte
	err  error
}

// each calls f with every stream that has messages; the slice is reused. A nil reply (timeout) has none.
func (p *parser) each(room []message, f func(stream []byte, list []message)) error {
	for streams := p.count(); streams > 0 && p.err == nil; streams-- { // a wrong count must not be trusted
		p.count()
		name := p.bulk()
		room = room[:0]
		for entries := p.count(); entries > 0 && p.err == nil; entries-- {
			p.count()
			m := message{id: p.bulk()}
			// An entry that was trimmed while it was pending is nil.
			fields := p.count()
			for first := p.rest; fields > 0 && p.err == nil; fields -= 2 {
				m.headers = first[:len(first)-len(p.rest)]
				p.bulk()
				m.payload = p.bulk()
			}
			room = append(room, m)
		}
		if p.err != nil {
			return p.err
		}
		if len(room) > 0 {
			f(name, room)
		}
	}
	return p.err
}

// count reads the head of an array; 0 for nil.
func (p *parser) count() int { return max(0, p.head('*')) }

func (p *parser) bulk() []byte {
	n := p.head('$')
	if n < 0 || p.err != nil {
		return nil
	}
	if len(p.rest)-2 < n {
		p.err = errReply
		return nil
	}
	b := p.rest[:n]
	p.rest = p.rest[n+2:]
	return b
}

func (p *parser) head(kind byte) int {
	if p.err != nil {
		return 0
	}
	line, rest, ok := bytes.Cut(p.rest, []byte("\r\n"))
	if !ok || len(line) < 2 {
		p.err = errReply
		return 0
	}
	p.rest = rest
	if line[0] == '-' {
		p.err = replied(line[1:])
		return 0
	}
	n, err := strconv.Atoi(string(line[1:])) // does not escape: not allocated
	if line[0] != kind || err != nil {
		p.err = fmt.Errorf("%w: %q", errReply, line)
		return 0
	}
	return n
}

// replied is an error reply of the server.
type replied string

func (e replied) Error() string { return string(e) }

// RedisError implements redis.Error.
func (replied) RedisError() {}
