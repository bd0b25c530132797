package cli

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/explain"
	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/page"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/sheet"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/suggest"
	"github.com/brokermark/brokermark/reports"
)

func init() {
	results.Paste = func(s study.Spec) (all []results.Pasted) {
		for _, p := range lab.Pasted(s) {
			all = append(all, results.Pasted(p))
		}
		return all
	}
}

// selectionFlags adds the flags that say which stored records a command is about.
func selectionFlags(f *pflag.FlagSet, path, where *string) {
	f.StringVar(path, "store", defaultStore, storeDoc)
	f.Var((*terms)(where), "where", "only records that match the `selection`, such as broker=kafka,messageSize=1KiB; a further one narrows it")
}

// terms is the value of a flag each of which adds to a list with commas. The same value may come again: completion parses its words twice.
type terms string

func (t *terms) String() string { return string(*t) }
func (*terms) Type() string     { return "string" }

func (t *terms) Set(value string) error {
	switch {
	case *t == "":
		*t = terms(value)
	case string(*t) != value:
		*t += terms("," + value)
	}
	return nil
}

// reportOptions are the flags that report and compare share.
type reportOptions struct {
	store, where string
	out          output
	gates        gates
}

func (o *reportOptions) flags(f *pflag.FlagSet, gateExample string) {
	selectionFlags(f, &o.store, &o.where)
	o.out.flags(f)
	o.gates.flags(f, gateExample)
}

func (s *shell) reportCommand() *cobra.Command {
	var o reportOptions
	var folders []string // of published studies
	c := &cobra.Command{
		Use:   "report [NAME]",
		Short: "Show stored results",
		Long: `Report shows what the store holds; without a name it is the summary. It measures
nothing and changes nothing. As HTML the summary is one file with all figures in
it, which needs no network to be looked at; as XLSX it is a workbook with the
summary, the brokers head to head with charts, and every repetition.

Reports:
` + reportTable() + `
A threshold of --fail-if is METRIC OPERATOR VALUE. Metrics are the keys of
export --format flat, with or without their unit: e2e_p99, throughput,
sustainable, lost, broker_cpu and so on. Each point is judged by the median of
its repetitions, a count of messages by their sum; beyond a threshold the exit
code is 7.`,
		Example: "  brokermark report\n" +
			"  brokermark report -o report.html\n" +
			"  brokermark report summary --where status=ok --fail-if 'e2e_p99>50ms' --junit gates.xml",
		Args:              arguments(cobra.MaximumNArgs(1)),
		ValidArgsFunction: cobra.FixedCompletions(reports.Names(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.out.complete(c.Flags()); err != nil {
				return err
			}
			return s.report(c.Context(), o, folders, args)
		},
	}
	c.Flags().StringArrayVar(&folders, "study", nil, "`folder` of a published study for the report study; built-in studies need none")
	o.flags(c.Flags(), "e2e_p99 > 50ms")
	return c
}

func (s *shell) report(ctx context.Context, o reportOptions, folders, args []string) error {
	name := reports.Default
	if len(args) == 1 {
		name = args[0]
	}
	report, err := reportOn(name, folders)
	if err != nil {
		return err
	}
	if err := o.gates.open(gate.Parse); err != nil {
		return err
	}
	defer o.gates.close()
	read := readStore
	if name == "explain" {
		read = readAll
	}
	records, err := read(ctx, o.store, o.where)
	if err != nil {
		return err
	}
	set := results.Of(records)
	err = s.writeTo(o.out.path, func(w io.Writer) error {
		source := source(set, o.store, o.where, o.out, append([]string{"report"}, args...)...)
		source.Gates = gate.Judge(set, o.gates.conditions)
		return writeReport(w, report, o.out.format, source)
	})
	if err != nil {
		return err
	}
	return o.gates.judge(s.err, set)
}

// writeReport writes a report on the source's set.
func writeReport(w io.Writer, report reports.Report, format string, source page.Source) error {
	whole := report.Name == reports.Default
	if whole && format == html {
		return page.Summary(w, source)
	}
	d, err := report.Build(source.Set)
	if err != nil {
		return err
	}
	if whole && format == xlsx {
		d.Add(reports.Gates(source.Gates)...)
		return sheet.Write(w, []document.Document{d, reports.HeadToHead(source.Set).Document()}, source.Set.Records)
	}
	return writeDocument(w, d, format, source)
}

// reportOn returns a report by its name. The report study may be about the studies in folders instead of those in the program.
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
		p, err := readPaper(folder)
		if err != nil {
			return report, err
		}
		papers = append(papers, p)
	}
	report.Build = func(set *results.Set) (document.Document, error) { return reports.Study(set, papers...), nil }
	return report, nil
}

