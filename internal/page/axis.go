package page

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/brokermark/brokermark/internal/report"
	"github.com/brokermark/brokermark/internal/study"
)

// axis is something levels differ in; its values are in their natural order.
type axis struct {
	Name    string   `json:"name"`
	Values  []string `json:"values"`
	Numbers []number `json:"numbers,omitempty"` // what the values measure, where all of them measure something
}

// elsewhere are axes whose values come from the spec or the load, under one name whatever the study called them.
var elsewhere = map[string]bool{
	"broker": true, "messageSize": true, "size": true, "delivery": true, "measure": true, "load.rate": true, "rate": true, "producerRate": true,
	"curve.rates": true, "curve.fractions": true,
}

const loadAxis = "load"

// coordinates says where a level lies on every axis.
func coordinates(p report.Point, l level) map[string]string {
	at := map[string]string{
		"broker": p.Spec.Broker, "messageSize": p.Spec.MessageSize.String(), "delivery": p.Spec.Delivery,
		"persistence": p.Spec.Persistence, "acks": p.Spec.Acks, "replicas": strconv.Itoa(p.Spec.Replicas), "nodes": strconv.Itoa(p.Spec.Nodes),
		loadAxis: l.load,
	}
	for name, value := range p.Records[0].Axes {
		if !elsewhere[name] {
			at[name] = value
		}
	}
	return at
}

// axes lists what the levels differ in, and for every level the index of its value on each of them (−1 = none).
func axes(points []report.Point, levels []level) ([]axis, [][]int) {
	values := map[string]map[string]bool{}
	at := make([]map[string]string, len(levels))
	rates := map[string]float64{}
	for i, l := range levels {
		at[i] = coordinates(points[l.point], l)
		rates[l.load] = l.rate
		for name, value := range at[i] {
			if values[name] == nil {
				values[name] = map[string]bool{}
			}
			values[name][value] = true
		}
	}
	var out []axis
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if len(values[name]) < 2 {
			continue
		}
		measure := magnitude
		if name == loadAxis {
			measure = func(text string) (float64, bool) { return rates[text], rates[text] > 0 }
		}
		out = append(out, ordered(name, slices.Collect(maps.Keys(values[name])), measure))
	}
	index := make([][]int, len(levels))
	for i := range levels {
		for _, a := range out {
			where := -1
			if value, ok := at[i][a.Name]; ok {
				where = slices.Index(a.Values, value)
			}
			index[i] = append(index[i], where)
		}
	}
	return out, index
}

func ordered(name string, values []string, measure func(string) (float64, bool)) axis {
	slices.SortFunc(values, func(a, b string) int {
		x, xok := measure(a)
		y, yok := measure(b)
		switch {
		case xok && yok:
			return cmp.Or(cmp.Compare(x, y), cmp.Compare(a, b))
		case xok != yok: // words first
			return map[bool]int{true: 1, false: -1}[xok]
		}
		return cmp.Compare(a, b)
	})
	a := axis{Name: name, Values: values}
	for _, value := range values {
		v, ok := measure(value)
		if !ok {
			a.Numbers = nil
			break
		}
		a.Numbers = append(a.Numbers, number(v))
	}
	return a
}

// magnitude reads a number, a size or a duration.
func magnitude(text string) (float64, bool) {
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return v, true
	}
	if size, err := study.ParseSize(text); err == nil {
		return float64(size), true
	}
	if d, err := time.ParseDuration(text); err == nil {
		return float64(d), true
	}
	return 0, false
}
