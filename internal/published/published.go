// Package published turns the tables of a publication into records, so that reports can show them beside measured ones. It reads the
// CSV files in a study's folder, and concludes nothing from them.
//
// The study names the columns that hold axes and those that hold metrics. Each row gives figures of one point of the study's full
// grid:
//
//	# origin: table 3, page 7
//	queues,rate,mean
//	1,1000,2.5
//
// becomes a record of the point with queues=1 and rate=1000, whose metric e2e_mean_ns is 2.5e6 if the study says that the column is in
// ms. Figures of the same point from several tables become one record.
package published

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/bounded"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// Tool is the version of the tool in records of published figures.
const Tool = "published"

// A study may run a paper's versions and today's: its axis "when" has the values "then" and "now". Published records have the value
// "published".
const whenAxis, then, published = "when", "then", "published"

// maxTable bounds a published table, in bytes.
const maxTable = 16 << 20

// Records returns the records of the tables that a study names, one for each point of its full grid that has figures in a table. The
// tables are files of folder, the study's.
func Records(folder fs.FS, s *study.Study) ([]store.Record, error) {
	if len(s.Published) == 0 {
		return nil, nil
	}
	points, err := s.Points()
	if err != nil {
		return nil, err
	}
	c := collection{study: s, index: map[string]int{}}
	for _, t := range s.Published {
		var grid []study.Point
		for _, p := range points {
			if p.Axes["sweep"] == t.Experiment || t.Experiment == "" {
				grid = append(grid, p)
			}
		}
		if err := c.table(folder, t, grid); err != nil {
			return nil, err
		}
	}
	return c.records, nil
}

// collection is the records so far, one for each point.
type collection struct {
	study   *study.Study
	records []store.Record
	index   map[string]int // in records, by the ID of the point
}

// table adds the rows of a table to the records of their points, which are in grid.
func (c *collection) table(folder fs.FS, t study.Published, grid []study.Point) error {
	rows, origin, err := read(folder, t.File)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return fmt.Errorf("%s: it has no rows", t.File)
	}
	for _, column := range columnsOf(t) {
		if !slices.Contains(rows[0].names, column) {
			return fmt.Errorf("%s has no column %q; it has %s", t.File, column, strings.Join(rows[0].names, ", "))
		}
	}
	rows = slices.DeleteFunc(rows, func(r row) bool { return !r.isAt(t.Where) })
	if len(rows) == 0 {
		return fmt.Errorf("%s: no row has %s", t.File, conditions(t.Where))
	}
	for _, r := range rows {
		if err := c.row(r, t, grid, cmp.Or(origin, t.File)); err != nil {
			return fmt.Errorf("%s:%d: %w", t.File, r.line, err)
		}
	}
	return nil
}

// row adds the figures of a row to the record of its point. A row without figures makes no record.
func (c *collection) row(r row, t study.Published, grid []study.Point, origin string) error {
	p, err := r.point(t, grid)
	if err != nil {
		return err
	}
	given, err := r.figures(t)
	if err != nil || len(given) == 0 {
		return err
	}
	return c.add(p, given, origin)
}

// add adds figures to the record of a point. It returns an error if the record has another value of one of them.
func (c *collection) add(p study.Point, given map[string]float64, origin string) error {
	i, known := c.index[p.ID]
	if !known {
		i = len(c.records)
		c.index[p.ID] = i
		c.records = append(c.records, c.record(p))
	}
	r := &c.records[i]
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if before, ok := r.Result.Given[key]; ok && before != given[key] {
			return fmt.Errorf("%s of this point is %v here and %v in an earlier row", key, given[key], before)
		}
	}
	maps.Copy(r.Result.Given, given)
	const separator = "; "
	if !strings.Contains(separator+r.Source+separator, separator+origin+separator) {
		r.Source = strings.TrimPrefix(r.Source+separator+origin, separator)
	}
	return nil
}

// record returns a record of a point, without figures.
func (c *collection) record(p study.Point) store.Record {
	axes := maps.Clone(p.Axes)
	axes[whenAxis] = published
	return store.Record{
		Schema: store.Schema, Kind: store.KindPublished, PointID: "published-" + p.ID, Study: c.study.Name, Label: p.Label, Axes: axes, Repetition: 1,
		Status: store.Published, Reason: "figures of a publication: " + cmp.Or(c.study.Source, c.study.Name), Spec: p.Spec, Versions: store.Versions{Tool: Tool},
		Result: &store.Result{Given: map[string]float64{}},
	}
}

