// How a table identifies its points: by their names, such as "kafka linger.ms=5", or by a column for
// each setting in which they differ. What all points share is then stated once above the table:
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
	"unicode/utf8"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
)

// maxAxisColumns is how many axes a table has columns for; more would leave no room for the figures.
const maxAxisColumns = 5

// layout is how a table identifies its points: by a column for each of its axes or, without axes, by the
// points' names. Whatever broker, load and settings hold is stated above the table, so that readers need no
// column of it.
type layout struct {
	axes     []string // settings that have a column each
	broker   string   // of all points; empty if they differ
	load     string   // of all rows; empty if they differ
	settings []string // that all points share: "topics 1"
}

// byName reports whether points are identified by their names.
func (l layout) byName() bool { return len(l.axes) == 0 }

// layoutOf chooses the layout of a table of points. Points that differ in nothing but their broker,
// or in too many settings, are identified by their names.
func layoutOf(points []results.Point) layout {
	var named []results.SettingValue // the settings in the names of all points
	var brokers []string
	for _, p := range points {
		named = append(named, p.Variant...)
		brokers = append(brokers, p.Kind())
	}
	l := layout{broker: common(brokers)}
	for _, setting := range results.GroupBy(named, func(s results.SettingValue) string { return s.Name }) {
		first := setting.Members[0]
		hasOtherValue := slices.ContainsFunc(setting.Members, func(s results.SettingValue) bool { return s != first })
		isMissing := len(setting.Members) < len(points) // in the names of some points; a name has a setting once
		if hasOtherValue || isMissing {
			l.axes = append(l.axes, setting.Name)
		} else {
			l.settings = append(l.settings, setting.Name+" "+first.Value)
		}
	}
	if len(l.axes) > maxAxisColumns || l.byName() {
		return layout{}
	}
	return l
}

// withConstants returns the layout for a table with a row for each load point, which also states the
// load and the usual settings if all share them. A table of names states nothing.
func (l layout) withConstants(points []results.Point, loadPoints []results.LoadPoint) layout {
	if l.byName() {
		return l
	}
	l.load = common(lists.Map(loadPoints, func(lp results.LoadPoint) string { return lp.RowTitle }))
	l.settings = slices.Clip(l.settings) // those of the receiver stay as they are
	l.settings = lists.AddNew(l.settings, sharedSettings(points, l.axes)...)
	return l
}

// sentence states what all points share: "All points: kafka, topics 1." It is empty if that is nothing.
func (l layout) sentence() string {
	stated := lists.Join(", ", slices.Concat([]string{l.broker, l.load}, l.settings)...)
	if stated == "" {
		return ""
	}
	return "All points: " + stated + "."
}

// usualSettings are the spec paths that are stated above a table if all points agree.
var usualSettings = []string{"persistence", "acks", "replicas", "nodes", "topics", "partitionsPerTopic", "producersPerTopic"}

// sharedSettings lists the usual settings that all points share, without those that are axes: "topics 1".
func sharedSettings(points []results.Point, axes []string) []string {
	var shared []string
	for _, path := range usualSettings {
		values := lists.Map(points, func(p results.Point) string { return p.Facts()[path] })
		if value := common(values); value != "" && !slices.Contains(axes, path) {
			shared = append(shared, path+" "+value)
		}
	}
	return shared
}

// common is the one value that all have. It is empty if values differ or there are none.
func common(values []string) string {
	if distinct := slices.Compact(slices.Clone(values)); len(distinct) == 1 {
		return distinct[0]
	}
	return ""
}

// columns identify a point: by its whole name for programs and charts, by the parts of the name for
// readers. The whole name has the key "broker" in every table, so the broker alone has the key "product".
func (l layout) columns() []columnOf[results.Point] {
	name := func(p results.Point) string { return p.Name }
	if l.byName() {
		return []columnOf[results.Point]{textColumn(document.Column{Key: "broker", Name: "broker", Identifies: true}, name)}
	}
	stated := l.broker != "" // above the table
	columns := []columnOf[results.Point]{
		// A column for machines is not shown; charts take the colour of a row from its Label.
		textColumn(document.Column{Key: "broker", MachinesOnly: true, Label: true}, name),
		textColumn(document.Column{Key: "product", Name: "broker", Identifies: true, MachinesOnly: stated}, results.Point.Kind),
	}
	for _, axis := range l.axes {
		columns = append(columns, textColumn(AxisColumn(axis), func(p results.Point) string { return axisValue(p, axis) }))
	}
	return columns
}

// axisValue is the value of a point on an axis of its name. It is empty if the name doesn't have the axis.
func axisValue(p results.Point, axis string) string {
	for _, s := range p.Variant {
		if s.Name == axis {
			return s.Value
		}
	}
	return ""
}

// longHead is the number of characters from which the head of a column takes two lines.
const longHead = 13

// AxisColumn is the column of an axis's values. Its head is the axis's path without "client.", in two
// lines if that is long. The column is Named: charts name it with its values, because "5" alone says
// nothing.
func AxisColumn(axis string) document.Column {
	name := strings.TrimPrefix(axis, "client.")
	if dot := strings.LastIndex(name, "."); dot > 0 && utf8.RuneCountInString(name) >= longHead {
		name = name[:dot+1] + "\n" + name[dot+1:]
	}
	return document.Column{Key: "axis:" + axis, Name: name, Identifies: true, Named: true}
}
