// Package network passes TCP connections on like a slower network: with a delay, and at most so many bytes per second. It knows
// nothing of the data.
package network

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"

	"github.com/brokermark/brokermark/internal/clock"
)

// Path is the delay and bandwidth in either direction. The zero value passes bytes at once.
type Path struct {
	Delay     time.Duration
	Jitter    time.Duration // the most by which a delay may be longer: drawn evenly; bytes never overtake others
	Bandwidth int64         // bytes per second of each connection and direction; 0: no bound
}

// Proxy listens on the loopback and passes connections on to one address.
type Proxy struct {
	path     Path
	to       string
	listener net.Listener
	alarm    *clock.Alarm
	running  sync.WaitGroup

	mu         sync.Mutex
	open       map[net.Conn]bool
	closed     bool
	directions []*atomic.Int64 // ns that each direction of each connection took to pass its bytes at the bandwidth
}

// wakeGap is how far apart two wake-ups of a proxy are, at least: it may add that much to a delay.
const wakeGap = 50 * time.Microsecond

// maxSleep bounds one sleep, so that Close need not wait for a long delay.
const maxSleep = 50 * time.Millisecond

// maxConnections bounds the connections that are passed on at a time: any user of this machine may open some. Each may hold 16 MiB under
// way; those of a point are far fewer.
var maxConnections = 4096 // a test has fewer

// Listen starts a proxy to an address, host:port. The caller closes it.
func Listen(to string, path Path) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{path: path, to: to, listener: netutil.LimitListener(l, maxConnections), open: map[net.Conn]bool{}}
	p.alarm = clock.NewAlarm(func() time.Duration { return wakeGap })
	p.running.Go(p.accept)
	return p, nil
}

// Addr is where the proxy listens, host:port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Busy returns for how long each direction of each connection has passed bytes at the bandwidth, in the order in which they began. It only
// grows. Without a bandwidth all are 0.
func (p *Proxy) Busy() []time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	busy := make([]time.Duration, len(p.directions))
	for i, d := range p.directions {
		busy[i] = time.Duration(d.Load())
	}
	return busy
}

// Close ends all connections and blocks until nothing passes any more.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	p.mu.Lock()
	p.closed = true
	for c := range p.open {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.running.Wait()
	p.alarm.Close()
	return err
}

func (p *Proxy) accept() {
	for {
		from, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.running.Go(func() { p.pass(from) })
	}
}

// keep notes a connection for Close; false if the proxy is closed already, and so is the connection then.
func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = c.Close()
		return false
	}
	p.open[c] = true
	return true
}

func (p *Proxy) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

func (p *Proxy) drop(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
	_ = c.Close()
}

// pass passes one connection on until both sides have ended it, or one has failed.
func (p *Proxy) pass(from net.Conn) {
	if !p.keep(from) {
		return
	}
	defer p.drop(from)
	to, err := net.Dial("tcp", p.to)
	if err != nil || !p.keep(to) {
		return
	}
	defer p.drop(to)
	var both sync.WaitGroup
	both.Go(func() { p.carry(from, to) })
	both.Go(func() { p.carry(to, from) })
	both.Wait()
}

// chunk is what one Read returned: of the first n bytes, the last has come at a time.
type chunk struct {
	buffer []byte
	n      int
	at     int64 // ns on the clock's axis
}

// Each direction of a connection holds up to this many chunks under way; a faster sender waits, as for a full window.
const (
	chunks    = 256
	chunkSize = 32 << 10
)

// carry carries one direction until its end, which it passes on as well.
func (p *Proxy) carry(from, to net.Conn) {
	underWay, free, busy := make(chan chunk, chunks), make(chan []byte, chunks), new(atomic.Int64)
	p.mu.Lock()
	p.directions = append(p.directions, busy)
	p.mu.Unlock()
	var writing sync.WaitGroup
	writing.Go(func() { p.deliver(underWay, free, to, busy) })
	made := 0
	for {
		var buffer []byte
		select {
		case buffer = <-free:
		default:
			if made < chunks {
				buffer, made = make([]byte, chunkSize), made+1
			} else {
				buffer = <-free
			}
		}
		n, err := from.Read(buffer)
		if n > 0 {
			underWay <- chunk{buffer, n, clock.Now()}
		}
		if err != nil {
			close(underWay)
			writing.Wait()
			end(to, err)
			return
		}
	}
}

// end passes the end of a direction on: in order, or as a failure that ends both.
func end(to net.Conn, why error) {
	half, ok := to.(interface{ CloseWrite() error })
	if ok && errors.Is(why, io.EOF) && half.CloseWrite() == nil {
		return
	}
	_ = to.Close()
}

// deliver writes chunks when they have arrived. A chunk leaves when the one before it has left and its own bytes have passed at the bandwidth,
// and arrives a delay later. busy grows by the time that its bytes took. After a failed write it only gives the buffers back.
func (p *Proxy) deliver(underWay <-chan chunk, free chan<- []byte, to net.Conn, busy *atomic.Int64) {
	waiter := p.alarm.NewWaiter()
	var left, arrived int64
	failed := false
	for c := range underWay {
		left = max(left, c.at)
		passes := int64(0)
		if p.path.Bandwidth > 0 {
			passes = int64(float64(c.n) / float64(p.path.Bandwidth) * float64(time.Second))
		}
		left += passes
		arrived = max(arrived, left+int64(p.path.Delay))
		if p.path.Jitter > 0 {
			arrived = max(arrived, left+int64(p.path.Delay)+rand.Int64N(int64(p.path.Jitter)))
		}
		if !failed {
			for now := clock.Now(); now < arrived && !p.isClosed(); now = clock.Now() {
				waiter.SleepUntil(min(arrived, now+int64(maxSleep)))
			}
			_, err := to.Write(c.buffer[:c.n])
			failed = err != nil
		}
		busy.Add(passes)
		free <- c.buffer
	}
}
