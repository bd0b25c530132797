package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
)

// thread posts one request after the other over one connection.
type thread struct {
	of        *Runner
	client    *http.Client
	traced    context.Context // of each attempt: it sets connected
	connected atomic.Bool     // the attempt under way has had a connection
	written   atomic.Int64    // bytes of the attempt under way
	maker     func(request, due int64) *http.Request
	codes     map[int]int64
	lastErr   error
}

func (r *Runner) thread() *thread {
	t := &thread{of: r, maker: r.load.Maker.Thread(), codes: map[int]int64{}}
	t.traced = httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { t.connected.Store(true) },
	})
	t.client = &http.Client{
		Timeout:       r.load.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // it is the answer
		// A transport for each thread, so that a thread's connection is its own. This one speaks HTTP/1.1 and asks no proxy.
		Transport: &http.Transport{
			DialContext: t.dial, TLSClientConfig: r.load.TLS, TLSHandshakeTimeout: r.load.Timeout,
			MaxConnsPerHost: 1, MaxIdleConnsPerHost: 1, DisableCompression: true,
		},
	}
	return t
}

func (t *thread) close() {
	t.client.CloseIdleConnections()
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	for code, n := range t.codes {
		t.of.codes[code] += n
	}
	if t.lastErr != nil {
		t.of.err = t.lastErr
	}
}

// post posts a request until it is answered for good, and books it.
func (t *thread) post(ctx context.Context, request, due int64) {
	r := t.of
	q := t.maker(request, due)
	if r.load.TLS != nil {
		q.URL.Scheme = "https"
	}
	sent := clock.Now()
	fate := t.insist(ctx, q, due+int64(r.load.Patience))
	answered := clock.Now()
	r.fates[request] = fate
	if request < r.first {
		if fate == Accepted {
			r.warmed.Add(1)
		}
		return
	}
	r.sent.Add(1)
	r.bytes.Add(t.written.Load())
	r.lag.Record(sent - due)
	for last := r.last.Load(); answered > last && !r.last.CompareAndSwap(last, answered); last = r.last.Load() {
	}
	if fate != Accepted {
		r.failed.Add(1)
		return
	}
	r.accepted.Add(1)
	r.response.Record(answered - sent)
	r.fromDue.Record(answered - due)
}

// answer is what a thread needs of a response.
type answer struct {
	code  int           // 0: none came
	after time.Duration // how long the server asks to wait
}

// insist posts the request again and again, as often as the load allows and until then, while another attempt may help.
func (t *thread) insist(ctx context.Context, q *http.Request, until int64) Fate {
	wait := t.of.load.Backoff
	for attempt := 0; ; attempt++ {
		a, err := t.attempt(q)
		t.codes[a.code]++
		if a.code >= 200 && a.code < 300 {
			return Accepted
		}
		if err == nil {
			err = fmt.Errorf("answered with %d %s", a.code, http.StatusText(a.code))
		}
		t.lastErr = err
		again := a.code == 0 || a.code == http.StatusTooManyRequests || a.code >= 500
		if !again || attempt >= t.of.load.Retries && clock.Now() >= until {
			return Failed
		}
		// Half of the wait is drawn: threads that failed together don't come back together.
		pause := max(wait/2+rand.N(wait/2+1), a.after)
		if attempt < t.of.load.Retries-1 {
			wait *= 2
		}
		if clock.Pause(ctx, pause) != nil {
			return Failed
		}
		t.of.retries.Add(1)
	}
}

// attempt posts the request once, and reads the answer to its end, so that the connection is used again. After an error the
// answer is empty.
func (t *thread) attempt(q *http.Request) (a answer, err error) {
	t.connected.Store(false)
	t.written.Store(0)
	q = q.WithContext(t.traced) // a copy: the client may still have the one before it
	if q.GetBody != nil {
		if q.Body, err = q.GetBody(); err != nil {
			return a, err
		}
	}
	r, err := t.client.Do(q)
	if err != nil {
		return a, plainly(err)
	}
	defer r.Body.Close()
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return a, plainly(err)
	}
	a.code = r.StatusCode
	if s := r.Header.Get("Retry-After"); s != "" {
		a.after, _ = time.ParseDuration(s + "s")
	}
	return a, nil
}

var errClosed = errors.New("the connection was closed before the answer came")

// plainly returns err without the URL, which differs from request to request.
func plainly(err error) error {
	if e := (*url.Error)(nil); errors.As(err, &e) {
		err = e.Err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errClosed
	}
	return err
}

// dial connects once in an attempt. If a reused connection is lost, net/http's client would repeat the request by itself,
// since its key makes it idempotent: the counts would miss an error and a second sending.
func (t *thread) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	if t.connected.Load() {
		return nil, errClosed
	}
	conn, err := (&net.Dialer{Timeout: t.of.load.Timeout}).DialContext(ctx, network, t.of.load.Address)
	if err != nil {
		return nil, err
	}
	return &counted{conn, &t.written}, nil
}

// counted is a connection whose written bytes are counted.
type counted struct {
	net.Conn
	written *atomic.Int64
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.written.Add(int64(n))
	return n, err
}
