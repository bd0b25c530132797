package cli

import (
	"io"
	"os"
	"slices"

	"github.com/brokermark/brokermark/internal/report"
	"github.com/brokermark/brokermark/internal/store"
)

// documentFormats are the formats of documents, "table" (the terminal's) first.
var documentFormats = append([]string{"table"}, slices.DeleteFunc(report.Formats(), func(f string) bool { return f == terminal })...)

const terminal = "terminal"

// show writes a report over records to stdout.
func (s *shell) show(name string, records []store.Record, format string) error {
	return showTo(s.out, name, records, format)
}

func showTo(w io.Writer, name string, records []store.Record, format string) error {
	r, err := report.Lookup(name)
	if err != nil {
		return badInput("%w%s", err, didYouMean(name, report.Names()))
	}
	d, err := r.Build(records)
	if err != nil {
		return err
	}
	return render(w, d, format)
}

// write renders a document to stdout.
func (s *shell) write(d report.Document, format string) error { return render(s.out, d, format) }

func render(w io.Writer, d report.Document, format string) error {
	if err := checkFormat(format, documentFormats...); err != nil {
		return err
	}
	if format == "table" {
		format = terminal
	}
	options := report.Options{}
	if f, ok := w.(*os.File); ok {
		options = report.OptionsFor(f)
	}
	return report.Render(w, d, format, options)
}
