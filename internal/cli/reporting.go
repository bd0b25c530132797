package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/page"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/sheet"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/suggest"
	"github.com/brokermark/brokermark/reports"
)

const whereDoc = "only records that match the `selection`, such as broker=kafka,messageSize=1KiB"

func (s *shell) reportCommand() *cobra.Command {
	var path, where string
	var folders []string
	var out output
	var g gates
	c := &cobra.Command{
		Use:   "report [NAME]",
		Short: "Show stored results",
		Long: `Report shows what the store holds; without a name it is the summary. It measures
nothing and changes nothing. As HTML the summary is one file with all figures in
it, which needs no network to be looked at; as XLSX it is a workbook with
charts, a sheet for each experiment.

Reports:
` + reportTable() + `
A threshold of --fail-if is METRIC OPERATOR VALUE. Metrics are the keys of
export --format flat, with or without their unit: e2e_p99, publish_rate,
sustainable, lost, broker_cpu and so on. Each point is judged by the median of
its repetitions; beyond a threshold the exit code is 7.`,
		Example: "  brokermark report\n" +
			"  brokermark report -o report.html\n" +
			"  brokermark report summary --where status=ok --fail-if 'e2e_p99>50s' --junit gates.xml",
		Args:              arguments(cobra.MaximumNArgs(1)),
		ValidArgsFunction: cobra.FixedCompletions(reports.Names(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(c *cobra.Command, args []string) error {
			name := reports.Default
			if len(args) == 1 {
				name = args[0]
			}
			build, err := builder(name, folders)
			if err != nil {
				return err
			}
			if err := out.settle(c.Flags()); err != nil {
				return err
			}
			if err := g.open(gate.Parse); err != nil {
				return err
			}
			defer g.close()
			records, err := readStore(c.Context(), path, where)
			if err != nil {
				return err
			}
			set := results.Of(records)
			err = s.to(out, func(w io.Writer) error {
				source := s.source(set, path, where, out, append([]string{"report"}, args...)...)
				if build != nil {
					return writeBuilt(w, build(set), out.format, source)
				}
				return writeReport(w, name, set, out.format, source)
			})
			if err != nil {
				return err
			}
			return g.judge(s.err, set)
		},
	}
	c.Flags().StringVar(&path, "store", defaultStore, storeDoc)
	c.Flags().StringVar(&where, "where", "", whereDoc)
	c.Flags().StringArrayVar(&folders, "study", nil, "`folder` of a published study for the report study; those that come along are known")
	out.flags(c.Flags())
	g.flags(c.Flags(), "e2e_p99 > 50ms")
	return c
}

// builder makes the report of studies in folders; nil where none is named. A report that isn't there is refused.
func builder(name string, folders []string) (func(*results.Set) document.Document, error) {
	if _, err := reports.Lookup(name); err != nil {
		return nil, badInput("%w%s", err, suggest.DidYouMean(name, reports.Names()))
	}
	if folders == nil {
		return nil, nil
	}
	if name != "study" {
		return nil, badInput("--study belongs to the report study, not to %s", name)
	}
	var papers []reports.Paper
	for _, folder := range folders {
		p, err := reports.ReadPaper(folder)
		if err != nil {
			return nil, badInput("%w", err)
		}
		papers = append(papers, p)
	}
	return func(set *results.Set) document.Document { return reports.Study(set, papers...) }, nil
}

func writeReport(w io.Writer, name string, set *results.Set, format string, source page.Source) error {
	switch format {
	case html:
		return page.Write(w, name, source)
	case xlsx:
		return writeSheet(w, name, set)
	}
	return showTo(w, name, set, format)
}

func writeBuilt(w io.Writer, d document.Document, format string, source page.Source) error {
	switch format {
	case html:
		return page.Document(w, d, source)
	case xlsx:
		return sheet.Document(w, d)
	}
	return writeDocument(w, d, format)
}

// reportTable is for the help.
func reportTable() string {
	const indent, width = 12, 79
	var b strings.Builder
	for _, name := range reports.Names() {
		r, err := reports.Lookup(name)
		if err != nil {
			continue // it is among the names
		}
		line := fmt.Sprintf("  %-*s", indent-2, name)
		for _, word := range strings.Fields(r.Doc) {
			if runewidth.StringWidth(line)+1+runewidth.StringWidth(word) > width {
				b.WriteString(line + "\n")
				line = strings.Repeat(" ", indent)
			}
			line += " " + word
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// writeSheet writes a report as a spreadsheet: the whole workbook for the default one, else that report alone.
func writeSheet(w io.Writer, name string, set *results.Set) error {
	if name == reports.Default {
		return sheet.Write(w, set)
	}
	r, err := reports.Lookup(name)
	if err != nil {
		return err
	}
	d, err := r.Build(set)
	if err != nil {
		return err
	}
	return sheet.Document(w, d)
}

// readStore reads the records of a store that match where ("" = all).
func readStore(ctx context.Context, path, where string) ([]store.Record, error) {
	st, err := store.OpenReadOnly(path)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	records, err := st.Records(ctx, store.Filter{})
	if err != nil || where == "" {
		return records, err
	}
	records, err = results.Select(records, where)
	if err != nil {
		return nil, badInput("%w", err)
	}
	return records, nil
}

func (s *shell) compareCommand() *cobra.Command {
	var path, where string
	var out output
	var g gates
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "Set two sides against each other, with intervals and a test",
		Long: `Compare sets B against A, workload by workload. Each side is a broker (kafka,
kafka@4.3.1), a selection (client.linger.ms=5, or a run: began=2026-11-20T14)
or another store's file or URL.
A setting that differs without being named raises a warning. --fail-if bounds
how much B may differ from A: by the medians, when the test shows a difference
or when there are too few repetitions for one.`,
		Example: "  brokermark compare kafka jetstream\n" +
			"  brokermark compare client.linger.ms=0 client.linger.ms=5 --where broker=kafka\n" +
			"  brokermark compare monday.db tuesday.db --fail-if 'publish_rate<-5%'",
		Args: arguments(cobra.ExactArgs(2)),
		RunE: func(c *cobra.Command, args []string) error {
			if err := out.settle(c.Flags()); err != nil {
				return err
			}
			if err := g.open(gate.ParseChange); err != nil {
				return err
			}
			defer g.close()
			var sides [2]reports.Side
			var named []string
			for i, arg := range args {
				from, expr := side(path, arg)
				records, err := readStore(c.Context(), from, joined(where, expr))
				if err != nil {
					return err
				}
				sides[i] = reports.Side{Name: store.Printable(arg), Set: results.Of(records)}
				named = append(named, results.Named(expr)...)
			}
			err := s.to(out, func(w io.Writer) error {
				switch out.format {
				case html:
					return page.Compare(w, sides[0], sides[1], named, s.source(nil, path, where, out, append([]string{"compare"}, args...)...))
				case xlsx:
					return sheet.Document(w, reports.Compare(sides[0], sides[1], named...))
				}
				return writeDocument(w, reports.Compare(sides[0], sides[1], named...), out.format)
			})
			if err != nil {
				return err
			}
			return g.judgeChanges(s.err, sides[0], sides[1], named)
		},
	}
	c.Flags().StringVar(&path, "store", defaultStore, storeDoc)
	c.Flags().StringVar(&where, "where", "", whereDoc)
	out.flags(c.Flags())
	g.flags(c.Flags(), "sustainable < -5%")
	return c
}

// side tells which store a side's records are in and the selection that finds them there.
func side(path, arg string) (from, expr string) {
	if store.IsURL(arg) {
		return arg, ""
	}
	if strings.Contains(arg, "=") {
		return path, arg
	}
	if fi, err := os.Stat(arg); err == nil && !fi.IsDir() {
		return arg, ""
	}
	broker, version, found := strings.Cut(arg, "@")
	expr = "broker=" + broker
	if found {
		expr += ",version=" + version
	}
	return path, expr
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return fmt.Sprintf("%s,%s", a, b)
}
