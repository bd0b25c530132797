package results

import (
	"encoding/json"
	"fmt"

	"github.com/brokermark/brokermark/internal/study"
)

// LoadID identifies the load that a spec asks for: what is measured, and at which rates in which shape. Points of different
// loads are never pooled, whatever their names. Settings of other kinds of measurement are no part of it: a curve has the
// same ID however many messages a count would send.
func LoadID(s study.Spec) string {
	id := struct {
		Measure string
		Load    study.Load
		Curve   study.Curve
		Count   study.Count
		Backlog study.Backlog
	}{Measure: s.Measure, Load: s.Load}
	switch s.Measure {
	case study.MeasureCurve:
		id.Curve = s.Curve
	case study.MeasureCount:
		id.Count = s.Count
	case study.MeasureBacklog:
		id.Backlog = s.Backlog
	}
	return jsonOf(id)
}

// constantShape is the shape of a load whose rate doesn't change.
const constantShape = "constant"

// shapeOf is the shape of a load, such as "steps", and its details as JSON without the rate: all of the steps. Both are empty
// for a constant load.
func shapeOf(l study.Load) (shape, details string) {
	if l.Shape == constantShape {
		return "", ""
	}
	l.Rate = 0
	return l.Shape, jsonOf(l)
}

// jsonOf is v as JSON. A value that has no JSON, because it holds a NaN, makes no report fail: it gives a JSON string of the
// error and of its fields, so that different values stay different.
func jsonOf(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		data, _ = json.Marshal(fmt.Sprintf("%v in %+v", err, v)) // a string always has JSON
	}
	return string(data)
}
