package exchange

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/brokermark/brokermark/internal/store/storetest"
)

// A table with two values at one percentile doesn't say which of them it is.
func TestAPercentileThatIsWrittenInTwoWaysIsRefused(t *testing.T) {
	var q Quantiles
	err := json.Unmarshal([]byte(`{"50":1,"50.0":2,"99":3}`), &q)
	if err == nil || err.Error() != "quantile table: percentile 50 stands there twice" {
		t.Errorf("%v: %v", q, err)
	}
}

func TestAMeanSizeIsExportedRounded(t *testing.T) {
	r := storetest.Demo()[0]
	result := *r.Result // other tests read the record's own
	result.PayloadSize = 99.7
	r.Result = &result
	if o, err := ToOMB(r); err != nil || o.MessageSize != 100 {
		t.Errorf("%d bytes, %v; want 100", o.MessageSize, err)
	}
}

func TestAPercentileOfAPeriodIsRoundedToANanosecond(t *testing.T) {
	o := small()
	o.EndToEndLatency50pct, o.EndToEndLatency99pct = []float64{1.001}, []float64{1.003}
	r, err := imports(t, "r.json", o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if tick := r.Result.Series[0]; tick.EndToEndP50 != 1_001_000 || tick.EndToEndP99 != 1_003_000 {
		t.Errorf("%d and %d ns, want 1.001 and 1.003 ms", tick.EndToEndP50, tick.EndToEndP99)
	}
}

// A file may leave out the rate of what its table is of. The table still says what half of it is below.
func TestATableWithoutARateKeepsItsPercentiles(t *testing.T) {
	o := small()
	table := Quantiles{{0, 1}, {50, 6}, {90, 8}, {99.9, 15}, {100, 127}}
	o.ConsumeRate, o.AggregatedEndToEndLatencyQuantiles = nil, table
	r, err := imports(t, "r.json", o, nil)
	if err != nil {
		t.Fatal(err)
	}
	h := r.Result.Latency.EndToEndService
	for _, step := range table[1:] {
		if got := float64(h.Quantile(step.Percent/100)) / 1e6; math.Abs(got/step.Value-1) > 0.004 {
			t.Errorf("p%v is %v ms, want %v ms; of %d values", step.Percent, got, step.Value, h.Count())
		}
	}
	if h.Count() != 1000 || r.Result.ReceiveRate != 0 {
		t.Errorf("%d values at %v/s, want the 1000 that the table tells apart, at a rate of 0", h.Count(), r.Result.ReceiveRate)
	}
}
