package amqp10

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// wire takes down every write of its own.
type wire struct {
	net.Conn
	writes chan string
	err    error
	closed bool
}

func (w *wire) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	w.writes <- string(p)
	return len(p), nil
}

func (w *wire) Close() error { w.closed = true; return nil }

func written(w *wire) string {
	var all []string
	for len(w.writes) > 0 {
		all = append(all, <-w.writes)
	}
	return strings.Join(all, "|")
}

func put(t *testing.T, c io.Writer, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if n, err := c.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("writing %q: %d, %v", text, n, err)
		}
	}
}

func TestFramesOfABatchReachTheSocketInOneWrite(t *testing.T) {
	for name, c := range map[string]struct {
		size  int
		hold  bool
		texts []string
		want  string
	}{
		"not held":               {10, false, []string{"a", "b"}, "a|b"},
		"no buffer":              {0, true, []string{"a", "b"}, "a|b"},
		"held":                   {10, true, []string{"aaa", "bbb", "ccc"}, "aaabbbccc"},
		"more than the buffer":   {5, true, []string{"aaa", "bbb", "cc"}, "aaa|bbbcc"},
		"larger than the buffer": {5, true, []string{"aa", "bbbbbbb", "c"}, "aa|bbbbbbb|c"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &wire{writes: make(chan string, 10)}
			co := newCoalescer(w, c.size)
			if c.hold {
				co.hold()
				co.due.Stop() // no test waits for a timer it doesn't test
			}
			put(t, co, c.texts...)
			if err := co.release(); err != nil {
				t.Error(err)
			}
			if got := written(w); got != c.want {
				t.Errorf("written %q, want %q", got, c.want)
			}
		})
	}
}

func TestWhatIsHeldIsWrittenWithoutAReleaseToo(t *testing.T) {
	w := &wire{writes: make(chan string, 10)}
	co := newCoalescer(w, 100)
	co.hold()
	put(t, co, "credit is out")
	select {
	case got := <-w.writes:
		if got != "credit is out" {
			t.Errorf("written %q", got)
		}
	case <-time.After(10 * time.Second):
		t.Error("the broker never sees what was sent, and never grants credit")
	}
}

func TestAFailedWriteClosesAndIsToldToEveryLaterWriter(t *testing.T) {
	broken := errors.New("broken")
	w := &wire{err: broken}
	co := newCoalescer(w, 100)
	co.hold()
	put(t, co, "a")
	if err := co.release(); !errors.Is(err, broken) || !w.closed {
		t.Errorf("release: %v, closed %v", err, w.closed)
	}
	if _, err := co.Write([]byte("b")); !errors.Is(err, broken) {
		t.Errorf("a later write: %v", err)
	}
}
