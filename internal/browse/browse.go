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

// Source is what is shown. Its functions are called for each page, so that a page shows the store as it is then.
type Source struct {
	Name    string // of the store, for people
	Host    string // this machine's name
	Read    func(ctx context.Context, where string) ([]store.Record, error)
	Running func(ctx context.Context) (store.Running, error)
	// Page says what a page over set is made from; args are those of the command that would write it.
	Page func(set *results.Set, where string, args ...string) page.Source
}

// site serves a Source.
type site struct {
	Source
	turn chan struct{} // holds one while a page is made
}

// Handler serves the pages of a store.
func Handler(source Source) http.Handler {
	s := site{source, make(chan struct{}, 1)}
	files, _ := fs.Sub(embedded, "files") // the name is in the embed directive above
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.answer(own, s.index))
	mux.HandleFunc("GET /report", s.answer("", s.report))
	mux.HandleFunc("GET /compare", s.answer("", s.compare))
	mux.Handle("GET /browse.css", http.FileServerFS(files))
	mux.HandleFunc("GET /", s.answer(own, func(_ *bytes.Buffer, r *http.Request) error {
		return &problem{http.StatusNotFound, fmt.Errorf("there is no page %q here", r.URL.Path)}
	}))
	return secured(mux)
}

// secured has a page load nothing but this site's own files. Reports narrow that down to what they hold.
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

// own is the policy of the pages that this package writes itself; reports have theirs in them.
const own = "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// problem is why a page can't be shown.
type problem struct {
	code int
	err  error
}

func (p *problem) Error() string { return p.err.Error() }

func badRequest(err error) error { return &problem{http.StatusBadRequest, err} }

// codeOf tells what was asked wrongly from a store that can't be read.
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

// answer sends what write made under a policy ("" = the page's own), or says why it could not.
func (s site) answer(policy string, write func(*bytes.Buffer, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		out, err := s.inTurn(r, write)
		code, policy := http.StatusOK, policy
		if err != nil {
			code, policy = codeOf(err), own
			out.Reset()
			_ = templates.ExecuteTemplate(out, "problem.html", secret.Redact(err.Error())) // a buffer takes everything
		}
		if policy != "" {
			w.Header().Set("Content-Security-Policy", policy)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(code)
		_, _ = w.Write(out.Bytes()) // who went away needs no answer
	}
}

// inTurn makes one page at a time: that of a large store takes both cores for a second.
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

func (s site) compare(w *bytes.Buffer, r *http.Request) error {
	where := strings.TrimSpace(r.FormValue("where"))
	var sides [2]reports.Side
	var named []string
	args := []string{"compare"}
	for i, name := range []string{"a", "b"} {
		side := strings.TrimSpace(r.FormValue(name))
		if side == "" {
			return badRequest(errors.New("a comparison needs two sides: brokers, or selections such as client.linger.ms=5"))
		}
		expr := results.SideSelection(side)
		records, err := s.Read(r.Context(), results.Joined(where, expr))
		if err != nil {
			return err
		}
		sides[i] = reports.Side{Name: side, Set: results.Of(records)}
		named = append(named, results.Named(expr)...)
		args = append(args, side)
	}
	if sides[0].Name == sides[1].Name {
		return badRequest(fmt.Errorf("both sides are %s: there is nothing to compare", sides[0].Name))
	}
	if why := reports.NothingToCompare(sides[0], sides[1], named...); why != "" {
		return badRequest(errors.New(why))
	}
	return page.Compare(w, sides[0], sides[1], named, s.Page(nil, where, args...))
}
