package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/docker/go-units"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// document is everything that one call of this program found out.
type document struct {
	Began    time.Time  `json:"began"`
	Host     store.Host `json:"host"`
	Tool     string     `json:"tool"` // what brokermark version says
	Pairs    int        `json:"pairs"`
	Seconds  float64    `json:"seconds"` // measured per run
	Warmup   float64    `json:"warmup_seconds"`
	Sections []section  `json:"sections"`
}

// section is one comparison under one set of settings.
type section struct {
	Title    string    `json:"title"`
	Settings string    `json:"settings,omitempty"`
	Runs     []runs    `json:"runs,omitempty"`
	Verdicts []verdict `json:"verdicts,omitempty"`

	oneMode bool // the driver has one mode: stock or tuned
}

type runs struct {
	Name    string   `json:"name"`
	Samples []sample `json:"samples"`
}

// verdict sets a median beside its target.
type verdict struct {
	What    string  `json:"what"`
	Value   float64 `json:"median"`
	Low     float64 `json:"low"` // over the pairs
	High    float64 `json:"high"`
	Bound   float64 `json:"target"`
	AtLeast bool    `json:"at_least"` // else at most
	Form    form    `json:"unit"`
}

// form is how a figure is written.
type form string

const (
	ratioForm   form = "ratio"
	percentForm form = "share"
	timeForm    form = "ns"
	bytesForm   form = "bytes"
	allocsForm  form = "allocations"
	rateForm    form = "per second"
)

func (f form) write(v float64) string {
	switch f {
	case percentForm:
		return fmt.Sprintf("%.1f %%", 100*v)
	case timeForm:
		if v < 1000 {
			return fmt.Sprintf("%.1f ns", v)
		}
		return time.Duration(v).Round(100 * time.Nanosecond).String()
	case rateForm:
		return fmt.Sprintf("%.0f/s", v)
	case bytesForm:
		return units.HumanSize(v)
	case allocsForm:
		return fmt.Sprintf("%g allocs", v)
	}
	return fmt.Sprintf("%.2f ×", v)
}

// atMost judges the median of one figure over all pairs: of 1, 4 and 2 it is 2, and their range is 1 to 4.
func atMost(what string, figures []float64, bound float64, f form) verdict {
	return verdict{What: what, Value: median(figures), Low: slices.Min(figures), High: slices.Max(figures), Bound: bound, Form: f}
}

// atLeast is atMost with the bound on the other side.
func atLeast(what string, figures []float64, bound float64, f form) verdict {
	v := atMost(what, figures, bound, f)
	v.AtLeast = true
	return v
}

func (v verdict) met() bool {
	if v.AtLeast {
		return v.Value >= v.Bound
	}
	return v.Value <= v.Bound
}

func (v verdict) row() table.Row {
	sign, word := "≤ ", "met"
	if v.AtLeast {
		sign = "≥ "
	}
	if !v.met() {
		word = "MISSED"
	}
	spread := v.Form.write(v.Low) + " – " + v.Form.write(v.High)
	return table.Row{v.What, v.Form.write(v.Value), spread, sign + v.Form.write(v.Bound), word}
}

func (d document) missed() (n, of int) {
	for _, s := range d.Sections {
		for _, v := range s.Verdicts {
			of++
			if !v.met() {
				n++
			}
		}
	}
	return n, of
}

// figures is the table of what was measured, medians over the pairs.
func (s section) figures() table.Writer {
	t := newTable(table.Row{"generator", "messages/s", "CPU-s/million", "cores", "e2e p50", "resident", "runs", ""})
	number := func(list []float64, format string) string {
		if m := median(list); m > 0 {
			return fmt.Sprintf(format, m)
		}
		return "–"
	}
	for _, r := range s.Runs {
		latency := median(each(r.Samples, func(x sample) float64 { return float64(x.P50) }))
		shown := "–"
		if latency > 0 {
			shown = time.Duration(latency).Round(10 * time.Microsecond).String()
		}
		t.AppendRow(table.Row{
			r.Name, number(each(r.Samples, rateOf), "%.0f"),
			number(each(r.Samples, cpuOf), "%.3f"), number(each(r.Samples, func(x sample) float64 { return x.Cores }), "%.2f"), shown,
			units.HumanSize(median(each(r.Samples, func(x sample) float64 { return float64(x.Memory) }))), len(r.Samples),
			r.Samples[len(r.Samples)-1].Note,
		})
	}
	return t
}

func newTable(header table.Row) table.Writer {
	t := table.NewWriter()
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true}
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	t.AppendHeader(header)
	return t
}

