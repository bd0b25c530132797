package results

import (
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/store"
)

// A spec may ask for a million repetitions, and a stranger's store may hold as many.
func TestManyRepetitionsOfAPointAreTakenInTime(t *testing.T) {
	var records []store.Record
	for i := range 100_000 {
		records = append(records, store.Record{PointID: "p", Repetition: i + 1, Status: store.Aborted})
	}
	began := time.Now()
	if p := Of(records).Points[0]; len(p.Records) != len(records) || time.Since(began) > 20*time.Second {
		t.Errorf("%d of %d repetitions after %s", len(p.Records), len(records), time.Since(began))
	}
}
