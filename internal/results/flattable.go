package results

import (
	"iter"
	"strings"

	"github.com/brokermark/brokermark/internal/store"
)

// FlatTable is the flat form of records as a table: study and repetition, the keys of FlatRecord, then the axes of the studies,
// that is, the settings that they varied. A value is a string, a number or a bool; it is nil if nothing is known. Lists are
// joined, and an axis that a record doesn't have is "". The rows are made while they are read, and can be read again.
func FlatTable(records []store.Record) (header []string, rows iter.Seq[[]any]) {
	header = []string{"study", "repetition"}
	for _, field := range new(FlatRecord).fields() {
		header = append(header, field.key)
	}
	values := Values{}
	for _, r := range records {
		values.AddAll(r.Axes)
	}
	axes := sortedKeys(values)
	for _, axis := range axes {
		header = append(header, "axis."+axis)
	}
	return header, func(yield func([]any) bool) {
		for _, r := range records {
			for _, flat := range Flat(r) {
				row := []any{r.Study, r.Repetition}
				for _, field := range flat.fields() {
					row = append(row, field.tableValue())
				}
				for _, axis := range axes {
					row = append(row, r.Axes[axis])
				}
				if !yield(row) {
					return
				}
			}
		}
	}
}

// tableValue is what the field holds, as a value of a table.
func (f flatField) tableValue() any {
	switch p := f.pointer.(type) {
	case *string:
		return *p
	case *bool:
		return *p
	case **string:
		return valueOrNil(*p)
	case **int64:
		return valueOrNil(*p)
	case **float64:
		return valueOrNil(*p)
	case *[]string:
		return strings.Join(*p, " | ")
	case *[]FlatGoal:
		var answers []string
		for _, goal := range *p {
			answers = append(answers, goal.String())
		}
		return strings.Join(answers, " | ")
	}
	panic("results: a table has no form for the field " + f.key)
}

// valueOrNil is what p points to; nil without a type if p is nil.
func valueOrNil[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}
