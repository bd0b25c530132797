package server

import (
	"bytes"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// taken is the answer to a ride that was accepted, up to its date.
var taken = "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(created)) + "\r\nDate: "

// lastOne is a header of the last answer on a connection.
const lastOne = "\r\nConnection: close"

// written is an answer to be sent without net/http.
type written struct {
	head http.Header
	code int
	body []byte
}

func (w *written) Header() http.Header { return w.head }
func (w *written) WriteHeader(c int)   { w.code = c }

func (w *written) Write(b []byte) (int, error) {
	w.body = append(w.body, b...)
	return len(b), nil
}

func (w *written) append(b []byte, closing bool) []byte {
	out := bytes.NewBuffer(b)
	out.WriteString("HTTP/1.1 " + strconv.Itoa(w.code) + " " + http.StatusText(w.code) + "\r\n")
	if closing {
		w.head.Set("Connection", "close")
	}
	w.head["Date"] = []string{string(date())}
	_ = w.head.Write(out) // a buffer takes everything
	out.WriteString("\r\n")
	out.Write(w.body)
	return out.Bytes()
}

type dated struct {
	second int64
	text   []byte
}

var latest atomic.Pointer[dated]

// date is now as HTTP has it, written once a second.
func date() []byte {
	now := time.Now()
	if d := latest.Load(); d != nil && d.second == now.Unix() {
		return d.text
	}
	d := &dated{now.Unix(), now.UTC().AppendFormat(nil, http.TimeFormat)}
	latest.Store(d)
	return d.text
}
