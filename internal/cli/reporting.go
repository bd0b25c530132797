package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

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

type reportOptions struct {
	store, where string
	folders      []string // of published studies
	out          output
	gates        gates
}

func (s *shell) reportCommand() *cobra.Command {
	var o reportOptions
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
			if err := o.out.complete(c.Flags()); err != nil {
				return err
			}
			return s.report(c.Context(), o, args)
		},
	}
	c.Flags().StringVar(&o.store, "store", defaultStore, storeDoc)
	c.Flags().StringVar(&o.where, "where", "", whereDoc)
	c.Flags().StringArrayVar(&o.folders, "study", nil, "`folder` of a published study for the report study; those that come along are known")
	o.out.flags(c.Flags())
	o.gates.flags(c.Flags(), "e2e_p99 > 50ms")
	return c
}

func (s *shell) report(ctx context.Context, o reportOptions, args []string) error {
	name := reports.Default
	if len(args) == 1 {
		name = args[0]
	}
	report, err := reportOn(name, o.folders)
	if err != nil {
		return err
	}
	if err := o.gates.open(gate.Parse); err != nil {
		return err
	}
	defer o.gates.close()
	records, err := readStore(ctx, o.store, o.where)
	if err != nil {
		return err
	}
	set := results.Of(records)
	err = s.to(o.out, func(w io.Writer) error {
		source := s.source(set, o.store, o.where, o.out, append([]string{"report"}, args...)...)
		source.Gates = gate.Judge(set, o.gates.conditions)
		whole := report.Name == reports.Default
		switch {
		case whole && o.out.format == html:
			return page.Summary(w, source)
		case whole && o.out.format == xlsx:
			return sheet.Write(w, set, append(source.Gates, gate.JudgeObjectives(set)...))
		}
		d, err := report.Build(set)
		if err != nil {
			return err
		}
		return writeDocument(w, d, o.out.format, source)
	})
	if err != nil {
		return err
	}
	return o.gates.judge(s.err, set)
}

// reportOn finds a report; the report study is about the studies in folders, where any are named.
func reportOn(name string, folders []string) (reports.Report, error) {
	report, err := reports.Lookup(name)
	if err != nil {
		return report, badInput("%w%s", err, suggest.DidYouMean(name, reports.Names()))
	}
	if folders == nil {
		return report, nil
	}
	if name != "study" {
		return report, badInput("--study belongs to the report study, not to %s", name)
	}
	var papers []reports.Paper
	for _, folder := range folders {
		p, err := reports.ReadPaper(folder)
		if err != nil {
			return report, badInput("%w", err)
		}
		papers = append(papers, p)
	}
	report.Build = func(set *results.Set) (document.Document, error) { return reports.Study(set, papers...), nil }
	return report, nil
}

// reportTable is for the help.
var reportTable = sync.OnceValue(func() string {
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
})

// readStore reads the records of a store that match where ("" = all).
func readStore(ctx context.Context, path, where string) ([]store.Record, error) {
	st, err := store.OpenReadOnlyContext(ctx, path)
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

type compareOptions struct {
	store, where string
	out          output
	gates        gates
}

func (s *shell) compareCommand() *cobra.Command {
	var o compareOptions
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
		Args:              twoSides,
		ValidArgsFunction: sides,
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.out.complete(c.Flags()); err != nil {
				return err
			}
			return s.compare(c.Context(), o, args)
		},
	}
	c.Flags().StringVar(&o.store, "store", defaultStore, storeDoc)
	c.Flags().StringVar(&o.where, "where", "", whereDoc)
	o.out.flags(c.Flags())
	o.gates.flags(c.Flags(), "sustainable < -5%")
	return c
}

// twoSides refuses everything but two different sides.
func twoSides(c *cobra.Command, args []string) error {
	var err error
	switch {
	case len(args) != 2:
		err = badInput("compare needs two sides, and was given %d", len(args))
	case args[0] == args[1]:
		err = badInput("both sides are %s: there is nothing to compare", args[0])
	default:
		return nil
	}
	return hinted(err, "a side is a broker, a selection or another store: brokermark compare kafka jetstream")
}

func (s *shell) compare(ctx context.Context, o compareOptions, args []string) error {
	if err := o.gates.open(gate.ParseChange); err != nil {
		return err
	}
	defer o.gates.close()
	var sides [2]reports.Side
	var named []string
	for i, arg := range args {
		from, expr := side(o.store, arg)
		records, err := readStore(ctx, from, results.JoinSelections(o.where, expr))
		if err != nil {
			return err
		}
		sides[i] = reports.Side{Name: store.Printable(arg), Set: results.Of(records)}
		named = append(named, results.SelectionNames(expr)...)
	}
	if why := reports.NothingToCompare(sides[0], sides[1], named...); why != "" {
		return badInput("%s", why)
	}
	err := s.to(o.out, func(w io.Writer) error {
		source := s.source(nil, o.store, o.where, o.out, append([]string{"compare"}, args...)...)
		source.Gates = gate.Changes(reports.Pairs(sides[0], sides[1], named...), o.gates.conditions)
		if o.out.format == html {
			return page.Compare(w, sides[0], sides[1], named, source)
		}
		return writeDocument(w, reports.Compare(sides[0], sides[1], named...), o.out.format, source)
	})
	if err != nil {
		return err
	}
	return o.gates.judgeChanges(s.err, sides[0], sides[1], named)
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
	return path, results.SideSelection(arg)
}
