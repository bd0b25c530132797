package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/brokermark/brokermark/internal/pipeline/pool"
	"github.com/brokermark/brokermark/internal/pipeline/ride"
)

// broker stands for a pool: it keeps what it is given, or refuses with err.
type broker struct {
	mu    sync.Mutex
	rides []ride.Ride
	err   error
	hold  chan struct{} // nil: answers at once
}

func (b *broker) Publish(payload []byte) error {
	if b.hold != nil {
		<-b.hold
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return b.err
	}
	r, err := ride.Parse(payload)
	b.rides = append(b.rides, r)
	return err
}

func (b *broker) Counts() pool.Counts { return pool.Counts{} }

type verticals struct{ err error }

func (v verticals) Vertical(_ context.Context, q Query) (int64, error) {
	return int64(q.Skier + 1000*q.Season + q.Day), v.err
}

const good = "/skiers/3/seasons/2024/days/7/skiers/98486"

// asked is a request and what has to come of it.
type asked struct {
	method, path, kind, body string
	header                   map[string]string
	code                     int
	says                     string // in the answer
}

func requests() []asked {
	post := func(path, body string, code int, says string) asked {
		return asked{method: "POST", path: path, kind: "application/json", body: body, code: code, says: says}
	}
	const ok = `{"time":217,"liftID":21}`
	return []asked{
		post(good, ok, 201, "accepted"),
		{method: "POST", path: good, kind: "application/json; charset=utf-8", body: ok, code: 201},
		{method: "POST", path: good, kind: "application/json", body: ok, header: map[string]string{Key: "a", At: "12"}, code: 201},
		{method: "POST", path: good, kind: "application/json", body: ok, header: map[string]string{Key: strings.Repeat("a", 201)}, code: 400, says: Key},
		{method: "POST", path: good, kind: "application/json", body: ok, header: map[string]string{At: "soon"}, code: 400, says: At},
		{method: "POST", path: good, kind: "text/plain", body: ok, code: 415, says: "application/json"},
		{method: "POST", path: good, body: ok, code: 415, says: "Content-Type"},
		{method: "PUT", path: good, kind: "application/json", body: ok, code: 405, says: "GET, POST"},
		{method: "DELETE", path: "/health", code: 405, says: "GET"},
		{method: "POST", path: "/skiers/1/vertical", code: 405, says: "GET"},
		{method: "GET", path: "/", code: 404},
		{method: "GET", path: "/skiers/1", code: 404},
		post(good+"/", ok, 404, "no such path"),
		post("//skiers/3/seasons/2024/days/7/skiers/98486", ok, 404, "no such path"),
		post("/skiers/3/seasons/2024/days/7/skiers/../../../../../../etc/passwd", ok, 404, "no such path"),
		post("/skiers/3/seasons/2024/days/7/skiers/%2e%2e", ok, 400, "skierID"),
		post("/skiers/3/seasons/2024/days/..%2f..%2fetc/skiers/1", ok, 400, "dayID"),
		post("/skiers/0/seasons/2024/days/7/skiers/98486", ok, 400, `"field":"resortID"`),
		post("/skiers/11/seasons/2024/days/7/skiers/98486", ok, 400, "1 to 10"),
		post("/skiers/x/seasons/2024/days/7/skiers/98486", ok, 400, `"field":"resortID"`),
		post("/skiers/3/seasons/24/days/7/skiers/98486", ok, 400, `"field":"seasonID"`),
		post("/skiers/3/seasons/2024/days/367/skiers/98486", ok, 400, `"field":"dayID"`),
		post("/skiers/3/seasons/2024/days/7/skiers/-1", ok, 400, `"field":"skierID"`),
		post("/skiers/3/seasons/2024/days/7/skiers/100001", ok, 400, `"field":"skierID"`),
		post(good, `{"time":0,"liftID":21}`, 400, `"field":"time"`),
		post(good, `{"time":217,"liftID":41}`, 400, `"field":"liftID"`),
		post(good, `{"time":217}`, 400, `"field":"liftID"`),
		post(good, `{"time":217,`, 400, `"field":"body"`),
		post(good, ``, 400, "is empty"),
		post(good, `{"time":217,"liftID":21}`+strings.Repeat(" ", 1000), 201, ""),
		post(good, `{"time":217,"liftID":21}`+strings.Repeat(" ", 1001), 413, "1024"),
		post(good, strings.Repeat("x", 10<<20), 413, "1024"),
		{method: "GET", path: good, code: 200, says: fmt.Sprint(98486 + 1000*2024 + 7)},
		{method: "GET", path: "/skiers/98486/vertical?resort=3", code: 200, says: "98486"},
		{method: "GET", path: "/skiers/98486/vertical?resort=3&season=2024&day=7", code: 200, says: fmt.Sprint(98486 + 1000*2024 + 7)},
		{method: "GET", path: "/skiers/98486/vertical", code: 400, says: "resort"},
		{method: "GET", path: "/skiers/98486/vertical?resort=99", code: 400, says: "resortID"},
		{method: "GET", path: "/skiers/98486/vertical?resort=3&season=winter", code: 400, says: "season"},
		{method: "GET", path: "/skiers/98486/vertical?resort=3&day=367", code: 400, says: "dayID"},
		{method: "GET", path: "/health", code: 200, says: `"status":"ok"`},
		{method: "GET", path: "/openapi.yaml", code: 200, says: "openapi: 3"},
	}
}

