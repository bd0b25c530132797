package cli

import (
	"io"
	"os"
	"slices"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/page"
	"github.com/brokermark/brokermark/internal/render"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/sheet"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/reports"
)

// documentFormats are the formats of documents, "table" (the terminal's) first.
var documentFormats = append([]string{"table"}, slices.DeleteFunc(render.Formats(), func(f string) bool { return f == terminal })...)

const terminal = "terminal"

// show writes a report over records to stdout.
func (s *shell) show(name string, records []store.Record) error {
	r, err := reportOn(name, nil)
	if err != nil {
		return err
	}
	d, err := r.Build(results.Of(records))
	if err != nil {
		return err
	}
	return s.write(d, "table")
}

// write renders a document to stdout.
func (s *shell) write(d document.Document, format string) error {
	if err := checkFormat(format, documentFormats...); err != nil {
		return err
	}
	return writeDocument(s.out, d, format, page.Source{})
}

// writeDocument renders a document; of source the formats that say where they come from take their footing.
func writeDocument(w io.Writer, d document.Document, format string, source page.Source) error {
	switch format {
	case html:
		return page.Document(w, d, source)
	case xlsx:
		d.Blocks = append(d.Blocks, reports.Gates(source.Gates)...)
		return sheet.Document(w, d)
	case "table":
		format = terminal
	}
	options := render.Options{}
	if f, ok := w.(*os.File); ok {
		options = render.OptionsFor(f)
	}
	return render.Render(w, d, format, options)
}
