package load

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/pipeline/pool"
	"github.com/brokermark/brokermark/internal/pipeline/ride"
	"github.com/brokermark/brokermark/internal/pipeline/server"
	"github.com/brokermark/brokermark/internal/schedule"
)

func run(t *testing.T, h http.Handler, l Load) Outcome {
	t.Helper()
	s := httptest.NewServer(h)
	defer s.Close()
	l.Address = strings.TrimPrefix(s.URL, "http://")
	if l.Timeout == 0 {
		l.Timeout = 5 * time.Second
	}
	r, err := NewRunner(l)
	if err != nil {
		t.Fatal(err)
	}
	return r.Run(t.Context())
}

func template() *Template { return &Template{Method: "GET", Host: "x", Path: "/{i}"} }

// numbers counts how often each path was asked for.
type numbers struct {
	mu sync.Mutex
	of map[string]int
}

func (n *numbers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.of[r.URL.Path]++
}

func TestTwoPhasesPostEveryRequestOnce(t *testing.T) {
	if got := TwoPhases(300, 200_000); len(got) != 2 || got[0] != (Phase{Threads: 32, Each: 1000}) || got[1] != (Phase{Threads: 300, Total: 168_000}) {
		t.Errorf("%+v", got)
	}
	if got := TwoPhases(300, 5000); len(got) != 2 || got[0] != (Phase{Threads: 32, Each: 25}) || got[1] != (Phase{Threads: 300, Total: 4200}) {
		t.Errorf("both phases of a short run: %+v", got)
	}
	if got := TwoPhases(7, 10); len(got) != 1 || got[0] != (Phase{Threads: 7, Total: 10}) {
		t.Errorf("%+v", got)
	}
	n := &numbers{of: map[string]int{}}
	o := run(t, n, Load{Maker: template(), Phases: []Phase{{Threads: 3, Each: 5}, {Threads: 40, Total: 100}}})
	if o.Sent != 115 || o.Accepted != 115 || o.Failed+o.Unsent+o.Retries != 0 || len(n.of) != 115 || o.Response.Count() != 115 {
		t.Errorf("%+v, %d paths", o.Counts, len(n.of))
	}
	for path, times := range n.of {
		if times != 1 {
			t.Errorf("%s was asked for %d times", path, times)
		}
	}
}

func TestARequestIsRetriedAsOftenAsAskedAndThenFails(t *testing.T) {
	var asked atomic.Int64
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		switch r.URL.Path {
		case "/0": // never works
			w.WriteHeader(503)
		case "/1": // works at the third time
			if asked.Load() < 9 {
				w.WriteHeader(500)
			}
		case "/2":
			w.WriteHeader(400)
		case "/3":
			panic(http.ErrAbortHandler)
		}
	})
	o := run(t, h, Load{Maker: template(), Phases: []Phase{{Threads: 1, Total: 5}}, Retries: 5, Backoff: time.Millisecond})
	want := []Fate{Failed, Accepted, Failed, Failed, Accepted}
	if fmt.Sprint(o.Fates) != fmt.Sprint(want) || o.Failed != 3 || o.Accepted != 2 || o.Retries != 5+2+5 {
		t.Errorf("%v, %+v", o.Fates, o.Counts)
	}
	if o.Codes[503] != 6 || o.Codes[500] != 2 || o.Codes[400] != 1 || o.Codes[0] != 6 || o.Codes[200] != 2 || o.Err == nil {
		t.Errorf("%v, %v", o.Codes, o.Err)
	}
	if o.Response.Count() != 2 {
		t.Errorf("%d response times of 2 accepted requests", o.Response.Count())
	}
}

func TestRetryAfterIsHeeded(t *testing.T) {
	first := true
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if first {
			first = false
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(503)
		}
	})
	began := time.Now()
	o := run(t, h, Load{Maker: template(), Phases: []Phase{{Threads: 1, Total: 1}}, Retries: 1, Backoff: time.Millisecond})
	if took := time.Since(began); o.Accepted != 1 || took < time.Second {
		t.Errorf("%+v after %s", o.Counts, took)
	}
}

