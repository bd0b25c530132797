package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/brokermark/brokermark/internal/exchange"
	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/sheet"
	"github.com/brokermark/brokermark/internal/store"
)

// exporter writes records in one format.
type exporter struct {
	format string
	doc    string
	file   bool   // needs -o: a terminal can do nothing with it
	ending string // set: one document for each of several things, so several need a directory
	write  func(w io.Writer, records []store.Record, latency results.LatencyKind) error
	split  func(records []store.Record, latency results.LatencyKind) ([]exportFile, error)
}

// exportFile is one of the files of an export that makes one for each thing.
type exportFile struct {
	name  string // of its file in a directory
	write func(io.Writer) error
}

var exporters = []exporter{
	{format: "jsonl", doc: "everything, a line for each record", write: writeRecords},
	{format: "flat", doc: "the figures only, a line for each record and each rate of its curve", write: writeFlat},
	{format: "csv", doc: "the figures: a row for each record and rate, a column for each axis", write: func(w io.Writer, records []store.Record, _ results.LatencyKind) error { return exportCSV(w, records) }},
	{format: "xlsx", doc: "a spreadsheet with charts, a sheet for each experiment", file: true, write: func(w io.Writer, records []store.Record, _ results.LatencyKind) error {
		set := results.Of(records)
		return sheet.Write(w, set, gate.JudgeObjectives(set))
	}},
	{format: "hlog", doc: "HdrHistogram's interval log, an interval for each repetition", write: exchange.WriteHlog},
	{format: "hgrm", doc: "HdrHistogram's percentiles, a file for each point and load", ending: ".hgrm", split: splitHgrm},
	{format: "omb", doc: "results of the OpenMessaging Benchmark, a file for each record", ending: ".json", split: splitOMB},
}

func exportFormatNames() []string {
	var names []string
	for _, e := range exporters {
		names = append(names, e.format)
	}
	return names
}

// exportTable is for the help.
func exportTable() string {
	var b strings.Builder
	for _, e := range exporters {
		fmt.Fprintf(&b, "  %-7s%s\n", e.format, e.doc)
	}
	return b.String()
}

// export writes records to out, or to stdout when that is empty.
func (s *shell) export(format, out, latency string, records []store.Record) error {
	var e exporter
	for _, known := range exporters {
		if known.format == format {
			e = known
		}
	}
	kind, err := results.LatencyByName(latency)
	if err != nil {
		return badInput("--latency: %w", err)
	}
	write := func(w io.Writer) error { return e.write(w, records, kind) }
	if e.split != nil {
		documents, err := e.split(records, kind)
		if err != nil {
			return badInput("%w", err)
		}
		if isDirectory(out) {
			for _, d := range documents {
				if err := toFile(filepath.Join(out, d.name), d.write); err != nil {
					return err
				}
			}
			return nil
		}
		if len(documents) != 1 {
			return hinted(badInput("%d results match, a file of the format %s holds one", len(documents), format),
				"narrow the selection with --where, or name an existing directory with -o")
		}
		write = documents[0].write
	}
	stdout := out == "" || out == "-"
	switch {
	case stdout && e.file:
		return hinted(badInput("the format %s needs a file", format), "brokermark export --format %s -o results.%s", format, format)
	case stdout:
		err = write(s.out)
	default:
		err = toFile(out, write)
	}
	if errors.Is(err, exchange.ErrEmpty) {
		return badInput("nothing to export: %w (%s)", exchange.ErrEmpty, kind.Name)
	}
	return err
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return path != "" && err == nil && info.IsDir()
}

func writeRecords(w io.Writer, records []store.Record, _ results.LatencyKind) error {
	out := json.NewEncoder(w)
	for _, r := range records {
		if err := out.Encode(r); err != nil {
			return fmt.Errorf("write record %d: %w", r.ID, err)
		}
	}
	return nil
}

func writeFlat(w io.Writer, records []store.Record, _ results.LatencyKind) error {
	out := json.NewEncoder(w)
	for _, r := range records {
		for _, f := range results.Flat(r) {
			if err := out.Encode(f); err != nil {
				return fmt.Errorf("write record %d: %w", r.ID, err)
			}
		}
	}
	return nil
}

func splitHgrm(records []store.Record, latency results.LatencyKind) ([]exportFile, error) {
	var list []exportFile
	for _, d := range results.Distributions(results.Of(records).Points, latency) {
		name := strings.Map(inFileName, strings.Join([]string{latency.Name, d.Point.ID, d.Point.Setting(), d.RowTitle, d.Point.Name}, "-")) + ".hgrm" // what differs comes last
		list = append(list, exportFile{name, func(w io.Writer) error { return exchange.WriteHgrm(w, d, latency) }})
	}
	if list == nil {
		return nil, fmt.Errorf("nothing to export: %w (%s)", exchange.ErrEmpty, latency.Name)
	}
	return list, nil
}

// inFileName keeps what every file system takes.
func inFileName(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-', r == '_':
		return r
	}
	return '-'
}

// splitOMB leaves out records without a result, and published figures: there is no way to write them in that format.
func splitOMB(records []store.Record, _ results.LatencyKind) ([]exportFile, error) {
	var list []exportFile
	for _, r := range records {
		if r.Result == nil || r.Kind == store.KindPublished {
			continue
		}
		o, err := exchange.ToOMB(r)
		if err != nil {
			return nil, err
		}
		list = append(list, exportFile{exchange.FileName(r), func(w io.Writer) error {
			out := json.NewEncoder(w)
			out.SetIndent("", "  ")
			return out.Encode(o)
		}})
	}
	if list == nil {
		return nil, errors.New("nothing to export: none of the records holds a result")
	}
	return list, nil
}