func (a asked) send(t *testing.T, h http.Handler) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(a.method, a.path, strings.NewReader(a.body))
	if a.kind != "" {
		r.Header.Set("Content-Type", a.kind)
	}
	for k, v := range a.header {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestEveryRequestIsAnsweredAsItDeserves(t *testing.T) {
	b := &broker{}
	s := New(b, verticals{})
	accepted := 0
	for _, a := range requests() {
		w := a.send(t, s)
		if w.Code != a.code || !strings.Contains(w.Body.String(), a.says) {
			t.Errorf("%s %.80s %.40q: %d %.200s; want %d and %q", a.method, a.path, a.body, w.Code, w.Body, a.code, a.says)
		}
		if a.code == 201 {
			accepted++
		}
		if a.code == 405 && w.Header().Get("Allow") == "" {
			t.Errorf("%s %s: 405 without Allow", a.method, a.path)
		}
	}
	if len(b.rides) != accepted {
		t.Errorf("%d rides were published, %d accepted", len(b.rides), accepted)
	}
	if want := (ride.Ride{ID: ride.KeyID("a"), Resort: 3, Season: 2024, Day: 7, Skier: 98486, Time: 217, Lift: 21, At: 12}); b.rides[2] != want {
		t.Errorf("published %+v; want %+v", b.rides[2], want)
	}
}

func TestTheDescriptionIsWhatTheServerDoes(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(Description)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	openapi3filter.RegisterBodyDecoder("application/yaml", func(r io.Reader, _ http.Header, _ *openapi3.SchemaRef, _ openapi3filter.EncodingFn) (any, error) {
		return io.ReadAll(r)
	})
	lists := map[string]*Server{
		"ok":      New(&broker{}, verticals{}),
		"busy":    New(&broker{err: pool.ErrBusy}, verticals{err: errors.New("gone")}),
		"unknown": New(&broker{err: pool.ErrUnknown}, nil),
		"closed":  New(&broker{err: pool.ErrClosed}, nil),
		"broken":  New(&broker{err: errors.New("no queue")}, nil),
	}
	lists["closed"].Stopping()
	seen := map[string]bool{}
	for name, s := range lists {
		for _, a := range requests() {
			w := a.send(t, s)
			r := httptest.NewRequest(a.method, a.path, strings.NewReader(a.body))
			r.Header.Set("Content-Type", a.kind)
			for k, v := range a.header {
				r.Header.Set(k, v)
			}
			route, params, err := router.FindRoute(r)
			if err != nil {
				known := w.Code == 404 || w.Code == 405 && errors.Is(err, routers.ErrMethodNotAllowed)
				if !known {
					t.Errorf("%s: %s %s: %d, and the description has no such route: %v", name, a.method, a.path, w.Code, err)
				}
				continue
			}
			in := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route}
			if err := openapi3filter.ValidateRequest(t.Context(), in); w.Code != 413 && (err == nil) != (w.Code/100 == 2 || w.Code == 503) { // length is no part of a schema
				t.Errorf("%s: %s %s %.60q: %d, but by the description: %v", name, a.method, a.path, a.body, w.Code, err)
			}
			out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: w.Code, Header: w.Header(), Body: io.NopCloser(bytes.NewReader(w.Body.Bytes())), Options: &openapi3filter.Options{IncludeResponseStatus: true}}
			if err := openapi3filter.ValidateResponse(t.Context(), out); err != nil {
				t.Errorf("%s: %s %s: the answer %d %s isn't in the description: %v", name, a.method, a.path, w.Code, w.Body, err)
			}
			seen[fmt.Sprint(route.Operation.OperationID, w.Code)] = true
		}
	}
	for _, want := range []string{"postRide201", "postRide400", "postRide413", "postRide415", "postRide503", "vertical200", "vertical503", "health200", "health503"} {
		if !seen[want] {
			t.Errorf("no answer was %s", want)
		}
	}
}