// columnsOf returns the columns that a study reads from a table.
func columnsOf(t study.Published) []string {
	out := slices.Sorted(maps.Values(t.Axes))
	for _, c := range t.Metrics {
		out = append(out, c.Name)
	}
	return slices.Concat(out, slices.Sorted(maps.Keys(t.Where)))
}

// row is a row of a table.
type row struct {
	names  []string // of the columns
	values []string // in their order
	line   int      // of the file
}

// value returns a row's value in a column. The table must have the column.
func (r row) value(column string) string {
	return strings.TrimSpace(r.values[slices.Index(r.names, column)])
}

// read reads a table and its origin: the text of the comment "# origin: …" above the header; empty if there is none.
func read(folder fs.FS, file string) (rows []row, origin string, err error) {
	data, err := bounded.FileIn(folder, path.Clean(file), maxTable)
	if err != nil {
		return nil, "", err
	}
	for line := range strings.Lines(string(data)) {
		comment, ok := strings.CutPrefix(line, "#")
		if !ok {
			break
		}
		if text, ok := strings.CutPrefix(strings.TrimSpace(comment), "origin:"); ok {
			origin = strings.TrimSpace(text)
			break
		}
	}
	in := csv.NewReader(strings.NewReader(string(data)))
	in.Comment = '#'
	names, err := in.Read()
	if err != nil {
		return nil, "", fmt.Errorf("%s: no header: %w", file, err)
	}
	for {
		values, err := in.Read()
		if errors.Is(err, io.EOF) {
			return rows, origin, nil
		}
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", file, err)
		}
		line, _ := in.FieldPos(0)
		rows = append(rows, row{names, values, line})
	}
}

// isAt reports whether a row has the given values, by column.
func (r row) isAt(where map[string]string) bool {
	for column, value := range where {
		if !equal(r.value(column), value) {
			return false
		}
	}
	return true
}

// point returns the point of the grid that a row is about. If the grid has both the paper's versions and today's, it is the point with
// the paper's.
func (r row) point(t study.Published, grid []study.Point) (study.Point, error) {
	want := maps.Clone(t.Fixed)
	if want == nil {
		want = map[string]string{}
	}
	for axis, column := range t.Axes {
		want[axis] = r.value(column)
	}
	var found []study.Point
	for _, p := range grid {
		if matches(p, want) {
			found = append(found, p)
		}
	}
	isThen := func(p study.Point) bool { return p.Axes[whenAxis] == then }
	if slices.ContainsFunc(found, isThen) {
		found = slices.DeleteFunc(found, func(p study.Point) bool { return !isThen(p) })
	}
	switch len(found) {
	case 0:
		return study.Point{}, fmt.Errorf("no point of %s has %s", t.Experiment, conditions(want))
	case 1:
		return found[0], nil
	}
	return study.Point{}, fmt.Errorf("%d points of %s have %s: the table's axes don't tell them apart", len(found), t.Experiment, conditions(want))
}

// matches reports whether a point has the wanted values on its axes.
func matches(p study.Point, want map[string]string) bool {
	for axis, value := range want {
		if have, ok := p.Axes[axis]; !ok || !equal(have, value) {
			return false
		}
	}
	return true
}

// equal reports whether two texts are equal or are the same quantity, as 1KiB and 1024 are.
func equal(a, b string) bool {
	if a == b {
		return true
	}
	x, okX := results.Magnitude(a)
	y, okY := results.Magnitude(b)
	return okX && okY && x == y
}

// figures returns the metrics of a row in their base units, by key. A blank cell is no figure.
func (r row) figures(t study.Published) (map[string]float64, error) {
	given := map[string]float64{}
	for _, key := range slices.Sorted(maps.Keys(t.Metrics)) {
		column := t.Metrics[key]
		m, err := results.MetricByKey(key)
		if err != nil {
			return nil, err
		}
		text := r.value(column.Name)
		if text == "" {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%s: %q is no number; allowed: a decimal number, or nothing if the figure isn't known", column.Name, text)
		}
		factor, err := results.InUnit(m.Unit, column.Unit)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", column.Name, err)
		}
		given[key] = v * factor
	}
	return given, nil
}

// conditions writes values by name for an error: "queues=1, rate=1000".
func conditions(values map[string]string) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		words = append(words, name+"="+values[name])
	}
	return strings.Join(words, ", ")
}
