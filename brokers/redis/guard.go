package redis

import (
	"bytes"
	"fmt"
	"strconv"
)

// guard reads along what an attached server answers, and bounds what its answers announce: the client makes room for an array before any of
// its elements has come, and for a line until it ends. It follows the protocol (https://redis.io/docs/latest/develop/reference/protocol-spec/).
type guard struct {
	bulk     int64  // bytes of a value that are still to come, with the end of its line
	elements int64  // announced, and still to come
	line     int    // bytes of the head that is being read
	head     []byte // the first of them
}

const (
	mostElements = 4 << 20   // of an answer, nested ones included: one of 100,000 messages has 600,000
	mostValue    = 512 << 20 // bytes, as Redis bounds its own
	mostLine     = 64 << 10  // bytes of a head, an error or a status
	headRoom     = 24        // bytes in which a number ends
)

// take is given all bytes in the order in which they come. After an error the connection is of no use.
func (g *guard) take(p []byte) error {
	for len(p) > 0 {
		if g.bulk > 0 {
			n := min(g.bulk, int64(len(p)))
			g.bulk, p = g.bulk-n, p[n:]
			continue
		}
		end := bytes.IndexByte(p, '\n') + 1
		ended := end > 0
		if !ended {
			end = len(p)
		}
		g.head = append(g.head, p[:min(end, headRoom-len(g.head))]...)
		if g.line += end; g.line > mostLine {
			return fmt.Errorf("redis: the server's answer has a line of more than %d bytes", mostLine)
		}
		p = p[end:]
		if ended {
			if err := g.announced(); err != nil {
				return err
			}
			g.head, g.line = g.head[:0], 0
		}
	}
	return nil
}

// announced books the head of a value.
func (g *guard) announced() error {
	g.elements = max(0, g.elements-1)
	n, _ := strconv.ParseInt(string(bytes.TrimSpace(g.head[1:])), 10, 64) // of what has no number 0
	switch kind := g.head[0]; {
	case n <= 0:
	case kind == '$' || kind == '=' || kind == '!':
		if n > mostValue {
			return fmt.Errorf("redis: the server announces a value of %d bytes; allowed: up to %d", n, mostValue)
		}
		g.bulk = n + 2
	case kind == '%' || kind == '|':
		n = min(n, mostElements) * 2
		fallthrough
	case kind == '*' || kind == '~' || kind == '>':
		if g.elements += min(n, mostElements+1); g.elements > mostElements {
			return fmt.Errorf("redis: the server announces an answer of more than %d elements", mostElements)
		}
	}
	return nil
}
