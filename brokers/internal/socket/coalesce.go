package socket

import (
	"bufio"
	"net"
	"sync"
	"time"
)

// readBuffer is what one read from the socket may bring. Clients have a buffer of some KiB, which for small messages means
// a system call for every twenty of them.
const readBuffer = 64 << 10

// Coalescer is the net.Conn under a client that ends every publish with a write; between Hold and Release those writes
// are gathered, and reach the socket in as few system calls as the buffer allows:
//
//	Hold   publish publish publish   Release
//	         |copy   |copy   |copy     |one write
//
// Outside of Hold and Release every write goes straight through, so acknowledgements, heartbeats and the closing
// handshake are never delayed. Safe for concurrent use, except that Read belongs to one goroutine.
type Coalescer struct {
	net.Conn
	in *bufio.Reader // nil: this is a Plain one

	mu      sync.Mutex    // held while writing: keeps the order of bytes, also when a write blocks
	out     []byte        // only filled while holding
	holding int           // between Hold and Release: producers that share the connection hold it at once
	err     error         // the first failed write; the stream is broken after it
	longest time.Duration // to hold; 0: until Release
	due     *time.Timer   // nil unless longest is set

	deadlines sync.Mutex
	readBy    time.Time
	final     bool // a deadline for closing is set and must not be moved by a late frame
}

// NewCoalescer wraps conn; size 0 gathers nothing. Gathered bytes wait for Release, but no longer than longest unless that
// is 0: a client that waits for the broker between Hold and Release needs them to be sent.
func NewCoalescer(conn net.Conn, size int, longest time.Duration) *Coalescer {
	c := &Coalescer{Conn: conn, in: bufio.NewReaderSize(conn, readBuffer), out: make([]byte, 0, size), longest: longest}
	if longest > 0 {
		c.due = time.AfterFunc(time.Hour, func() { _ = c.Release() }) // until Hold sets it; it must not fire before it is stopped
		c.due.Stop()
	}
	return c
}

// Plain wraps conn and leaves reads, writes and deadlines to the client, except for the deadline for closing.
func Plain(conn net.Conn) *Coalescer { return &Coalescer{Conn: conn} }

// Read implements net.Conn.
func (c *Coalescer) Read(p []byte) (int, error) {
	if c.in == nil {
		return c.Conn.Read(p)
	}
	return c.in.Read(p)
}

// Write implements net.Conn. After an error every later write returns the same.
func (c *Coalescer) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holding > 0 && len(c.out)+len(p) > cap(c.out) {
		c.flush()
	}
	if c.holding > 0 && c.err == nil && len(p) <= cap(c.out) {
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

// Hold starts gathering writes.
func (c *Coalescer) Hold() {
	if c.in == nil {
		return
	}
	c.mu.Lock()
	c.holding++
	c.mu.Unlock()
	if c.due != nil {
		c.due.Reset(c.longest)
	}
}

// Release writes what all callers have gathered, and ends the caller's gathering. After an error the connection is closed,
// so that the client's reader learns of it at once instead of at the next heartbeat.
func (c *Coalescer) Release() error {
	if c.due != nil {
		c.due.Stop()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holding = max(0, c.holding-1)
	c.flush()
	if c.err != nil {
		_ = c.Close()
	}
	return c.err
}

// flush writes the buffer; the caller holds mu.
func (c *Coalescer) flush() {
	if len(c.out) > 0 && c.err == nil {
		_, c.err = c.Conn.Write(c.out)
	}
	c.out = c.out[:0]
}

// SetDeadline sets both deadlines. Clients use it with a time only for handshakes: until it is taken back
// SetReadDeadline is ignored. Otherwise a frame that arrives during the closing handshake would move the deadline out
// to several heartbeats, and closing a connection to a frozen broker would take half a minute.
func (c *Coalescer) SetDeadline(t time.Time) error {
	c.deadlines.Lock()
	defer c.deadlines.Unlock()
	c.final, c.readBy = !t.IsZero(), time.Time{}
	return c.Conn.SetDeadline(t)
}

// SetReadDeadline moves the read deadline. Clients call it for every frame they read, to the same time from now; a move
// of less than a second is not worth a timer of the runtime.
func (c *Coalescer) SetReadDeadline(t time.Time) error {
	c.deadlines.Lock()
	defer c.deadlines.Unlock()
	moved := t.Sub(c.readBy)
	if c.final || c.in != nil && !c.readBy.IsZero() && moved >= 0 && moved < time.Second {
		return nil
	}
	c.readBy = t
	return c.Conn.SetReadDeadline(t)
}

// SetWriteDeadline does nothing, unless this is a Plain one: some clients set one for every frame, and a Watch cuts the
// connection under a write that is blocked.
func (c *Coalescer) SetWriteDeadline(t time.Time) error {
	if c.in == nil {
		return c.Conn.SetWriteDeadline(t)
	}
	return nil
}
