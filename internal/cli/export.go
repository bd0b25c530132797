package cli

import (
	"encoding/csv"
	"fmt"
	"io"
	"reflect"
	"slices"
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

// exportCSV writes the flat form of records, with the columns of report.FlatRecord, the repetition and the axes.
func exportCSV(w io.Writer, records []store.Record) error {
	var axes []string
	for _, r := range records {
		for name := range r.Axes {
			if !slices.Contains(axes, name) {
				axes = append(axes, name)
			}
		}
	}
	slices.Sort(axes)
	out := csv.NewWriter(w)
	header := []string{"study", "repetition"}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[results.FlatRecord]()) {
		header = append(header, f.Tag.Get("json"))
	}
	for _, a := range axes {
		header = append(header, render.Inert("axis."+a))
	}
	_ = out.Write(header) // an error stays until Error
	for _, r := range records {
		for _, f := range results.Flat(r) {
			row := []string{render.Inert(r.Study), fmt.Sprint(r.Repetition)}
			flat := reflect.ValueOf(f)
			for i := range flat.NumField() {
				row = append(row, csvField(flat.Field(i)))
			}
			for _, a := range axes {
				row = append(row, render.Inert(r.Axes[a]))
			}
			_ = out.Write(row)
		}
	}
	out.Flush()
	return out.Error()
}

// csvField writes a field; what is unknown is empty, and no text is a formula.
func csvField(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return ""
		}
		v = v.Elem()
	}
	switch v := v.Interface().(type) {
	case []string:
		return render.Inert(strings.Join(v, " | "))
	case string:
		return render.Inert(v)
	}
	return fmt.Sprint(v.Interface())
}
