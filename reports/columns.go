package reports

import (
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// pointColumns identify the point and the load of a row. The heading above names the message size and the guarantee.
func pointColumns(l layout) []document.Column {
	columns := []document.Column{
		{Key: "point_id", Data: true},
		{Key: "message_bytes", Unit: unit.Bytes, Data: true},
		{Key: "delivery", Data: true},
	}
	columns = append(columns, l.columns()...)
	return append(columns, document.Column{Key: "load", Name: "load", Row: true, Data: l.load})
}

// pointCells are the cells of pointColumns.
func pointCells(p results.Point, load string, l layout) document.Row {
	row := document.Row{
		"point_id":      document.Text(p.ID),
		"message_bytes": document.Number(p.Spec.MessageSize.Mean()),
		"delivery":      document.Text(p.Spec.Delivery),
		"load":          document.Text(load),
	}
	l.name(row, p)
	return row
}

// dataOnly holds the metrics whose columns are for programs, not for readers.
type dataOnly map[string]bool

// metricColumns are the columns of metrics.
func metricColumns(keys []string, hidden dataOnly) []document.Column {
	var columns []document.Column
	for _, key := range keys {
		c := results.Column(key)
		c.Data = hidden[key]
		columns = append(columns, c)
	}
	return columns
}