func TestBackPressureSaysWhenToComeBack(t *testing.T) {
	var logged bytes.Buffer
	log.SetOutput(&logged)
	defer log.SetOutput(os.Stderr)
	defer func() {
		if !strings.Contains(logged.String(), "10.0.0.7") {
			t.Errorf("the broker's words are lost: %q", &logged)
		}
	}()
	for _, err := range []error{pool.ErrBusy, pool.ErrUnknown, pool.ErrClosed, errors.New("10.0.0.7 is gone")} {
		w := requests()[0].send(t, New(&broker{err: err}, nil))
		if w.Code != 503 || w.Header().Get("Retry-After") == "" {
			t.Errorf("%v: %d, Retry-After %q", err, w.Code, w.Header().Get("Retry-After"))
		}
		if strings.Contains(w.Body.String(), "10.0.0.7") {
			t.Errorf("a client is told where the broker is: %s", w.Body)
		}
	}
}

func TestAStoppingServerAnswersWhatIsUnderWay(t *testing.T) {
	b := &broker{hold: make(chan struct{})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, l, nil, New(b, nil)) }()
	answers := make(chan string, 1)
	go func() {
		a, err := http.Post("http://"+l.Addr().String()+good, "application/json", strings.NewReader(`{"time":1,"liftID":1}`))
		if err != nil {
			answers <- err.Error()
			return
		}
		a.Body.Close()
		answers <- a.Status
	}()
	b.hold <- struct{}{} // the ride is being published
	stop()
	close(b.hold)
	if got := <-answers; got != "201 Created" {
		t.Errorf("the ride under way was answered with %s", got)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if len(b.rides) != 1 {
		t.Errorf("%d rides were published", len(b.rides))
	}
	if _, err := net.DialTimeout("tcp", l.Addr().String(), time.Second); err == nil {
		t.Error("the server still listens")
	}
}

func TestAClientThatSendsHalfABodyIsAnsweredAndPublishesNothing(t *testing.T) {
	b := &broker{}
	h := httptest.NewServer(New(b, nil))
	defer h.Close()
	c, err := net.Dial("tcp", h.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 24\r\n\r\n{\"time\":1", good)
	_ = c.(*net.TCPConn).CloseWrite()
	got, _ := io.ReadAll(c)
	if !strings.HasPrefix(string(got), "HTTP/1.1 400 ") || len(b.rides) > 0 {
		t.Errorf("%q, %d rides", got, len(b.rides))
	}
}
