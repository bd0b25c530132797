package store

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/study"
)

// Check returns an error unless r can be a record of this program. It refuses records that come from a file or another user's
// store and lack required fields, hold a setting that no study allows, or hold a number or date that can't have been measured.
func (r Record) Check() error {
	lack := r.lacks()
	if lack == "" {
		if beyond := r.Spec.Beyond(); beyond != "" {
			lack = "its spec's " + beyond
		}
	}
	if lack == "" {
		own := r
		own.Spec = study.Spec{} // which bounds itself
		if name, what := beyond(reflect.ValueOf(own)); name != "" {
			lack = fmt.Sprintf("its %s %s", name, what)
		}
	}
	if lack == "" && r.Result != nil {
		lack = r.Result.impossible()
	}
	if lack != "" {
		return errors.New("not a record: " + lack)
	}
	return nil
}

// statuses are all ways in which a repetition can end.
var statuses = []Status{OK, Failed, Void, Refused, Aborted, Published}

// lacks names the required fields that the record doesn't have; empty if it has all.
func (r Record) lacks() string {
	switch {
	case r.PointID == "":
		return "it has no point_id"
	case r.Spec.Broker == "":
		return "it has no spec.broker"
	case r.Repetition < 1 || r.Repetition > 1_000_000:
		return fmt.Sprintf("its repetition is %d; allowed: 1 to 1000000", r.Repetition)
	case !slices.Contains(statuses, r.Status):
		return fmt.Sprintf("its status is %q; allowed: %s", r.Status, strings.Trim(fmt.Sprint(statuses), "[]"))
	case strange(r.Began) || strange(r.Ended):
		return fmt.Sprintf("it is from %s to %s; allowed: from 2000 to 2099", r.Began.Format(time.RFC3339), r.Ended.Format(time.RFC3339))
	case r.longName() > mostOfName:
		return fmt.Sprintf("it has a name of %d bytes; allowed: %d", r.longName(), mostOfName)
	case r.Host.MemoryBytes < 0 || r.Host.Cores < 0:
		return fmt.Sprintf("its host has %d cores and %d bytes of memory; allowed: 0 or more", r.Host.Cores, r.Host.MemoryBytes)
	}
	return ""
}

// mostOfName bounds the length of names: drawing code measures and cuts them.
const mostOfName = 10_000 // bytes

// longName is the length of the longest name in the record.
func (r Record) longName() int {
	longest := max(len(r.PointID), len(r.Study), len(r.Label), len(r.Spec.Name), len(r.Spec.Label), len(r.Spec.Broker), len(r.Spec.Version))
	for axis, value := range r.Axes {
		longest = max(longest, len(axis), len(value))
	}
	return longest
}

// strange reports whether t can't be the time of a measurement. The zero time is allowed and means that no time is known.
func strange(t time.Time) bool { return !t.IsZero() && (t.Year() < 2000 || t.Year() > 2099) }

// impossible names a count, rate, cost or length that is below 0, or a rate of a curve that was not run; it is empty if there is none.
func (r *Result) impossible() string {
	if what := r.Measurement.impossible(); what != "" {
		return what
	}
	for i := range r.Curve {
		if status := r.Curve[i].Status; !slices.Contains(statuses, status) {
			return fmt.Sprintf("the status of rate %d of its curve is %q; allowed: %s", i+1, status, strings.Trim(fmt.Sprint(statuses), "[]"))
		}
		if what := r.Curve[i].Measurement.impossible(); what != "" {
			return fmt.Sprintf("in rate %d of its curve %s", i+1, what)
		}
	}
	return ""
}

func (m *Measurement) impossible() string {
	for _, books := range append([]Stream{{Books: m.Books}}, m.Streams...) {
		if name, count := books.Books.Negative(); name != "" {
			return fmt.Sprintf("its count %s is %d; allowed: 0 or more", name, count)
		}
	}
	for _, figure := range []struct {
		name  string
		value float64
	}{
		{"seconds", m.Seconds},
		{"warmup_seconds", m.WarmupSeconds},
		{"payload_size", m.PayloadSize},
		{"offered_rate", m.OfferedRate},
		{"publish_rate", m.PublishRate},
		{"receive_rate", m.ReceiveRate},
		{"throughput", m.Throughput},
	} {
		if figure.value < 0 {
			return fmt.Sprintf("its %s is %v; allowed: 0 or more", figure.name, figure.value)
		}
	}
	cost := reflect.ValueOf(m.Cost)
	for i := range cost.NumField() {
		v := reflect.Indirect(cost.Field(i))
		if !(v.CanInt() && v.Int() < 0 || v.CanFloat() && v.Float() < 0) {
			continue
		}
		if name := jsonName(cost.Type().Field(i)); name != "broker_data_growth_bytes" {
			return fmt.Sprintf("its cost %s is %v; allowed: 0 or more", name, v)
		}
	}
	return ""
}

// mostMeasured is larger than any count, rate or length: as nanoseconds it is 31 years, as bytes an exabyte.
const mostMeasured = 1e18

// mostElements is how many elements the lists and mappings of a record have at most; of some lists, those in mostOf, it is more.
const mostElements = 10_000

// mostOf bounds the lists that grow with the length of a run, or with its producers and consumers.
var mostOf = map[reflect.Type]int{
	reflect.TypeFor[Tick](): 100_000, reflect.TypeFor[PipelineTick](): 100_000, reflect.TypeFor[Trial](): 100_000, reflect.TypeFor[Stream](): 100_000,
}

// beyond names the first number in v that is beyond mostMeasured, or the first list that is longer than one is, and says what is allowed.
// Histograms and times have checked their own.
func beyond(v reflect.Value) (name, what string) {
	switch {
	case v.CanInt() && math.Abs(float64(v.Int())) > mostMeasured, v.CanFloat() && !(math.Abs(v.Float()) <= mostMeasured):
		return "figure", fmt.Sprintf("is %v; allowed: up to %v either way", v, mostMeasured)
	case v.Kind() == reflect.Pointer && !v.IsNil():
		return beyond(v.Elem())
	case (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() > cmp.Or(mostOf[v.Type().Elem()], mostElements):
		return "figure", fmt.Sprintf("has %d elements; allowed: up to %d", v.Len(), cmp.Or(mostOf[v.Type().Elem()], mostElements))
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Array:
		for i := range v.Len() {
			if name, what := beyond(v.Index(i)); name != "" {
				return name, what
			}
		}
	case v.Kind() == reflect.Map:
		for entry := v.MapRange(); entry.Next(); {
			if name, what := beyond(entry.Value()); name != "" {
				return name, what
			}
		}
	case v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[hist.Snapshot]() && v.Type() != reflect.TypeFor[time.Time]():
		for i := range v.NumField() {
			name, what := beyond(v.Field(i))
			if name == "" {
				continue
			}
			if field := v.Type().Field(i); name == "figure" && !field.Anonymous {
				return jsonName(field), what
			}
			return name, what
		}
	}
	return "", ""
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
