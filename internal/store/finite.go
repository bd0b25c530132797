package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/brokermark/brokermark/internal/doubt"
)

// encode makes the JSON of a record for the store and for files. Numbers that aren't finite become null, because JSON has none,
// and a doubt names them.
func encode(r Record) ([]byte, error) {
	r.ID, r.Schema = 0, Schema
	body, err := json.Marshal(r)
	if unwritable := (*json.UnsupportedValueError)(nil); errors.As(err, &unwritable) {
		var names []string
		r = finite(reflect.ValueOf(r), "", &names).Interface().(Record)
		r.Doubts = append(r.Doubts, DoubtOf(doubt.NoFigure, "no finite figure was found for "+strings.Join(names, ", ")))
		if body, err = json.Marshal(r); err == nil {
			body = bytes.ReplaceAll(body, []byte(fmt.Sprint(stand)), []byte("null"))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("record of %s, repetition %d, can't be written as JSON: %w", r.PointID, r.Repetition, err)
	}
	return body, nil
}

// stand is a placeholder for null until the JSON is made: a number that no measurement gives.
const stand = -8.9126547310291e+307

// finite returns a copy of v with stand in place of each number that isn't finite, and appends the names of these numbers, which
// begin with path. The copy shares unexported fields with v.
func finite(v reflect.Value, path string, names *[]string) reflect.Value {
	switch v.Kind() {
	case reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			*names = append(*names, fmt.Sprintf("%s (%v)", strings.TrimPrefix(path, "."), f))
			return reflect.ValueOf(stand).Convert(v.Type())
		}
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return v
		}
		inner := finite(v.Elem(), path, names)
		if v.Kind() == reflect.Interface {
			return inner
		}
		whole := reflect.New(inner.Type())
		whole.Elem().Set(inner)
		return whole
	case reflect.Struct:
		whole := reflect.New(v.Type()).Elem()
		whole.Set(v)
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if field.IsExported() {
				whole.Field(i).Set(finite(v.Field(i), path+named(field), names))
			}
		}
		return whole
	case reflect.Slice:
		whole := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			whole.Index(i).Set(finite(v.Index(i), fmt.Sprintf("%s[%d]", path, i), names))
		}
		if !v.IsNil() {
			return whole
		}
	case reflect.Map:
		whole := reflect.MakeMap(v.Type())
		for key, value := range v.Seq2() {
			whole.SetMapIndex(key, finite(value, fmt.Sprintf("%s.%v", path, key), names))
		}
		if !v.IsNil() {
			return whole
		}
	}
	return v
}

// named returns the JSON name of a field, after a dot; empty for an embedded field.
func named(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	switch {
	case name != "":
		return "." + name
	case field.Anonymous:
		return ""
	}
	return "." + field.Name
}
