// Package page writes reports as self-contained HTML files: documents as text and tables, records as figures, with the
// front end of package web inside. Package results computes every figure in it, and a finished file needs no
// network.
package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/render"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/reports"
	"github.com/brokermark/brokermark/web"
)

//go:embed page.html
var shell string

var shellTemplate = template.Must(template.New("page").Parse(shell))

// Source is the material of a page.
type Source struct {
	Set     *results.Set   // drawn as figures; no figures if it is nil or empty
	Gates   []gate.Verdict // of the thresholds that the command was given; nil if there were none
	Command string         // as typed to make the page
	Tool    string         // version of brokermark
}

// figures tells whether there is anything to draw.
func (s Source) figures() bool { return s.Set != nil && len(s.Set.Records) > 0 }

// Summary writes the whole report over s.Set: verdict, tables, figures, what was refused or void, and what is
// needed to repeat it.
func Summary(w io.Writer, s Source) error {
	return write(w, s, "Brokermark report", func() (lead, rest string, err error) { return compose(s.Set) })
}

// Document writes one document.
func Document(w io.Writer, d document.Document, s Source) error {
	s.Set = nil
	return write(w, s, d.Title, func() (lead, rest string, err error) { return render.Fragment(d.Blocks, "d", 2), "", nil })
}

// Compare writes a comparison, with figures over the records of both sides.
func Compare(w io.Writer, a, b reports.Side, named []string, s Source) error {
	s.Set = results.Of(apart(a, b))
	d := reports.Compare(a, b, named...)
	return write(w, s, d.Title, func() (lead, rest string, err error) { return findings(d.Blocks), "", nil })
}

// apart are the records of both sides for the figures. Where both measured something of the same name, two runs or two
// versions, the side becomes part of the name: equal points must not be pooled, nor look alike.
func apart(a, b reports.Side) []store.Record {
	names := map[string]bool{}
	for _, p := range a.Set.Points {
		names[p.Name] = true
	}
	alike := slices.ContainsFunc(b.Set.Points, func(p results.Point) bool { return names[p.Name] })
	var all []store.Record
	for _, side := range []reports.Side{a, b} {
		for _, r := range side.Set.Records {
			if alike {
				r.Axes = maps.Clone(r.Axes)
				if r.Axes == nil {
					r.Axes = map[string]string{}
				}
				r.Axes["side"] = side.Name
				r.PointID += " of " + side.Name
			}
			all = append(all, r)
		}
	}
	return all
}

type content struct {
	Title   string
	Policy  string
	Style   template.CSS
	Script  template.JS
	Data    template.JS
	Lead    template.HTML
	Rest    template.HTML
	Figures bool
	Origin  string
	Command string
}

// text writes the HTML above and below the figures.
type text func() (lead, rest string, err error)

func write(w io.Writer, s Source, title string, text text) error {
	script, style := web.Bundle()
	script = strings.ReplaceAll(script, "</script", `<\/script`)
	var lead, rest string
	var drawn *data // nil without records
	var work errgroup.Group
	work.Go(func() (err error) {
		lead, rest, err = text()
		return err
	})
	if s.figures() {
		drawn = &data{}
		work.Go(func() error {
			drawn.draw(s.Set)
			return nil
		})
		work.Go(func() error { return drawn.repeat(s.Set) })
	}
	if err := work.Wait(); err != nil {
		return err
	}
	lead += render.Fragment(reports.Gates(s.Gates), "gates", 2)
	encoded, err := json.Marshal(drawn) // with <, > and & escaped
	if err != nil {
		return err
	}
	digest := sha256.Sum256([]byte(script))
	var out bytes.Buffer
	err = shellTemplate.Execute(&out, content{
		Title: title, Lead: template.HTML(lead), Rest: template.HTML(rest), Figures: s.figures(),
		Style: template.CSS(style), Script: template.JS(script), Data: template.JS(encoded), Origin: origin(s), Command: s.Command,
		// Nothing but this very script may run, and nothing may be fetched from anywhere.
		Policy: fmt.Sprintf("default-src 'none'; script-src 'sha256-%s'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'",
			base64.StdEncoding.EncodeToString(digest[:])),
	})
	if err != nil {
		return err
	}
	_, err = w.Write(out.Bytes())
	return err
}
