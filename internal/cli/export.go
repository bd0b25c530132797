package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/brokermark/brokermark/internal/report"
	"github.com/brokermark/brokermark/internal/store"
)

var exportFormats = []string{"jsonl", "csv"}

func (s *shell) exportCommand() *cobra.Command {
	var path, format, where string
	c := &cobra.Command{
		Use:   "export",
		Short: "Write stored records as data",
		Long: `Export writes every record with all it holds as JSON lines (complete spec,
settings, versions, host, books, histograms, trials, series), or as CSV with
one row of figures per repetition and a column per axis.`,
		Example: "  brokermark export > records.jsonl\n" +
			"  brokermark export --format csv --where status=ok\n" +
			"  brokermark export --store brokermark.db --where broker=kafka",
		Args: arguments(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkFormat(format, exportFormats...); err != nil {
				return err
			}
			records, err := readStore(c.Context(), path, where)
			if err != nil {
				return err
			}
			if format == "csv" {
				return s.exportCSV(records)
			}
			out := json.NewEncoder(s.out)
			for _, r := range records {
				if err := out.Encode(r); err != nil {
					return fmt.Errorf("write record %d: %w", r.ID, err)
				}
			}
			return nil
		},
	}
	c.Flags().StringVar(&path, "store", defaultStore, storeDoc)
	c.Flags().StringVar(&where, "where", "", whereDoc)
	formatFlag(c.Flags(), &format, exportFormats...)
	return c
}

// exportCSV writes the flat form of records, with the columns of report.FlatRecord, the repetition and the axes.
func (s *shell) exportCSV(records []store.Record) error {
	var axes []string
	for _, r := range records {
		for name := range r.Axes {
			if !slices.Contains(axes, name) {
				axes = append(axes, name)
			}
		}
	}
	slices.Sort(axes)
	out := csv.NewWriter(s.out)
	header := []string{"study", "repetition"}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[report.FlatRecord]()) {
		header = append(header, f.Tag.Get("json"))
	}
	for _, a := range axes {
		header = append(header, "axis."+a)
	}
	_ = out.Write(header) // an error stays until Error
	for _, r := range records {
		row := []string{r.Study, fmt.Sprint(r.Repetition)}
		flat := reflect.ValueOf(report.Flat(r))
		for i := range flat.NumField() {
			row = append(row, csvField(flat.Field(i)))
		}
		for _, a := range axes {
			row = append(row, r.Axes[a])
		}
		_ = out.Write(row)
	}
	out.Flush()
	return out.Error()
}

// csvField writes a field; what is unknown is empty.
func csvField(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return ""
		}
		v = v.Elem()
	}
	if list, ok := v.Interface().([]string); ok {
		return strings.Join(list, " | ")
	}
	return fmt.Sprint(v.Interface())
}
