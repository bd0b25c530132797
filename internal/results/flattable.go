package results

import (
	"fmt"
	"iter"
	"strings"

	"github.com/brokermark/brokermark/internal/store"
)

// FlatTable is the flat form of records as a table with the keys of FlatFields, then those of the axes of all records. A value is a
// string, a number or a bool; it is nil if nothing is known. Lists are joined, and an axis that a record doesn't have is nil. The
// rows are made while they are read, and can be read again.
func FlatTable(records []store.Record) (header []string, rows iter.Seq[[]any]) {
	for _, field := range FlatFields {
		header = append(header, field.Key)
	}
	values := Values{}
	for _, r := range records {
		values.AddAll(r.Axes)
	}
	axes := sortedKeys(values)
	for _, axis := range axes {
		header = append(header, axisPrefix+axis)
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
