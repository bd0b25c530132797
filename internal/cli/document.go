package cli

import (
	"io"
	"os"
	"slices"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/render"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/suggest"
	"github.com/brokermark/brokermark/reports"
)

// documentFormats are the formats of documents, "table" (the terminal's) first.
var documentFormats = append([]string{"table"}, slices.DeleteFunc(render.Formats(), func(f string) bool { return f == terminal })...)

const terminal = "terminal"

// show writes a report over records to stdout.
func (s *shell) show(name string, records []store.Record, format string) error {
	return showTo(s.out, name, results.Of(records), format)
}

func showTo(w io.Writer, name string, set *results.Set, format string) error {
	r, err := reports.Lookup(name)
	if err != nil {
		return badInput("%w%s", err, suggest.DidYouMean(name, reports.Names()))
	}
	d, err := r.Build(set)
	if err != nil {
		return err
	}
	return writeDocument(w, d, format)
}

// write renders a document to stdout.
func (s *shell) write(d document.Document, format string) error {
	return writeDocument(s.out, d, format)
}

func writeDocument(w io.Writer, d document.Document, format string) error {
	if err := checkFormat(format, documentFormats...); err != nil {
		return err
	}
	if format == "table" {
		format = terminal
	}
	options := render.Options{}
	if f, ok := w.(*os.File); ok {
		options = render.OptionsFor(f)
	}
	return render.Render(w, d, format, options)
}
