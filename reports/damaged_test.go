package reports

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/render"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// damage sets some fields of a value, at any depth, to what a record may hold after an interrupted or failed run, by
// another version, or from an imported file: nothing, 0, one element, a negative or a huge number.
func damage(r *rand.Rand, v reflect.Value, share float64) {
	hit := r.Float64() < share
	switch v.Kind() {
	case reflect.Pointer:
		if hit {
			v.SetZero()
		} else if !v.IsNil() {
			damage(r, v.Elem(), share)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				damage(r, v.Field(i), share)
			}
		}
	case reflect.Slice:
		if hit {
			v.Set(v.Slice(0, r.IntN(v.Len()+1)))
		}
		for i := range v.Len() {
			damage(r, v.Index(i), share)
		}
	case reflect.Int64, reflect.Int:
		if hit {
			v.SetInt([]int64{0, 1, -1, 1e15}[r.IntN(4)])
		}
	case reflect.Float64:
		if hit {
			v.SetFloat([]float64{0, 1, -1, 1e-9, 1e15}[r.IntN(5)])
		}
	case reflect.Bool:
		if hit {
			v.SetBool(!v.Bool())
		}
	case reflect.Map:
		if hit {
			v.SetZero()
		}
	}
}

// copied is a deep copy, by way of the format in which records are stored.
func copied(t *testing.T, r store.Record) store.Record {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var c store.Record
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// everyKind holds whole records of every kind of measurement, and of faults.
func everyKind() []store.Record {
	records := demo(2)
	for i, r := range demo(2) {
		if r.Result == nil || r.Spec.Measure != "rate" {
			continue
		}
		measurement := r.Result.Measurement
		result := store.Result{Measurement: measurement}
		switch i % 5 {
		case 0:
			r.Spec.Faults = []study.Fault{{At: study.Duration(time.Second), Do: "kill", For: study.Duration(time.Second)}}
			result.Faults = []store.FaultEvent{{OffsetNs: 1e9, Do: "kill", Node: 1}, {OffsetNs: 2e9, Do: "restart", Node: 1}}
			result.Outage = &store.Outage{ReceiveNs: 1e9, PublishNs: 1e9, SampleNs: 20e6}
		case 1:
			r.Spec.Measure, result.Count = study.MeasureCount, &store.Count{TotalSeconds: 3}
		case 2:
			r.Spec.Measure, result.Backlog = study.MeasureBacklog, &store.Backlog{Messages: 1000, DrainSeconds: 2}
		case 3:
			r.Spec.Measure, r.Spec.Curve.Rates = study.MeasureCurve, []float64{500, 1000}
			for _, rate := range r.Spec.Curve.Rates {
				result.Curve = append(result.Curve, store.CurvePoint{Rate: rate, Status: store.OK, Measurement: measurement})
			}
		case 4:
			r.Spec.Measure = study.MeasurePeak
		}
		r.PointID += "-" + r.Spec.Measure + fmt.Sprint(len(r.Spec.Faults))
		r.Result = &result
		records = append(records, r)
	}
	return records
}

// odd is what a figure or a time that isn't known would be written as, without care.
var odd = regexp.MustCompile(`NaN|Inf\b|%!|<nil>|0001-01-01`)

// Records are damaged at random, always in the same way.
func TestNoReportFailsOnDamagedRecords(t *testing.T) {
	whole := everyKind()
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		var records []store.Record
		for _, w := range whole {
			if r.IntN(3) == 0 {
				c := copied(t, w)
				if c.Result != nil {
					damage(r, reflect.ValueOf(&c.Result).Elem(), 0.15)
				}
				damage(r, reflect.ValueOf(&c.Spec.Faults).Elem(), 0.1)
				if r.IntN(4) == 0 {
					c.Status = []store.Status{store.OK, store.Failed, store.Void, store.Aborted, store.Refused}[r.IntN(5)]
				}
				records = append(records, c)
			}
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			readable := func(what string, text []byte) {
				for _, at := range odd.FindAllIndex(text, 3) {
					t.Errorf("%s: …%s…", what, text[max(0, at[0]-150):min(len(text), at[1]+60)])
				}
			}
			for _, name := range Names() {
				d := build(t, name, records)
				for _, format := range render.Formats() {
					readable(name+" as "+format, rendered(t, d, format, 0))
				}
			}
			half := len(records) / 2
			compared := Compare(Side{"a", results.Of(records[:half])}, Side{"b", results.Of(records[half:])}, "broker")
			readable("compare as markdown", rendered(t, compared, "markdown", 0))
		})
	}
}
