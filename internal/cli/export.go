package cli

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/brokermark/brokermark/internal/render"
	"github.com/brokermark/brokermark/internal/results"
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
			records, err := readStore(c.Context(), path, where)
			if err != nil {
				return err
			}
			return s.export(format, out, latency, records)
		},
	}
	f := c.Flags()
	f.StringVar(&path, "store", defaultStore, storeDoc)
	f.StringVar(&where, "where", "", whereDoc)
	f.StringVarP(&out, "output", "o", "", "`file` to write instead of stdout, or a directory for formats with a file for each")
	f.StringVar(&latency, "latency", "", "hgrm and hlog: which `latency`: "+strings.Join(results.LatencyNames(), ", "))
	formatFlag(f, &format, exportFormatNames()...)
	return c
}

// exportCSV writes the flat form of records. An unknown value is empty, and no text is a formula.
func exportCSV(w io.Writer, records []store.Record) error {
	header, rows := results.FlatTable(records)
	for i, name := range header {
		header[i] = render.Inert(name)
	}
	out := csv.NewWriter(w)
	_ = out.Write(header) // an error stays until Error
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
