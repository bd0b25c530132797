package server

import (
	"bufio"
	"bytes"
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

const (
	ours = "POST " + good + " HTTP/1.1\r\nHost: localhost:8080\r\nContent-Type: application/json\r\nIdempotency-Key: run-7\r\nBrokermark-Due: 12\r\nContent-Length: 24\r\n\r\n" + `{"time":217,"liftID":21}`
	wrks = "POST " + good + " HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Type: application/json\r\nContent-Length: 24\r\n\r\n" + `{"time":217,"liftID":21}`
	heys = "POST " + good + " HTTP/1.1\r\nHost: localhost:8080\r\nUser-Agent: hey/0.0.1\r\nContent-Length: 24\r\nContent-Type: application/json\r\nAccept-Encoding: gzip\r\n\r\n" + `{"time":217,"liftID":21}`
	curl = "POST " + good + " HTTP/1.1\r\nHost: localhost\r\nUser-Agent: curl/7.88.1\r\nAccept: */*\r\nContent-Type: application/json\r\nContent-Length: 24\r\n\r\n" + `{"liftID":21,"time":217}`
)

// What is taken for a plain request must be what net/http reads, and what every usual client sends must be taken for one.
func FuzzAPlainRequestIsWhatNetHTTPReads(f *testing.F) {
	for _, text := range []string{ours, wrks, heys, curl} {
		if p, form := scan([]byte(text)); form != whole || p.length != len(text) {
			f.Errorf("%q is no plain request", text)
		}
		f.Add([]byte(text))
		f.Add([]byte(strings.Replace(text, "\r\nHost", "\r\nTransfer-Encoding: chunked\r\nHost", 1)))
		f.Add([]byte(strings.Replace(text, "\r\nHost", "\r\nContent-Length: 3\r\nHost", 1)))
		f.Add([]byte(strings.Replace(text, "\r\nHost", "\r\nExpect: 100-continue\r\nHost", 1)))
		f.Add([]byte(strings.Replace(text, "\r\nHost", "\nHost", 1)))
		f.Add([]byte(strings.Replace(text, "HTTP/1.1", "HTTP/1.0", 1)))
		f.Add([]byte(strings.Replace(text, "Host: ", "Host: x\r\n folded: ", 1)))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, form := scan(text)
		if form != whole {
			return
		}
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(text)))
		if err != nil {
			t.Fatalf("%q is taken for a plain request; net/http: %v", text, err)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost || r.URL.EscapedPath() != string(p.path) || r.URL.RawQuery != "" || !bytes.Equal(body, p.body) || r.ContentLength != int64(len(p.body)) ||
			r.Header.Get(Key) != string(p.key) || r.Header.Get(At) != string(p.due) || r.Header.Get("Content-Type") != "application/json" || r.Close || len(r.TransferEncoding) > 0 || r.Proto != "HTTP/1.1" {
			t.Errorf("%q: %s %s, key %q, due %q, body %q; net/http: %+v, body %q", text, method, p.path, p.key, p.due, p.body, r, body)
		}
	})
}

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

// spoken is what one connection answers to text, without dates.
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
	var out strings.Builder
	for in := bufio.NewReader(c); ; {
		a, err := http.ReadResponse(in, &http.Request{Method: "POST"})
		if err != nil {
			if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "reset") {
				fmt.Fprintf(&out, "and %v", err)
			}
			return out.String()
		}
		body, _ := io.ReadAll(a.Body)
		fmt.Fprintf(&out, "%s %s %q %q %s\n", a.Proto, a.Status, a.Header.Get("Content-Type"), a.Header.Get("Retry-After"), body)
		if a.Header.Get("Date") == "" && a.StatusCode != http.StatusBadRequest { // net/http's own have none
			t.Errorf("%s has no date", a.Status)
		}
	}
}

