package server

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/pipeline/ride"
)

// plain is a POST of a ride in the form in which nearly everybody sends one.
type plain struct {
	path, key, due, body []byte
	length               int // of the whole request
}

// form is what the beginning of a connection's bytes is.
type form int

const (
	part  form = iota // of a plain request, so far
	whole             // a plain request
	other             // net/http decides what it is
)

var (
	method  = []byte("POST /skiers/")
	version = []byte(" HTTP/1.1")
	lineEnd = []byte("\r\n")
	headEnd = []byte("\r\n\r\n")
)

// scan reads one request off b, and refuses nothing: what is not in plain form, valid or not, is another's.
func scan(b []byte) (p plain, f form) {
	if n := min(len(b), len(method)); !bytes.Equal(b[:n], method[:n]) {
		return p, other
	}
	end := bytes.Index(b, headEnd)
	if end < 0 {
		return p, part
	}
	first, head, _ := bytes.Cut(b[:end], lineEnd)
	if !bytes.HasSuffix(first, version) {
		return p, other
	}
	p.path = first[len("POST ") : len(first)-len(version)]
	size, ok := p.headers(head)
	if !ok || !all(p.path, inPath) {
		return p, other
	}
	p.length = end + len(headEnd) + size
	if len(b) < p.length {
		return p, part
	}
	p.body = b[p.length-size : p.length]
	return p, whole
}

// headers wants each of those that matter at most once and in its usual form. It returns the length of the body.
func (p *plain) headers(head []byte) (size int, ok bool) {
	var host, kind bool
	size = -1
	for len(head) > 0 {
		var line []byte
		line, head, _ = bytes.Cut(head, lineEnd)
		name, value, found := bytes.Cut(line, []byte(":"))
		value = bytes.Trim(value, " ")
		if !found || len(name) == 0 || !all(name, inName) || !all(value, inValue) {
			return 0, false
		}
		switch {
		case is(name, "Host"):
			ok, host = !host && len(value) > 0 && all(value, inHost), true
		case is(name, "Content-Type"):
			ok, kind = !kind && string(value) == "application/json", true
		case is(name, "Content-Length"):
			n, err := strconv.ParseUint(string(value), 10, 31)
			ok = err == nil && size < 0 && n <= maxBody
			size = int(n)
		case is(name, Key):
			ok = p.key == nil && len(value) > 0 && len(value) <= maxKey
			p.key = value
		case is(name, At):
			ok = p.due == nil && len(value) > 0
			p.due = value
		case is(name, "Connection"):
			ok = is(value, "keep-alive")
		default:
			ok = !is(name, "Transfer-Encoding") && !is(name, "Expect") && !is(name, "Upgrade") && !is(name, "Trailer")
		}
		if !ok {
			return 0, false
		}
	}
	return size, host && kind && size > 0
}

func is(name []byte, known string) bool {
	return len(name) == len(known) && strings.EqualFold(string(name), known)
}

func all(b []byte, allowed func(byte) bool) bool {
	for _, c := range b {
		if !allowed(c) {
			return false
		}
	}
	return true
}

func alphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
func inName(c byte) bool  { return alphanumeric(c) || c == '-' }
func inPath(c byte) bool  { return alphanumeric(c) || c == '/' }
func inHost(c byte) bool  { return alphanumeric(c) || c == '.' || c == ':' || c == '-' }
func inValue(c byte) bool { return ' ' <= c && c <= '~' }

// ride is what p posts; false: it isn't valid, and net/http's handler has the words for it.
func (p *plain) ride() (of ride.Ride, ok bool) {
	var parts [8]string
	n := split(string(p.path[len("/skiers/"):]), parts[:])
	if !isDay(parts[:n]) {
		return of, false
	}
	of, err := dayOf(parts[:n])
	if err == nil {
		err = complete(&of, p.body, string(p.key), string(p.due))
	}
	return of, err == nil
}
