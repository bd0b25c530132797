package hist

import (
	"reflect"
	"testing"
)

func TestRecordingManyIsRecordingEach(t *testing.T) {
	many, each := New(), New()
	for _, c := range []struct{ ns, n int64 }{{-5, 2}, {1000, -1}, {1000, 0}, {1000, 3}, {12_345_678, 40}, {Limit + 1, 1}} {
		many.RecordN(c.ns, c.n)
		for range c.n {
			each.Record(c.ns)
		}
	}
	if a, b := many.Snapshot(), each.Snapshot(); !reflect.DeepEqual(a, b) {
		t.Errorf("got %+v, want %+v", a, b)
	}
}
