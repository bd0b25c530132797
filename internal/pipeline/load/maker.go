package load

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/textproto"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/brokermark/brokermark/internal/pipeline/ride"
	"github.com/brokermark/brokermark/internal/pipeline/server"
)

// Maker makes requests.
type Maker interface {
	// Thread returns a maker for one goroutine: it makes request number i, due at a time on the clock's axis. A body can be
	// read again (GetBody).
	Thread() func(i, due int64) *http.Request
}

// newRequest makes a request of a path that stands as it is to be sent. A host may have a form that no URL's text has.
func newRequest(method, host, path, body string) (*http.Request, error) {
	q, err := http.NewRequest(method, "http://host"+path, strings.NewReader(body))
	if err == nil {
		q.URL.Host, q.Host = host, host
	}
	return q, err
}

// Rides posts random rides, each under a key of its own.
type Rides struct {
	Host string
	Run  string // in front of every key: letters, digits and dashes
	Seed uint64

	threads atomic.Uint64
}

// ID returns the ID of the ride of request i.
func (m *Rides) ID(i int64) ride.ID { return ride.KeyID(m.key(i)) }

func (m *Rides) key(i int64) string { return m.Run + "-" + strconv.FormatInt(i, 10) }

// season is the assignment's season.
const season = 2024

// Thread makes rides whose values are drawn evenly from the allowed ranges.
func (m *Rides) Thread() func(i, due int64) *http.Request {
	draw := rand.New(rand.NewPCG(m.Seed, m.threads.Add(1)))
	upTo := func(n int) int { return 1 + draw.IntN(n) }
	return func(i, due int64) *http.Request {
		body := fmt.Sprintf(`{"time":%d,"liftID":%d}`, upTo(ride.MaxTime), upTo(ride.MaxLift))
		path := fmt.Sprintf("/skiers/%d/seasons/%d/days/%d/skiers/%d", upTo(ride.MaxResort), season, upTo(ride.MaxDay), upTo(ride.MaxSkier))
		q, _ := newRequest(http.MethodPost, m.Host, path, body) // can't fail: method and path are always valid
		q.Header.Set("Content-Type", "application/json")
		q.Header.Set(server.Key, m.key(i))
		q.Header.Set(server.At, strconv.FormatInt(due, 10))
		return q
	}
}

// Template makes any request. "{i}" in its path and body stands for the request's number.
type Template struct {
	Method, Host, Path string
	Header             []string // "Name: value"
	Body               []byte
}

// Check refuses a template that makes no valid request.
func (t *Template) Check() error {
	if !word.MatchString(t.Method) || t.Method == "HEAD" || t.Method == "CONNECT" {
		return fmt.Errorf("method %q; allowed: GET, POST, PUT and the like", t.Method)
	}
	if !strings.HasPrefix(t.Path, "/") || strings.ContainsAny(t.Path, " \t\r\n") {
		return fmt.Errorf("path %q; allowed: one that begins with / and has no white space", t.Path)
	}
	for _, h := range t.Header {
		name, value, ok := strings.Cut(h, ":")
		if !ok || !word.MatchString(name) || strings.ContainsFunc(value, control) {
			return fmt.Errorf("header %q; allowed: Name: value", h)
		}
		if slices.Contains([]string{"Host", "Content-Length", "Transfer-Encoding"}, textproto.CanonicalMIMEHeaderKey(name)) {
			return errors.New("header " + name + ": it is made from the address and the body")
		}
	}
	_, err := t.request(0)
	return err
}

// control reports whether r is a character that no header may hold.
func control(r rune) bool { return r < ' ' && r != '\t' || r == '\x7f' }

const number = "{i}"

// word is a method or the name of a header.
var word = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// Thread makes the same request with another number each time.
func (t *Template) Thread() func(i, due int64) *http.Request {
	return func(i, _ int64) *http.Request {
		q, _ := t.request(i) // Check has made one, and a number changes nothing about it
		return q
	}
}

func (t *Template) request(i int64) (*http.Request, error) {
	filled := strings.NewReplacer(number, strconv.FormatInt(i, 10))
	q, err := newRequest(t.Method, t.Host, filled.Replace(t.Path), filled.Replace(string(t.Body)))
	if err != nil {
		return nil, err
	}
	for _, h := range t.Header {
		name, value, _ := strings.Cut(h, ":")
		q.Header.Add(name, strings.TrimSpace(value))
	}
	return q, nil
}
