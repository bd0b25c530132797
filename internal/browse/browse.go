// Package browse shows a store in a browser: the runs it holds, the report of any selection, and two sides compared. Its
// pages are those that report and compare write to files; it computes and changes nothing.
package browse

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/page"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/secret"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/suggest"
	"github.com/brokermark/brokermark/reports"
)

//go:embed files
var embedded embed.FS

var templates = template.Must(template.ParseFS(embedded, "files/*.html"))

// Source is the store that a site shows. Its functions are called for each page, so that a page shows the store as it is
// at that time.
type Source struct {
	Name string // of the store, for people
	Host string // this machine's name
	// Read reads the records of a selection; an empty one selects all.
	Read func(ctx context.Context, where string) ([]store.Record, error)
	// Running lists the repetitions that are being measured, and the pages where they can be watched.
	Running func(ctx context.Context) (store.Running, error)
	// Page is the material of a page over set. args are those of the command that would write the same page.
	Page func(set *results.Set, where string, args ...string) page.Source
}

type site struct {
	Source
	turn chan struct{} // holds an element while a page is made
}

// pageWriter writes the page that a request asks for.
type pageWriter func(out *bytes.Buffer, r *http.Request) error

// Handler serves the pages of a store.
func Handler(source Source) http.Handler {
	s := site{Source: source, turn: make(chan struct{}, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.answer(ownPolicy, s.index))
	mux.HandleFunc("GET /report", s.answer(policyInPage, s.report))
	mux.HandleFunc("GET /compare", s.answer(policyInPage, s.compare))
	mux.HandleFunc("GET /browse.css", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFileFS(w, r, embedded, "files/browse.css")
	})
	mux.HandleFunc("GET /", s.answer(ownPolicy, func(_ *bytes.Buffer, r *http.Request) error {
		return &httpError{code: http.StatusNotFound, err: fmt.Errorf("there is no page %q here", r.URL.Path)}
	}))
	return withSecurityHeaders(mux)
}

// withSecurityHeaders adds the headers that keep other sites from embedding or reading a page, and browsers from storing
// it.
func withSecurityHeaders(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("X-Frame-Options", "DENY")
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
		w.Header().Set("Cache-Control", "no-store")
		h.ServeHTTP(w, r)
	})
}

// Content security policies. ownPolicy is for the pages that this package writes itself: they load nothing but this site's
// own files.
const (
	policyInPage = "" // no header: reports bring their policy in the page
	ownPolicy    = "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

type httpError struct {
	code int
	err  error
}

func (e *httpError) Error() string { return e.err.Error() }

func badRequest(err error) error { return &httpError{code: http.StatusBadRequest, err: err} }

// statusOf returns the HTTP status of an answer.
func statusOf(err error) int {
	var known *httpError
	switch {
	case err == nil:
		return http.StatusOK
	case errors.As(err, &known):
		return known.code
	case store.ProblemOf(err) != "": // the store can't be read
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// answer sends a page under a content security policy, or a page with the reason why it can't be made.
func (s site) answer(policy string, write pageWriter) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var out bytes.Buffer
		err := s.inTurn(&out, r, write)
		if err != nil {
			out.Reset()
			_ = templates.ExecuteTemplate(&out, "problem.html", secret.Redact(err.Error())) // writing to a buffer never fails
			w.Header().Set("Content-Security-Policy", ownPolicy)
		} else if policy != policyInPage {
			w.Header().Set("Content-Security-Policy", policy)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(statusOf(err))
		_, _ = w.Write(out.Bytes()) // fails only if the client is gone
	}
}

// inTurn makes one page at a time: a page of a large store keeps two cores busy for a second.
func (s site) inTurn(out *bytes.Buffer, r *http.Request, write pageWriter) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
		return write(out, r)
	case <-r.Context().Done():
		return r.Context().Err()
	}
}

// read reads the records of a selection.
func (s site) read(ctx context.Context, where string) ([]store.Record, error) {
	records, err := s.Read(ctx, where)
	if err != nil && store.ProblemOf(err) == "" {
		return nil, badRequest(err) // the selection makes no sense, or selects nothing
	}
	return records, cmp.Or(err, ctx.Err())
}

// report writes the report that the request names, of the records that it selects.
func (s site) report(out *bytes.Buffer, r *http.Request) error {
	where := strings.TrimSpace(r.FormValue("where"))
	name, args := reports.Default, []string{"report"}
	if asked := r.FormValue("name"); asked != "" {
		name, args = asked, append(args, asked)
	}
	report, err := reports.Lookup(name)
	if err != nil {
		return badRequest(fmt.Errorf("%w%s", err, suggest.DidYouMean(name, reports.Names())))
	}
	records, err := s.read(r.Context(), where)
	if err != nil {
		return err
	}
	set := results.Of(records)
	source := s.Page(set, where, args...)
	source.Context = r.Context()
	if name == reports.Default {
		return page.Summary(out, source)
	}
	d, err := report.Build(set)
	if err != nil {
		return badRequest(err) // the report has nothing to say of these records
	}
	return page.Document(out, d, source)
}

// compare writes the comparison of the two sides that the request names.
func (s site) compare(out *bytes.Buffer, r *http.Request) error {
	where := strings.TrimSpace(r.FormValue("where"))
	a, b := strings.TrimSpace(r.FormValue("a")), strings.TrimSpace(r.FormValue("b"))
	switch {
	case a == "" || b == "":
		return badRequest(errors.New("a comparison needs two sides: brokers, or selections such as client.linger.ms=5"))
	case a == b:
		return badRequest(fmt.Errorf("both sides are %s: there is nothing to compare", a))
	}
	first, err := s.side(r.Context(), where, a)
	if err != nil {
		return err
	}
	second, err := s.side(r.Context(), where, b)
	if err != nil {
		return err
	}
	named := slices.Concat(results.SelectionNames(results.SideSelection(a)), results.SelectionNames(results.SideSelection(b)))
	if why := reports.NothingToCompare(first, second, named...); why != "" {
		return badRequest(errors.New(why))
	}
	source := s.Page(nil, where, "compare", a, b)
	source.Context = r.Context()
	return page.Compare(out, first, second, named, source)
}

// side reads the records of one side of a comparison, among those that where selects.
func (s site) side(ctx context.Context, where, name string) (reports.Side, error) {
	records, err := s.read(ctx, results.JoinSelections(where, results.SideSelection(name)))
	if err != nil {
		return reports.Side{}, err
	}
	return reports.Side{Name: name, Set: results.Of(records)}, nil
}
