// Package render writes documents as text for terminals, Markdown, CSV, JSON lines and fragments of HTML. It only
// renders: it knows no broker, no record and no metric.
//
//	err := render.Render(os.Stdout, d, "terminal", render.OptionsFor(os.Stdout))
package render

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/brokermark/brokermark/internal/document"
)

// Options describe the reader's page. Only the terminal format looks at them.
type Options struct {
	Width  int  // columns; 0 means 100
	Colour bool // emphasis by escape sequences
}

// OptionsFor fits the page to f: its width when it is a terminal, else COLUMNS if that is a number; colour when it is a
// terminal and NO_COLOR isn't set.
func OptionsFor(f *os.File) Options {
	o := Options{Width: 100}
	if !term.IsTerminal(int(f.Fd())) {
		if width, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && width > 0 {
			o.Width = max(narrowest, width)
		}
		return o
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		o.Width = max(narrowest, width)
	}
	o.Colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return o
}

// narrowest is the width below which tables can't be read.
const narrowest = 60

var formats = map[string]func(io.Writer, document.Document, Options) error{
	"terminal": renderTerminal,
	"markdown": renderMarkdown,
	"csv":      renderCSV,
	"jsonl":    renderJSONL,
}

// Formats lists the formats Render knows, sorted.
func Formats() []string { return slices.Sorted(maps.Keys(formats)) }

// Render writes d in the named format.
func Render(w io.Writer, d document.Document, format string, o Options) error {
	render, ok := formats[format]
	if !ok {
		return fmt.Errorf("unknown format %q; known: %s", format, strings.Join(Formats(), ", "))
	}
	return render(w, d, o)
}
