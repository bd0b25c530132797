package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/brokermark/brokermark/internal/store"
)

// withResults are the ends of a repetition that may have results, so that it can be exported.
var withResults = []store.Status{store.OK, store.Failed, store.Void, store.Aborted}

// decodeOMB reads a result file, and ignores fields that it doesn't know: other versions of OMB have others.
func decodeOMB(data []byte) (OMB, error) {
	var o OMB
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&o); err != nil {
		return o, fmt.Errorf("not a result of the OpenMessaging Benchmark: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return o, errors.New("not a result of the OpenMessaging Benchmark: something follows its closing brace")
	}
	switch {
	case o.Driver == "" || len(o.PublishRate) == 0:
		return o, errors.New("not a result of the OpenMessaging Benchmark: it has no driver or no publishRate")
	case len(o.AggregatedPublishLatencyQuantiles) == 0 && len(o.AggregatedEndToEndLatencyQuantiles) == 0:
		return o, errors.New("the run wasn't finished: it has no aggregated quantiles")
	case o.Brokermark != nil && !slices.Contains(withResults, o.Brokermark.Status):
		return o, fmt.Errorf("brokermark.status is %q; allowed are %q", o.Brokermark.Status, withResults)
	}
	if at := nullIn(data); at != "" {
		return o, fmt.Errorf("%s is null; allowed: a number, or none there", at)
	}
	if own := o.Brokermark; own != nil && (own.Seconds < 0 || own.Seconds > mostSeconds) {
		return o, fmt.Errorf("brokermark.seconds: %v, allowed are 0 to %v", own.Seconds, mostSeconds)
	}
	if seconds := float64(len(o.PublishRate)) * float64(o.SampleRateMillis) / 1000; o.SampleRateMillis < 0 || seconds > mostSeconds {
		return o, fmt.Errorf("sampleRateMillis: %d for each of %d values, allowed are 0 to %v s in all", o.SampleRateMillis, len(o.PublishRate), mostSeconds)
	}
	return o, o.checkNumbers()
}

// mostSeconds is more than any run took: 30 years.
const mostSeconds = 1e9

// nullIn names the first null in a list or a table of a file, such as "backlog[3]"; empty if there is none. A list that
// is null as a whole is as good as left out. data is decoded once more for this, because in an OMB a null has become a 0.
func nullIn(data []byte) string {
	var o map[string]any
	if err := json.Unmarshal(data, &o); err != nil {
		return "" // decodeOMB has refused it
	}
	for _, key := range slices.Sorted(maps.Keys(o)) {
		switch value := o[key].(type) {
		case []any:
			if i := slices.Index(value, nil); i >= 0 {
				return fmt.Sprintf("%s[%d]", key, i)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(value)) {
				if value[name] == nil {
					return key + "." + name
				}
			}
		}
	}
	return ""
}

// checkNumbers refuses numbers that no run can have had. Only those are looked at that the import uses; the tables of
// quantiles were checked as they were decoded.
func (o OMB) checkNumbers() error {
	var backlog, failed []float64
	for _, messages := range o.PublishFailed {
		failed = append(failed, float64(messages))
	}
	for _, messages := range o.Backlog { // which is below 0 where the tool read what was received after what was sent
		backlog = append(backlog, float64(max(0, messages)))
	}
	for _, f := range []struct {
		key    string
		values []float64
	}{
		{"messageSize", []float64{float64(o.MessageSize)}},
		{"topics", []float64{float64(o.Topics)}},
		{"partitions", []float64{float64(o.Partitions)}},
		{"producersPerTopic", []float64{float64(o.ProducersPerTopic)}},
		{"consumersPerTopic", []float64{float64(o.ConsumersPerTopic)}},
		{"subscriptionsPerTopic", []float64{float64(o.SubscriptionsPerTopic)}},
		{"publishFailed", failed},
		{"publishRate", o.PublishRate},
		{"publishErrorRate", o.PublishErrorRate},
		{"consumeRate", o.ConsumeRate},
		{"backlog", backlog},
		{"endToEndLatency50pct", o.EndToEndLatency50pct},
		{"endToEndLatency99pct", o.EndToEndLatency99pct},
	} {
		for _, v := range f.values {
			if v < 0 || v > mostImported {
				return fmt.Errorf("%s: %v, allowed are 0 to %v", f.key, v, mostImported)
			}
		}
	}
	return nil
}
