package exchange

import (
	"encoding/json"
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