// print writes the document; render chooses between a terminal's tables and Markdown's.
func (d document) print(out io.Writer, render func(table.Writer) string) {
	fmt.Fprintf(out, "# Speed, %s\n\n%s; %s, %d cores, %s; %d pairs, %gs measured after %gs in each run\n",
		d.Began.Format("2006-01-02 15:04"), strings.TrimSpace(d.Tool), d.Host.CPU, d.Host.Cores, d.Host.OS, d.Pairs, d.Seconds, d.Warmup)
	for _, s := range d.Sections {
		if len(s.Runs) == 0 {
			continue
		}
		fmt.Fprintf(out, "\n## %s\n\n%s\n\n%s\n", s.Title, s.Settings, render(s.figures()))
	}
	t := newTable(table.Row{"figure", "median", "over the pairs", "target", "verdict"})
	for _, s := range d.Sections {
		for _, v := range s.Verdicts {
			t.AppendRow(v.row())
		}
	}
	missed, of := d.missed()
	fmt.Fprintf(out, "\n## Verdict\n\n%s\n\n%d of %d targets met\n", render(t), of-missed, of)
}

// save writes path.json and path.md.
func (d document) save(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	data, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	var page strings.Builder
	d.print(&page, table.Writer.RenderMarkdown)
	return cmp.Or(
		os.WriteFile(path+".json", append(data, '\n'), 0o644),
		os.WriteFile(path+".md", []byte(page.String()), 0o644))
}

// describe is one run in one line.
func describe(name string, s sample) string {
	text := fmt.Sprintf("%s: %.0f/s, %.3f CPU-s per million, %s", name, s.Rate, s.CPU, units.HumanSize(float64(s.Memory)))
	if s.Lag > 0 {
		text += ", lag p99 " + time.Duration(s.Lag).String()
	}
	if s.Note != "" {
		text += " (" + s.Note + ")"
	}
	return text
}

// sample is what one run of one contender gave.
type sample struct {
	Rate    float64 `json:"rate"`                             // messages per second through the whole path: sent, and where the row consumes also received
	CPU     float64 `json:"cpu_s_per_million"`                // of the generator, seen from outside
	OwnCPU  float64 `json:"own_cpu_s_per_million,omitempty"`  // what Brokermark's own record says
	LoadCPU float64 `json:"load_cpu_s_per_million,omitempty"` // of CPU, what was used while messages passed; 0: all of it
	Cores   float64 `json:"cores"`
	P50     int64   `json:"e2e_p50_ns,omitempty"`
	Lag     int64   `json:"lag_p99_ns,omitempty"`
	Took    int64   `json:"took_ns,omitempty"`          // of a search, from the start of the broker to the record
	First   int64   `json:"first_message_ns,omitempty"` // from the program's start to its first delivery
	Memory  int64   `json:"resident_bytes"`
	Note    string  `json:"note,omitempty"`
}

// perMillion is processor seconds for a million messages.
func perMillion(cores, rate float64) float64 { return cores / rate * 1e6 }

func median(values []float64) float64 { return results.Summarize(values).Median }

// each picks one figure of every sample.
func each(samples []sample, of func(sample) float64) []float64 {
	var list []float64
	for _, s := range samples {
		list = append(list, of(s))
	}
	return list
}

// ratios divides pair by pair: what the machine did to both of a pair cancels out.
func ratios(a, b []sample, of func(sample) float64) []float64 {
	var list []float64
	for i := range min(len(a), len(b)) {
		list = append(list, of(a[i])/of(b[i]))
	}
	return list
}

func rateOf(s sample) float64 { return s.Rate }
func cpuOf(s sample) float64  { return s.CPU }

// enough is how many messages take about the measured time, in tens of thousands.
func (b *bench) enough(s sample) int64 {
	const round = 10_000
	return max(1, int64(s.Rate*b.measure.Seconds())/round) * round
}

// latencies is a histogram with 16 steps to each power of two: as little as a bare loop can do and still know its
// median within some percent. It belongs to one goroutine.
type latencies struct{ counts [64 * 16]int64 }

func (l *latencies) add(ns int64) {
	v := uint64(max(ns, 16))
	shift := bits.Len64(v) - 5
	l.counts[shift*16+int(v>>shift)-16]++
}

// quantile is the lower edge of the step that holds it; 0 where nothing was added.
func (l *latencies) quantile(q float64) int64 {
	var total, below int64
	for _, n := range l.counts {
		total += n
	}
	for i, n := range l.counts {
		if below += n; n > 0 && float64(below) >= q*float64(total) {
			return int64(i%16+16) << (i / 16)
		}
	}
	return 0
}