// A part that is broken on purpose takes longer to come back than the retries last.
func TestARequestIsPostedAgainAsLongAsTheLoadIsPatient(t *testing.T) {
	for name, c := range map[string]struct {
		patience time.Duration
		accepted int64
	}{"no longer than its retries": {0, 0}, "until the server is back": {time.Minute, 3}} {
		back := time.Now().Add(300 * time.Millisecond)
		h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if time.Now().Before(back) {
				w.WriteHeader(503)
			}
		})
		l := Load{Maker: template(), Phases: []Phase{{Threads: 3, Total: 3}}, Retries: 2, Backoff: 10 * time.Millisecond, Patience: c.patience}
		o := run(t, h, l)
		if o.Accepted != c.accepted || o.Failed != 3-c.accepted || c.accepted == 0 && o.Retries != 6 {
			t.Errorf("%s: %+v", name, o.Counts)
		}
	}
}

// Who never comes back is not waited for longer than the patience lasts.
func TestPatienceEnds(t *testing.T) {
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) })
	began := time.Now()
	o := run(t, h, Load{Maker: template(), Phases: []Phase{{Threads: 2, Total: 2}}, Retries: 1, Backoff: 10 * time.Millisecond, Patience: 300 * time.Millisecond})
	if took := time.Since(began); o.Failed != 2 || o.Retries < 10 || took < 300*time.Millisecond || took > 10*time.Second {
		t.Errorf("%+v after %s", o.Counts, took)
	}
}

func TestAMissingServerIsAFailureOfEveryRequest(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	r, err := NewRunner(Load{Address: address, Maker: template(), Phases: []Phase{{Threads: 2, Total: 4}}, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if o := r.Run(t.Context()); o.Failed != 4 || o.Err == nil {
		t.Errorf("%+v, %v", o.Counts, o.Err)
	}
}

// A stall of the server is charged to every request that fell due in it, which is what the closed loop hides.
func TestAnOpenLoopChargesAStallToAllWhoWaitedInIt(t *testing.T) {
	const rate, length, stall = 200, 2 * time.Second, 500 * time.Millisecond
	var stalled sync.Once
	h := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/200" {
			stalled.Do(func() { time.Sleep(stall) })
		}
	})
	s, err := schedule.Constant(rate)
	if err != nil {
		t.Fatal(err)
	}
	var measured atomic.Int64
	o := run(t, h, Load{
		Maker: template(), Schedule: s, Threads: 1, Warmup: 500 * time.Millisecond, Duration: length, Drain: 5 * time.Second,
		Measuring: func(at int64) { measured.Store(at) },
	})
	if o.Due != 400 || o.Sent != 400 || o.Accepted != 400 || o.First != 100 || len(o.Fates) != 500 {
		t.Errorf("%+v, first %d of %d", o.Counts, o.First, len(o.Fates))
	}
	if o.From != o.Start+int64(500*time.Millisecond) || measured.Load() != o.From || o.Until-o.From != int64(length) {
		t.Errorf("measured from %d to %d of a load that began at %d", o.From, o.Until, o.Start)
	}
	// Of the 400, those due in the stall waited for what was left of it: 100 of them, evenly from 500 ms down.
	if n := o.FromDue.CountAbove(int64(stall / 2)); n < 45 || n > 80 {
		t.Errorf("%d requests waited longer than half of the stall; 50 fell due in its first half", n)
	}
	if n := o.Response.CountAbove(int64(stall / 2)); n != 1 {
		t.Errorf("%d response times from the send are above half of the stall", n)
	}
}

func TestWhatIsStillWaitingAfterTheDrainIsUnsent(t *testing.T) {
	h := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(100 * time.Millisecond) })
	s, _ := schedule.Constant(100)
	o := run(t, h, Load{Maker: template(), Schedule: s, Threads: 1, Duration: 500 * time.Millisecond, Drain: 100 * time.Millisecond})
	if o.Due != 50 || o.Sent > 10 || o.Unsent != 50-o.Sent || o.Accepted != o.Sent || o.Sent == 0 {
		t.Errorf("%+v", o.Counts)
	}
}

