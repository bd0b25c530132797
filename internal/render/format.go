// Package render writes documents as text for terminals, Markdown, LaTeX, CSV, JSON lines and fragments of HTML. It knows no
// broker, no record and no metric.
//
//	err := render.Render(os.Stdout, d, "terminal", render.OptionsFor(os.Stdout))
package render

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/term"

	"github.com/brokermark/brokermark/internal/document"
)

// Options describe the reader's page. Only the terminal format looks at them.
type Options struct {
	Width  int  // columns; 0 or less means 100
	Colour bool // emphasis by escape sequences
}

// Widths of the reader's page, in columns.
const (
	defaultWidth = 100
	minWidth     = 60 // tables can't be read on less
)

// OptionsFor fits the page to f. The width is that of the terminal, or COLUMNS if f is none. Colour needs a terminal, and
// that NO_COLOR isn't set.
func OptionsFor(f *os.File) Options {
	if !term.IsTerminal(int(f.Fd())) {
		columns, err := strconv.Atoi(os.Getenv("COLUMNS"))
		return Options{Width: usableWidth(columns, err)}
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	return Options{
		Width:  usableWidth(columns, err),
		Colour: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
	}
}

// usableWidth returns columns, or the default width if err says that those are unknown.
func usableWidth(columns int, err error) int {
	if err != nil || columns <= 0 {
		return defaultWidth
	}
	return max(minWidth, columns)
}

// Formats lists the formats Render knows, sorted.
func Formats() []string { return []string{"csv", "jsonl", "latex", "markdown", "terminal"} }

// Render writes d in the named format.
func Render(w io.Writer, d document.Document, format string, o Options) error {
	var text string
	switch format {
	case "csv":
		text = csvText(d)
	case "jsonl":
		text = jsonLines(d)
	case "latex":
		text = latexText(d)
	case "markdown":
		text = markdownText(d)
	case "terminal":
		text = terminalText(d, o)
	default:
		return fmt.Errorf("unknown format %q; known: %s", format, strings.Join(Formats(), ", "))
	}
	_, err := io.WriteString(w, text)
	return err
}

// Text without characters that could harm a page or a terminal. Names and reasons come from users and brokers, and may hold anything.

// clean makes a text one harmless line: "a\r\nb \x1b[31mc" becomes "a b [31mc". Beyond what CleanLines removes it has no line breaks, and no
// two spaces in a row.
func clean(text string) string { return strings.Join(strings.Fields(CleanLines(text)), " ") }

// Line returns text without what CleanLines removes and without line breaks, each of which becomes a space.
func Line(text string) string { return strings.ReplaceAll(CleanLines(text), "\n", " ") }

// CleanLines returns text whose line breaks and spaces stay. It has no control characters, which could drive a terminal, no characters
// that reorder or hide their surroundings, and no broken UTF-8. Tabs become spaces.
func CleanLines(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == '\u2028', r == '\u2029': // the last two are line breaks to some programs
			return -1
		default:
			return r
		}
	}, strings.ToValidUTF8(text, "\uFFFD"))
}
