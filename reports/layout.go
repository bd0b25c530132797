package reports

import (
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
)

// mostAxes is how many axes a table has columns for; more would leave no room for the figures.
const mostAxes = 5

// layout says how a table identifies its points: by their names, or by a column for each setting in which they differ. The
// settings that all points share are stated once above the table.
type layout struct {
	axes   []string // a column each; none: by their names
	broker bool     // all points are of one broker, which is named above the table
	load   bool     // all points have one load, which is named above the table
	above  string   // the sentence above the table
}

// layoutOf chooses the layout for points under loads. facts are spec paths that are stated above the table where all points
// agree.
func layoutOf(points []results.Point, loads, facts []string) layout {
	values, order := map[string][]string{}, []string(nil)
	var brokers []string
	for _, p := range points {
		brokers = append(brokers, p.Kind())
		for _, w := range p.Words() {
			if values[w.Name] == nil {
				order = append(order, w.Name)
			}
			values[w.Name] = append(values[w.Name], w.Value)
		}
	}
	var l layout
	var same []string
	for _, name := range order {
		if of := values[name]; len(of) == len(points) && alike(of) {
			same = append(same, name+" "+of[0])
		} else {
			l.axes = append(l.axes, name)
		}
	}
	if len(l.axes) == 0 || len(l.axes) > mostAxes {
		return layout{}
	}
	l.broker, l.load = alike(brokers), len(loads) > 0 && alike(loads)
	var words []string
	if l.broker {
		words = append(words, brokers[0])
	}
	if l.load {
		words = append(words, loads[0])
	}
	words = append(words, same...)
	for _, fact := range facts {
		if value := shared(points, fact); value != "" && values[fact] == nil {
			words = append(words, fact+" "+value)
		}
	}
	if words != nil {
		l.above = "All points: " + strings.Join(words, ", ") + "."
	}
	return l
}

func alike(values []string) bool {
	return !slices.ContainsFunc(values, func(v string) bool { return v != values[0] })
}

// saidOnce are the spec paths that are stated above a table.
var saidOnce = []string{"persistence", "acks", "replicas", "nodes", "topics", "partitionsPerTopic", "producersPerTopic"}

// shared is the value that all points have at a spec path, "" where they differ or have none.
func shared(points []results.Point, path string) string {
	var values []string
	for _, p := range points {
		values = append(values, p.Facts()[path])
	}
	if len(values) == 0 || !alike(values) {
		return ""
	}
	return values[0]
}

// columns identify a point: by its whole name for machines and charts, by the parts of the name for readers.
func (l layout) columns() []document.Column {
	if l.axes == nil {
		return []document.Column{{Key: "broker", Name: "broker", Row: true}}
	}
	columns := []document.Column{
		{Key: "broker", Data: true, Label: true},
		{Key: "product", Name: "broker", Row: true, Data: l.broker},
	}
	for _, axis := range l.axes {
		columns = append(columns, AxisColumn(axis))
	}
	return columns
}

// AxisColumn is the column of an axis's values. It is headed by the axis's path, in two lines where that is long.
func AxisColumn(axis string) document.Column {
	const long = 12
	name := strings.TrimPrefix(axis, "client.")
	if at := strings.LastIndex(name, "."); at > 0 && len(name) > long {
		name = name[:at+1] + "\n" + name[at+1:]
	}
	return document.Column{Key: "axis:" + axis, Name: name, Row: true, Named: true}
}

// name fills in the columns of a point's name.
func (l layout) name(row document.Row, p results.Point) {
	row["broker"] = document.Text(p.Name)
	if l.axes == nil {
		return
	}
	row["product"] = document.Text(p.Kind())
	for _, w := range p.Words() {
		if slices.Contains(l.axes, w.Name) {
			row["axis:"+w.Name] = document.Text(w.Value)
		}
	}
}
