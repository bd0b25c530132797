package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/page"
	"github.com/brokermark/brokermark/internal/render"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/secret"
	"github.com/brokermark/brokermark/internal/sheet"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/suggest"
	"github.com/brokermark/brokermark/reports"
)

const (
	terminal = "terminal" // what render calls the format "table"
	html     = "html"
	xlsx     = "xlsx"
)

// documentFormats are the formats of documents, with the default first. pageFormats are those of report and compare.
var (
	documentFormats = append([]string{"table"}, slices.DeleteFunc(render.Formats(), func(f string) bool { return f == terminal })...)
	pageFormats     = slices.Concat(documentFormats, []string{html, xlsx})
)

// formatFlag adds --format. The first of allowed is the default.
func formatFlag(f *pflag.FlagSet, into *string, allowed ...string) {
	f.StringVar(into, "format", allowed[0], "`format` of the output: "+strings.Join(allowed, ", "))
}

func checkFormat(format string, allowed ...string) error {
	if slices.Contains(allowed, format) {
		return nil
	}
	return badInput("--format %s: unknown format; allowed: %s%s", format, strings.Join(allowed, ", "), suggest.DidYouMean(format, allowed))
}

// output says where a report goes and in which format.
type output struct{ path, format string }

func (o *output) flags(f *pflag.FlagSet) {
	formatFlag(f, &o.format, pageFormats...)
	f.VarP((*fileName)(&o.path), "output", "o", "`file` to write instead of stdout; .html, .xlsx, .md, .tex, .csv, .jsonl and .txt choose the format")
}

// fileName is the value of a flag that names a file, which an empty text, such as that of a variable that isn't set, doesn't.
type fileName string

func (n *fileName) String() string { return string(*n) }
func (*fileName) Type() string     { return "string" }
func (n *fileName) Set(value string) error {
	if value == "" {
		return errors.New("it names no file")
	}
	*n = fileName(value)
	return nil
}

// complete chooses the format by the file's ending, unless --format is given, and checks it.
func (o *output) complete(f *pflag.FlagSet) error {
	byEnding := map[string]string{
		".html": html, ".htm": html, ".md": "markdown", ".tex": "latex", ".csv": "csv", ".jsonl": "jsonl", ".xlsx": xlsx, ".txt": "table", "": "table",
	}
	ending := strings.ToLower(filepath.Ext(o.path))
	format, known := byEnding[ending]
	switch {
	case f.Changed("format"):
	case known:
		o.format = format
	default:
		err := badInput("-o %s: the ending doesn't name a format; allowed: .html, .xlsx, .md, .tex, .csv, .jsonl, .txt, or any with --format", o.path)
		if ending == ".pdf" || ending == ".svg" || ending == ".png" {
			return hinted(err, "brokermark figure draws these; an HTML report can be printed")
		}
		return err
	}
	if err := checkFormat(o.format, pageFormats...); err != nil {
		return err
	}
	if o.format == xlsx && isStdout(o.path) {
		return hinted(badInput("the format xlsx needs a file"), "name one with -o results.xlsx")
	}
	return nil
}

// isStdout reports whether -o names no file.
func isStdout(path string) bool { return path == "" || path == "-" }

// writeTo calls write with stdout, or with a file that takes the place of path once it is complete.
func (s *shell) writeTo(path string, write func(io.Writer) error) error {
	if isStdout(path) {
		return write(s.out)
	}
	return toFile(path, write)
}

// answer writes the answer to a question: in full to a file, or where a format was asked for, and in short to the terminal otherwise.
func (s *shell) answer(o output, isPage bool, short, full document.Document, from page.Source) error {
	if !isStdout(o.path) || isPage {
		if err := s.writeTo(o.path, func(w io.Writer) error { return writeDocument(w, full, o.format, from) }); err != nil {
			return err
		}
	}
	if isStdout(o.path) && isPage {
		return nil
	}
	return s.write(short, "table")
}

// source says what a page is made from, and by which command. Passwords in args are left out.
func source(set *results.Set, path, where string, o output, args ...string) page.Source {
	words := append([]string{"brokermark"}, args...)
	if path == defaultStore {
		path = ""
	}
	for _, flag := range [][2]string{{"--store", path}, {"--where", where}, {"--format", o.format}, {"--output", o.path}} {
		if flag[1] != "" {
			words = append(words, flag[0], flag[1])
		}
	}
	words = lists.Map(words, func(w string) string { return secret.Redact(store.Printable(w)) })
	return page.Source{Set: set, Command: shellWords(words), Tool: toolVersion()}
}

// write renders a document to stdout.
func (s *shell) write(d document.Document, format string) error {
	if err := checkFormat(format, documentFormats...); err != nil {
		return err
	}
	return writeDocument(s.out, d, format, page.Source{})
}

// writeDocument renders a document. HTML also says what it is made from, and a spreadsheet has the verdicts on the gates.
func writeDocument(w io.Writer, d document.Document, format string, source page.Source) error {
	switch format {
	case html:
		return page.Document(w, d, source)
	case xlsx:
		d.Add(reports.Gates(source.Gates)...)
		return sheet.Write(w, []document.Document{d}, nil)
	case "table":
		format = terminal
	}
	options := render.Options{}
	if f, ok := w.(*os.File); ok {
		options = render.OptionsFor(f)
	}
	return render.Render(w, d, format, options)
}
