// How a table identifies its points: by their names, such as "kafka linger.ms=5", or by a column for each setting in which they differ. The
// settings that all points share are then stated once above the table:
//
//	All points: kafka, rate 1k/s, persistence log, topics 1.
//
//	batch.size  linger.ms  e2e p99
//	16KiB       0          12.9 ms
//	16KiB       20         33.1 ms

package reports

import (
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
)

// maxAxisColumns is how many axes a table has columns for; more would leave no room for the figures.
const maxAxisColumns = 5

// layout says how a table identifies its points: by their names, or by a column for each setting in which they differ. The
// settings that all points share are then stated once above the table.
type layout struct {
	axes      []string // a column each; none if points are identified by their names
	oneBroker bool     // all points are of one broker, which is named above the table
	oneLoad   bool     // all points have one load, which is named above the table
	sentence  string   // stands above the table; empty if there is nothing to state
}

// statable is what the sentence above a table may state, if all points share it.
type statable struct {
	loads []string // of the table's rows
	facts []string // spec paths
}

// layoutOf chooses the layout of a table of points. Points that differ in nothing but their broker, or in too many settings, are
// identified by their names.
func layoutOf(points []results.Point, may statable) layout {
	words := wordsByAxis(points)
	var l layout
	var same []string // words that all points share
	for _, w := range words {
		if len(w.values) == len(points) && alike(w.values) {
			same = append(same, w.axis+" "+w.values[0])
		} else {
			l.axes = append(l.axes, w.axis)
		}
	}
	if len(l.axes) == 0 || len(l.axes) > maxAxisColumns {
		return layout{}
	}
	var brokers, stated []string
	for _, p := range points {
		brokers = append(brokers, p.Kind())
	}
	if l.oneBroker = alike(brokers); l.oneBroker {
		stated = append(stated, brokers[0])
	}
	if l.oneLoad = len(may.loads) > 0 && alike(may.loads); l.oneLoad {
		stated = append(stated, may.loads[0])
	}
	stated = append(stated, same...)
	for _, fact := range may.facts {
		isAxis := slices.ContainsFunc(words, func(w axisWords) bool { return w.axis == fact })
		if value := shared(points, fact); value != "" && !isAxis {
			stated = append(stated, fact+" "+value)
		}
	}
	if stated != nil {
		l.sentence = "All points: " + strings.Join(stated, ", ") + "."
	}
	return l
}

// axisWords are the values of one axis in the names of points.
type axisWords struct {
	axis   string
	values []string // of the points that have one
}

// wordsByAxis gathers the words in the names of points, in the order in which the axes first appear.
func wordsByAxis(points []results.Point) []axisWords {
	var all []axisWords
	for _, p := range points {
		for _, w := range p.Variant {
			entry := findOrAdd(&all, func(a axisWords) bool { return a.axis == w.Name }, axisWords{axis: w.Name})
			entry.values = append(entry.values, w.Value)
		}
	}
	return all
}

// alike tells whether all values are equal. It is true of no values.
func alike(values []string) bool {
	return !slices.ContainsFunc(values, func(v string) bool { return v != values[0] })
}

// statedAbove are the spec paths that are stated above a table if all points agree.
var statedAbove = []string{"persistence", "acks", "replicas", "nodes", "topics", "partitionsPerTopic", "producersPerTopic"}

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
	name := func(p results.Point) string { return p.Name }
	if l.axes == nil {
		return []columnOf[results.Point]{textColumn(document.Column{Key: "broker", Name: "broker", Row: true}, name)}
	}
	columns := []columnOf[results.Point]{
		textColumn(document.Column{Key: "broker", Data: true, Label: true}, name),
		textColumn(document.Column{Key: "product", Name: "broker", Row: true, Data: l.oneBroker}, results.Point.Kind),
	}
	for _, axis := range l.axes {
		columns = append(columns, textColumn(AxisColumn(axis), func(p results.Point) string { return axisValue(p, axis) }))
	}
	return columns
}

// axisValue is the value of a point on an axis of its name. It is empty if the name doesn't have the axis.
func axisValue(p results.Point, axis string) string {
	for _, w := range p.Variant {
		if w.Name == axis {
			return w.Value
		}
	}
	return ""
}

// AxisColumn is the column of an axis's values. It is headed by the axis's path, in two lines if that is long.
func AxisColumn(axis string) document.Column {
	const long = 12 // characters
	name := strings.TrimPrefix(axis, "client.")
	if dot := strings.LastIndex(name, "."); dot > 0 && len(name) > long {
		name = name[:dot+1] + "\n" + name[dot+1:]
	}
	return document.Column{Key: "axis:" + axis, Name: name, Row: true, Named: true}
}
