// Package published turns the tables of a publication into records, so that reports can show them beside measured ones.
// It reads the CSV files in a study's folder, and concludes nothing from them.
//
// The study names the columns that hold axes and those that hold metrics. Each row gives figures of one point of the
// study's full grid:
//
//	# origin: table 3, page 7
//	queues,rate,mean
//	1,1000,2.5
//
// becomes a record of the point with queues=1 and rate=1000, whose metric e2e_mean_ns is 2.5e6 if the study says that
// the column is in ms. Figures of the same point from several tables become one record.
package published

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// Axes of a study with a meaning of their own.
const (
	sweepAxis = "sweep" // names the experiment
	whenAxis  = "when"  // the paper's versions (then) or today's (now); published records have the value "published"
)

// Check refuses a study that names an unknown metric, or an unknown unit of one.
func Check(s *study.Study) error {
	return s.CheckMetrics(func(key, unit string) string {
		m, err := results.MetricByKey(key)
		if err != nil {
			return err.Error()
		}
		if _, err := results.InUnit(m.Unit, unit); err != nil {
			return err.Error()
		}
		return ""
	})
}

// Records returns the records of the tables that a study names, one for each point of its full grid that has figures in
// a table. The tables are files of folder, the study's.
func Records(folder fs.FS, s *study.Study) ([]store.Record, error) {
	if len(s.Published) == 0 {
		return nil, nil
	}
	points, err := s.Points()
	if err != nil {
		return nil, err
	}
	c := collection{study: s, indexes: map[string]int{}, origins: map[string][]string{}}
	for _, layout := range s.Published {
		if err := c.addTable(folder, layout, gridOf(points, layout)); err != nil {
			return nil, err
		}
	}
	return c.records, nil
}

// collection is the records so far, one for each point.
type collection struct {
	study   *study.Study
	records []store.Record
	indexes map[string]int      // in records, by the ID of the point
	origins map[string][]string // of the figures of a record, by the ID of its point
}

// grid is the points of a study's experiment by their values on the axes of a table.
type grid map[string][]*study.Point

func gridOf(points []study.Point, layout study.Published) grid {
	g := grid{}
	for i := range points {
		p := &points[i]
		if layout.Experiment != "" && p.Axes[sweepAxis] != layout.Experiment {
			continue
		}
		known := map[string]string{}
		for axis, value := range p.Axes {
			_, read := layout.Axes[axis]
			_, fixed := layout.Fixed[axis]
			if read || fixed {
				known[axis] = value
			}
		}
		at := placeOf(known)
		g[at] = append(g[at], p)
	}
	return g
}

// placeOf is the same text for the same values on the same axes, as results.SameValue has it.
func placeOf(values map[string]string) string {
	var at strings.Builder
	for _, axis := range slices.Sorted(maps.Keys(values)) {
		value := strconv.Quote(values[axis])
		if magnitude, is := results.Magnitude(values[axis]); is {
			value = fmt.Sprint(magnitude + 0) // no −0
		}
		fmt.Fprintf(&at, "%q=%s ", axis, value)
	}
	return at.String()
}

// addTable adds the rows of a table to the records of their points, which are in grid. The layout is the study's: which
// file it is, and which columns hold what.
func (c *collection) addTable(folder fs.FS, layout study.Published, points grid) error {
	t, err := readTable(folder, layout.File)
	if err != nil {
		return err
	}
	for _, column := range columnsOf(layout) {
		first := slices.Index(t.columns, column)
		if first < 0 {
			return fmt.Errorf("%s has no column %q; it has %s", layout.File, column, strings.Join(t.columns, ", "))
		}
		if slices.Contains(t.columns[first+1:], column) {
			return fmt.Errorf("%s has two columns %q", layout.File, column)
		}
	}
	if len(t.rows) == 0 {
		return fmt.Errorf("%s: it has no rows", layout.File)
	}
	rows := slices.DeleteFunc(t.rows, func(r row) bool { return !hasValues(r.cells, layout.Where) })
	if len(rows) == 0 {
		return fmt.Errorf("%s: no row has %s", layout.File, valuesText(layout.Where))
	}
	for _, r := range rows {
		if err := c.addRow(r, layout, points, cmp.Or(t.origin, layout.File)); err != nil {
			return fmt.Errorf("%s:%d: %w", layout.File, r.line, err)
		}
	}
	return nil
}

