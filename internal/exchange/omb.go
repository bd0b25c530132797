package exchange

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
)

// OMB is a result file of the OpenMessaging Benchmark (https://openmessaging.cloud), with every field of its Java class
// TestResult, in the same order. Latencies are milliseconds, delays microseconds, rates messages per second; lists have
// one value for each ten seconds.
type OMB struct {
	Workload          string `json:"workload"`
	Driver            string `json:"driver"`
	MessageSize       int64  `json:"messageSize"`
	Topics            int    `json:"topics"`
	Partitions        int    `json:"partitions"`
	ProducersPerTopic int    `json:"producersPerTopic"`
	ConsumersPerTopic int    `json:"consumersPerTopic"`

	PublishRate      []float64 `json:"publishRate"`
	PublishErrorRate []float64 `json:"publishErrorRate"`
	ConsumeRate      []float64 `json:"consumeRate"`
	Backlog          []int64   `json:"backlog"`

	PublishLatencyAvg      []float64 `json:"publishLatencyAvg"`
	PublishLatency50pct    []float64 `json:"publishLatency50pct"`
	PublishLatency75pct    []float64 `json:"publishLatency75pct"`
	PublishLatency95pct    []float64 `json:"publishLatency95pct"`
	PublishLatency99pct    []float64 `json:"publishLatency99pct"`
	PublishLatency999pct   []float64 `json:"publishLatency999pct"`
	PublishLatency9999pct  []float64 `json:"publishLatency9999pct"`
	PublishLatency99999pct []float64 `json:"publishLatency99999pct"`
	PublishLatencyMax      []float64 `json:"publishLatencyMax"`

	PublishDelayLatencyAvg      []float64 `json:"publishDelayLatencyAvg"`
	PublishDelayLatency50pct    []int64   `json:"publishDelayLatency50pct"`
	PublishDelayLatency75pct    []int64   `json:"publishDelayLatency75pct"`
	PublishDelayLatency95pct    []int64   `json:"publishDelayLatency95pct"`
	PublishDelayLatency99pct    []int64   `json:"publishDelayLatency99pct"`
	PublishDelayLatency999pct   []int64   `json:"publishDelayLatency999pct"`
	PublishDelayLatency9999pct  []int64   `json:"publishDelayLatency9999pct"`
	PublishDelayLatency99999pct []int64   `json:"publishDelayLatency99999pct"`
	PublishDelayLatencyMax      []int64   `json:"publishDelayLatencyMax"`

	AggregatedPublishLatencyAvg      float64 `json:"aggregatedPublishLatencyAvg"`
	AggregatedPublishLatency50pct    float64 `json:"aggregatedPublishLatency50pct"`
	AggregatedPublishLatency75pct    float64 `json:"aggregatedPublishLatency75pct"`
	AggregatedPublishLatency95pct    float64 `json:"aggregatedPublishLatency95pct"`
	AggregatedPublishLatency99pct    float64 `json:"aggregatedPublishLatency99pct"`
	AggregatedPublishLatency999pct   float64 `json:"aggregatedPublishLatency999pct"`
	AggregatedPublishLatency9999pct  float64 `json:"aggregatedPublishLatency9999pct"`
	AggregatedPublishLatency99999pct float64 `json:"aggregatedPublishLatency99999pct"`
	AggregatedPublishLatencyMax      float64 `json:"aggregatedPublishLatencyMax"`

	AggregatedPublishDelayLatencyAvg      float64 `json:"aggregatedPublishDelayLatencyAvg"`
	AggregatedPublishDelayLatency50pct    int64   `json:"aggregatedPublishDelayLatency50pct"`
	AggregatedPublishDelayLatency75pct    int64   `json:"aggregatedPublishDelayLatency75pct"`
	AggregatedPublishDelayLatency95pct    int64   `json:"aggregatedPublishDelayLatency95pct"`
	AggregatedPublishDelayLatency99pct    int64   `json:"aggregatedPublishDelayLatency99pct"`
	AggregatedPublishDelayLatency999pct   int64   `json:"aggregatedPublishDelayLatency999pct"`
	AggregatedPublishDelayLatency9999pct  int64   `json:"aggregatedPublishDelayLatency9999pct"`
	AggregatedPublishDelayLatency99999pct int64   `json:"aggregatedPublishDelayLatency99999pct"`
	AggregatedPublishDelayLatencyMax      int64   `json:"aggregatedPublishDelayLatencyMax"`

	AggregatedPublishLatencyQuantiles      Quantiles `json:"aggregatedPublishLatencyQuantiles"`
	AggregatedPublishDelayLatencyQuantiles Quantiles `json:"aggregatedPublishDelayLatencyQuantiles"`

	EndToEndLatencyAvg      []float64 `json:"endToEndLatencyAvg"`
	EndToEndLatency50pct    []float64 `json:"endToEndLatency50pct"`
	EndToEndLatency75pct    []float64 `json:"endToEndLatency75pct"`
	EndToEndLatency95pct    []float64 `json:"endToEndLatency95pct"`
	EndToEndLatency99pct    []float64 `json:"endToEndLatency99pct"`
	EndToEndLatency999pct   []float64 `json:"endToEndLatency999pct"`
	EndToEndLatency9999pct  []float64 `json:"endToEndLatency9999pct"`
	EndToEndLatency99999pct []float64 `json:"endToEndLatency99999pct"`
	EndToEndLatencyMax      []float64 `json:"endToEndLatencyMax"`

	AggregatedEndToEndLatencyQuantiles Quantiles `json:"aggregatedEndToEndLatencyQuantiles"`

	AggregatedEndToEndLatencyAvg      float64 `json:"aggregatedEndToEndLatencyAvg"`
	AggregatedEndToEndLatency50pct    float64 `json:"aggregatedEndToEndLatency50pct"`
	AggregatedEndToEndLatency75pct    float64 `json:"aggregatedEndToEndLatency75pct"`
	AggregatedEndToEndLatency95pct    float64 `json:"aggregatedEndToEndLatency95pct"`
	AggregatedEndToEndLatency99pct    float64 `json:"aggregatedEndToEndLatency99pct"`
	AggregatedEndToEndLatency999pct   float64 `json:"aggregatedEndToEndLatency999pct"`
	AggregatedEndToEndLatency9999pct  float64 `json:"aggregatedEndToEndLatency9999pct"`
	AggregatedEndToEndLatency99999pct float64 `json:"aggregatedEndToEndLatency99999pct"`
	AggregatedEndToEndLatencyMax      float64 `json:"aggregatedEndToEndLatencyMax"`

	Brokermark *Origin `json:"brokermark,omitempty"` // not of TestResult; other tools ignore it
}

