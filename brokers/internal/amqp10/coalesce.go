package amqp10

import (
	"bufio"
	"net"
	"sync"
	"time"
)

const (
	readBuffer = 64 << 10
	// heldAtMost bounds how long a gathered write may wait for release. Between hold and release the client may have
	// to wait for the broker's credit, which the broker grants only for messages that it has seen.
	heldAtMost = 100 * time.Microsecond
)

// coalescer is the net.Conn under the client, which ends every frame with a write of its own. Between hold and
// release those writes are gathered:
//
//	hold   transfer transfer transfer   release
//	         |copy    |copy    |copy      |one write
//
// Outside of hold and release every write goes straight through. Safe for concurrent use, except that Read belongs
// to one goroutine.
type coalescer struct {
	net.Conn
	in *bufio.Reader

	mu      sync.Mutex // held while writing: keeps the order of bytes, also when a write blocks
	out     []byte     // only filled while holding
	holding bool
	err     error // the first failed write; the stream is broken after it
	due     *time.Timer

	deadlines sync.Mutex
	readBy    time.Time
}

// newCoalescer wraps conn; size 0 gathers nothing.
func newCoalescer(conn net.Conn, size int) *coalescer {
	c := &coalescer{Conn: conn, in: bufio.NewReaderSize(conn, readBuffer), out: make([]byte, 0, size)}
	c.due = time.AfterFunc(time.Hour, func() { _ = c.release() })
	c.due.Stop()
	return c
}

func (c *coalescer) Read(p []byte) (int, error) { return c.in.Read(p) }

// Write takes one frame.
func (c *coalescer) Write(p []byte) (int, error) {
	frame := withOutcomes(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holding && len(c.out)+len(frame) > cap(c.out) {
		c.flush()
	}
	if c.holding && c.err == nil && len(frame) <= cap(c.out) {
		c.out = append(c.out, frame...)
		return len(p), nil
	}
	if c.err == nil {
		_, c.err = c.Conn.Write(frame)
	}
	if c.err != nil {
		return 0, c.err
	}
	return len(p), nil
}

// hold starts gathering writes, for heldAtMost.
func (c *coalescer) hold() {
	c.mu.Lock()
	c.holding = true
	c.mu.Unlock()
	c.due.Reset(heldAtMost)
}

// release writes what was gathered and ends the gathering. After an error the connection is closed, so that the
// client learns of it at once.
func (c *coalescer) release() error {
	c.due.Stop()
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

// SetWriteDeadline does nothing: the client sets one for every frame, and whoever waits for a blocked write cuts the
// connection.
func (c *coalescer) SetWriteDeadline(time.Time) error { return nil }

// SetReadDeadline moves the read deadline. The client calls it for every read, to the same time from now; a move of
// less than a second is not worth a timer of the runtime.
func (c *coalescer) SetReadDeadline(t time.Time) error {
	c.deadlines.Lock()
	defer c.deadlines.Unlock()
	moved := t.Sub(c.readBy)
	if !c.readBy.IsZero() && moved >= 0 && moved < time.Second {
		return nil
	}
	c.readBy = t
	return c.Conn.SetReadDeadline(t)
}