func TestALoadThatIsInterruptedEnds(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	shape, _ := schedule.Constant(10)
	for _, l := range []Load{{Phases: []Phase{{Threads: 2, Total: 1 << 40}}}, {Schedule: shape, Threads: 2, Duration: time.Hour, Drain: time.Hour}} {
		if l.Schedule == nil {
			l.Phases[0].Total = 10_000_000
		}
		l.Address, l.Maker, l.Timeout = strings.TrimPrefix(s.URL, "http://"), template(), time.Second
		r, err := NewRunner(l)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		began := clock.Now()
		o := r.Run(ctx)
		cancel()
		if took := time.Duration(clock.Now() - began); took > 5*time.Second || o.Due != o.Sent+o.Unsent {
			t.Errorf("%+v after %s", o.Counts, took)
		}
	}
}

// taker keeps the rides that the real server accepts.
type taker struct {
	mu  sync.Mutex
	ids map[ride.ID]bool
}

func (k *taker) Publish(payload []byte) error {
	r, err := ride.Parse(payload)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ids[r.ID] = true
	return err
}

func (k *taker) Counts() pool.Counts { return pool.Counts{} }

func TestRandomRidesAreValidAndKnownByTheirKeys(t *testing.T) {
	k := &taker{ids: map[ride.ID]bool{}}
	m := &Rides{Host: "x", Run: "r1", Seed: 7}
	o := run(t, server.New(k, nil), Load{Maker: m, Phases: []Phase{{Threads: 4, Total: 2000}}})
	if o.Accepted != 2000 || len(k.ids) != 2000 {
		t.Fatalf("%+v, %d rides: %v", o.Counts, len(k.ids), o.Err)
	}
	for i := range int64(2000) {
		if !k.ids[m.ID(i)] {
			t.Fatalf("ride %d was never posted", i)
		}
	}
}

func TestATemplateMakesAnyRequest(t *testing.T) {
	var got []string
	h := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, fmt.Sprintf("%s %s %s %s", r.Method, r.URL, r.Header.Get("X-Kind"), body))
	})
	m := &Template{Method: "PUT", Host: "h", Path: "/a/{i}?n={i}", Header: []string{"X-Kind: b"}, Body: []byte(`{"n":{i}}`)}
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	o := run(t, h, Load{Maker: m, Phases: []Phase{{Threads: 1, Total: 11}}})
	if o.Accepted != 11 || got[10] != `PUT /a/10?n=10 b {"n":10}` {
		t.Errorf("%+v: %q", o.Counts, got)
	}
	for _, bad := range []Template{
		{Method: "", Path: "/"},
		{Method: "GET\r\n", Path: "/"},
		{Method: "HEAD", Path: "/"},
		{Method: "GET", Path: "a"},
		{Method: "GET", Path: "/a b"},
		{Method: "GET", Path: "/", Header: []string{"x"}},
		{Method: "GET", Path: "/", Header: []string{"x: a\r\ny: b"}},
		{Method: "GET", Path: "/", Header: []string{"host: a"}},
	} {
		if bad.Check() == nil {
			t.Errorf("%+v is allowed", bad)
		}
	}
}

func TestALoadOfNothingIsRefused(t *testing.T) {
	s, _ := schedule.Constant(1)
	for _, l := range []Load{
		{},
		{Address: "x"},
		{Address: "x", Maker: template()},
		{Address: "x", Maker: template(), Phases: []Phase{{Threads: 0, Total: 1}}},
		{Address: "x", Maker: template(), Phases: []Phase{{Threads: 1}}},
		{Address: "x", Maker: template(), Schedule: s, Threads: 1},
		{Address: "x", Maker: template(), Schedule: s, Duration: time.Second},
	} {
		if _, err := NewRunner(l); err == nil {
			t.Errorf("%+v is a load", l)
		}
	}
}
