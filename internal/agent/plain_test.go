package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/schedule"
	"github.com/brokermark/brokermark/internal/worker"
)

// filler gives every field of a value something that isn't zero.
type filler struct {
	t    *testing.T
	next int64
}

func (f *filler) fill(v reflect.Value, path string) {
	f.next++
	switch v.Addr().Interface().(type) {
	case *worker.Hooks: // stay behind
		return
	case *hist.Snapshot:
		var h hist.Histogram
		h.Record(f.next)
		v.Set(reflect.ValueOf(h.Snapshot()))
		return
	case *schedule.Schedule:
		s, err := schedule.Constant(float64(f.next))
		if err != nil {
			f.t.Fatal(err)
		}
		v.Set(reflect.ValueOf(s))
		return
	case *error:
		v.Set(reflect.ValueOf(fmt.Errorf("error %d: %w", f.next, worker.ErrRanDry)))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if !field.IsExported() {
				f.t.Fatalf("%s.%s doesn't cross to another process: it isn't exported", path, field.Name)
			}
			f.fill(v.Field(i), path+"."+field.Name)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), path)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		f.fill(v.Index(0), path+"[0]")
		f.fill(v.Index(1), path+"[1]")
	case reflect.Array:
		for i := range v.Len() {
			f.fill(v.Index(i), fmt.Sprintf("%s[%d]", path, i))
		}
	case reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		if value.Kind() == reflect.Interface {
			value.Set(reflect.ValueOf(path))
		} else {
			f.fill(value, path+"[]")
		}
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("key"), value)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString(path)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(f.next % 100)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(f.next % 100))
	case reflect.Float64:
		v.SetFloat(float64(f.next) / 4)
	default:
		f.t.Fatalf("%s doesn't cross to another process: it is a %s", path, v.Kind())
	}
}

// crossed fills a value, and returns it as it was before and after it crossed.
func crossed[T any](t *testing.T) (before, after T) {
	t.Helper()
	(&filler{t: t}).fill(reflect.ValueOf(&before).Elem(), reflect.TypeFor[T]().Name())
	text, err := json.Marshal(before)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &after); err != nil {
		t.Fatal(err)
	}
	return before, after
}

func TestEveryFieldCrossesToAnotherProcess(t *testing.T) {
	if before, after := crossed[agent.Plan](t); !reflect.DeepEqual(before, after) {
		t.Errorf("plan:\n%+v\n%+v", before, after)
	}
	if before, after := crossed[agent.Prepared](t); before != after {
		t.Errorf("prepared:\n%+v\n%+v", before, after)
	}
	if before, after := crossed[agent.Load](t); !reflect.DeepEqual(before, after) {
		t.Errorf("load:\n%+v\n%+v", before, after)
	}
	before, after := crossed[agent.Outcome](t)
	for _, e := range []*[2]error{{before.Err, after.Err}, {before.SendErr, after.SendErr}} {
		if e[1] == nil || e[0].Error() != e[1].Error() || !errors.Is(e[1], worker.ErrRanDry) {
			t.Errorf("%v; want %v", e[1], e[0])
		}
	}
	before.Err, before.SendErr, after.Err, after.SendErr = nil, nil, nil, nil
	if !reflect.DeepEqual(before, after) {
		t.Errorf("outcome:\n%+v\n%+v", before, after)
	}
}

func TestNoFieldBecomesOneThatIsZero(t *testing.T) {
	var l, m agent.Load
	var o, p agent.Outcome
	for _, pair := range [][2]any{{&l, &m}, {&o, &p}} {
		text, err := json.Marshal(pair[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, pair[1]); err != nil {
			t.Fatal(err)
		}
	}
	if m.Schedule != nil || m.Before != nil || m.Backlog != nil || p.Err != nil || p.SendErr != nil {
		t.Errorf("%+v\n%+v", m, p)
	}
}

func TestAnErrorStaysWhatItIs(t *testing.T) {
	refused := driver.Unsupported("client.x", "no x here")
	nowhere := plan(t, nil)
	nowhere.Broker.Addresses = nil
	_, unconnected := new(agent.Local).Prepare(t.Context(), nowhere)
	for name, err := range map[string]error{
		"refused": fmt.Errorf("consumer 3: %w", refused), "connect": unconnected,
		"apart": fmt.Errorf("%w ended", worker.ErrConsumerProcess), "late": worker.ErrLate, "deadline": context.DeadlineExceeded, "plain": errors.New("plain"),
	} {
		text, _ := json.Marshal(agent.FaultOf(err))
		var f *agent.Fault
		if err := json.Unmarshal(text, &f); err != nil {
			t.Fatal(err)
		}
		got := f.Err()
		if got.Error() != err.Error() {
			t.Errorf("%s: %q; want %q", name, got, err)
		}
		for _, is := range []error{worker.ErrConsumerProcess, worker.ErrLate, worker.ErrRanDry, context.Canceled, context.DeadlineExceeded} {
			if errors.Is(got, is) != errors.Is(err, is) {
				t.Errorf("%s: is it %v? %t", name, is, errors.Is(got, is))
			}
		}
		if errors.As(got, new(*driver.ErrUnsupported)) != errors.As(err, new(*driver.ErrUnsupported)) || errors.As(got, new(*agent.ErrConnect)) != errors.As(err, new(*agent.ErrConnect)) {
			t.Errorf("%s: %#v", name, got)
		}
	}
}
