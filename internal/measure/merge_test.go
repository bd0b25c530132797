package measure

import (
	"reflect"
	"testing"

	"github.com/brokermark/brokermark/internal/hist"
)

func TestMergedBooksAndHistogramsHaveEverythingOfBoth(t *testing.T) {
	var a, b Books
	for i := range reflect.TypeFor[Books]().NumField() {
		reflect.ValueOf(&a).Elem().Field(i).SetInt(int64(1) << i)
		reflect.ValueOf(&b).Elem().Field(i).SetInt(int64(1) << (30 + i))
	}
	sum := a
	sum.Add(b)
	for i := range reflect.TypeFor[Books]().NumField() {
		if got, want := reflect.ValueOf(sum).Field(i).Int(), int64(1)<<i+int64(1)<<(30+i); got != want {
			t.Errorf("%s: %d, want %d", reflect.TypeFor[Books]().Field(i).Name, got, want)
		}
	}
	var c, d Histograms
	for i := range reflect.TypeFor[Histograms]().NumField() {
		reflect.ValueOf(&c).Elem().Field(i).Set(reflect.ValueOf(exactly([]int64{int64(i)})))
		reflect.ValueOf(&d).Elem().Field(i).Set(reflect.ValueOf(exactly([]int64{int64(100 + i)})))
	}
	c.Merge(d)
	for i := range reflect.TypeFor[Histograms]().NumField() {
		if got := reflect.ValueOf(c).Field(i).Interface().(hist.Snapshot); got.Count() != 2 || got.Min() != int64(i) || got.Max() != int64(100+i) {
			t.Errorf("%s: %d values from %d to %d", reflect.TypeFor[Histograms]().Field(i).Name, got.Count(), got.Min(), got.Max())
		}
	}
}
