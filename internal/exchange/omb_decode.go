package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/store"
)

// withResults are the ends of a repetition that may have results, so that it can be exported.
var withResults = []store.Status{store.OK, store.Failed, store.Void, store.Aborted}

// decodeOMB reads a result file, and ignores fields that it doesn't know: other versions of OMB have others.
func decodeOMB(data []byte) (OMB, error) {
	var o OMB
	if err := store.Fits(data); err != nil {
		return o, err
	}
	if err := json.Unmarshal(data, &o); err != nil {
		return o, fmt.Errorf("not a result of the OpenMessaging Benchmark: %w", err)
	}
	switch {
	case o.Driver == "" || len(o.PublishRate) == 0:
		return o, errors.New("not a result of the OpenMessaging Benchmark: it has no driver or no publishRate")
	case len(o.PublishRate) > mostPeriods:
		return o, fmt.Errorf("publishRate: %d values, allowed are up to %d", len(o.PublishRate), mostPeriods)
	case len(o.AggregatedPublishLatencyQuantiles) == 0 && len(o.AggregatedEndToEndLatencyQuantiles) == 0:
		return o, errors.New("the run wasn't finished: it has no aggregated quantiles")
	case o.Brokermark != nil && !slices.Contains(withResults, o.Brokermark.Status):
		return o, fmt.Errorf("brokermark.status is %q; allowed are %q", o.Brokermark.Status, withResults)
	}
	if err := noNull(data); err != nil {
		return o, err
	}
	if own := o.Brokermark; own != nil && (own.Seconds < 0 || own.Seconds > mostSeconds) {
		return o, fmt.Errorf("brokermark.seconds: %v, allowed are 0 to %v", own.Seconds, mostSeconds)
	}
	if seconds := float64(len(o.PublishRate)) * float64(o.SampleRateMillis) / 1000; o.SampleRateMillis < 0 || seconds > mostSeconds {
		return o, fmt.Errorf("sampleRateMillis: %d for each of %d values, allowed are 0 to %v s in all", o.SampleRateMillis, len(o.PublishRate), mostSeconds)
	}
	return o, o.checkNumbers()
}

// mostPeriods is more than a run has, by far, and so few that a record can hold them: eleven days of ten seconds each.
const mostPeriods = 100_000

// mostSeconds is more than any run took: 30 years.
const mostSeconds = 1e9

// noNull refuses a null in a list or a table of a file, which has become a 0 in an OMB: "backlog[3] is null". A list that is null as a whole is
// as good as left out.
func noNull(data []byte) error {
	tokens := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		token, err := tokens.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case token.Kind() == jsontext.KindNull && tokens.StackDepth() == 2:
			at := tokens.StackPointer()
			key, inside := at.Parent().LastToken(), "."+at.LastToken()
			if kind, _ := tokens.StackIndex(2); kind == jsontext.KindBeginArray {
				inside = "[" + at.LastToken() + "]"
			}
			return fmt.Errorf("%s%s is null; allowed: a number, or none there", key, inside)
		}
	}
}

// checkNumbers refuses numbers that no run can have had. Only those are looked at that the import uses; the tables of
// quantiles were checked as they were decoded.
func (o OMB) checkNumbers() error {
	failed := lists.Map(o.PublishFailed, func(messages int64) float64 { return float64(messages) })
	// The backlog is below 0 where the tool read what was received after what was sent.
	backlog := lists.Map(o.Backlog, func(messages int64) float64 { return float64(max(0, messages)) })
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
