package socket

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"time"
)

// meter counts the writes that reach the connection and hands their bytes on.
type meter struct {
	net.Conn
	mu     sync.Mutex
	writes [][]byte
}

func (m *meter) Write(p []byte) (int, error) {
	m.mu.Lock()
	m.writes = append(m.writes, bytes.Clone(p))
	m.mu.Unlock()
	return m.Conn.Write(p)
}

func (m *meter) seen() (sizes []int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range m.writes {
		sizes = append(sizes, len(w))
	}
	return sizes
}

// piped is a coalescer whose other end is read into got; close ends the reading.
func piped(t *testing.T, size int) (c *Coalescer, m *meter, received func() []byte) {
	t.Helper()
	near, far := net.Pipe()
	m = &meter{Conn: near}
	c = NewCoalescer(m, size, 0)
	all := make(chan []byte, 1)
	go func() {
		b, _ := io.ReadAll(far)
		all <- b
	}()
	return c, m, func() []byte {
		_ = c.Close()
		return <-all
	}
}

func put(t *testing.T, c *Coalescer, n int, b byte) []byte {
	t.Helper()
	p := bytes.Repeat([]byte{b}, n)
	if k, err := c.Write(p); k != n || err != nil {
		t.Fatalf("write of %d bytes: %d, %v", n, k, err)
	}
	return p
}

func TestCoalescerWritesInOrderAndInFewWrites(t *testing.T) {
	for _, tc := range []struct {
		name   string
		size   int
		held   []int
		writes []int // after release
	}{
		{"nothing gathered, nothing written", 100, nil, nil},
		{"no buffer: each write goes through", 0, []int{10, 20}, []int{10, 20}},
		{"small writes become one", 100, []int{10, 20, 30}, []int{60}},
		{"a full buffer goes first", 100, []int{60, 40, 1}, []int{100, 1}},
		{"what does not fit goes next", 100, []int{60, 50}, []int{60, 50}},
		{"what is larger than the buffer keeps its place", 100, []int{10, 101, 10}, []int{10, 101, 10}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, m, received := piped(t, tc.size)
			var want []byte
			c.Hold()
			for i, n := range tc.held {
				want = append(want, put(t, c, n, byte('a'+i))...)
			}
			if err := c.Release(); err != nil {
				t.Fatal(err)
			}
			if got := m.seen(); !slices.Equal(got, tc.writes) {
				t.Errorf("writes of %v bytes, want %v", got, tc.writes)
			}
			want = append(want, put(t, c, 5, 'z')...)
			if got := m.seen(); len(got) != len(tc.writes)+1 {
				t.Errorf("a write after release was held back: %v", got)
			}
			if got := received(); !bytes.Equal(got, want) {
				t.Errorf("the other end read %q, want %q", got, want)
			}
		})
	}
}

func TestCoalescerKeepsConcurrentWritesWhole(t *testing.T) {
	c, _, received := piped(t, 64)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() { // a heartbeat, say, while a batch is published
			for range 200 {
				put(t, c, 10, byte('a'+i))
			}
		})
	}
	for range 100 {
		c.Hold()
		put(t, c, 10, 'p')
		if err := c.Release(); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
	got := received()
	if len(got) != 4*200*10+100*10 {
		t.Fatalf("%d bytes arrived", len(got))
	}
	for i := 0; i < len(got); i += 10 {
		if !bytes.Equal(got[i:i+10], bytes.Repeat(got[i:i+1], 10)) {
			t.Fatalf("writes are mixed at byte %d: %q", i, got[i:i+10])
		}
	}
}

func TestCoalescerFailsForGoodOnceAWriteFailed(t *testing.T) {
	near, far := net.Pipe()
	c := NewCoalescer(near, 100, 0)
	c.Hold()
	put(t, c, 10, 'a')
	_ = far.Close()
	if err := c.Release(); err == nil {
		t.Fatal("release reported no error though the other end is gone")
	}
	if _, err := c.Write([]byte("b")); err == nil {
		t.Error("a write after a failed one reported no error")
	}
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is still open for the reader")
	}
}

func TestCoalescerCloseFreesABlockedRelease(t *testing.T) {
	near, far := net.Pipe() // nobody reads far
	defer far.Close()
	c := NewCoalescer(near, 100, 0)
	c.Hold()
	put(t, c, 10, 'a')
	freed := make(chan error, 1)
	go func() { freed <- c.Release() }()
	_ = c.Close()
	if err := <-freed; err == nil {
		t.Error("release of a closed connection reported no error")
	}
}

func TestCoalescerKeepsTheDeadlineForClosing(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	c := NewCoalescer(near, 100, 0)
	if err := c.SetReadDeadline(time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := c.SetDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(time.Hour)); err != nil { // a late frame
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read: %v, want it to end at the deadline for closing", err)
	}
}

func TestCoalescerHoldsNothingBackForLongWhereTheClientMayWait(t *testing.T) {
	near, far := net.Pipe()
	c := NewCoalescer(near, 100, time.Millisecond)
	read := make(chan error, 1)
	go func() { // before the write, which waits for it if the pause ends between Hold and Write
		_, err := io.ReadFull(far, make([]byte, 10))
		read <- err
	}()
	c.Hold()
	put(t, c, 10, 'a')
	if err := <-read; err != nil { // without a Release
		t.Error(err)
	}
	_ = c.Close()
}

func TestCoalescerIsReleasedByItsTimerOnlyWhileHolding(t *testing.T) {
	for range 1000 { // the race detector tells
		near, far := net.Pipe()
		_ = NewCoalescer(near, 100, time.Nanosecond)
		_ = far.Close()
	}
}

func TestAPlainConnectionIsTheClientsOwn(t *testing.T) {
	near, far := net.Pipe()
	m := &meter{Conn: near}
	c := Plain(m)
	go func() { _, _ = io.Copy(io.Discard, far) }()
	c.Hold()
	put(t, c, 10, 'a')
	put(t, c, 20, 'b')
	if got := m.seen(); !slices.Equal(got, []int{10, 20}) {
		t.Errorf("writes of %v bytes, want each by itself", got)
	}
	if err := c.Release(); err != nil {
		t.Error(err)
	}
	past := time.Now().Add(-time.Second)
	if err := errors.Join(c.SetReadDeadline(time.Now().Add(time.Hour)), c.SetReadDeadline(past), c.SetWriteDeadline(past)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte("late")); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a write after its deadline: %v", err)
	}
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a read after its deadline: %v", err)
	}
}
