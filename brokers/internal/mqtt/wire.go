package mqtt

import (
	"bufio"
	"net"
	"sync"
)

// buffer is what one read or write of the socket may carry. The client itself reads a packet in three system calls
// and writes one in up to five.
const buffer = 64 << 10

// wire is the net.Conn under the client. The client locks it around every packet it writes; a packet leaves at the
// unlock, or, between hold and release, in as few writes as the buffer allows.
type wire struct {
	net.Conn
	mu   sync.Mutex
	in   *bufio.Reader
	out  *bufio.Writer
	held bool
	idle func() // before a read that may wait: everything that was read has been handled
}

func newWire(c net.Conn, idle func()) *wire {
	return &wire{Conn: c, in: bufio.NewReaderSize(c, buffer), out: bufio.NewWriterSize(c, buffer), idle: idle}
}

// plainWire leaves reads and writes to the client; its lock is the one that the client's own NewThreadSafeConn has.
func plainWire(c net.Conn) *wire { return &wire{Conn: c} }

func (w *wire) Read(p []byte) (int, error) {
	if w.in == nil {
		return w.Conn.Read(p)
	}
	if w.in.Buffered() == 0 {
		w.idle()
	}
	return w.in.Read(p)
}

// Lock and Unlock implement sync.Locker, which the client looks for.
func (w *wire) Lock() { w.mu.Lock() }

// Unlock ends a packet.
func (w *wire) Unlock() {
	if w.out != nil && !w.held {
		w.flush()
	}
	w.mu.Unlock()
}

// Write is called with the lock held.
func (w *wire) Write(p []byte) (int, error) {
	if w.out == nil {
		return w.Conn.Write(p)
	}
	return w.out.Write(p)
}

// hold begins to gather packets.
func (w *wire) hold() {
	w.mu.Lock()
	w.held = true
	w.mu.Unlock()
}

// release sends the gathered bytes.
func (w *wire) release() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = false
	return w.flush()
}

// flush closes a broken connection, so that the client's reader learns of it at once.
func (w *wire) flush() error {
	err := w.out.Flush()
	if err != nil {
		_ = w.Conn.Close()
	}
	return err
}

// answer gathers a packet that has nothing but an identifier, until push.
func (w *wire) answer(head byte, id uint16) {
	w.mu.Lock()
	_, _ = w.out.Write([]byte{head, 2, byte(id >> 8), byte(id)})
	w.mu.Unlock()
}

// push sends the answers.
func (w *wire) push() {
	w.mu.Lock()
	_ = w.flush()
	w.mu.Unlock()
}

// The first bytes of answers.
const (
	puback  = 0x40
	pubrec  = 0x50
	pubrel  = 0x62
	pubcomp = 0x70
)
