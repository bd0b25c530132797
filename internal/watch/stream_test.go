package watch

import (
	"bufio"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener to connections in memory, over which no time need pass.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

var errNoMorePipes = errors.New("no more pipes")

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p.conns; ok {
		return c, nil
	}
	<-p.closed
	return nil, net.ErrClosed
}

func (p pipes) Close() error   { close(p.closed); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// openPage connects a page that has asked for its messages.
func openPage(t *testing.T) (*Server, net.Conn) {
	t.Helper()
	p := pipes{conns: make(chan net.Conn, 1), closed: make(chan struct{})}
	page, conn := net.Pipe()
	p.conns <- conn
	close(p.conns)
	s := serve(p, Page(&Follower{}))
	if _, err := io.WriteString(page, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return s, page
}

func TestAPageStaysOpenLongerThanARequestMayTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, page := openPage(t)
		defer s.Close()
		defer page.Close()
		began, lines := time.Now(), bufio.NewScanner(page)
		for time.Since(began) < 2*maxAnswerTime {
			if !lines.Scan() || lines.Text() == "0" { // the last chunk
				t.Fatalf("the page was cut off after %s: %v", time.Since(began), lines.Err())
			}
		}
	})
}

func TestAPageThatStopsReadingLosesItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, page := openPage(t)
		defer s.Close()
		defer page.Close()
		time.Sleep(2 * maxMessageTime)
		if n, err := page.Read(make([]byte, 1)); err == nil {
			t.Errorf("%d bytes are read from a connection that should be closed", n)
		}
	})
}

func TestAServerClosesTwiceAlthoughAPageDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, page := openPage(t)
		defer page.Close()
		for range 2 {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestCloseReturnsWhatEndedTheServerBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(failing{}, Page(&Follower{}))
		synctest.Wait()
		for range 2 {
			if err := s.Close(); !errors.Is(err, errNoMorePipes) {
				t.Errorf("got %v", err)
			}
		}
	})
}

// failing is a listener that accepts nothing.
type failing struct{ pipes }

func (failing) Accept() (net.Conn, error) { return nil, errNoMorePipes }
func (failing) Close() error              { return nil }
