package lab

import (
	"testing"

	"github.com/brokermark/brokermark/internal/store"
)

func TestASystemThatDoesNotMeterProcessesIsADoubt(t *testing.T) {
	for _, metered := range []bool{true, false} {
		b := &bench{record: &store.Record{}}
		b.doubtUnmetered(metered)
		if doubted := len(b.record.Doubts) == 1 && b.record.Doubts[0].Code == "unmetered"; doubted == metered {
			t.Errorf("metered %v: doubts %v", metered, b.record.Doubts)
		}
	}
}