// columnsOf returns the columns that are read from a table.
func columnsOf(layout study.Published) []string {
	figures := lists.Map(slices.Sorted(maps.Keys(layout.Metrics)), func(key string) string { return layout.Metrics[key].Name })
	return slices.Concat(slices.Sorted(maps.Values(layout.Axes)), figures, slices.Sorted(maps.Keys(layout.Where)))
}

// addRow adds the figures of a row to the record of its point. A row without figures makes no record. It is an error if
// the record has another value of one of the figures.
func (c *collection) addRow(r row, layout study.Published, points grid, origin string) error {
	p, err := r.point(layout, points)
	if err != nil {
		return err
	}
	figures, err := r.figures(layout)
	if err != nil {
		return err
	}
	if len(figures) == 0 {
		return nil
	}
	i, known := c.indexes[p.ID]
	if !known {
		i = len(c.records)
		c.indexes[p.ID] = i
		c.records = append(c.records, c.emptyRecord(p))
	}
	record := &c.records[i]
	for _, key := range slices.Sorted(maps.Keys(figures)) {
		if before, ok := record.Result.Given[key]; ok && before != figures[key] {
			return fmt.Errorf("%s of this point is %v here and %v in an earlier row", key, figures[key], before)
		}
	}
	maps.Copy(record.Result.Given, figures)
	if !slices.Contains(c.origins[p.ID], origin) {
		c.origins[p.ID] = append(c.origins[p.ID], origin)
		record.Source = strings.Join(c.origins[p.ID], "; ")
	}
	return nil
}

// emptyRecord returns the record of a point, without figures.
func (c *collection) emptyRecord(p *study.Point) store.Record {
	axes := map[string]string{}
	maps.Copy(axes, p.Axes)
	axes[whenAxis] = "published"
	return store.Record{
		Schema:     store.Schema,
		Kind:       store.KindPublished,
		PointID:    "published-" + p.ID,
		Study:      c.study.Name,
		Label:      p.Label,
		Axes:       axes,
		Repetition: 1,
		Status:     store.Published,
		Reason:     "figures of a publication: " + cmp.Or(c.study.Source, c.study.Name),
		Spec:       p.Spec,
		Versions:   store.Versions{Tool: "published"},
		Result:     &store.Result{Given: map[string]float64{}},
	}
}

// point returns the point of the grid that a row is about. If the grid has both the paper's versions and today's, it is
// the point with the paper's.
func (r row) point(layout study.Published, points grid) (*study.Point, error) {
	want := map[string]string{}
	maps.Copy(want, layout.Fixed)
	for axis, column := range layout.Axes {
		want[axis] = r.cells[column]
	}
	found := points[placeOf(want)]
	hasPapersVersions := func(p *study.Point) bool { return p.Axes[whenAxis] == "then" }
	if slices.ContainsFunc(found, hasPapersVersions) {
		found = lists.Filter(found, hasPapersVersions)
	}
	where := cmp.Or(layout.Experiment, "the study")
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("no point of %s has %s", where, valuesText(want))
	case 1:
		return found[0], nil
	default:
		return nil, fmt.Errorf("%d points of %s have %s: the table's axes don't tell them apart",
			len(found), where, valuesText(want))
	}
}

// hasValues reports whether have holds every value of want under the same name. Values of equal magnitude are equal:
// 1KiB and 1024.
func hasValues(have, want map[string]string) bool {
	for name, wanted := range want {
		if value, ok := have[name]; !ok || !results.SameValue(value, wanted) {
			return false
		}
	}
	return true
}

// figures returns the metrics of a row in their base units, by key. A blank cell is no figure.
func (r row) figures(layout study.Published) (map[string]float64, error) {
	figures := map[string]float64{}
	for _, key := range slices.Sorted(maps.Keys(layout.Metrics)) {
		column := layout.Metrics[key]
		m, err := results.MetricByKey(key)
		if err != nil {
			return nil, err
		}
		text := r.cells[column.Name]
		if text == "" {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		isFinite := !math.IsNaN(v) && !math.IsInf(v, 0)
		if err != nil || !isFinite {
			return nil, fmt.Errorf("%s: %q is no number; allowed: a decimal number, or nothing if the figure isn't known",
				column.Name, text)
		}
		factor, err := results.InUnit(m.Unit, column.Unit)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", column.Name, err)
		}
		figures[key] = v * factor
	}
	return figures, nil
}

// valuesText writes values by name for an error: "queues=1, rate=1000".
func valuesText(values map[string]string) string {
	return strings.Join(lists.Map(slices.Sorted(maps.Keys(values)), func(name string) string { return name + "=" + values[name] }), ", ")
}
