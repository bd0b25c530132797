package cli

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/brokermark/brokermark/internal/exchange"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/render"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/sheet"
	"github.com/brokermark/brokermark/internal/store"
)

func (s *shell) exportCommand() *cobra.Command {
	var path, format, where, out, latency string
	c := &cobra.Command{
		Use:   "export",
		Short: "Write stored records as data, for other tools",
		Long: "Export writes what the store holds in formats that programs read;\n" +
			"docs/formats.md describes each.\n\nFormats:\n" + exportTable(),
		Example: "  brokermark export > records.jsonl\n" +
			"  brokermark export --format xlsx -o results.xlsx\n" +
			"  brokermark export --format hlog --where broker=kafka -o kafka.hlog",
		Args: arguments(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkFormat(format, exportFormatNames()...); err != nil {
				return err
			}
			if withLatency := []string{"hlog", "hgrm"}; c.Flags().Changed("latency") && !slices.Contains(withLatency, format) {
				return badInput("--latency: not used by the format %s, only by %s", format, strings.Join(withLatency, ", "))
			}
			return s.export(format, out, latency, eachStored(c.Context(), path, where))
		},
	}
	f := c.Flags()
	selectionFlags(f, &path, &where)
	f.VarP((*fileName)(&out), "output", "o", "`file` to write instead of stdout, or a directory for formats with a file for each")
	f.StringVar(&latency, "latency", "", "hgrm and hlog: which `latency`: "+strings.Join(results.LatencyNames(), ", "))
	formatFlag(f, &format, exportFormatNames()...)
	return c
}

// writeCSV writes the flat form of records. An unknown value is empty, and no text is a formula.
func writeCSV(w io.Writer, records []store.Record, _ results.LatencyKind) error {
	header, rows := results.FlatTable(records)
	out := csv.NewWriter(w)
	_ = out.Write(lists.Map(header, render.Inert)) // Error returns the first error of any Write
	for values := range rows {
		row := make([]string, len(values))
		for i, v := range values {
			switch v := v.(type) {
			case nil:
			case string:
				row[i] = render.Inert(v)
			default:
				row[i] = fmt.Sprint(v)
			}
		}
		_ = out.Write(row)
	}
	out.Flush()
	return out.Error()
}

// writeColumns describes the columns of writeCSV.
func writeColumns(w io.Writer, records []store.Record) error {
	header := []string{"name", "type", "unit", "meaning"}
	rows := lists.Map(results.FlatColumns(records), func(c results.FlatColumn) []string {
		return []string{render.Inert(c.Name), c.Type, c.Unit, render.Inert(c.Meaning)}
	})
	return csv.NewWriter(w).WriteAll(slices.Insert(rows, 0, header))
}

// exporter writes records in one format: by write all into one file, or by split into a file for each record or load. Only the
// formats of latencies use the kind of latency.
type exporter struct {
	format string
	doc    string
	binary bool // not for a terminal: it needs -o
	write  func(w io.Writer, records iter.Seq2[store.Record, error], latency results.LatencyKind) error
	split  func(records []store.Record, latency results.LatencyKind) ([]exportFile, error) // nil for one file
}

// exportFile is one of several files of an export.
type exportFile struct {
	name  string // in the directory that -o names
	write func(io.Writer) error
}

var exporters = []exporter{
	{format: "jsonl", doc: "everything, a line for each record", write: writeRecords},
	{format: "flat", doc: "the figures only, a line for each record and each rate of its curve", write: writeFlat},
	{format: "csv", doc: "the same as flat, a row for each line", write: whole(writeCSV)},
	{format: "xlsx", doc: "the same as csv, in a spreadsheet", binary: true, write: whole(writeSheet)},
	{format: "hlog", doc: "HdrHistogram's interval log, an interval for each repetition", write: whole(exchange.WriteHlog)},
	{format: "hgrm", doc: "HdrHistogram's percentiles, a file for each point and load", split: splitHgrm},
	{format: "omb", doc: "results of the OpenMessaging Benchmark, a file for each record", split: splitOMB},
}

// whole is write for a format that needs all records before it writes the first.
func whole(write func(io.Writer, []store.Record, results.LatencyKind) error) func(io.Writer, iter.Seq2[store.Record, error], results.LatencyKind) error {
	return func(w io.Writer, each iter.Seq2[store.Record, error], latency results.LatencyKind) error {
		records, err := store.Collect(each)
		if err != nil {
			return err
		}
		return write(w, records, latency)
	}
}

func exportFormatNames() []string {
	return lists.Map(exporters, func(e exporter) string { return e.format })
}

