package network_test

import (
	"bytes"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/network"
	"github.com/brokermark/brokermark/internal/testkit"
)

// echo answers with what it is sent.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(c, c)
				_ = c.Close()
			}()
		}
	}()
	return l.Addr().String()
}

func through(t *testing.T, path network.Path) net.Conn {
	c, _ := proxied(t, path)
	return c
}

func proxied(t *testing.T, path network.Path) (net.Conn, *network.Proxy) {
	t.Helper()
	p, err := network.Listen(echo(t), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, p
}

func TestEachWayTakesTheDelayLonger(t *testing.T) {
	const delay, jitter = 20 * time.Millisecond, 10 * time.Millisecond
	for name, path := range map[string]network.Path{"constant": {Delay: delay}, "with jitter": {Delay: delay, Jitter: jitter}} {
		t.Run(name, func(t *testing.T) {
			c := through(t, path)
			var took []time.Duration
			for range 41 {
				began := time.Now()
				if _, err := c.Write([]byte("ping")); err != nil {
					t.Fatal(err)
				}
				if _, err := io.ReadFull(c, make([]byte, 4)); err != nil {
					t.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			want := 2*path.Delay + path.Jitter // at the median: half of the jitter each way
			if took[0] < 2*path.Delay || took[20] < want*90/100 || took[20] > want*115/100 {
				t.Errorf("%v at the least and %v at the median, want %v and %v", took[0], took[20], 2*path.Delay, want)
			}
		})
	}
}

func TestCloseDoesNotWaitForALongDelay(t *testing.T) {
	p, err := network.Listen(echo(t), network.Path{Delay: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = c.Write([]byte("ping"))
	time.Sleep(20 * time.Millisecond) // until it is under way
	began := time.Now()
	if err := p.Close(); err != nil || time.Since(began) > 5*time.Second {
		t.Errorf("%v, after %v", err, time.Since(began))
	}
}

func TestBytesPassInOrderAtTheBandwidthAndTheEndPassesToo(t *testing.T) {
	const bandwidth = 8 << 20
	c, p := proxied(t, network.Path{Delay: time.Millisecond, Jitter: time.Millisecond, Bandwidth: bandwidth})
	sent := make([]byte, 8<<20)
	for i := range sent {
		sent[i] = byte(i >> 9)
	}
	began := time.Now()
	go func() {
		_, _ = c.Write(sent)
		_ = c.(*net.TCPConn).CloseWrite()
	}()
	got, err := io.ReadAll(c)
	took := time.Since(began)
	if err != nil || !bytes.Equal(got, sent) {
		t.Fatalf("%d of %d bytes, %v", len(got), len(sent), err)
	}
	if took < 990*time.Millisecond || took > 1500*time.Millisecond {
		t.Errorf("took %v, 1s is the truth", took)
	}
	if busy := p.Busy(); len(busy) != 2 || max(busy[0], busy[1]).Round(10*time.Millisecond) != time.Second {
		t.Errorf("busy for %v, 1s in both directions is the truth", busy)
	}
}

// Any user of the machine can connect, and each connection takes memory.
func TestConnectionsBeyondTheBoundWaitForOthersToEnd(t *testing.T) {
	network.Bound(t, 2)
	first := through(t, network.Path{})
	dial := func() net.Conn {
		c, err := net.Dial("tcp", first.RemoteAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	answers := func(c net.Conn, within time.Duration) error {
		if _, err := c.Write([]byte("x")); err != nil {
			return err
		}
		if err := c.SetReadDeadline(time.Now().Add(within)); err != nil {
			return err
		}
		_, err := io.ReadFull(c, make([]byte, 1))
		return err
	}
	for _, c := range []net.Conn{first, dial()} {
		if err := answers(c, testkit.Within(10*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	third := dial()
	if err := answers(third, 200*time.Millisecond); err == nil {
		t.Error("a third connection is passed on beside two")
	}
	_ = first.Close()
	if err := third.SetReadDeadline(time.Now().Add(testkit.Within(10 * time.Second))); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(third, make([]byte, 1)); err != nil {
		t.Errorf("it is not passed on either when another has ended: %v", err)
	}
}
