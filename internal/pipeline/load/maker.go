package load

import (
	"errors"
	"fmt"
	"math/rand/v2"
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
	// Thread is a maker for one goroutine: it appends request number i, which is due at a time of the clock's axis, to b, as
	// HTTP/1.1 has it.
	Thread() func(i, due int64, b []byte) []byte
}

// Rides posts random rides, each under a key of its own.
type Rides struct {
	Host string
	Run  string // in front of every key: letters, digits and dashes
	Seed uint64

	threads atomic.Uint64
}

// ID is that of the ride of request i.
func (m *Rides) ID(i int64) ride.ID { return ride.KeyID(string(m.key(i, nil))) }

func (m *Rides) key(i int64, b []byte) []byte {
	b = append(b, m.Run...)
	b = append(b, '-')
	return strconv.AppendInt(b, i, 10)
}

// season is that of the assignment.
const season = "2024"

// Thread makes rides whose values are drawn evenly from what is allowed.
func (m *Rides) Thread() func(i, due int64, b []byte) []byte {
	draw := rand.New(rand.NewPCG(m.Seed, m.threads.Add(1)))
	upTo := func(n int) int64 { return int64(1 + draw.IntN(n)) }
	head := " HTTP/1.1\r\nHost: " + m.Host + "\r\nContent-Type: application/json\r\n" + server.Key + ": "
	body := make([]byte, 0, 64)
	return func(i, due int64, b []byte) []byte {
		body = append(body[:0], `{"time":`...)
		body = strconv.AppendInt(body, upTo(ride.MaxTime), 10)
		body = append(body, `,"liftID":`...)
		body = strconv.AppendInt(body, upTo(ride.MaxLift), 10)
		body = append(body, '}')
		b = append(b, "POST /skiers/"...)
		b = strconv.AppendInt(b, upTo(ride.MaxResort), 10)
		b = append(b, "/seasons/"+season+"/days/"...)
		b = strconv.AppendInt(b, upTo(ride.MaxDay), 10)
		b = append(b, "/skiers/"...)
		b = strconv.AppendInt(b, upTo(ride.MaxSkier), 10)
		b = append(b, head...)
		b = m.key(i, b)
		b = append(b, "\r\n"+server.At+": "...)
		b = strconv.AppendInt(b, due, 10)
		b = append(b, "\r\nContent-Length: "...)
		b = strconv.AppendInt(b, int64(len(body)), 10)
		b = append(b, "\r\n\r\n"...)
		return append(b, body...)
	}
}

// Template makes any request. "{i}" in its path and body stands for the request's number.
type Template struct {
	Method, Host, Path string
	Header             []string // "Name: value"
	Body               []byte
}

// Check refuses what would be no request.
func (t *Template) Check() error {
	if !word.MatchString(t.Method) || t.Method == "HEAD" || t.Method == "CONNECT" {
		return fmt.Errorf("method %q; allowed: GET, POST, PUT and the like", t.Method)
	}
	if !strings.HasPrefix(t.Path, "/") || strings.ContainsAny(t.Path, " \t\r\n") {
		return fmt.Errorf("path %q; allowed: one that begins with / and has no white space", t.Path)
	}
	for _, h := range t.Header {
		name, value, ok := strings.Cut(h, ":")
		if !ok || !word.MatchString(name) || strings.ContainsAny(value, "\r\n\x00") {
			return fmt.Errorf("header %q; allowed: Name: value", h)
		}
		if slices.Contains([]string{"Host", "Content-Length", "Transfer-Encoding"}, textproto.CanonicalMIMEHeaderKey(name)) {
			return errors.New("header " + name + ": it is made from the address and the body")
		}
	}
	return nil
}

const number = "{i}"

// word is a method or the name of a header.
var word = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// Thread makes the same request with another number each time.
func (t *Template) Thread() func(i, due int64, b []byte) []byte {
	template := string(t.Body)
	middle := " HTTP/1.1\r\nHost: " + t.Host + "\r\n"
	for _, h := range t.Header {
		middle += h + "\r\n"
	}
	return func(i, _ int64, b []byte) []byte {
		digits := strconv.FormatInt(i, 10)
		b = append(b, t.Method+" "+strings.ReplaceAll(t.Path, number, digits)...)
		b = append(b, middle...)
		body := strings.ReplaceAll(template, number, digits)
		if len(body) > 0 || t.Method == "POST" || t.Method == "PUT" {
			b = append(b, "Content-Length: "...)
			b = strconv.AppendInt(b, int64(len(body)), 10)
			b = append(b, "\r\n"...)
		}
		b = append(b, "\r\n"...)
		return append(b, body...)
	}
}
