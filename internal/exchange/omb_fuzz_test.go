package exchange_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/exchange"
	"github.com/brokermark/brokermark/internal/store"
)

// Whatever a result file holds, it is refused, or becomes a record that can be stored, read and written as a result again.
func FuzzFromOMB(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, text := range []string{
		`{"driver":"Kafka","publishRate":[1],"aggregatedPublishLatencyQuantiles":{"50":1}}`, `{"driver":"K","publishRate":[1e308,1e308],"aggregatedPublishLatencyQuantiles":{"x":1}}`,
		`{"driver":"K","publishRate":[1],"messageSize":-5,"aggregatedEndToEndLatencyQuantiles":{"50":-1,"101":5,"99":1e300}}`, `{}`, `null`, `{"driver":"/","publishRate":[0],"aggregatedPublishLatencyQuantiles":{"50":0}}`,
		`{"driver":"K","publishRate":[1],"consumeRate":[2],"backlog":[3],"topics":9223372036854775807,"partitions":-1,"aggregatedPublishLatencyQuantiles":{"50":1},"aggregatedPublishLatencyMax":1e308}`,
	} {
		f.Add([]byte(text))
	}
	written := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := exchange.FromOMB("w-Kafka-2024-02-08-10-51-41.json", data, written, nil)
		if err != nil {
			return
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatalf("the record can't be stored: %v", err)
		}
		var again store.Record
		if err := json.Unmarshal(text, &again); err != nil {
			t.Fatalf("the record can't be read again: %v", err)
		}
		if r.PointID == "" || r.Source == "" || len(r.Doubts) == 0 || r.Began.After(r.Ended) {
			t.Errorf("%+v", r)
		}
		for _, v := range []float64{r.Result.PublishRate, r.Result.ReceiveRate, r.Result.Seconds} {
			if math.IsNaN(v) || v < 0 {
				t.Errorf("a figure of %v", v)
			}
		}
		_, _ = exchange.ToOMB(r)
	})
}
