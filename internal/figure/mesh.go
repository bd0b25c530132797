package figure

import (
	"cmp"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// mesh holds the places of load points: their panels, their lines, and their values along the axis.
type mesh struct {
	bounds   []bound // of objectives for the metric
	metric   results.Metric
	linear   bool
	axes     []results.Axis
	row      int // −1 if all dots are on one line
	col      results.Axis
	others   []int    // axes that the panels hold still
	titles   []string // of the panels
	names    []string // of the lines
	dots     []dot
	missing  []string
	nominal  bool // the axis has places instead of numbers
	straight bool // the metric's axis is linear
}

type dot struct {
	panel, line string
	mark        mark
}

// lay finds the axes and places every load point that has the metric.
func (m *mesh) lay(points []results.Point, o Options) error {
	loadPoints := m.comparable(results.LoadPointsOf(points))
	if len(loadPoints) == 0 {
		return nothing("none of the records holds the metric %s", m.metric.Key)
	}
	axes, at := results.Axes(loadPoints)
	row, col, err := lineAxes(axes, o)
	if err != nil {
		return err
	}
	m.axes, m.row, m.col = axes, row, axes[col]
	m.nominal = m.col.Numbers == nil || !o.Linear && slices.Min(m.col.Numbers) <= 0
	// The axis "sweep" says how a study is written: it is shown only if no other axis tells its points apart.
	for _, without := range []string{"sweep", ""} {
		m.others = nil
		for i, a := range axes {
			if i != row && i != col && a.Name != without {
				m.others = append(m.others, i)
			}
		}
		if err = m.place(loadPoints, at, col); err == nil {
			break
		}
	}
	if err != nil {
		return err
	}
	m.sort(at)
	if err := tooMany(len(m.titles), mostPanels, "panels"); err != nil {
		return err
	}
	return tooMany(len(m.names), mostLines, "lines")
}

func (m *mesh) place(loadPoints []results.LoadPoint, at [][]int, col int) error {
	type where struct {
		panel, line string
		col         int
	}
	taken := map[where]results.LoadPoint{}
	m.dots, m.missing, m.straight = nil, nil, m.linear
	for i, l := range loadPoints {
		w := where{m.title(at[i]), m.name(at[i]), at[i][col]}
		s := results.Summarize(m.metric.Values(l.Records))
		if s.N == 0 || w.col < 0 {
			m.miss(w.panel, w.line, string(l.Status))
			continue
		}
		if other, clash := taken[w]; clash {
			return clashing(other.Point, l.Point)
		}
		taken[w] = l
		m.straight = m.straight || l.Status == store.OK && s.Low <= 0
		m.dots = append(m.dots, dot{w.panel, w.line, mark{m.x(w.col), s.Median, s.Low, s.High, l.Status == store.OK}})
	}
	// Unused figures don't decide on the scale. One that has no place on it isn't drawn.
	m.dots = slices.DeleteFunc(m.dots, func(d dot) bool {
		out := !m.straight && d.mark.low <= 0
		if out {
			m.miss(d.panel, d.line, m.metric.Unit.Format(d.mark.y)+", not used")
		}
		return out
	})
	return nil
}

func (m *mesh) miss(panel, line, why string) {
	what := strings.Join(slices.DeleteFunc([]string{line, panel}, func(s string) bool { return s == "" }), ", ")
	m.missing = add(m.missing, strings.TrimSpace(what+" ("+why+")"))
}

// comparable keeps the load points that have the metric, and the failed ones of the same loads and measures.
func (m *mesh) comparable(loadPoints []results.LoadPoint) []results.LoadPoint {
	has := func(l results.LoadPoint) bool { return len(m.metric.Values(l.Records)) > 0 }
	known := map[string]bool{}
	for _, l := range loadPoints {
		known[l.Point.Spec.Measure] = known[l.Point.Spec.Measure] || has(l)
	}
	return slices.DeleteFunc(loadPoints, func(l results.LoadPoint) bool {
		return !has(l) && (l.Records != nil || !known[l.Point.Spec.Measure])
	})
}

// lineAxes checks the axes asked for and chooses the others: brokers as lines, along the longest other axis. No row is −1.
func lineAxes(axes []results.Axis, o Options) (row, col int, err error) {
	index := func(name string) int {
		return slices.IndexFunc(axes, func(a results.Axis) bool { return a.Name == name })
	}
	var names []string
	for _, a := range axes {
		names = append(names, a.Name)
	}
	for _, asked := range []string{o.Row, o.Col} {
		if asked != "" && index(asked) < 0 {
			return 0, 0, nothing("the selection doesn't vary in %q; it does in: %s", asked, words(names))
		}
	}
	row, col = index(o.Row), index(o.Col)
	if row < 0 && o.Col != "broker" {
		row = index("broker")
	}
	// Numbers before names, then the most values; "sweep" is how a study is written.
	order := slices.Clone(names)
	rank := func(name string) int {
		a := axes[index(name)]
		return len(a.Values) + 1000*last(a.Numbers != nil) - 10_000*last(name == "sweep")
	}
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(rank(b), rank(a)) })
	for _, name := range order {
		if col < 0 && index(name) != row {
			col = index(name)
		}
	}
	switch {
	case col < 0:
		return 0, 0, nothing("small multiples need an axis that varies besides %s; there are: %s", cmp.Or(o.Row, "the broker"), words(names))
	case row == col:
		return 0, 0, nothing("lines and axis are the same, %s", o.Col)
	}
	return row, col, nil
}

// held are the names of the axes that the panels hold still.
func (m *mesh) held() []string {
	var names []string
	for _, i := range m.others {
		names = append(names, m.axes[i].Name)
	}
	return names
}

func words(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// sort puts panels and lines in the order of their axes' values; panels without a dot are left out.
func (m *mesh) sort(at [][]int) {
	m.titles, m.names = nil, nil
	order := slices.Clone(at)
	slices.SortStableFunc(order, func(a, b []int) int {
		for _, i := range m.others {
			if a[i] != b[i] {
				return cmp.Compare(a[i], b[i])
			}
		}
		return 0
	})
	for _, a := range order {
		title := m.title(a)
		if slices.ContainsFunc(m.dots, func(d dot) bool { return d.panel == title }) {
			m.titles = add(m.titles, title)
		}
	}
	if m.row >= 0 {
		slices.SortStableFunc(order, func(a, b []int) int { return cmp.Compare(a[m.row], b[m.row]) })
	}
	for _, a := range order {
		m.names = add(m.names, m.name(a))
	}
}

// title names the values that a panel holds still: "at-least-once, partitions 4".
func (m *mesh) title(at []int) string {
	return heldTitle(m.axes, m.others, at)
}

func (m *mesh) name(at []int) string {
	switch {
	case m.row < 0:
		return ""
	case at[m.row] < 0:
		return "not set"
	}
	return m.axes[m.row].Values[at[m.row]]
}

func clashing(a, b results.Point) error {
	differ := results.Residue([]store.Record{a.Records[0], b.Records[0]})
	if differ == nil {
		differ = []string{"point: " + a.ID + ", " + b.ID}
	}
	return nothing("several points have the same place; they differ in %s: narrow the selection with --where", strings.Join(differ[:min(len(differ), 4)], "; "))
}
