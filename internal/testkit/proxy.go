package testkit

import (
	"net"
	"sync"
	"testing"
)

// Proxy passes TCP connections on, and can be told not to: a network between two processes that fails on request.
type Proxy struct {
	Addr string // where it listens, on the loopback

	to       string
	listener net.Listener

	mu    sync.Mutex
	open  chan struct{} // closed while bytes pass
	conns map[net.Conn]bool
	ended bool
}

// NewProxy starts a proxy to the address, which ends with the test.
func NewProxy(t testing.TB, to string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Addr: l.Addr().String(), to: to, listener: l, open: make(chan struct{}), conns: map[net.Conn]bool{}}
	close(p.open)
	go p.accept()
	t.Cleanup(p.end)
	return p
}

// Cut stops all traffic, as lost packets do: connections stay, and data under way arrives after Heal.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.open:
		p.open = make(chan struct{})
	default: // it is cut
	}
}

// Heal ends a Cut, if there is one.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.open:
	default:
		close(p.open)
	}
}

// Reset ends all connections, as a firewall does that has forgotten them; new ones are made as long as nothing is cut.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
}

func (p *Proxy) end() {
	_ = p.listener.Close()
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	p.Reset()
	p.Heal()
}

// gate is closed while bytes pass.
func (p *Proxy) gate() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open
}

func (p *Proxy) accept() {
	for {
		from, err := p.listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer p.own(from)()
			<-p.gate()
			to, err := net.Dial("tcp", p.to)
			if err != nil {
				return
			}
			defer p.own(to)()
			var both sync.WaitGroup
			both.Go(func() { p.pass(from, to) })
			both.Go(func() { p.pass(to, from) })
			both.Wait()
		}()
	}
}

// own keeps a connection for Reset, and closes it when the returned function is called.
func (p *Proxy) own(c net.Conn) (drop func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[c] = true
	if p.ended {
		_ = c.Close()
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, c)
		_ = c.Close()
	}
}

// pass copies until one side ends, and then ends the other.
func (p *Proxy) pass(from, to net.Conn) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		<-p.gate()
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
