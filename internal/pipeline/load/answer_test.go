package load

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

// A response that is taken for plain must be what net/http makes of it, and as long.
func FuzzAPlainResponseIsWhatNetHTTPReads(f *testing.F) {
	for _, text := range []string{
		"HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
		"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200\r\ncontent-length:0\r\n\r\n", "HTTP/1.1 204 No Content\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "HTTP/1.1 503 x\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200\r\nContent-Length:0\r\n0:\x10\r\n\r\n", "HTTP/1.1 200 \n\r\nContent-Length:0\r\n\r\n",
		"HTTP/1.1 2x0 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 100 Continue\r\nContent-Length: 0\r\n\r\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		code, length, ok := plain(text)
		if !ok || length > len(text) {
			return
		}
		all := bytes.NewReader(text)
		in := bufio.NewReaderSize(all, 1<<16)
		r, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatalf("%q is taken for a plain response; net/http: %v", text, err)
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil || r.StatusCode != code || r.Close {
			t.Errorf("%q: %d; net/http: %d, close %v, %v", text, code, r.StatusCode, r.Close, err)
		}
		if left := in.Buffered() + all.Len(); left != len(text)-length {
			t.Errorf("%q: %d bytes long; net/http leaves %d of %d", text, length, left, len(text))
		}
	})
}

func TestResponsesAreReadInAnyForm(t *testing.T) {
	const usual = "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nContent-Length: 4\r\n\r\nbody"
	for _, c := range []struct {
		text string
		want answer
	}{
		{usual, answer{code: 201, keep: true}},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n", answer{code: 200, keep: true}},
		{"HTTP/1.1 204 No Content\r\n\r\n", answer{code: 204, keep: true}},
		{"HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n", answer{code: 503, keep: true, after: 1e9}},
		{"HTTP/1.1 413 Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", answer{code: 413}},
	} {
		// Twice on one connection, whole and byte by byte: what follows an answer is the next one.
		for _, from := range []io.Reader{strings.NewReader(c.text + c.text), &trickle{c.text + c.text}} {
			in := bufio.NewReader(from)
			for range 2 {
				if a, err := read(in); err != nil || a != c.want {
					t.Errorf("%q: %+v, %v; want %+v", c.text, a, err, c.want)
				}
			}
		}
	}
	if _, err := read(bufio.NewReader(strings.NewReader(usual[:len(usual)-1]))); err == nil {
		t.Error("a body that was cut off is an answer")
	}
	rest := strings.NewReader("")
	in := bufio.NewReader(rest)
	if n := testing.AllocsPerRun(100, func() { rest.Reset(usual); in.Reset(rest); _, _ = read(in) }); n > 0 {
		t.Errorf("%v allocations to read an answer", n)
	}
}

// trickle gives one byte at a time.
type trickle struct{ text string }

func (s *trickle) Read(b []byte) (int, error) {
	if s.text == "" {
		return 0, io.EOF
	}
	n := copy(b[:1], s.text)
	s.text = s.text[n:]
	return n, nil
}
