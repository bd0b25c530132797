package socket

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/testkit"
)

func TestAddressesAreTriedInTurnUntilOneAnswers(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		addresses := []string{"a", "b", "c", "d"}[:rapid.IntRange(0, 4).Draw(t, "addresses")]
		down := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d"}), rapid.ID[string]).Draw(t, "down")
		id := rapid.IntRange(0, 9).Draw(t, "id")
		var want, tried []string
		answered := ""
		for i := range addresses {
			a := addresses[(id+i)%len(addresses)]
			if want = append(want, a); !slices.Contains(down, a) {
				answered = a
				break
			}
		}
		got, err := InTurn(addresses, id, func(a string) (string, error) {
			if tried = append(tried, a); slices.Contains(down, a) {
				return "half of " + a, errors.New(a + " is down")
			}
			return a, nil
		})
		if !slices.Equal(tried, want) || got != answered || (err == nil) != (answered != "") {
			t.Fatalf("tried %v and got %q, %v; want %v, %q", tried, got, err, want, answered)
		}
		if err == nil {
			return
		}
		for _, a := range addresses {
			if !strings.Contains(err.Error(), a+" is down") {
				t.Fatalf("%v doesn't say that %s is down", err, a)
			}
		}
	})
}

func TestAServersNameIsItsHostUnlessGiven(t *testing.T) {
	if ForServer(nil, "h:1") != nil {
		t.Error("TLS out of nothing")
	}
	plain, named := &tls.Config{}, &tls.Config{ServerName: "other"}
	if a, b := ForServer(plain, "h:1"), ForServer(named, "h:1"); a.ServerName != "h" || b.ServerName != "other" || plain.ServerName != "" || a == plain || b == named {
		t.Errorf("%q and %q, %q in the original", a.ServerName, b.ServerName, plain.ServerName)
	}
}

func TestDialingGivesAConnectionOrClosesIt(t *testing.T) {
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	address := s.Listener.Addr().String()
	trusting := &tls.Config{RootCAs: x509.NewCertPool()}
	trusting.RootCAs.AddCert(s.Certificate())
	c, err := Dial(t.Context(), address, trusting)
	if err != nil {
		t.Fatal(err)
	}
	if state := c.(*tls.Conn).ConnectionState(); !state.HandshakeComplete {
		t.Error("TLS isn't finished")
	}
	_ = c.Close()
	if c, err := Dial(t.Context(), address, &tls.Config{}); c != nil || err == nil || !strings.HasPrefix(err.Error(), "TLS handshake with "+address+": ") {
		t.Errorf("a server that nobody vouches for: %v, %v", c, err)
	}
	plain, err := Dial(t.Context(), address, nil)
	if _, secured := plain.(*tls.Conn); err != nil || secured {
		t.Errorf("%T, %v", plain, err)
	}
	_ = plain.Close()
	if c, err := Dial(t.Context(), "127.0.0.1:1", trusting); err == nil || c != nil {
		t.Errorf("%v, %v where no server listens", c, err)
	}
}

func TestOnlyACallThatOutlivesItsContextIsCut(t *testing.T) {
	for name, c := range map[string]struct {
		play func(w *Watch, ctx context.Context, cancel func())
		want bool
	}{
		"blocked for good": {func(w *Watch, ctx context.Context, cancel func()) {
			w.Enter(ctx)
			cancel()
		}, true},
		"blocked after healthy calls": {func(w *Watch, ctx context.Context, cancel func()) {
			for range 3 {
				w.Enter(ctx)
				w.Leave()
			}
			w.Enter(ctx)
			cancel()
		}, true},
		"back before it is looked at": {func(w *Watch, ctx context.Context, cancel func()) {
			w.Enter(ctx)
			cancel()
			time.Sleep(patience / 2)
			w.Leave()
		}, false},
		"back while it is waited for": {func(w *Watch, ctx context.Context, cancel func()) {
			w.Enter(ctx)
			cancel()
			time.Sleep(patience + patience/2)
			w.Leave()
		}, false},
		"another call in its place": {func(w *Watch, ctx context.Context, cancel func()) {
			w.Enter(ctx)
			cancel()
			time.Sleep(patience + patience/2)
			w.Leave()
			w.Enter(context.Background())
		}, false},
		"stopped": {func(w *Watch, ctx context.Context, cancel func()) {
			w.Enter(ctx)
			w.Stop()
			cancel()
		}, false},
		"under another context": {func(w *Watch, ctx context.Context, cancel func()) {
			w.Enter(ctx)
			w.Leave()
			w.Enter(context.Background())
			cancel()
		}, false},
		"never called": {func(w *Watch, _ context.Context, cancel func()) {
			w.Stop()
			cancel()
		}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			var cuts atomic.Int64
			w := NewWatch(func() { cuts.Add(1) })
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			began := time.Now()
			c.play(w, ctx, cancel)
			time.Sleep(2*patience - time.Nanosecond - time.Since(began))
			synctest.Wait()
			if cuts.Load() > 0 {
				t.Errorf("%s: cut before it had twice its patience", name)
			}
			time.Sleep(10 * patience)
			synctest.Wait()
			if got := cuts.Load(); (got == 1) != c.want || got > 1 {
				t.Errorf("%s: cut %d times, want %v", name, got, c.want)
			}
		})
	}
}

