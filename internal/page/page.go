// Package page writes reports as self-contained HTML files: documents as text and tables, records as figures, with the
// front end of package web inside. Package results computes every figure in it, and a finished file needs no network.
package page

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"maps"
	"regexp"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/figure"
	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/render"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/reports"
	"github.com/brokermark/brokermark/web"
)

//go:embed page.html
var pageHTML string

var pageTemplate = template.Must(template.New("page").Parse(pageHTML))

// Source is the material of a page.
type Source struct {
	Set     *results.Set    // drawn as figures by Summary; no figures if it is nil or empty
	Gates   []gate.Verdict  // of the thresholds that the command was given; nil if there were none
	Command string          // as typed to make the page
	Tool    string          // version of brokermark
	Context context.Context // the page isn't finished once it ends; nil: it never does
}

func (s Source) ended() error {
	if s.Context == nil {
		return nil
	}
	return s.Context.Err()
}

func (s Source) hasFigures() bool { return s.Set != nil && len(s.Set.Records) > 0 }

// Summary writes the whole report over s.Set: verdict, tables, figures, refused and void points, and how to repeat it.
func Summary(w io.Writer, s Source) error {
	return write(w, s, "Brokermark report", func() (texts, error) { return compose(s) })
}

// Document writes one document, without figures but its drawings, whatever s.Set is.
func Document(w io.Writer, d document.Document, s Source) error {
	s.Set = nil
	blocks, err := drawn(d.Blocks)
	if err != nil {
		return err
	}
	return write(w, s, d.Title, func() (texts, error) { return texts{above: render.Fragment(blocks, "d", 2)}, nil })
}

// drawn returns the blocks with the drawings as SVG. One that can't be drawn stays words.
func drawn(blocks []document.Block) ([]document.Block, error) {
	blocks = slices.Clone(blocks)
	for i, b := range blocks {
		d, ok := b.(document.Drawing)
		if !ok {
			continue
		}
		f, err := figure.Draw(d, figure.Options{})
		if _, isNothing := errors.AsType[*figure.ErrNothing](err); isNothing {
			continue
		}
		var svg bytes.Buffer
		if err == nil {
			err = f.Write(&svg, "svg")
		}
		if err != nil {
			return nil, err
		}
		d.SVG = svg.Bytes()
		blocks[i] = d
	}
	return blocks, nil
}

// Compare writes a comparison, with figures over the records of both sides instead of s.Set. differing are the spec paths in which the sides
// are meant to differ.
func Compare(w io.Writer, a, b reports.Side, differing []string, s Source) error {
	s.Set = results.Of(recordsOf(a, b))
	d := reports.Compare(a, b, differing...)
	return write(w, s, d.Title, func() (texts, error) { return texts{above: verdictsFirst(d.Blocks)}, nil })
}

// recordsOf lists the records of both sides for the figures. If a point or a name occurs on both sides, as in two runs or two versions,
// the side becomes part of the names: equal points must not be pooled, nor look alike.
func recordsOf(a, b reports.Side) []store.Record {
	takenByA := map[string]bool{} // IDs and names
	for _, p := range a.Set.Points {
		takenByA[p.ID], takenByA[p.Name] = true, true
	}
	if slices.ContainsFunc(b.Set.Points, func(p results.Point) bool { return takenByA[p.ID] || takenByA[p.Name] }) {
		return slices.Concat(withSide(a), withSide(b))
	}
	return slices.Concat(a.Set.Records, b.Set.Records)
}

// withSide lists the records of a side, with the side as a part of their points' names.
func withSide(side reports.Side) []store.Record {
	records := slices.Clone(side.Set.Records)
	for i := range records {
		r := &records[i]
		axes := map[string]string{}
		maps.Copy(axes, r.Axes)
		axes["side"] = side.Name
		r.Axes = axes
		r.PointID += " of " + side.Name
	}
	return records
}

// content fills in page.html. The types of package template mark the parts that need no escaping.
type content struct {
	Title   string
	Policy  string // Content-Security-Policy
	Style   template.CSS
	Script  template.JS
	Data    template.JS   // JSON for the front end; null without figures
	Above   template.HTML // above the figures
	Below   template.HTML // below the figures
	Figures bool          // there are figures
	Origin  string        // when, where and with which version the records were made
	Command string        // as typed to make the page
}

// write fills in the page.
func write(w io.Writer, s Source, title string, makeTexts func() (texts, error)) error {
	text, figures, err := compute(s, makeTexts)
	if err != nil {
		return err
	}
	script, style := web.Bundle()
	script = scriptEnd.ReplaceAllString(script, `<\/$1`)
	var out bytes.Buffer
	err = pageTemplate.Execute(&out, content{
		Title: render.Line(title), Policy: policyFor(script), Style: template.CSS(style), Script: template.JS(script), Data: template.JS(figures),
		Above: template.HTML(text.above + render.Fragment(reports.Gates(s.Gates), "gates", 2)), Below: template.HTML(text.below),
		Figures: s.hasFigures(), Origin: render.Line(origin(s)), Command: render.Line(s.Command),
	})
	if err != nil {
		return fmt.Errorf("the page %q: %w", title, err)
	}
	_, err = w.Write(out.Bytes())
	return err
}

// scriptEnd is what would end a script inside it. In a JavaScript string "<\/script" means the same and doesn't.
var scriptEnd = regexp.MustCompile(`(?i)</(script)`)

// compute makes the texts, and the figures as JSON, at the same time: each takes seconds for thousands of records.
func compute(s Source, makeTexts func() (texts, error)) (texts, []byte, error) {
	var text texts
	var figures []byte
	var work errgroup.Group
	work.Go(func() (err error) {
		text, err = makeTexts()
		return err
	})
	work.Go(func() (err error) {
		figures, err = encodeFigures(s)
		return err
	})
	err := work.Wait()
	return text, figures, err
}

// encodeFigures returns the data for the front end as JSON, with <, > and & escaped. The result is null if s has no figures.
func encodeFigures(s Source) ([]byte, error) {
	if !s.hasFigures() {
		return []byte("null"), nil
	}
	repeat, err := instructionsOf(s.Set)
	if err != nil {
		return nil, err
	}
	if err := s.ended(); err != nil {
		return nil, err
	}
	figures := figuresOf(s.Set)
	figures.instructions = repeat
	encoded, err := json.Marshal(figures)
	if err != nil {
		return nil, fmt.Errorf("the figures: %w", err)
	}
	return encoded, nil
}

// policyFor returns a Content-Security-Policy that allows only this script to run, and nothing else to load.
func policyFor(script string) string {
	digest := sha256.Sum256([]byte(script))
	return fmt.Sprintf("default-src 'none'; script-src 'sha256-%s'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'",
		base64.StdEncoding.EncodeToString(digest[:]))
}
