package load

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strconv"
	"time"
)

// answer is what a thread wants to know of a response.
type answer struct {
	code  int           // 0: none came
	after time.Duration // how long the server asks to wait
	keep  bool          // the connection
}

// read takes one response off the connection. One in plain form costs no allocation; of any other form net/http decides.
func read(in *bufio.Reader) (a answer, err error) {
	if _, err := in.Peek(1); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return a, err
	}
	there, _ := in.Peek(in.Buffered())
	if code, length, ok := plain(there); ok {
		_, err = in.Discard(length)
		return answer{code: code, keep: true}, err
	}
	r, err := http.ReadResponse(in, nil)
	if err != nil {
		return a, err
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return a, err
	}
	a = answer{code: r.StatusCode, keep: !r.Close}
	if s := r.Header.Get("Retry-After"); s != "" {
		a.after, _ = time.ParseDuration(s + "s")
	}
	return a, nil
}

var (
	statusLine = []byte("HTTP/1.1 ")
	lineEnd    = []byte("\r\n")
	headEnd    = []byte("\r\n\r\n")
)

// plain looks at the beginning of a response: is its head complete, its length given, and nothing else in it that matters? length
// is that of all of it.
func plain(b []byte) (code, length int, ok bool) {
	end := bytes.Index(b, headEnd)
	if end < 0 || !bytes.HasPrefix(b, statusLine) || len(b) < len(statusLine)+4 {
		return 0, 0, false
	}
	status, err := strconv.ParseUint(string(b[len(statusLine):len(statusLine)+3]), 10, 0)
	code = int(status)
	after := b[len(statusLine)+3]
	hasBody := code >= 200 && code <= 599 && code != http.StatusNoContent && code != http.StatusNotModified
	if err != nil || after != ' ' && after != '\r' || !hasBody {
		return 0, 0, false
	}
	body := -1
	first, head, _ := bytes.Cut(b[:end], lineEnd)
	if !printable(first) {
		return 0, 0, false
	}
	for len(head) > 0 {
		var line []byte
		line, head, _ = bytes.Cut(head, lineEnd)
		name, value, found := bytes.Cut(line, []byte(":"))
		switch {
		case !found || len(name) == 0 || !plainName(name) || !printable(value):
			return 0, 0, false
		case is(name, "Content-Length"):
			n, err := strconv.ParseUint(string(bytes.Trim(value, " ")), 10, 31)
			if err != nil || body >= 0 {
				return 0, 0, false
			}
			body = int(n)
		case is(name, "Connection"), is(name, "Transfer-Encoding"), is(name, "Retry-After"), is(name, "Trailer"):
			return 0, 0, false
		}
	}
	return code, end + len(headEnd) + body, body >= 0
}

func is(name []byte, known string) bool {
	return len(name) == len(known) && bytes.EqualFold(name, []byte(known))
}

// plainName allows no folded lines, and no names that net/http would refuse.
func plainName(name []byte) bool {
	for _, c := range name {
		if c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

func printable(b []byte) bool {
	return !bytes.ContainsFunc(b, func(c rune) bool { return c < ' ' || c > '~' })
}
