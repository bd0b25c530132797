package results

import (
	"math"
	"testing"

	"github.com/brokermark/brokermark/internal/unit"
)

// The number of smaller units in a larger one: undisputed facts.
func TestPublishedUnitsConvertAsTheyDoAnywhere(t *testing.T) {
	for _, c := range []struct {
		of             unit.Unit
		larger         string
		times          float64
		smaller        string
		smallestInUnit float64 // how many of the metric's own the smaller one is
	}{
		{unit.Nanoseconds, "us", 1000, "ns", 1},
		{unit.Nanoseconds, "µs", 1000, "ns", 1},
		{unit.Nanoseconds, "ms", 1000, "µs", 1000},
		{unit.Nanoseconds, "s", 1000, "ms", 1e6},
		{unit.Seconds, "s", 1000, "ms", 0.001},
		{unit.Seconds, "min", 60, "s", 1},
		{unit.CPUSeconds, "s", 1, "s", 1},
		{unit.PerSecond, "k/s", 1000, "/s", 1},
		{unit.PerSecond, "M/s", 1000, "k/s", 1000},
		{unit.PerSecond, "msg/s", 1, "/s", 1},
		{unit.Bytes, "kB", 1000, "B", 1},
		{unit.Bytes, "MB", 1000, "kB", 1000},
		{unit.Bytes, "GB", 1000, "MB", 1e6},
		{unit.Bytes, "KiB", 1024, "B", 1},
		{unit.Bytes, "MiB", 1024, "KiB", 1024},
		{unit.Bytes, "GiB", 1024, "MiB", 1 << 20},
		{unit.Share, "%", 1, "%", 0.01},
		{unit.Factor, "×", 1, "x", 1},
		{unit.Count, "messages", 1, "messages", 1},
		{unit.None, "%", 1, "%", 1},
		{unit.None, "MB/s", 1, "MB/s", 1},
	} {
		larger, err := InUnit(c.of, c.larger)
		smaller, errs := InUnit(c.of, c.smaller)
		if err != nil || errs != nil || smaller != c.smallestInUnit || math.Abs(larger/smaller-c.times) > 1e-9 {
			t.Errorf("%s is %g and %s %g (%v, %v); want %g times %g", c.larger, larger, c.smaller, smaller, err, errs, c.times, c.smallestInUnit)
		}
	}
	if own, err := InUnit(unit.Bytes, ""); own != 1 || err != nil {
		t.Errorf("without a unit: %g, %v", own, err)
	}
	if _, err := InUnit(unit.Seconds, "kB"); err == nil || err.Error() != `"kB" is no unit of it; allowed: min, ms, s` {
		t.Errorf("bytes of a time: %v", err)
	}
}

func TestAMetricThatDoesNotExistIsNeverTakenForOne(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an unknown metric was handed out")
		}
	}()
	MustMetric("e2e_p98_ns")
}