// reportTable lists the reports for the help.
func reportTable() string {
	const indent, width = 13, 79
	var b strings.Builder
	for _, r := range reports.All() {
		for line := range strings.Lines(text.WrapSoft(r.Doc, width-indent)) {
			fmt.Fprintf(&b, "  %-*s%s\n", indent-2, r.Name, strings.TrimRight(line, " \n"))
			r.Name = "" // of the lines after the first
		}
	}
	return b.String()
}

// readStore reads the records of a store that match the selection where, or all if it is "". What only explains a limit is no result: it is
// left out, unless the selection names a study or a point.
func readStore(ctx context.Context, path, where string) ([]store.Record, error) {
	records, err := readAll(ctx, path, where)
	if names := results.SelectionNames(where); slices.Contains(names, "study") || slices.Contains(names, "point") {
		return records, err
	}
	return slices.DeleteFunc(records, func(r store.Record) bool { return explain.Explains(r.Study) }), err
}

// readAll reads the explanations, too.
func readAll(ctx context.Context, path, where string) ([]store.Record, error) {
	return store.Collect(eachStored(ctx, path, where))
}

// eachStored reads them one by one.
func eachStored(ctx context.Context, path, where string) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		st, err := store.OpenReadOnlyContext(ctx, path)
		if err != nil {
			yield(store.Record{}, err)
			return
		}
		defer st.Close()
		for r, err := range results.Select(ctx, st, where) {
			if err != nil && store.ProblemOf(err) == "" {
				err = badInput("%w", err)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

func (s *shell) compareCommand() *cobra.Command {
	var o reportOptions
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "Compare two sides, with intervals and a test",
		Long: `Compare sets B against A, workload by workload. Each side is a broker (kafka,
kafka@4.3.1), a selection (client.linger.ms=5, or a run: began=2026-11-20T14)
or another store's file or URL.
A setting that differs without being named raises a warning. --fail-if bounds
how much B may differ from A: the interval of the change has to keep the bound.
One that the interval reaches across is undecided, and fails.`,
		Example: "  brokermark compare kafka jetstream\n" +
			"  brokermark compare client.linger.ms=0 client.linger.ms=5 --where broker=kafka\n" +
			"  brokermark compare monday.db tuesday.db --fail-if 'throughput<-5%'",
		Args:              twoSides,
		ValidArgsFunction: sides,
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.out.complete(c.Flags()); err != nil {
				return err
			}
			return s.compare(c.Context(), o, args)
		},
	}
	o.flags(c.Flags(), "sustainable < -5%")
	c.Flags().BoolVar(&o.gates.allowMissing, "allow-missing", false, "don't fail because of workloads and rates that only one side has")
	return c
}

// twoSides refuses everything but two different sides.
func twoSides(_ *cobra.Command, args []string) error {
	const hint = "a side is a broker, a selection or another store: brokermark compare kafka jetstream"
	if len(args) != 2 {
		return hinted(badInput("compare needs two sides, and was given %d", len(args)), hint)
	}
	if args[0] == args[1] {
		return hinted(badInput("both sides are %s: there is nothing to compare", args[0]), hint)
	}
	return nil
}

func (s *shell) compare(ctx context.Context, o reportOptions, args []string) error {
	if err := o.gates.open(gate.ParseChange); err != nil {
		return err
	}
	defer o.gates.close()
	var sides [2]reports.Side
	var named []string
	for i, arg := range args {
		from, selection := side(o.store, arg)
		records, err := readStore(ctx, from, results.JoinSelections(o.where, selection))
		if err != nil {
			return err
		}
		sides[i] = reports.Side{Name: store.Printable(arg), Set: results.Of(records)}
		named = append(named, results.SelectionNames(selection)...)
	}
	if why := reports.NothingToCompare(sides[0], sides[1], named...); why != "" {
		return badInput("%s", why)
	}
	changes := gate.Changes(reports.Pairs(sides[0], sides[1], named...), o.gates.conditions, o.gates.allowMissing)
	err := s.writeTo(o.out.path, func(w io.Writer) error {
		source := source(nil, o.store, o.where, o.out, append([]string{"compare"}, args...)...)
		source.Gates = changes
		if o.out.format == html {
			return page.Compare(w, sides[0], sides[1], named, source)
		}
		return writeDocument(w, reports.Compare(sides[0], sides[1], named...), o.out.format, source)
	})
	if err != nil {
		return err
	}
	return o.gates.tell(s.err, changes, nil)
}

// side returns the store that a side's records are in, and the selection that finds them there: "monday.db" is another store,
// "client.linger.ms=5" a selection, and "kafka@4.3.1" a broker.
func side(path, arg string) (from, selection string) {
	info, err := os.Stat(arg)
	isFile := err == nil && !info.IsDir()
	meansFile := strings.ContainsRune(arg, filepath.Separator) || filepath.Ext(arg) == ".db" // no broker is named so
	switch {
	case store.IsURL(arg):
		return arg, ""
	case strings.Contains(arg, "="):
		return path, arg
	case isFile, meansFile:
		return arg, ""
	}
	return path, results.SideSelection(arg)
}