// deadlines notes what reaches the connection.
type deadlines struct {
	net.Conn
	read, both []time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error { d.read = append(d.read, t); return nil }
func (d *deadlines) SetDeadline(t time.Time) error     { d.both = append(d.both, t); return nil }

func TestAReadDeadlineIsMovedOncePerSecondAndTakenBackAtOnce(t *testing.T) {
	d := &deadlines{}
	c := NewCoalescer(d, 10, 0)
	at := func(s float64) time.Time { return time.Unix(1000, 0).Add(time.Duration(s * float64(time.Second))) }
	for _, s := range []float64{0, 0.5, 0.999, 1, 1.9, 2.5, 2.4, 3.3} {
		if err := c.SetReadDeadline(at(s)); err != nil {
			t.Fatal(err)
		}
	}
	if want := []time.Time{at(0), at(1), at(2.5), at(2.4)}; !slices.Equal(d.read, want) {
		t.Errorf("moved to %v, want %v", d.read, want)
	}
	d.read = nil
	_ = c.SetReadDeadline(time.Time{}) // none any more
	_ = c.SetDeadline(at(5))
	_ = c.SetReadDeadline(at(9)) // of a frame that comes during the closing handshake
	_ = c.SetDeadline(time.Time{})
	_ = c.SetReadDeadline(at(9))
	_ = c.SetWriteDeadline(at(9))
	if !slices.Equal(d.read, []time.Time{{}, at(9)}) || !slices.Equal(d.both, []time.Time{at(5), {}}) {
		t.Errorf("read deadlines %v, deadlines %v", d.read, d.both)
	}
}

// script is a connection that notes its writes and fails from a given one on.
type script struct {
	net.Conn
	writes []string
	fails  int
	closed int
}

var errBroken = errors.New("broken")

func (s *script) Write(p []byte) (int, error) {
	if s.writes = append(s.writes, string(p)); len(s.writes) > s.fails {
		return 0, errBroken
	}
	return len(p), nil
}

func (s *script) Close() error { s.closed++; return nil }

func TestWhatIsGatheredIsWhatWasWrittenHoweverItIsCut(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		size, fails := rapid.IntRange(0, 20).Draw(t, "size"), rapid.SampledFrom([]int{1000, 1000, 0, 1, 3}).Draw(t, "fails after")
		s := &script{fails: fails}
		c := NewCoalescer(s, size, 0)
		var want bytes.Buffer
		holding, gathered := 0, 0
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			before := len(s.writes)
			switch rapid.SampledFrom([]string{"hold", "write", "write", "write", "release"}).Draw(t, "do") {
			case "hold":
				c.Hold()
				holding++
			case "release":
				err := c.Release()
				if broken := len(s.writes) > fails; errors.Is(err, errBroken) != broken || (s.closed > 0) != broken {
					t.Fatalf("Release: %v, closed %d times, broken %v", err, s.closed, broken)
				}
				if len(s.writes)-before > 1 || gathered == 0 && len(s.writes) > before {
					t.Fatalf("%d bytes were released in %v", gathered, s.writes[before:])
				}
				holding, gathered = max(0, holding-1), 0
			case "write":
				p := bytes.Repeat([]byte{byte('a' + want.Len()%26)}, rapid.IntRange(1, 25).Draw(t, "n"))
				n, err := c.Write(p)
				if broken := len(s.writes) > fails; broken && (err == nil || n != 0) || !broken && (err != nil || n != len(p)) {
					t.Fatalf("Write: %d of %d, %v, broken %v", n, len(p), err, broken)
				}
				if err != nil {
					if wrote := len(s.writes); wrote > fails+1 {
						t.Fatalf("%d writes after a broken one", wrote-fails-1)
					}
					continue
				}
				want.Write(p)
				switch {
				case holding > 0 && gathered+len(p) <= size:
					if gathered += len(p); len(s.writes) > before {
						t.Fatalf("%d of %d bytes are gathered, and %q was written", gathered, size, s.writes[before:])
					}
				case holding > 0 && len(p) <= size:
					gathered = len(p)
				default:
					gathered = 0
				}
			}
			if got := strings.Join(s.writes, ""); len(s.writes) <= fails && got != want.String()[:want.Len()-gathered] {
				t.Fatalf("%q was written, want %q and %d bytes to come", got, want.String(), gathered)
			}
		}
	})
}

func TestReadsBringAllThatTheSocketHolds(t *testing.T) {
	near, far := net.Pipe()
	c := NewCoalescer(near, 10, 0)
	sent := bytes.Repeat([]byte("0123456789"), 20_000)
	go func() {
		_, _ = far.Write(sent)
		_ = far.Close()
	}()
	if got, err := io.ReadAll(c); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d of %d bytes, %v", len(got), len(sent), err)
	}
}
