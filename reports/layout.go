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
	axes      []string // a column each; none if points are identified by their names
	oneBroker bool     // all points are of one broker, which is named above the table
	oneLoad   bool     // all points have one load, which is named above the table
	sentence  string   // stands above the table; empty if points are identified by their names
}

// statable are the things that the sentence above a table may state.
type statable struct {
	loads []string // of the table's rows
	facts []string // spec paths that are stated if all points agree
}

// layoutOf chooses the layout of a table of points.
func layoutOf(points []results.Point, may statable) layout {
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
	l.oneBroker, l.oneLoad = alike(brokers), len(may.loads) > 0 && alike(may.loads)
	var words []string
	if l.oneBroker {
		words = append(words, brokers[0])
	}
	if l.oneLoad {
		words = append(words, may.loads[0])
	}
	words = append(words, same...)
	for _, fact := range may.facts {
		if value := shared(points, fact); value != "" && values[fact] == nil {
			words = append(words, fact+" "+value)
		}
	}
	if words != nil {
		l.sentence = "All points: " + strings.Join(words, ", ") + "."
	}
	return l
}

func alike(values []string) bool {
	return !slices.ContainsFunc(values, func(v string) bool { return v != values[0] })
}

// saidOnce are the spec paths that are stated above a table.
var saidOnce = []string{"persistence", "acks", "replicas", "nodes", "topics", "partitionsPerTopic", "producersPerTopic"}

// shared is the value that all points have at a spec path. It is empty if they differ or have none.
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
func (l layout) columns() []columnOf[results.Point] {
	name := func(p results.Point) document.Cell { return document.Text(p.Name) }
	if l.axes == nil {
		return []columnOf[results.Point]{{document.Column{Key: "broker", Name: "broker", Row: true}, name}}
	}
	columns := []columnOf[results.Point]{
		{document.Column{Key: "broker", Data: true, Label: true}, name},
		{document.Column{Key: "product", Name: "broker", Row: true, Data: l.oneBroker}, func(p results.Point) document.Cell { return document.Text(p.Kind()) }},
	}
	for _, axis := range l.axes {
		columns = append(columns, columnOf[results.Point]{AxisColumn(axis), func(p results.Point) document.Cell {
			for _, w := range p.Words() {
				if w.Name == axis {
					return document.Text(w.Value)
				}
			}
			return document.Cell{}
		}})
	}
	return columns
}

// AxisColumn is the column of an axis's values. It is headed by the axis's path, in two lines if that is long.
func AxisColumn(axis string) document.Column {
	const long = 12
	name := strings.TrimPrefix(axis, "client.")
	if at := strings.LastIndex(name, "."); at > 0 && len(name) > long {
		name = name[:at+1] + "\n" + name[at+1:]
	}
	return document.Column{Key: "axis:" + axis, Name: name, Row: true, Named: true}
}
