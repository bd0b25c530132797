package figure

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/plot"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/unit"
)

// exhibit is a drawing with every kind of axis: sizes, names, a single value, and figures of a curve.
func exhibit() document.Drawing {
	sizes := document.DrawingAxis{Name: "messageSize", Values: []string{"100", "1KiB", "1MiB"}, Numbers: []float64{100, 1024, 1 << 20}}
	names := document.DrawingAxis{Name: "mode", Values: []string{"lazy", "eager"}}
	one := document.DrawingAxis{Name: "topics", Values: []string{"8"}, Numbers: []float64{8}}
	d := document.Drawing{
		Name: "paper/1", Title: "Figure 1: latency by size", Subtitle: "now: kafka 4.3.1 · 2 cores", Lines: []string{"kafka", "rabbitmq"},
		Sides: []document.DrawingSide{{Name: "published", Style: document.Dashed}, {Name: "then", Style: document.Dotted}, {Name: "now", Style: document.Solid}},
		Panels: []document.DrawingPanel{
			{Across: sizes, Up: document.DrawingAxis{Name: "e2e mean, ms"}},
			{Across: names, Up: document.DrawingAxis{Name: "throughput, msg/s"}},
			{Across: one, Up: document.DrawingAxis{Name: "lost", Unit: unit.Count}},
			{Across: document.DrawingAxis{Name: "throughput, msg/s"}, Up: document.DrawingAxis{Name: "e2e p99", Unit: unit.Nanoseconds}},
			{Across: sizes, Up: document.DrawingAxis{Name: "nobody measured it"}},
		},
		Notes: []string{"Medians over repetitions."},
	}
	for i := range d.Panels[:4] {
		p := &d.Panels[i]
		values := max(3, len(p.Across.Values))
		if p.Across.Values != nil {
			values = len(p.Across.Values)
		}
		for l := range d.Lines {
			for side := range d.Sides {
				for v := range values {
					y := float64(10*(l+1)+side) * math.Pow(2, float64(v*i+v))
					mark := document.DrawingMark{Line: l, Side: side, X: float64(v), Y: document.Number(y)}
					if p.Across.Values == nil {
						mark.X = 1000 * float64(v+side+1)
						mark.Y.Number *= 1e6
					}
					if side == 2 {
						mark.Y = document.Cell{Kind: document.Interval, Number: mark.Y.Number, Low: mark.Y.Number * 0.8, High: mark.Y.Number * 1.3}
						mark.Y.Unused = l == 1 && v == 1
					}
					p.Marks = append(p.Marks, mark)
				}
			}
		}
	}
	return d
}

// contenders is a drawing of lines without sides, beside each other at two names, with a bound. One left after the first rate, and of another
// messages that never came leave no upper bound.
func contenders() document.Drawing {
	d := document.Drawing{
		Title: "Latency of the contenders", Lines: []string{"jetstream", "kafka", "redis"}, Notes: []string{"Each mark is a median."},
		Panels: []document.DrawingPanel{{
			Across: document.DrawingAxis{Name: "rate (messages/s)", Values: []string{"5k/s", "15k/s"}},
			Up:     document.DrawingAxis{Name: "e2e p99", Unit: unit.Nanoseconds, Bound: 20e6},
		}},
	}
	for l, values := range [][]float64{{3e6, 5e6}, {22e6}, {2e6, 9e6}} {
		for v, y := range values {
			cell := document.Cell{Kind: document.Interval, Number: y, Low: 0.8 * y, High: 1.2 * y}
			if y == 9e6 {
				cell.High = math.Inf(1)
			}
			d.Panels[0].Marks = append(d.Panels[0].Marks, document.DrawingMark{Line: l, X: float64(v), Y: cell})
		}
	}
	return d
}

func drawn(t *testing.T, d document.Drawing, o Options) Figure {
	t.Helper()
	f, err := Draw(d, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestAnExhibitNamesItsSidesLinesAndAxes(t *testing.T) {
	words := texts(t, written(t, drawn(t, exhibit(), Options{}), "svg"))
	for _, want := range []string{
		"published", "then", "now", "kafka", "rabbitmq", "e2e mean, ms", "messageSize", "1KiB", "1MiB", "lazy", "eager", "8",
		"Throughput, msg/s", "throughput, msg/s", "void or failed: not used", "Figure 1: latency by size", "Medians over repetitions.",
	} {
		if !slices.Contains(words, want) {
			t.Errorf("no %q in %q", want, words)
		}
	}
	if slices.Contains(words, "Nobody measured it") {
		t.Error("a panel without marks is drawn")
	}
	one := exhibit()
	one.Lines, one.Panels = nil, one.Panels[1:2]
	for i := range one.Panels[0].Marks {
		one.Panels[0].Marks[i].Line = 0
	}
	if f := drawn(t, one, Options{}); len(f.Legend) != 4 || f.Legend[0].Line.Color == f.Legend[2].Line.Color {
		t.Errorf("without lines the sides have the colours: %+v", f.Legend)
	}
	for _, o := range []Options{{Linear: true}, {Title: "mine", Width: 300, Height: 200}} {
		if f := drawn(t, exhibit(), o); len(written(t, f, "svg")) == 0 || o.Title != "" && (f.Title != o.Title || f.Width != 300 || f.Height != 200) {
			t.Errorf("%+v", f)
		}
	}
}

func TestADrawingThatHoldsNothingOrTooMuchIsRefused(t *testing.T) {
	many := exhibit()
	for i := range 20 {
		many.Lines = append(many.Lines, fmt.Sprint("line ", i))
	}
	var none *ErrNothing
	for _, d := range []document.Drawing{{Name: "paper/1"}, many} {
		if _, err := Draw(d, Options{}); !errors.As(err, &none) {
			t.Errorf("%s: %v", d.Name, err)
		}
	}
}

// However many lines there are, each mark is in the panel, and none stands nearer to another value than to its own.
func TestLinesWithoutSidesStandBesideEachOther(t *testing.T) {
	for _, values := range [][]string{{"5k/s"}, {"5k/s", "15k/s"}} {
		for n := 1; n <= maxLines; n++ {
			d := contenders()
			d.Lines = make([]string, n)
			across := document.DrawingAxis{Values: values}
			var a plot.Axis
			place := setValues(&a, across, d, Options{}, 400)
			last := a.Min
			for v := range values {
				for l := range n {
					x := place(document.DrawingMark{Line: l, X: float64(v)})
					if x <= last || x >= a.Max || math.Abs(x-float64(v)) >= 0.4 {
						t.Errorf("%d of %d lines at %d of %v stands at %v, after %v, on an axis up to %v", l, n, v, values, x, last, a.Max)
					}
					last = x
				}
			}
		}
	}
}

func TestABoundIsALineThatTheLegendNames(t *testing.T) {
	f := drawn(t, contenders(), Options{})
	if words := texts(t, written(t, f, "svg")); !slices.Contains(words, "objective e2e p99 <= 20 ms") || slices.Contains(words, "void or failed: not used") {
		t.Errorf("%q", words)
	}
	high := contenders()
	high.Panels[0].Up.Bound = 80e6
	if p := drawn(t, high, Options{}).Panels[0][0]; p.Plot.Y.Max < 80e6 {
		t.Errorf("a bound of 80 ms isn't on an axis up to %v", p.Plot.Y.Max)
	}
}
