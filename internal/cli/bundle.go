package cli

import (
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/brokermark/brokermark/internal/bundle"
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/figure"
	"github.com/brokermark/brokermark/internal/page"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/reports"
	"github.com/brokermark/brokermark/studies"
)

func (s *shell) bundleCommand() *cobra.Command {
	var path, out string
	var authors []string
	c := &cobra.Command{
		Use:   "bundle STUDY -o FILE.zip",
		Short: "Pack a study's records, pages, figures and folder into one file",
		Long: "Bundle writes all that the store holds of a study as one zip, to publish or to keep:\n" +
			"records, a table with its columns explained and scripts that read it, the study's\n" +
			"report, figures, its document, claims and published tables, versions, machines, a\n" +
			"citation and the sum of each file. The same records give the same bytes, and import\n" +
			"takes the records of such a file back. STUDY is a name or a folder.",
		Example: "  brokermark bundle head-to-head -o head-to-head.zip\n" +
			"  brokermark bundle head-to-head --author Lovelace --author Babbage -o measured.zip\n" +
			"  brokermark bundle head-to-head --store monday.db -o monday.zip && unzip -l monday.zip",
		Args:              arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: cobra.FixedCompletions(studies.Names(), cobra.ShellCompDirectiveDefault),
		RunE: func(c *cobra.Command, args []string) error {
			hint := fmt.Sprintf("brokermark bundle %s -o %s.zip", args[0], filepath.Base(args[0]))
			switch {
			case out == "":
				return hinted(badInput("a bundle needs a file to be written to"), "%s", hint)
			case !strings.EqualFold(filepath.Ext(out), ".zip"):
				return hinted(badInput("-o %s: a bundle is a zip; allowed: a file that ends with .zip", out), "%s", hint)
			}
			paper, err := readPaper(args[0])
			if err != nil {
				return err
			}
			records, err := readStore(c.Context(), path, "study="+paper.Study.Name)
			if err != nil {
				return err
			}
			folder, err := studies.FS(args[0])
			if err != nil {
				return err
			}
			records = bundle.Sorted(records)
			report, command, err := reportOf(args[0], paper)
			if err != nil {
				return err
			}
			files, err := bundled(paper, page.Source{Set: results.Of(records), Command: command, Tool: toolVersion()}, report)
			if err != nil {
				return err
			}
			contents := bundle.Contents{
				Study: paper.Study, Grid: paper.Grid, Folder: folder, Records: records, Authors: authors, Tool: toolVersion(), Files: files,
			}
			return toFile(out, contents.Write)
		},
	}
	f := c.Flags()
	f.StringVar(&path, "store", defaultStore, storeDoc)
	f.VarP((*fileName)(&out), "output", "o", "`file` to write, a zip")
	f.StringArrayVar(&authors, "author", nil, "`name` of a person who measured, for the citation")
	return c
}

// reportOf returns the report of a study, and the command that makes it: of one that repeats a publication both beside each other.
func reportOf(name string, paper reports.Paper) (reports.Report, string, error) {
	where := " --where " + shellWord("study="+paper.Study.Name)
	if len(paper.Claims)+len(paper.Figures)+len(paper.Study.Exhibits) == 0 {
		report, err := reportOn(reports.Default, nil)
		return report, "brokermark report" + where, err
	}
	if !slices.Contains(studies.Names(), name) {
		where += " --study " + bundle.StudyFolder(paper.Study.Name)
	}
	report, err := reportOn("study", []string{name})
	return report, "brokermark report study" + where, err
}

// bundled are the records of a study in two forms of export, its report in every format, and its figures.
func bundled(paper reports.Paper, source page.Source, report reports.Report) ([]bundle.File, error) {
	set := source.Set
	whole := report.Build
	build := sync.OnceValues(func() (document.Document, error) { return whole(set) })
	report.Build = func(*results.Set) (document.Document, error) { return build() }
	files := []bundle.File{
		{Name: bundle.RecordsFile, Write: func(w io.Writer) error { return writeRecords(w, each(set.Records), results.LatencyKind{}) }},
		{Name: bundle.DataFile, Write: func(w io.Writer) error { return writeCSV(w, set.Records, results.LatencyKind{}) }},
		{Name: bundle.ColumnsFile, Write: func(w io.Writer) error { return writeColumns(w, set.Records) }},
	}
	for format, ending := range map[string]string{"markdown": ".md", "latex": ".tex", html: ".html", xlsx: ".xlsx"} {
		files = append(files, bundle.File{Name: "pages/" + report.Name + ending, Write: func(w io.Writer) error {
			return writeReport(w, report, format, source)
		}})
	}
	add := func(name string, f figure.Figure, err error) error {
		if is[*figure.ErrNothing](err) {
			return nil
		}
		files = append(files, bundle.File{Name: "figures/" + name + ".svg", Write: func(w io.Writer) error { return f.Write(w, "svg") }})
		return err
	}
	for i, exhibit := range paper.Drawings(set) {
		f, err := figure.Draw(exhibit, figure.Options{})
		if err := add(fmt.Sprintf("exhibit-%02d", i+1), f, err); err != nil {
			return nil, err
		}
	}
	for _, name := range figure.Names() {
		f, err := figure.Build(name, set, figure.Options{})
		if err := add(name, f, err); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// each reads records that are in memory.
func each(records []store.Record) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}