// Origin says where a result written here comes from.
type Origin struct {
	PointID    string        `json:"point_id"`
	Repetition int           `json:"repetition"`
	Status     store.Status  `json:"status"`
	Reason     string        `json:"reason,omitempty"`
	Doubts     []store.Doubt `json:"doubts,omitempty"`
	Began      time.Time     `json:"began,omitzero"`
	Ended      time.Time     `json:"ended,omitzero"`
	Seconds    float64       `json:"seconds,omitempty"` // of the measured phase, which needn't fill the last period of the lists
	ClosedLoop bool          `json:"closed_loop,omitempty"`
	Note       string        `json:"note"`
}

// Quantiles is a table of percentiles by rising percentile. In JSON it is an object: {"50.0": 1.2, "99.0": 4.5}.
type Quantiles []Quantile

// Quantile says that Percent (0 to 100) of all values are at most Value.
type Quantile struct{ Percent, Value float64 }

// MarshalJSON writes percentiles as Java writes doubles: 50.0, never 50.
func (q Quantiles) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, e := range q {
		if i > 0 {
			b.WriteByte(',')
		}
		key := strconv.FormatFloat(e.Percent, 'f', -1, 64)
		if e.Percent == math.Trunc(e.Percent) {
			key += ".0"
		}
		fmt.Fprintf(&b, "%q:%s", key, strconv.FormatFloat(e.Value, 'f', -1, 64))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// mostImported is more than any latency in milliseconds (30 years) or rate that was measured. It leaves room for the
// sums of such numbers in 64 bits.
const mostImported = 1e12

// UnmarshalJSON refuses percentiles outside 0 to 100, values outside 0 to mostImported, and values that fall while the
// percentile rises.
func (q *Quantiles) UnmarshalJSON(data []byte) error {
	var table map[string]float64
	if err := json.Unmarshal(data, &table); err != nil {
		return fmt.Errorf("quantile table: %w", err)
	}
	list := make(Quantiles, 0, len(table))
	for _, key := range slices.Sorted(maps.Keys(table)) {
		value := table[key]
		percent, err := strconv.ParseFloat(key, 64)
		isPercent := 0 <= percent && percent <= 100 // false for NaN
		if err != nil || !isPercent {
			return fmt.Errorf("quantile table: percentile %q, allowed are 0 to 100", key)
		}
		if value < 0 {
			return fmt.Errorf("quantile table: %v at percentile %s, allowed are 0 and above", value, key)
		}
		if value > mostImported {
			return fmt.Errorf("quantile table: %v at percentile %s, allowed are up to %v", value, key, mostImported)
		}
		list = append(list, Quantile{Percent: percent, Value: value})
	}
	slices.SortFunc(list, func(a, b Quantile) int {
		return cmp.Or(cmp.Compare(a.Percent, b.Percent), cmp.Compare(a.Value, b.Value))
	})
	for i := 1; i < len(list); i++ {
		if before, q := list[i-1], list[i]; q.Value < before.Value {
			return fmt.Errorf("quantile table: %v at percentile %v is less than %v at %v",
				q.Value, q.Percent, before.Value, before.Percent)
		}
	}
	*q = list
	return nil
}

// snapshot rebuilds a histogram of n values, one at least, from a table whose unit is unitNs nanoseconds. Every value
// stands at the upper end of its step, so that the percentiles of the table come out exactly. Example: of 100 values,
// {50: 1 ms, 100: 3 ms} makes 50 values of 1 ms and 50 of 3 ms. An empty table makes an empty histogram.
func (q Quantiles) snapshot(n int64, unitNs float64) hist.Snapshot {
	if len(q) == 0 {
		return hist.Snapshot{}
	}
	h := hist.New()
	inNs := func(value float64) int64 { return int64(math.Round(value * unitNs)) }
	last := q[len(q)-1]
	var counted int64
	for _, step := range q[:len(q)-1] {
		upTo := min(int64(math.Round(float64(n)*step.Percent/100)), n-1) // the last step has one value at least
		if upTo > counted {
			h.RecordN(inNs(step.Value), upTo-counted)
			counted = upTo
		}
	}
	h.RecordN(inNs(last.Value), n-counted) // even if the table ends below 100 %
	return h.Snapshot()
}
