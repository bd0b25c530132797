package published_test

import (
	"maps"
	"math"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/brokermark/brokermark/internal/published"
	"github.com/brokermark/brokermark/internal/study"
)

// Whatever a table holds, it is refused, or becomes records of points that the study has, with finite figures.
func FuzzTable(f *testing.F) {
	for _, text := range []string{table, "", "kind\n", "kind,queues,size,rate,p99,disk\nlazy,1,100B,NaN,1e999,-1\n", "kind,queues,size,rate,p99,disk\nlazy,1,100B\n", "#\xff\n\"", "a,a\n1,2\n"} {
		f.Add([]byte(text))
	}
	s, err := study.Parse("paper/study.yaml", []byte(document))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := published.Records(fstest.MapFS{"published/a.csv": {Data: data}}, s)
		if err != nil && list != nil {
			t.Errorf("both %d records and %v", len(list), err)
		}
		for _, r := range list {
			if figures := slices.Collect(maps.Values(r.Result.Given)); slices.ContainsFunc(figures, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
				t.Errorf("%s: %v", r.PointID, r.Result.Given)
			}
		}
	})
}
