package study

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// Published is a table of a paper that is compared with the points of an experiment.
type Published struct {
	File       string            // in the study's folder: a CSV file with a header; lines that begin with # give the source
	Experiment string            // the sweep
	Where      map[string]string // column → value: only the rows that have it
	Axes       map[string]string // axis of the sweep → column with its values
	Fixed      map[string]string // axis of the sweep → value that every row has
	Metrics    map[string]Column // key of a metric → column with its values
}

// Column is a column of a published table, or of an exhibit.
type Column struct {
	Name string // of the column, or the key of a metric
	Unit string // of its values; "" where the column has none, or the metric's own is meant
}

// named is a metric that a study names, and where.
type named struct {
	key, unit string
	at        place
	path      string
}

// Exhibit is a table or figure of the paper, to be drawn from measured and published records.
type Exhibit struct {
	Title      string
	Place      string // in the paper
	Note       string
	Experiment string
	Rows       string // axis of the experiment, or RowsOfRates
	Series     string // axis of the experiment; "" for one series
	Columns    []Column
	Where      map[string]string // axis → value: only the points that have it
}

// RowsOfRates are the rates of a curve as the rows of an exhibit, where no axis has that name.
const RowsOfRates = "load.rate"

// tables decodes a list of published tables, and checks the experiments that they name.
func (s *Study) tables(d decoder, n *yaml.Node) (out []Published) {
	for full, item := range d.mappings(n, "published", "mappings", "") {
		var p Published
		d.keyed(item, full, map[string]any{
			"file": &p.File, "experiment": &p.Experiment, "where": &p.Where, "axes": &p.Axes, "fixed": &p.Fixed, "metrics": &p.Metrics,
		})
		if clean := path.Clean(p.File); p.File == "" || clean != p.File || path.IsAbs(clean) || strings.HasPrefix(clean, "..") {
			d.add(d.at(item), full+".file", "%q is no file of the study's folder; allowed: such as published/table-1.csv", p.File)
		}
		if len(p.Metrics) == 0 {
			d.add(d.at(item), full+".metrics", "missing; allowed: metrics and the columns that hold them, such as {publish_rate: msg_per_s}")
		}
		p.Axes, p.Fixed = d.byAxis(item, full+".axes", p.Axes), d.byAxis(item, full+".fixed", p.Fixed)
		axes := slices.Concat(slices.Sorted(maps.Keys(p.Axes)), slices.Sorted(maps.Keys(p.Fixed)))
		s.checkExperiment(d, d.at(item), full, p.Experiment, axes)
		out = append(out, p)
	}
	return out
}

// byAxis replaces the keys of a mapping in item, which is at full, by the names of axes in points.
func (d decoder) byAxis(item *yaml.Node, full string, m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	out, written := map[string]string{}, map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		axis := canonical(key)
		if first, twice := written[axis]; twice {
			d.add(d.at(item), join(full, key), "given twice: %q means the same", first)
		}
		out[axis], written[axis] = m[key], key
	}
	return out
}

// exhibits decodes a list of the paper's tables and figures, and checks the experiments that they name.
func (s *Study) exhibits(d decoder, n *yaml.Node) (out []Exhibit) {
	for full, item := range d.mappings(n, "exhibits", "mappings", "") {
		var e Exhibit
		d.keyed(item, full, map[string]any{
			"title": &e.Title, "place": &e.Place, "note": &e.Note, "experiment": &e.Experiment,
			"rows": &e.Rows, "series": &e.Series, "columns": &e.Columns, "where": &e.Where,
		})
		if e.Title == "" || e.Rows == "" || len(e.Columns) == 0 {
			d.add(d.at(item), full, "an exhibit needs title, experiment, rows and columns")
		}
		e.Rows, e.Series, e.Where = canonical(e.Rows), canonical(e.Series), d.byAxis(item, full+".where", e.Where)
		axes := append(slices.Sorted(maps.Keys(e.Where)), e.Series)
		if !s.curves(e) {
			axes = slices.Concat([]string{e.Rows}, axes)
		}
		s.checkExperiment(d, d.at(item), full, e.Experiment, axes)
		out = append(out, e)
	}
	return out
}

