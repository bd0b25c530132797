package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/pipeline/pool"
)

const posted = "POST " + good + " HTTP/1.1\r\nHost: localhost:8080\r\nContent-Type: application/json\r\nIdempotency-Key: run-7\r\nContent-Length: 24\r\n\r\n" + `{"time":217,"liftID":21}`

// serving starts a server on a port of its own.
func serving(t *testing.T, h http.Handler) (address string, stop func() error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, l, nil, h) }()
	return l.Addr().String(), func() error { cancel(); return <-served }
}

// spoken is what one connection answers to text: status codes, each with a + where the connection is kept.
func spoken(t *testing.T, address, text string) string {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	go func() {
		_, _ = io.WriteString(c, text)
		_ = c.(*net.TCPConn).CloseWrite()
	}()
	var codes []string
	for in := bufio.NewReader(c); ; {
		a, err := http.ReadResponse(in, &http.Request{Method: "POST"})
		if err != nil {
			return strings.Join(codes, " ")
		}
		body, err := io.ReadAll(a.Body)
		code := fmt.Sprint(a.StatusCode)
		if !a.Close {
			code += "+"
			if a.ContentLength != int64(len(body)) || a.Header.Get("Date") == "" {
				t.Errorf("%s: Content-Length %d of %d bytes, Date %q", a.Status, a.ContentLength, len(body), a.Header.Get("Date"))
			}
		}
		if err != nil {
			t.Errorf("%s: %v", a.Status, err)
		}
		codes = append(codes, code)
	}
}

func TestConnectionsAreKeptWhileTheyCanBe(t *testing.T) {
	without := func(old, with string) string { return strings.Replace(posted, old, with, 1) }
	for _, c := range []struct {
		text      string
		publishes error
		want      string
	}{
		{posted + posted + posted, nil, "201+ 201+ 201+"},
		{posted + posted, pool.ErrBusy, "503+ 503+"},
		{posted + posted, pool.ErrUnknown, "503+ 503+"},
		{posted + posted, errors.New(strings.Repeat("no queue; ", 40)), "503+ 503+"},
		{posted + posted, pool.ErrClosed, "503"},
		{posted + without(":217", ":000") + posted, nil, "201+ 400+ 201+"},
		{posted + "GET /skiers/1/vertical?resort=3 HTTP/1.1\r\nHost: x\r\n\r\n" + posted, nil, "201+ 200+ 201+"},
		{without("\r\nHost", "\r\nConnection: close\r\nHost") + posted, nil, "201"},
		{without("HTTP/1.1", "HTTP/1.0") + posted, nil, "201"},
		{without("Content-Length: 24\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n18\r\n") + "\r\n0\r\n\r\n" + posted, nil, "201+ 201+"},
		{without("Length: 24", "Length: 2400") + posted, nil, "413"},
		{without("Host: localhost:8080\r\n", ""), nil, "400"},
		{without("Length: 24", "Length: x"), nil, "400"},
		{"", nil, ""},
	} {
		b := &broker{err: c.publishes}
		address, stop := serving(t, New(b, verticals{}))
		if got := spoken(t, address, c.text); got != c.want {
			t.Errorf("%v: %.200q is answered with %q; want %q", c.publishes, c.text, got, c.want)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		if n := strings.Count(c.want, "201"); len(b.rides) != n {
			t.Errorf("%.200q: %d rides are published; want %d", c.text, len(b.rides), n)
		}
	}
}

// A request that comes in pieces is the same request, and stopping waits for no connection that is idle.
func TestPiecesMakeARequestAndIdleConnectionsEndAtOnce(t *testing.T) {
	b := &broker{}
	address, stop := serving(t, New(b, nil))
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	in := bufio.NewReader(c)
	for range 3 {
		for _, piece := range []string{posted[:10], posted[10:100], posted[100 : len(posted)-1], posted[len(posted)-1:]} {
			_, _ = io.WriteString(c, piece)
			time.Sleep(5 * time.Millisecond)
		}
		if a, err := http.ReadResponse(in, nil); err != nil || a.StatusCode != 201 {
			t.Fatalf("%+v, %v", a, err)
		} else if _, err := io.Copy(io.Discard, a.Body); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	if err := stop(); err != nil || time.Since(began) > 2*time.Second {
		t.Errorf("stopped after %s: %v", time.Since(began), err)
	}
	if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("the idle connection says %v", err)
	}
	if len(b.rides) != 3 {
		t.Errorf("%d rides", len(b.rides))
	}
}
