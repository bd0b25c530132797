package results

import (
	"fmt"
	"iter"
	"strings"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// FlatColumn describes a column of FlatTable.
type FlatColumn struct {
	Name    string
	Type    string // string, boolean, integer, number, or array: several texts with " | " between them
	Unit    string // of numbers; "" for a plain one
	Meaning string
}

// FlatColumns describes the columns of the table of these records, in its order.
func FlatColumns(records []store.Record) []FlatColumn {
	var columns []FlatColumn
	for _, f := range FlatFields {
		columns = append(columns, FlatColumn{f.Key, f.Type, f.unit(), f.Doc})
	}
	numbers := map[string]bool{} // by axis: whether all values are numbers
	for _, r := range records {
		for axis, text := range r.Axes {
			_, isNumber := settingValue(text).(float64)
			before, known := numbers[axis]
			numbers[axis] = isNumber && (before || !known)
		}
	}
	for _, axis := range sortedKeys(numbers) {
		c := FlatColumn{axisPrefix + axis, "string", "", AxisMeaning}
		if numbers[axis] {
			c.Type = "number"
		}
		columns = append(columns, c)
	}
	return columns
}

// AxisMeaning is what every axis is.
const AxisMeaning = "a setting that the study varied; a size is in bytes, a time in nanoseconds"

// baseUnits are the names of the units of flat records.
var baseUnits = map[unit.Unit]string{
	unit.Nanoseconds: "ns", unit.Seconds: "s", unit.PerSecond: "1/s", unit.Bytes: "B", unit.CPUSeconds: "s per million messages",
}

// unit is the unit of a field's numbers.
func (f FlatField) unit() string {
	if m, err := MetricByKey(f.Key); err == nil && m.Unit != unit.None {
		return baseUnits[m.Unit]
	}
	for _, known := range [][2]string{{"_ns", "ns"}, {"_pct", "%"}, {"_mb_s", "MB/s"}, {"_us_per_request", "µs"}, {"message_size", "B"}} {
		if strings.HasSuffix(f.Key, known[0]) {
			return known[1]
		}
	}
	if f.Key == "rate" {
		return baseUnits[unit.PerSecond]
	}
	return ""
}

// FlatTable is the flat form of records as a table with the keys of FlatFields, then those of the axes of all records. A value is a
// string, a number or a bool; it is nil if nothing is known. Lists are joined, and an axis that a record doesn't have is nil. The
// rows are made while they are read, and can be read again.
func FlatTable(records []store.Record) (header []string, rows iter.Seq[[]any]) {
	var axes []string
	for _, c := range FlatColumns(records) {
		header = append(header, c.Name)
		if axis, ok := strings.CutPrefix(c.Name, axisPrefix); ok {
			axes = append(axes, axis)
		}
	}
	return header, func(yield func([]any) bool) {
		for _, r := range records {
			for _, flat := range Flat(r) {
				var row []any
				for _, value := range flat.values {
					row = append(row, tableValue(value))
				}
				for _, axis := range axes {
					row = append(row, flat.axes[axis])
				}
				if !yield(row) {
					return
				}
			}
		}
	}
}

// tableValue is a value of a flat record as one cell.
func tableValue(value any) any {
	const separator = " | "
	switch v := value.(type) {
	case nil, string, bool, int64, float64:
		return v
	case []string:
		return strings.Join(v, separator)
	case []FlatGoal:
		var answers []string
		for _, goal := range v {
			answers = append(answers, goal.String())
		}
		return strings.Join(answers, separator)
	}
	panic(fmt.Sprintf("results: a table has no form for a %T", value))
}
