package load

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A thread is a connection: all threads are under way at the same time, each on its own, and nothing is left of them afterwards.
func TestEachThreadHasOneConnection(t *testing.T) {
	const threads, each = 40, 25
	var opened, under, most atomic.Int64
	var full sync.Once
	all := make(chan struct{})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := under.Add(1)
		defer under.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		if n == threads {
			full.Do(func() { close(all) })
		}
		select {
		case <-all:
		case <-time.After(5 * time.Second):
		}
		if r.ProtoMajor != 1 || r.Header.Get("Accept-Encoding") != "" || r.Host != "x" {
			t.Errorf("%s %s for %q, encodings %q", r.Method, r.Proto, r.Host, r.Header.Get("Accept-Encoding"))
		}
		fmt.Fprint(w, strings.Repeat("a long answer ", 1000)) // more than a buffer: it is to be read to its end
	}))
	s.EnableHTTP2 = true
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.StartTLS()
	defer s.Close()
	before := runtime.NumGoroutine()
	trust := s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	trust.ServerName = "example.com"
	r, err := NewRunner(Load{
		Address: s.Listener.Addr().String(), TLS: trust, Maker: template(), Timeout: 10 * time.Second,
		Phases: []Phase{{Threads: threads, Each: each}},
	})
	if err != nil {
		t.Fatal(err)
	}
	o := r.Run(t.Context())
	if o.Accepted != threads*each || opened.Load() != threads || most.Load() != threads {
		t.Errorf("%+v, %v: %d connections, %d requests at once; want %d of both", o.Counts, o.Err, opened.Load(), most.Load(), threads)
	}
	left := runtime.NumGoroutine() // those of the server, too, each of which ends with its connection
	for deadline := time.Now().Add(10 * time.Second); left > before && time.Now().Before(deadline); left = runtime.NumGoroutine() {
		time.Sleep(time.Millisecond)
	}
	if left > before {
		t.Errorf("%d goroutines before the load, %d after it", before, left)
	}
}

// net/http's client posts a request again by itself when its connection is lost and it may be repeated, as a ride may by its key.
// Such a failure is to be counted, and the request to be posted again only if the load asks for it.
func TestALostConnectionIsAFailedAttempt(t *testing.T) {
	for name, m := range map[string]Maker{"a ride": &Rides{Host: "x", Run: "r"}, "a GET": template()} {
		for _, retries := range []int{0, 3} {
			var asked atomic.Int64
			h := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				if asked.Add(1) == 2 { // on the connection of the first one
					panic(http.ErrAbortHandler)
				}
			})
			o := run(t, h, Load{Maker: m, Phases: []Phase{{Threads: 1, Total: 3}}, Retries: retries, Backoff: time.Millisecond})
			again := int64(min(retries, 1))
			if o.Codes[0] != 1 || o.Retries != again || o.Failed != 1-again || o.Accepted != 2+again || asked.Load() != 3+again {
				t.Errorf("%s, %d retries: %+v, %v, the server was asked %d times", name, retries, o.Counts, o.Codes, asked.Load())
			}
			if o.Err == nil || strings.Contains(o.Err.Error(), "//") {
				t.Errorf("%s: %v", name, o.Err)
			}
		}
	}
}

func TestARedirectIsTheAnswer(t *testing.T) {
	var asked atomic.Int64
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	})
	o := run(t, h, Load{Maker: template(), Phases: []Phase{{Threads: 1, Total: 1}}})
	if o.Failed != 1 || o.Codes[http.StatusFound] != 1 || asked.Load() != 1 {
		t.Errorf("%+v, %v, asked %d times", o.Counts, o.Codes, asked.Load())
	}
}

func TestAnAnswerThatTakesTooLongIsNone(t *testing.T) {
	over := make(chan struct{})
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = http.NewResponseController(w).Flush() // the head comes in time, its body does not
		<-over
	})
	time.AfterFunc(time.Second, func() { close(over) })
	o := run(t, h, Load{Maker: template(), Phases: []Phase{{Threads: 1, Total: 1}}, Timeout: 100 * time.Millisecond})
	if o.Failed != 1 || o.Codes[0] != 1 || o.Err == nil || !strings.Contains(o.Err.Error(), "imeout") {
		t.Errorf("%+v, %v, %v", o.Counts, o.Codes, o.Err)
	}
}

func TestBytesAreThoseOfTheRequestsWithTheirHeads(t *testing.T) {
	var paths atomic.Int64
	h := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { paths.Add(int64(len(r.URL.Path))) })
	o := run(t, h, Load{Maker: template(), Phases: []Phase{{Threads: 2, Total: 20}}})
	const head = "GET  HTTP/1.1\r\nHost: x\r\nUser-Agent: Go-http-client/1.1\r\n\r\n"
	if want := paths.Load() + 20*int64(len(head)); o.Bytes != want {
		t.Errorf("%d bytes; want %d", o.Bytes, want)
	}
}
