package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/claim"
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

// exhibits writes the paper's tables and figures in its order: published, then and now beside each other.
func (p Paper) exhibits(d *document.Document, beside *results.Set) {
	if len(p.Study.Exhibits) == 0 {
		return
	}
	d.Add(document.Heading{Level: 2, Text: p.words().exhibits})
	if p.isPublished() {
		d.Say(results.PublishedNote)
	}
	for _, e := range p.Study.Exhibits {
		d.Add(document.Heading{Level: 3, Text: strings.TrimSpace(e.Title + ", " + e.Place)})
		if e.Place == "" {
			d.Blocks[len(d.Blocks)-1] = document.Heading{Level: 3, Text: e.Title}
		}
		d.Say(e.Note)
		x := p.exhibit(e, beside)
		if len(x.rows) == 0 {
			d.Say(p.words().unmeasured)
			continue
		}
		d.Add(x.table())
		if x.left > 0 {
			d.Say(fmt.Sprintf("The paper has %s more, of values that were not measured here.", plural(x.left, "row")))
		}
	}
}

// exhibit is a table or figure of the paper, filled from records.
type exhibit struct {
	study.Exhibit
	sides   []string
	metrics []results.Metric
	units   []string
	rows    []exhibitRow
	left    int // rows of the paper that were not measured
}

// exhibitRow is a place in it: what each side has there.
type exhibitRow struct {
	at, series string
	order      float64 // of rates of a curve
	sides      map[string]results.Level
}

func (p Paper) exhibit(e study.Exhibit, beside *results.Set) exhibit {
	e.Rows, e.Series = study.AxisName(e.Rows), study.AxisName(e.Series)
	x := exhibit{Exhibit: e, sides: p.sides(beside)}
	for _, c := range e.Columns {
		if m, err := results.MetricByKey(c.Name); err == nil {
			x.metrics, x.units = append(x.metrics, m.AsRecorded()), append(x.units, c.Unit)
		}
	}
	for i, point := range beside.Points {
		axes := point.Records[0].Axes
		if e.Experiment != "" && axes["sweep"] != e.Experiment || !within(axes, e.Where) {
			continue
		}
		if value, axis := axes[e.Rows]; axis || e.Rows != study.RowsOfRates {
			x.put(exhibitRow{at: value, series: axes[e.Series]}, sideOf(point), point.Whole())
			continue
		}
		for _, l := range results.MeasuredLoads(i, point) {
			at, order := l.Place()
			x.put(exhibitRow{at: at, series: axes[e.Series], order: order}, sideOf(point), l)
		}
	}
	slices.SortStableFunc(x.rows, func(a, b exhibitRow) int {
		return cmp.Or(compareValues(a.series, b.series), cmp.Compare(a.order, b.order), compareValues(a.at, b.at))
	})
	x.keepMeasured()
	return x
}

// put sets what a side has into the row of its place; of two scales, the later one stays.
func (x *exhibit) put(at exhibitRow, side string, what results.Level) {
	i := slices.IndexFunc(x.rows, func(r exhibitRow) bool { return r.at == at.at && r.series == at.series })
	if i < 0 {
		i, at.sides = len(x.rows), map[string]results.Level{}
		x.rows = append(x.rows, at)
	}
	x.rows[i].sides[side] = what
}

// keepMeasured leaves out what only the paper has, unless nothing was measured at all.
func (x *exhibit) keepMeasured() {
	kept := slices.DeleteFunc(slices.Clone(x.rows), func(r exhibitRow) bool {
		_, there := r.sides[claim.Published]
		return len(r.sides) == 1 && there
	})
	if len(kept) > 0 {
		x.left, x.rows = len(x.rows)-len(kept), kept
	}
}

func within(axes, where map[string]string) bool {
	for axis, value := range where {
		if compareValues(axes[axis], value) != 0 {
			return false
		}
	}
	return true
}

// compareValues orders values of an axis by what they measure.
func compareValues(a, b string) int {
	x, okx := results.Magnitude(a)
	y, oky := results.Magnitude(b)
	if okx && oky {
		return cmp.Compare(x, y)
	}
	return results.CompareNames(a, b)
}

func sideOf(p results.Point) string {
	if p.Published() {
		return claim.Published
	}
	return cmp.Or(p.Records[0].Axes["when"], claim.Now)
}

