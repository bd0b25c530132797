package server

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// slowly sends text piece by piece until the server has had enough of it, and returns what it answered and after what time.
func slowly(t *testing.T, address, begin, piece string, every time.Duration) (answered string, took time.Duration) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	began := time.Now()
	_ = c.SetDeadline(began.Add(10 * time.Second))
	over := make(chan string, 1)
	go func() {
		got, _ := io.ReadAll(c) // ends when the server closes
		over <- string(got)
	}()
	_, _ = io.WriteString(c, begin)
	for {
		select {
		case got := <-over:
			return got, time.Since(began)
		case <-time.After(every):
			_, _ = io.WriteString(c, piece)
		}
	}
}

// Clients that never come to an end are cut off in time, publish nothing and keep no other client waiting.
func TestSlowClientsAreCutOffAndHoldNobodyUp(t *testing.T) {
	b := &broker{}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	m := limits{header: 400 * time.Millisecond, read: 800 * time.Millisecond, write: 5 * time.Second, idle: 300 * time.Millisecond, stop: 5 * time.Second, connections: 100}
	go func() { served <- m.serve(ctx, l, nil, New(b, nil)) }()
	address := l.Addr().String()
	head := "POST " + good + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
	for _, c := range []struct {
		name, begin, piece, answer string
		earliest                   time.Duration
	}{
		{"headers that never end", head, "X-More: x\r\n", "", m.header},
		{"half a request line", "POST /ski", "e", "", m.header},
		{"nothing at all", "", "", "", m.header},
		{"a body that trickles", head + "Content-Length: 1000\r\n\r\n{", " ", "HTTP/1.1 400 ", m.read},
		{"a chunked body that trickles", head + "Transfer-Encoding: chunked\r\n\r\n", "1\r\n \r\n", "HTTP/1.1 400 ", m.read},
		{"headers without measure", head + strings.Repeat("X: "+strings.Repeat("x", 1000)+"\r\n", 30), "", "HTTP/1.1 431 ", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, took := slowly(t, address, c.begin, c.piece, 20*time.Millisecond)
			if !strings.HasPrefix(got, c.answer) || c.answer == "" && got != "" && !strings.HasPrefix(got, "HTTP/1.1 4") {
				t.Errorf("answered with %q; want %q", got, c.answer)
			}
			if took < c.earliest-50*time.Millisecond || took > c.earliest+5*time.Second {
				t.Errorf("cut off after %s; want about %s", took, c.earliest)
			}
		})
	}
	t.Run("others meanwhile", func(t *testing.T) {
		t.Parallel()
		for range 50 {
			a, err := http.Post("http://"+address+good, "application/json", strings.NewReader(`{"time":1,"liftID":1}`))
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, a.Body)
			a.Body.Close()
			if a.StatusCode != http.StatusCreated {
				t.Errorf("answered with %s", a.Status)
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	t.Cleanup(func() { // after the parallel ones
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if len(b.rides) != 50 {
			t.Errorf("%d rides were published; want the 50 of the client that is not slow", len(b.rides))
		}
	})
}

// A client that is slow when the server stops doesn't keep it from ending.
func TestASlowClientDoesNotKeepAServerFromStopping(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	m := usual
	m.stop = 300 * time.Millisecond
	rides := New(&broker{}, nil)
	go func() { served <- m.serve(ctx, l, nil, rides) }()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{", good)
	for rides.requests.Load() == 0 { // until it is under way
		time.Sleep(time.Millisecond)
	}
	stop()
	select {
	case err := <-served:
		if err == nil || !strings.Contains(err.Error(), "still under way") {
			t.Errorf("%v; want that a request was under way", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the server does not end")
	}
}

func TestSoManyConnectionsAreServedAtATime(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	m := usual
	m.connections = 1
	go func() { served <- m.serve(ctx, l, nil, New(&broker{}, nil)) }()
	idle, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	ask := func(within time.Duration) error {
		c := http.Client{Timeout: within, Transport: &http.Transport{DisableKeepAlives: true}}
		a, err := c.Get("http://" + l.Addr().String() + "/health")
		if err != nil {
			return err
		}
		return a.Body.Close()
	}
	if err := ask(200 * time.Millisecond); err == nil {
		t.Error("one more was served")
	}
	idle.Close()
	if err := ask(10 * time.Second); err != nil {
		t.Errorf("when the first had left: %v", err)
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