// A client can't tell who answers, whatever it sends and however often: the front, or net/http alone.
func TestTheFrontAnswersAsNetHTTPDoes(t *testing.T) {
	texts := []string{
		ours, wrks, heys, curl, ours + heys, ours + ours + ours, "", "POST", "GET /health HTTP/1.1\r\n\r\n", ours[:len(ours)-3], ours[:40],
		ours + "GET /skiers/1/vertical?resort=3 HTTP/1.1\r\nHost: x\r\n\r\n" + wrks,
		ours + strings.Replace(ours, "217", "0", 1) + ours,
		strings.Replace(ours, `:217`, `:x17`, 1), strings.Replace(ours, "98486", "999999999", 1), strings.Replace(ours, "98486", "98486/", 1),
		strings.Replace(ours, "application/json", "text/plain", 1), strings.Replace(ours, "Host: localhost:8080\r\n", "", 1),
		strings.Replace(ours, "Host:", "Host: a\r\nHost:", 1), strings.Replace(ours, "run-7", strings.Repeat("k", 201), 1),
		strings.Replace(ours, "Due: 12", "Due: soon", 1), strings.Replace(ours, "Length: 24", "Length: 2400", 1), strings.Replace(ours, "Length: 24", "Length: x", 1),
		strings.Replace(ours, "Length: 24", "Length: 10", 1), strings.Replace(ours, "HTTP/1.1", "HTTP/1.0", 1), strings.Replace(ours, "HTTP/1.1", "HTTP/9", 1),
		strings.Replace(ours, "POST", "PUT", 1), strings.Replace(ours, "\r\nHost", "\r\nConnection: close\r\nHost", 1) + ours,
		strings.Replace(ours, "\r\nHost", "\r\nConnection: keep-alive\r\nHost", 1) + ours, strings.Replace(ours, "\r\nHost", "\r\nX y: z\r\nHost", 1),
		strings.Replace(ours, "\r\nHost", "\r\nX: "+strings.Repeat("y", 3000)+"\r\nHost", 1),
	}
	for name, publishes := range map[string]error{
		"accepted": nil, "busy": pool.ErrBusy, "unknown": pool.ErrUnknown, "closed": pool.ErrClosed,
		"refused": errors.New("no queue"), "refused at length": errors.New(strings.Repeat("no queue; ", 40)),
	} {
		front, alone := &broker{err: publishes}, &broker{err: publishes}
		quick, stop := serving(t, New(front, verticals{}))
		whole, end := serving(t, http.HandlerFunc(New(alone, verticals{}).ServeHTTP))
		for _, text := range texts {
			if got, want := spoken(t, quick, text), spoken(t, whole, text); got != want {
				t.Errorf("%s: %.300q is answered with\n%sby net/http with\n%s", name, text, got, want)
			}
		}
		if err := errors.Join(stop(), end()); err != nil {
			t.Error(err)
		}
		if len(front.rides) != len(alone.rides) || publishes == nil && len(front.rides) < 10 {
			t.Errorf("%s: %d rides are published, by net/http %d", name, len(front.rides), len(alone.rides))
		}
	}
}

// A request that comes in pieces is the same request, and closing waits for no connection that is idle.
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
		for _, piece := range []string{ours[:10], ours[10:100], ours[100 : len(ours)-1], ours[len(ours)-1:]} {
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

// none takes everything and keeps nothing.
type none struct{}

func (none) Publish([]byte) error { return nil }
func (none) Counts() pool.Counts  { return pool.Counts{} }

// BenchmarkARide is what taking one ride costs beside publishing it, over the loopback: by the front, and by net/http alone.
func BenchmarkARide(b *testing.B) {
	for name, h := range map[string]http.Handler{"front": New(none{}, nil), "net-http": http.HandlerFunc(New(none{}, nil).ServeHTTP)} {
		b.Run(name, func(b *testing.B) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			ctx, stop := context.WithCancel(b.Context())
			served := make(chan error, 1)
			go func() { served <- Serve(ctx, l, nil, h) }()
			defer func() { stop(); <-served }()
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			b.ReportAllocs()
			answer := make([]byte, 4096)
			for b.Loop() {
				if _, err := io.WriteString(c, ours); err != nil {
					b.Fatal(err)
				}
				if _, err := c.Read(answer); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