// mostBeside is how many of the paper's columns stand once for each side; more make a row for each side instead.
const mostBeside = 3

// heading is the name of what the rows are.
func (x exhibit) heading() string {
	if x.Rows == study.RowsOfRates {
		return "rate"
	}
	return x.Rows
}

func (x exhibit) table() document.Table {
	t := document.Table{Columns: []document.Column{{Key: x.Rows, Name: x.heading(), Row: true}}}
	if x.Series != "" {
		t.Columns = append(t.Columns, document.Column{Key: x.Series, Name: x.Series, Row: true})
	}
	long := len(x.metrics) > mostBeside
	if long {
		if len(x.sides) > 1 {
			t.Columns = append(t.Columns, document.Column{Key: "of", Name: "of", Row: true})
		}
		for i := range x.metrics {
			t.Columns = append(t.Columns, x.column(i, ""))
		}
	} else {
		for i := range x.metrics {
			for _, side := range x.sides {
				t.Columns = append(t.Columns, x.column(i, side))
			}
		}
	}
	for _, r := range x.rows {
		row := func() document.Row {
			out := document.Row{x.Rows: document.Text(r.at)}
			if x.Series != "" {
				out[x.Series] = document.Text(r.series)
			}
			return out
		}
		if !long {
			t.Rows = append(t.Rows, x.fill(row(), r, x.sides, true))
			continue
		}
		for _, side := range x.sides {
			if _, there := r.sides[side]; there {
				one := x.fill(row(), r, []string{side}, false)
				if len(x.sides) > 1 {
					one["of"] = document.Text(side)
				}
				t.Rows = append(t.Rows, one)
			}
		}
	}
	return t
}

// fill adds the figures of sides to a row; apart where each side has columns of its own.
func (x exhibit) fill(row document.Row, r exhibitRow, sides []string, apart bool) document.Row {
	for i := range x.metrics {
		for _, side := range sides {
			column := ""
			if apart {
				column = side
			}
			row[x.column(i, column).Key] = x.cell(r, side, i)
		}
	}
	return row
}

// column is one of the paper's, in its unit.
func (x exhibit) column(i int, side string) document.Column {
	m, name := x.metrics[i], x.units[i]
	c := document.Column{Key: m.Key, Name: plainName(m.Key), Unit: m.Unit, Spread: side != claim.Published}
	if name != "" {
		c.Key, c.Unit = inKey(m.Key, name), unit.None
		if m.Unit == unit.PerSecond || m.Unit == unit.Count {
			c.Unit = unit.Count // whole, as the papers print them
		}
		c.Name += "\n" + name
	}
	if side != "" {
		c.Key, c.Name = c.Key+"_"+side, c.Name+"\n"+side
	}
	return c
}

// unitOf are the endings of metric keys that name a unit.
var unitOf = []string{"_ns", "_bytes", "_s", "_pct", "_low"}

// plainName is a metric's key in words: "publish rate", where its name in other reports, published, would be taken for
// the paper's figure.
func plainName(key string) string {
	for _, suffix := range unitOf {
		key = strings.TrimSuffix(key, suffix)
	}
	return strings.ReplaceAll(key, "_", " ")
}

// inKey is a metric's key with another unit: e2e_mean_ns in ms is e2e_mean_ms.
func inKey(key, name string) string {
	word := strings.ToLower(strings.NewReplacer("/", "_per_", "%", "pct", "µ", "u").Replace(name))
	for _, suffix := range []string{"_ns", "_bytes", "_s"} {
		if short, ok := strings.CutSuffix(key, suffix); ok {
			return short + "_" + word
		}
	}
	return key
}

func (x exhibit) cell(r exhibitRow, side string, i int) document.Cell {
	l, there := r.sides[side]
	if !there {
		return document.Cell{}
	}
	if len(l.Records) == 0 || r.order > 0 && !l.Used() {
		return document.Text(string(l.Status))
	}
	cell := x.metrics[i].Over(l.Records).Cell()
	factor, err := results.InUnit(x.metrics[i].Unit, x.units[i])
	if err != nil || cell.Kind == document.Blank {
		return document.Cell{}
	}
	cell.Number, cell.Low, cell.High = cell.Number/factor, cell.Low/factor, cell.High/factor
	return cell
}