// exportTable lists the formats for the help.
func exportTable() string {
	var b strings.Builder
	for _, e := range exporters {
		fmt.Fprintf(&b, "  %-7s%s\n", e.format, e.doc)
	}
	return b.String()
}

// export writes records in a known format to out: a file, a directory for a format of several files, or stdout if out is "" or "-".
func (s *shell) export(format, out, latency string, each iter.Seq2[store.Record, error]) error {
	e := exporters[slices.Index(exportFormatNames(), format)]
	kind, err := results.LatencyByName(latency)
	if err != nil {
		return badInput("--latency: %w", err)
	}
	write := func(w io.Writer) error { return e.write(w, each, kind) }
	if e.split != nil {
		records, err := store.Collect(each)
		if err != nil {
			return err
		}
		files, err := e.split(records, kind)
		if err != nil {
			return badInput("%w", err)
		}
		if isDir(out) {
			for _, f := range files {
				if err := toFile(filepath.Join(out, f.name), f.write); err != nil {
					return err
				}
			}
			return nil
		}
		if len(files) != 1 {
			return hinted(badInput("%d results match, a file of the format %s holds one", len(files), format),
				"narrow the selection with --where, or name an existing directory with -o")
		}
		write = files[0].write
	}
	if isStdout(out) && e.binary {
		return hinted(badInput("the format %s needs a file", format), "brokermark export --format %s -o results.%s", format, format)
	}
	err = s.writeTo(out, write)
	if errors.Is(err, exchange.ErrEmpty) {
		return badInput("nothing to export: %w (%s)", exchange.ErrEmpty, kind.Name)
	}
	return err
}

func writeSheet(w io.Writer, records []store.Record, _ results.LatencyKind) error {
	return sheet.Write(w, nil, records)
}

func writeRecords(w io.Writer, each iter.Seq2[store.Record, error], _ results.LatencyKind) error {
	return writeLines(w, each, func(r store.Record) []store.Record { return []store.Record{r} })
}

func writeFlat(w io.Writer, each iter.Seq2[store.Record, error], _ results.LatencyKind) error {
	return writeLines(w, each, results.Flat)
}

// writeLines writes what becomes of each record, a line of JSON for each, while they are read.
func writeLines[T any](w io.Writer, each iter.Seq2[store.Record, error], of func(store.Record) []T) error {
	buffered := bufio.NewWriter(w)
	out := json.NewEncoder(buffered)
	for r, err := range each {
		if err != nil {
			return err
		}
		for _, one := range of(r) {
			if err := out.Encode(one); err != nil {
				return fmt.Errorf("write record %d: %w", r.ID, err)
			}
		}
	}
	return buffered.Flush()
}

func splitHgrm(records []store.Record, latency results.LatencyKind) ([]exportFile, error) {
	var list []exportFile
	for _, d := range results.Distributions(results.Of(records).Points, latency) {
		name := strings.Join([]string{latency.Name, d.Point.ID, d.Point.Setting(), d.RowTitle, d.Point.Name}, "-")
		name = unsafeInFileName.ReplaceAllString(name, "-") + ".hgrm"
		list = append(list, exportFile{name, func(w io.Writer) error { return exchange.WriteHgrm(w, d, latency) }})
	}
	if list == nil {
		return nil, fmt.Errorf("nothing to export: %w (%s)", exchange.ErrEmpty, latency.Name)
	}
	return list, nil
}

// unsafeInFileName is a character that not every file system takes.
var unsafeInFileName = regexp.MustCompile(`[^A-Za-z0-9._-]`)

// splitOMB makes a file of each load, such as one of each rate of a curve, whose workload it names. It leaves out records without a
// result, and published figures: there is no way to write them in that format.
func splitOMB(records []store.Record, _ results.LatencyKind) ([]exportFile, error) {
	var list []exportFile
	for _, r := range records {
		if r.Result == nil || r.Kind == store.KindPublished {
			continue
		}
		for _, l := range results.Loads(r) {
			one, name := l.Record, exchange.FileName(r)
			if l.Rate > 0 {
				one.Label = strings.TrimSpace(r.Label + " " + l.RowTitle)
				name = strings.TrimSuffix(name, ".json") + "-" + unsafeInFileName.ReplaceAllString(l.RowTitle, "-") + ".json"
			}
			o, err := exchange.ToOMB(one)
			if err != nil {
				return nil, err
			}
			list = append(list, exportFile{name, func(w io.Writer) error {
				out := json.NewEncoder(w)
				out.SetIndent("", "  ")
				return out.Encode(o)
			}})
		}
	}
	if list == nil {
		return nil, errors.New("nothing to export: none of the records holds a result")
	}
	return list, nil
}
