package load

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
)

// thread posts one request after the other over one connection.
type thread struct {
	of      *Runner
	conn    net.Conn
	in      *bufio.Reader
	maker   func(request, due int64, b []byte) []byte
	text    []byte
	codes   map[int]int64
	lastErr error
}

func (r *Runner) thread() *thread {
	return &thread{of: r, in: bufio.NewReaderSize(nil, 2048), maker: r.load.Maker.Thread(), codes: map[int]int64{}}
}

func (t *thread) close() {
	if t.conn != nil {
		t.conn.Close()
	}
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
	t.text = t.maker(request, due, t.text[:0])
	sent := clock.Now()
	fate := t.insist(ctx, due+int64(r.load.Patience))
	answered := clock.Now()
	r.fates[request] = fate
	if request < r.first {
		if fate == Accepted {
			r.warmed.Add(1)
		}
		return
	}
	r.sent.Add(1)
	r.bytes.Add(int64(len(t.text)))
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

// insist posts the request again and again, as often as the load allows and until then, while another attempt may help.
func (t *thread) insist(ctx context.Context, until int64) Fate {
	wait := t.of.load.Backoff
	for attempt := 0; ; attempt++ {
		a, err := t.attempt()
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
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return Failed
		}
		t.of.retries.Add(1)
	}
}

// attempt posts the request once. After an error the answer is empty.
func (t *thread) attempt() (a answer, err error) {
	if t.conn == nil {
		if err := t.dial(); err != nil {
			return a, err
		}
	}
	defer func() {
		if !a.keep {
			t.conn.Close()
			t.conn = nil
		}
	}()
	_ = t.conn.SetDeadline(time.Now().Add(t.of.load.Timeout))
	if _, err := t.conn.Write(t.text); err != nil {
		return a, err
	}
	a, err = read(t.in)
	if err != nil {
		a = answer{}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the connection was closed before the answer came")
		}
	}
	return a, err
}

func (t *thread) dial() error {
	d := &net.Dialer{Timeout: t.of.load.Timeout}
	dial := d.Dial
	if c := t.of.load.TLS; c != nil {
		dial = (&tls.Dialer{NetDialer: d, Config: c}).Dial
	}
	conn, err := dial("tcp", t.of.load.Address)
	if err != nil {
		return err
	}
	t.conn = conn
	t.in.Reset(conn)
	return nil
}
