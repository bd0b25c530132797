package cli

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/brokermark/brokermark/internal/page"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/secret"
	"github.com/brokermark/brokermark/internal/store"
)

const (
	html = "html"
	xlsx = "xlsx"
)

// pageFormats are the formats of report and compare.
var pageFormats = append(documentFormats[:len(documentFormats):len(documentFormats)], html, xlsx)

// output is where a report goes.
type output struct{ path, format string }

func (o *output) flags(f *pflag.FlagSet) {
	formatFlag(f, &o.format, pageFormats...)
	f.StringVarP(&o.path, "output", "o", "", "`file` to write instead of stdout; .html, .xlsx, .md, .csv, .jsonl and .txt choose the format")
}

// complete chooses the format by the file's name where --format doesn't, and checks it.
func (o *output) complete(f *pflag.FlagSet) error {
	byName := map[string]string{".html": html, ".htm": html, ".md": "markdown", ".csv": "csv", ".jsonl": "jsonl", ".xlsx": xlsx}
	ending := strings.ToLower(filepath.Ext(o.path))
	switch format := byName[ending]; {
	case f.Changed("format"):
	case format != "":
		o.format = format
	case ending != "" && ending != ".txt":
		err := badInput("-o %s: the ending doesn't name a format; allowed: .html, .xlsx, .md, .csv, .jsonl, .txt, or any with --format", o.path)
		if ending == ".pdf" || ending == ".svg" || ending == ".png" {
			return hinted(err, "brokermark figure draws these; an HTML report can be printed")
		}
		return err
	}
	if err := checkFormat(o.format, pageFormats...); err != nil {
		return err
	}
	if o.format == xlsx && (o.path == "" || o.path == "-") {
		return hinted(badInput("the format xlsx needs a file"), "name one with -o results.xlsx")
	}
	return nil
}

// to calls write with stdout, or with a file that takes o.path's place once it is complete.
func (s *shell) to(o output, write func(io.Writer) error) error {
	if o.path == "" || o.path == "-" {
		return write(s.out)
	}
	return toFile(o.path, write)
}

// source says what a page is made from and how; passwords in args are left out.
func (s *shell) source(set *results.Set, path, where string, o output, args ...string) page.Source {
	words := append([]string{"brokermark"}, args...)
	for _, flag := range [][2]string{{"--store", store.Printable(path)}, {"--where", where}, {"--format", o.format}, {"--output", o.path}} {
		if flag[1] != "" && (flag[0] != "--store" || path != defaultStore) {
			words = append(words, flag[0], flag[1])
		}
	}
	for i, w := range words {
		words[i] = secret.Redact(store.Printable(w))
	}
	return page.Source{Set: set, Command: strings.Join(words, " "), Tool: toolVersion()}
}