// keyed decodes a mapping into the fields of its keys: texts, mappings of texts, columns.
func (d decoder) keyed(n *yaml.Node, full string, into map[string]any) {
	for _, p := range d.pairs(n, full) {
		at := join(full, p.key)
		switch field := into[p.key].(type) {
		case *string:
			*field = d.text(p.value, at)
		case *map[string]string:
			*field = map[string]string{}
			for _, q := range d.below(p.value, at) {
				(*field)[q.key] = d.text(q.value, join(at, q.key))
			}
		case *map[string]Column:
			*field = map[string]Column{}
			for _, q := range d.below(p.value, at) {
				c := d.column(q.value, join(at, q.key), "column")
				*d.metrics = append(*d.metrics, named{q.key, c.Unit, d.at(q.keyNode), join(at, q.key)})
				(*field)[q.key] = c
			}
		case *[]Column:
			if p.value.Kind != yaml.SequenceNode {
				d.add(d.at(p.value), at, "%s is not a list of metrics", Seen(p.value))
				continue
			}
			for i, c := range p.value.Content {
				column := d.column(resolve(c), element(at, i), "metric")
				*d.metrics = append(*d.metrics, named{column.Name, column.Unit, d.at(c), element(at, i)})
				*field = append(*field, column)
			}
		default:
			d.unknownKey(p, at, slices.Sorted(maps.Keys(into))...)
		}
	}
}

// below reads a mapping and reports an error if it is none.
func (d decoder) below(n *yaml.Node, full string) []pair {
	if !d.isMapping(n, full, "") {
		return nil
	}
	return d.pairs(n, full)
}

func (d decoder) text(n *yaml.Node, full string) string {
	if !isScalar(n) {
		d.add(d.at(n), full, "%s is not a text", Seen(n))
		return ""
	}
	return strings.TrimSpace(n.Value)
}

// column decodes a name, or {name, unit} with the name under the key called what.
func (d decoder) column(n *yaml.Node, full, what string) (c Column) {
	if n.Kind != yaml.MappingNode {
		c.Name = d.text(n, full)
	} else {
		d.keyed(n, full, map[string]any{what: &c.Name, "unit": &c.Unit})
	}
	if c.Name == "" {
		d.add(d.at(n), full, "no %s", what)
	}
	return c
}

// CheckMetrics checks the metrics of published tables and exhibits, and their units. wrong returns the error of one; "" if it is right.
func (s *Study) CheckMetrics(wrong func(metric, unit string) string) error {
	var found problems
	for _, m := range s.metrics {
		if found.enough() {
			break
		}
		if text := wrong(m.key, m.unit); text != "" {
			found.add(m.at, m.path, "%s", text)
		}
	}
	return found.err()
}

// curves reports whether the rows of an exhibit are the rates of a curve.
func (s *Study) curves(e Exhibit) bool {
	i := s.sweep(e.Experiment)
	if e.Rows != RowsOfRates || i < 0 {
		return false
	}
	for _, l := range []layer{s.sweeps[i].set, s.base} {
		if m, ok := l.find("measure"); ok {
			return m.value == MeasureCurve
		}
	}
	return false
}

// checkExperiment refuses experiments and axes that the study doesn't have.
func (s *Study) checkExperiment(d decoder, at place, full, experiment string, axes []string) {
	i := s.sweep(experiment)
	switch {
	case d.enough():
		return
	case i < 0:
		d.add(at, full+".experiment", "no experiment %q; allowed: %s", experiment, strings.Join(s.Experiments(), ", "))
		return
	}
	there := axisNames(s.sweeps[i])
	for _, name := range axes {
		if name != "" && !d.enough() && !slices.Contains(there, canonical(name)) { // an error has reported that it is missing
			d.add(at, full, "the experiment %q has no axis %q; it has %s", experiment, name, cmp.Or(strings.Join(there, ", "), "none"))
		}
	}
}

// sweep is the index of the sweep of that name, or -1.
func (s *Study) sweep(name string) int {
	return slices.IndexFunc(s.sweeps, func(w sweep) bool { return w.name == name })
}

// Experiments are the names of the study's sweeps, in the order written; none if any sweep has no name.
func (s *Study) Experiments() []string {
	var out []string
	for _, w := range s.sweeps {
		if w.name != "" {
			out = append(out, w.name)
		}
	}
	return out
}
