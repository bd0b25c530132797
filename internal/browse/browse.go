// Package browse shows a store in a browser: the runs it holds, the report of any selection, and two sides compared. Its
// pages are those that report and compare write to files; it computes and changes nothing.
package browse

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
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

// Source is the store that a site shows. Its functions are called for each page, so that a page shows the store as it is at that time.
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

// site serves a Source.
type site struct {
	Source
	turn chan struct{} // holds one while a page is made
}

// Handler serves the pages of a store.
func Handler(source Source) http.Handler {
	s := site{Source: source, turn: make(chan struct{}, 1)}
	files, _ := fs.Sub(embedded, "files") // never fails: the folder is embedded above
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.answer(ownPolicy, s.index))
	mux.HandleFunc("GET /report", s.answer(policyInPage, s.report))
	mux.HandleFunc("GET /compare", s.answer(policyInPage, s.compare))
	mux.Handle("GET /browse.css", http.FileServerFS(files))
	mux.HandleFunc("GET /", s.answer(ownPolicy, func(_ *bytes.Buffer, r *http.Request) error {
		return &problem{code: http.StatusNotFound, err: fmt.Errorf("there is no page %q here", r.URL.Path)}
	}))
	return secured(mux)
}

// secured adds the headers that keep other sites from embedding or reading a page, and browsers from storing it.
func secured(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("X-Frame-Options", "DENY")
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
		w.Header().Set("Cache-Control", "no-store")
		h.ServeHTTP(w, r)
	})
}

// Content security policies. ownPolicy is for the pages that this package writes itself: they load nothing but this site's own files.
const (
	policyInPage = "" // reports bring theirs in the page
	ownPolicy    = "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

// problem is an error with the HTTP status of its answer.
type problem struct {
	code int
	err  error
}

func (p *problem) Error() string { return p.err.Error() }

func badRequest(err error) error { return &problem{code: http.StatusBadRequest, err: err} }

// codeOf is the HTTP status of an error: a problem has its own, a store that can't be read is unavailable, and the rest is a selection
// that can't be read.
func codeOf(err error) int {
	var p *problem
	switch {
	case errors.As(err, &p):
		return p.code
	case store.ProblemOf(err) != "":
		return http.StatusServiceUnavailable
	}
	return http.StatusBadRequest
}

// answer sends the page that write makes, under a content security policy, or a page with the reason why it can't be made.
func (s site) answer(policy string, write func(*bytes.Buffer, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		out, err := s.inTurn(r, write)
		code, pagePolicy := http.StatusOK, policy
		if err != nil {
			code, pagePolicy = codeOf(err), ownPolicy
			out.Reset()
			_ = templates.ExecuteTemplate(out, "problem.html", secret.Redact(err.Error())) // writing to a buffer never fails
		}
		if pagePolicy != policyInPage {
			w.Header().Set("Content-Security-Policy", pagePolicy)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(code)
		_, _ = w.Write(out.Bytes()) // fails only if the client is gone
	}
}

// inTurn makes one page at a time: a page of a large store keeps two cores busy for a second.
func (s site) inTurn(r *http.Request, write func(*bytes.Buffer, *http.Request) error) (*bytes.Buffer, error) {
	out := new(bytes.Buffer)
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
		return out, write(out, r)
	case <-r.Context().Done():
		return out, r.Context().Err()
	}
}

// report writes the report that the request names, of the records that it selects.
func (s site) report(w *bytes.Buffer, r *http.Request) error {
	name, where := r.FormValue("name"), strings.TrimSpace(r.FormValue("where"))
	args := []string{"report"}
	if name == "" {
		name = reports.Default
	} else {
		args = append(args, name)
	}
	report, err := reports.Lookup(name)
	if err != nil {
		return badRequest(fmt.Errorf("%w%s", err, suggest.DidYouMean(name, reports.Names())))
	}
	records, err := s.Read(r.Context(), where)
	if err != nil {
		return err
	}
	set := results.Of(records)
	source := s.Page(set, where, args...)
	if name == reports.Default {
		return page.Summary(w, source)
	}
	d, err := report.Build(set)
	if err != nil {
		return err
	}
	return page.Document(w, d, source)
}

// compare writes the comparison of the two sides that the request names.
func (s site) compare(w *bytes.Buffer, r *http.Request) error {
	where, a, b := strings.TrimSpace(r.FormValue("where")), strings.TrimSpace(r.FormValue("a")), strings.TrimSpace(r.FormValue("b"))
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
	named := append(results.Named(results.SideSelection(a)), results.Named(results.SideSelection(b))...)
	if why := reports.NothingToCompare(first, second, named...); why != "" {
		return badRequest(errors.New(why))
	}
	return page.Compare(w, first, second, named, s.Page(nil, where, "compare", a, b))
}

// side reads the records of one side of a comparison, among those that where selects.
func (s site) side(ctx context.Context, where, name string) (reports.Side, error) {
	records, err := s.Read(ctx, results.Joined(where, results.SideSelection(name)))
	return reports.Side{Name: name, Set: results.Of(records)}, err
}
