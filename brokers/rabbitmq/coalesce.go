package rabbitmq

import (
	"bufio"
	"net"
	"sync"
	"time"
)

// readBuffer is what one read from the socket may bring. The client reads through 4 KiB of its own, which at small
// messages is a system call for every twenty of them.
const readBuffer = 64 << 10

// coalescer is the net.Conn under the client. The client ends every publish with a write; between hold and release
// those writes are gathered, and reach the socket in as few system calls as the buffer allows:
//
//	hold   publish publish publish   release
//	         |copy   |copy   |copy     |one write
//
// Outside of hold and release every write goes straight through, so acknowledgements, heartbeats and the closing
// handshake are never delayed. Safe for concurrent use, except that Read belongs to one goroutine.
type coalescer struct {
	net.Conn
	in *bufio.Reader

	mu      sync.Mutex // held while writing: keeps the order of bytes, also when a write blocks
	out     []byte     // only filled while holding
	holding bool
	err     error // the first failed write; the stream is broken after it

	deadlines sync.Mutex
	readBy    time.Time
	final     bool // a deadline for closing is set and must not be moved by a late frame
}

// newCoalescer wraps conn; size 0 gathers nothing.
func newCoalescer(conn net.Conn, size int) *coalescer {
	return &coalescer{Conn: conn, in: bufio.NewReaderSize(conn, readBuffer), out: make([]byte, 0, size)}
}

func (c *coalescer) Read(p []byte) (int, error) { return c.in.Read(p) }

func (c *coalescer) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, c.err
	}
	if c.holding && len(c.out)+len(p) > cap(c.out) {
		c.flush()
	}
	if c.holding && c.err == nil && len(p) <= cap(c.out) {
		c.out = append(c.out, p...)
		return len(p), nil
	}
	if c.err == nil {
		_, c.err = c.Conn.Write(p)
	}
	if c.err != nil {
		return 0, c.err
	}
	return len(p), nil
}

// hold starts gathering writes.
func (c *coalescer) hold() {
	c.mu.Lock()
	c.holding = true
	c.mu.Unlock()
}

// release writes what was gathered and ends the gathering. After an error the connection is closed, so that the
// client's reader learns of it at once instead of at the next heartbeat.
func (c *coalescer) release() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holding = false
	c.flush()
	if c.err != nil {
		_ = c.Close()
	}
	return c.err
}

// flush writes the buffer; the caller holds mu.
func (c *coalescer) flush() {
	if len(c.out) > 0 && c.err == nil {
		_, c.err = c.Conn.Write(c.out)
	}
	c.out = c.out[:0]
}

// SetDeadline sets both deadlines. The client uses it with a time only for its closing handshake: from then on
// SetReadDeadline is ignored. Otherwise a frame that arrives during the handshake would move the deadline out to
// three heartbeats, and closing a connection to a frozen broker would take half a minute.
func (c *coalescer) SetDeadline(t time.Time) error {
	c.deadlines.Lock()
	defer c.deadlines.Unlock()
	c.final, c.readBy = !t.IsZero(), time.Time{}
	return c.Conn.SetDeadline(t)
}

// SetReadDeadline moves the read deadline. The client calls it for every frame it reads, to the same three
// heartbeats from now; a move of less than a second is not worth a timer of the runtime.
func (c *coalescer) SetReadDeadline(t time.Time) error {
	c.deadlines.Lock()
	defer c.deadlines.Unlock()
	moved := t.Sub(c.readBy)
	if c.final || !c.readBy.IsZero() && moved >= 0 && moved < time.Second {
		return nil
	}
	c.readBy = t
	return c.Conn.SetReadDeadline(t)
}
