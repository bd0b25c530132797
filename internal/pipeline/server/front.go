package server

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// front stands before net/http: it answers rides that are posted in plain form itself, at a third of the cost (decision 037), and
// hands every connection on which something else comes over to net/http, with what has come. It is the listener of net/http.
type front struct {
	net.Listener
	limits limits
	server *Server
	handed chan net.Conn
	failed chan error // of the listener
	done   chan struct{}
	close  sync.Once
	all    sync.WaitGroup

	mu     sync.Mutex
	visits map[*visit]struct{}
}

func newFront(l net.Listener, m limits, s *Server) *front {
	f := &front{
		Listener: l, limits: m, server: s, handed: make(chan net.Conn), failed: make(chan error), done: make(chan struct{}),
		visits: map[*visit]struct{}{},
	}
	f.all.Go(f.listen)
	return f
}

func (f *front) listen() {
	for {
		c, err := f.Listener.Accept()
		if err != nil {
			select {
			case f.failed <- err: // net/http takes the next one when it has waited
				continue
			case <-f.done:
				return
			}
		}
		v := &visit{front: f, conn: c, in: make([]byte, longest)}
		f.mu.Lock()
		closed := f.closed()
		if !closed {
			f.visits[v] = struct{}{}
		}
		f.mu.Unlock()
		if closed {
			c.Close()
			continue
		}
		f.all.Go(v.run)
	}
}

// Accept is net/http's: a connection that was handed over.
func (f *front) Accept() (net.Conn, error) {
	select {
	case c := <-f.handed:
		return c, nil
	case err := <-f.failed:
		return nil, err
	case <-f.done:
		return nil, net.ErrClosed
	}
}

// Close refuses new connections and closes those on which nothing is under way.
func (f *front) Close() (err error) {
	f.close.Do(func() {
		close(f.done) // before visits are gone through: whoever comes later finds it closed
		err = f.Listener.Close()
		f.mu.Lock()
		defer f.mu.Unlock()
		for v := range f.visits {
			if v.state.CompareAndSwap(idle, gone) {
				v.conn.Close()
			}
		}
	})
	return err
}

// cut closes what is still under way.
func (f *front) cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for v := range f.visits {
		v.conn.Close()
	}
}

// wait returns when the last request has its answer; false: limit was over first.
func (f *front) wait(limit <-chan struct{}) bool {
	over := make(chan struct{})
	go func() { f.all.Wait(); close(over) }()
	select {
	case <-over:
		return true
	case <-limit:
		return false
	}
}

func (f *front) closed() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

// The states of a visit. Whoever closes the front closes idle ones; what has begun goes on until it is answered.
const (
	idle int32 = iota
	busy
	gone
)

const (
	longest = 2 << 10 // a plain request, head and body
	// pieces is how long the rest of a request that came in pieces is waited for before net/http has it.
	pieces = 100 * time.Millisecond
)

// visit is one connection.
type visit struct {
	front *front
	conn  net.Conn
	state atomic.Int32
	in    []byte
	n     int // bytes in it
	reads time.Time
	write time.Time

	message, out []byte
}

func (v *visit) run() {
	keep := v.talk()
	v.front.mu.Lock()
	delete(v.front.visits, v)
	v.front.mu.Unlock()
	if !keep {
		v.conn.Close()
	}
}

// talk answers request after request; true: the connection was handed over.
func (v *visit) talk() (handed bool) {
	wait := v.front.limits.header
	for {
		p, f := scan(v.in[:v.n])
		switch {
		case f == other, f == part && v.n == len(v.in):
			return v.handOver()
		case f == part && !v.more(wait):
			return v.n > 0 && v.handOver()
		case f == part:
			continue
		}
		of, valid := p.ride()
		if !valid {
			return v.handOver()
		}
		if !v.answer(of.Append(v.message[:0])) {
			return false
		}
		v.n = copy(v.in, v.in[p.length:v.n])
		wait = v.front.limits.idle
	}
}

// more reads what comes next: the beginning of a request within wait, or the rest of one soon.
func (v *visit) more(wait time.Duration) bool {
	if v.n > 0 {
		if time.Until(v.reads) > pieces {
			v.reads = time.Now().Add(pieces)
			_ = v.conn.SetReadDeadline(v.reads)
		}
		n, err := v.conn.Read(v.in[v.n:])
		v.n += n
		return err == nil
	}
	v.state.Store(idle)
	if v.front.closed() {
		return false
	}
	if until := time.Now().Add(wait); until.Sub(v.reads).Abs() > min(time.Second, wait/8) { // not for every request
		v.reads = until
		_ = v.conn.SetReadDeadline(until)
	}
	n, err := v.conn.Read(v.in)
	if !v.state.CompareAndSwap(idle, busy) {
		return false
	}
	v.n = n
	return n > 0 && err == nil
}

// handOver gives the connection to net/http as if nothing of the request had been read.
func (v *visit) handOver() bool {
	_ = v.conn.SetDeadline(time.Time{})
	select {
	case v.front.handed <- &replayed{v.conn, io.MultiReader(bytes.NewReader(v.in[:v.n]), v.conn)}:
		return true
	case <-v.front.done:
		return false
	}
}

// answer publishes a ride and says what came of it; false: the connection is to be closed.
func (v *visit) answer(message []byte) bool {
	s := v.front.server
	v.message = message
	s.requests.Add(1)
	err := s.to.Publish(message)
	closing := v.front.closed()
	if err != nil {
		w := &written{head: http.Header{}}
		unpublished(w, err)
		closing = closing || w.head.Get("Connection") != ""
		v.out = w.append(v.out[:0], closing)
	} else {
		s.accepted.Add(1)
		v.out = append(append(v.out[:0], taken...), date()...)
		if closing {
			v.out = append(v.out, lastOne...)
		}
		v.out = append(append(v.out, headEnd...), created...)
	}
	if now := time.Now(); v.write.Sub(now) < v.front.limits.write/2 {
		v.write = now.Add(v.front.limits.write)
		_ = v.conn.SetWriteDeadline(v.write)
	}
	_, err = v.conn.Write(v.out)
	return err == nil && !closing
}

// replayed is a connection of which something was read, which from has first.
type replayed struct {
	net.Conn
	from io.Reader
}

func (r *replayed) Read(b []byte) (int, error) { return r.from.Read(b) }
