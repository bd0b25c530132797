package measure

import (
	"reflect"
	"testing"

	"github.com/brokermark/brokermark/internal/hist"
)

func TestMergedHistogramsHaveEverythingOfBoth(t *testing.T) {
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