// environment says with what each side was measured, and where the work that was given differs from that of the full grid.
func (p Paper) environment(d *document.Document, beside *results.Set) {
	d.Add(document.Heading{Level: 2, Text: p.words().setup})
	d.Say(p.Study.Description)
	t := document.Table{Columns: []document.Column{
		{Key: "side", Name: "side", Row: true},
		{Key: "brokers", Name: "brokers", Wide: true},
		{Key: "clients", Name: "clients", Wide: true},
		{Key: "machine", Name: "machine", Wide: true},
		{Key: "repetitions", Name: "repetitions", Unit: unit.Count},
	}}
	for _, side := range claim.Sides(beside, p.Study.Name) {
		brokers, clients, machines, n := map[string]bool{}, map[string]bool{}, map[string]bool{}, 0
		for _, point := range beside.Points {
			if sideOf(point) != side {
				continue
			}
			for _, r := range point.Ok() {
				n++
				brokers[strings.TrimSpace(r.Spec.Broker+" "+r.Versions.Broker)], clients[r.Versions.Client] = true, true
				machines[machine(r.Host)] = true
			}
		}
		words := func(m map[string]bool) document.Cell {
			delete(m, "")
			return document.Text(strings.Join(slices.Sorted(maps.Keys(m)), "; "))
		}
		t.Rows = append(t.Rows, document.Row{
			"side": document.Text(side), "brokers": words(brokers), "clients": words(clients), "machine": words(machines), "repetitions": document.Number(n),
		})
	}
	if len(t.Rows) > 0 {
		d.Add(t)
	}
	if changed := p.changed(beside); len(changed.Rows) > 0 {
		d.Say(p.words().differs)
		d.Add(changed)
	}
}

func machine(h results.Host) string {
	var words []string
	for _, word := range []string{h.CPU, h.OS, h.Kernel} {
		if word != "" {
			words = append(words, word)
		}
	}
	if h.Cores > 0 {
		words = append(words, fmt.Sprintf("%d cores", h.Cores))
	}
	if h.MemoryBytes > 0 {
		words = append(words, unit.Bytes.Format(float64(h.MemoryBytes)))
	}
	return strings.Join(words, ", ")
}

// changed lists the settings in which measured points differ from those of the full grid with the same axis values.
func (p Paper) changed(beside *results.Set) document.Table {
	grid := map[string]study.Spec{}
	for _, g := range p.Grid {
		grid[axesText(g.Axes)] = g.Spec
	}
	type difference struct{ path, paper, here string }
	counts := map[difference]int{}
	for _, point := range beside.Points {
		full, there := grid[axesText(point.Records[0].Axes)]
		if !there || point.Published() || full.ID() == point.Spec.ID() {
			continue
		}
		paper, here := results.SpecFacts(full), results.SpecFacts(point.Spec)
		for _, path := range slices.Sorted(maps.Keys(paper)) {
			if paper[path] != here[path] && !(strings.HasPrefix(path, "sustainable.") && here["sustainable.trial"] == "0s") { // no search, no settings of one
				counts[difference{path, abridged(paper[path]), abridged(here[path])}]++
			}
		}
	}
	t := document.Table{Columns: []document.Column{
		{Key: "setting", Name: "setting", Row: true},
		{Key: "paper", Name: p.words().paper, Wide: true},
		{Key: "here", Name: "here", Wide: true},
		{Key: "points", Name: "points", Unit: unit.Count},
	}}
	for _, f := range slices.SortedFunc(maps.Keys(counts), func(a, b difference) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.paper, b.paper), cmp.Compare(a.here, b.here))
	}) {
		t.Rows = append(t.Rows, document.Row{
			"setting": document.Text(f.path), "paper": document.Text(f.paper), "here": document.Text(cmp.Or(f.here, "unset")), "points": document.Number(counts[f]),
		})
	}
	return t
}

// abridged keeps the ends of a long list.
func abridged(value string) string {
	items := strings.Split(strings.Trim(value, "[]"), ",")
	if !strings.HasPrefix(value, "[") || len(items) <= 5 {
		return value
	}
	return fmt.Sprintf("%d values, %s to %s", len(items), items[0], items[len(items)-1])
}

func axesText(axes map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(axes)) {
		b.WriteString(name + "=" + axes[name] + "\n")
	}
	return b.String()
}
