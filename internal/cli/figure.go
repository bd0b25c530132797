package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot/vg"

	"github.com/brokermark/brokermark/internal/figure"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/suggest"
)

func (s *shell) figureCommand() *cobra.Command {
	var path, where, out, width, height string
	var o figure.Options
	c := &cobra.Command{
		Use:   "figure NAME -o FILE",
		Short: "Draw stored results as SVG, PNG or PDF",
		Long: "Figure draws what the store holds, for papers and slides; the file's ending says\n" +
			"the format.\n\nFigures:\n" + figureTable(),
		Example: "  brokermark figure sustainable -o sustainable.svg\n" +
			"  brokermark figure percentiles --where broker=kafka -o percentiles.pdf\n" +
			"  brokermark figure heatmap --metric e2e_p99_ns --row client.linger.ms --col messageSize --where broker=kafka -o heat.png",
		Args:              arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: cobra.FixedCompletions(figure.Names(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(c *cobra.Command, args []string) error {
			format, err := checkFigure(args[0], out, o)
			if err != nil {
				return err
			}
			draw, err := figureNamed(args[0])
			if err != nil {
				return err
			}
			for _, flag := range []string{"row", "col", "metric", "latency", "linear"} {
				isOfAll := flag == "linear" && isExhibit(args[0])
				if used := usedBy[flag]; c.Flags().Changed(flag) && !isOfAll && !slices.Contains(used, args[0]) {
					return badInput("--%s: not used by %s, only by %s", flag, args[0], strings.Join(used, ", "))
				}
			}
			if o.Metric != "" {
				m, err := results.MetricNamed(o.Metric)
				if err != nil {
					return badInput("--metric: %w", err)
				}
				o.Metric = m.Key
			}
			o.Row, o.Col = study.AxisName(o.Row), study.AxisName(o.Col)
			if o.Width, err = paperLength("width", width); err != nil {
				return err
			}
			if o.Height, err = paperLength("height", height); err != nil {
				return err
			}
			records, err := readStore(c.Context(), path, where)
			if err != nil {
				return err
			}
			f, err := draw(results.Of(records), o)
			if is[*figure.ErrNothing](err) {
				return badInput("%w", err)
			}
			if err != nil {
				return err
			}
			return toFile(out, func(w io.Writer) error { return f.Write(w, format) })
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.VarP((*fileName)(&out), "output", "o", "`file` to draw to: .svg, .png or .pdf")
	selectionFlags(f, &path, &where)
	f.StringVar(&o.Row, "row", "", "heatmap: `axis` of the rows; multiples: of the lines (default: a setting that varies)")
	f.StringVar(&o.Col, "col", "", "heatmap: `axis` of the columns; multiples: of the horizontal axis")
	f.StringVar(&o.Metric, "metric", "", "heatmap, multiples: `key` of the metric to show, such as e2e_p99 (default: what the measurement is for)")
	f.StringVar(&o.Latency, "latency", "", "latency-throughput, percentiles: which `latency`: "+strings.Join(results.LatencyNames(), ", "))
	f.BoolVar(&o.Linear, "linear", false, "latency-throughput, percentiles, multiples, exhibits: linear instead of logarithmic axes")
	f.StringVar(&o.Title, "title", "", "`text` instead of the figure's own title")
	f.StringVar(&width, "width", "", "`size` such as 16cm, 6in or 400pt (default: the figure's own)")
	f.StringVar(&height, "height", "", "`size`, likewise")
	return c
}

// usedBy lists the figures that use a flag which others have no use for.
var usedBy = map[string][]string{
	"row":     {"heatmap", "multiples"},
	"col":     {"heatmap", "multiples"},
	"metric":  {"heatmap", "multiples"},
	"latency": {"latency-throughput", "percentiles"},
	"linear":  {"latency-throughput", "percentiles", "multiples"},
}

func figureTable() string {
	var b strings.Builder
	for _, name := range figure.Names() {
		fmt.Fprintf(&b, "  %-20s%s\n", name, figure.Doc(name))
	}
	fmt.Fprintf(&b, "  %-20s%s\n", "STUDY/N", "a study's N-th exhibit: its publication, then and now over each other")
	return b.String()
}

// isExhibit reports whether a figure's name is that of an exhibit of a study, such as dyjach-2024/4 or ./folder/1.
func isExhibit(name string) bool { return strings.Contains(name, "/") }

// figureNamed returns what makes the named figure.
func figureNamed(name string) (func(*results.Set, figure.Options) (figure.Figure, error), error) {
	if !isExhibit(name) {
		return func(set *results.Set, o figure.Options) (figure.Figure, error) { return figure.Build(name, set, o) }, nil
	}
	i := strings.LastIndexByte(name, '/')
	paper, err := readPaper(name[:i])
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(name[i+1:])
	switch count := len(paper.Study.Exhibits); {
	case count == 0:
		return nil, badInput("%s has no exhibits", name[:i])
	case err != nil || n < 1 || n > count:
		return nil, badInput("%s has no exhibit %q; allowed: 1 to %d, in the order of its report", name[:i], name[i+1:], count)
	}
	return func(set *results.Set, o figure.Options) (figure.Figure, error) {
		return figure.Draw(paper.Drawings(set)[n-1], o)
	}, nil
}

// checkFigure refuses what is wrong whatever the store holds. It returns the format that the ending of the file out names.
func checkFigure(name, out string, o figure.Options) (format string, err error) {
	format = strings.ToLower(strings.TrimPrefix(filepath.Ext(out), "."))
	switch {
	case figure.Doc(name) == "" && !isExhibit(name):
		return "", badInput("unknown figure %q; known: %s, and exhibits such as dyjach-2024/4%s", name, strings.Join(figure.Names(), ", "), suggest.DidYouMean(name, figure.Names()))
	case out == "":
		return "", hinted(badInput("a figure needs a file to be drawn to"), "brokermark figure %s -o %s.svg", name, filepath.Base(name))
	}
	if !slices.Contains(figure.Formats, format) {
		return "", badInput("-o %s: the ending doesn't name a format; allowed: .%s", out, strings.Join(figure.Formats, ", ."))
	}
	if _, err := results.LatencyByName(o.Latency); err != nil {
		return "", badInput("--latency: %w", err)
	}
	return format, nil
}

// paperLength parses a length on paper, such as 16cm. "" is 0.
func paperLength(flag, text string) (vg.Length, error) {
	if text == "" {
		return 0, nil
	}
	number := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz")
	unit, known := map[string]vg.Length{"cm": vg.Centimeter, "mm": vg.Millimeter, "in": vg.Inch, "pt": 1}[text[len(number):]]
	v, err := strconv.ParseFloat(number, 64)
	length := vg.Length(v) * unit
	if !known || err != nil || !(length >= 4*vg.Centimeter && length <= 200*vg.Centimeter) {
		return 0, badInput("--%s %s: not a size for a figure; allowed: 4cm to 200cm, in cm, mm, in or pt", flag, text)
	}
	return length, nil
}
