package results

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// FlatRecord is one load of a record as a flat JSON object: always the keys of FlatFields, in their order, with null where something
// was not measured or is not known. Behind them are the settings that its study varied, as "axis.NAME".
type FlatRecord struct {
	values []any // of FlatFields: a string, bool, int64, float64, []string or []FlatGoal; nil for null
	axes   map[string]any
}

// FlatField is a key of flat records.
type FlatField struct {
	Key      string
	Type     string // its JSON type: string, boolean, integer, number or array
	Nullable bool
	Doc      string

	of func(RepetitionLoad) any
}

// FlatFields lists the keys of flat records in their order: what was measured, its settings, every metric of Metrics, and how far
// the figures can be trusted.
var FlatFields = slices.Concat(identityFields, settingFields, metricFields(), trustFields)

// identityFields say what was measured, and how that ended.
var identityFields = []FlatField{
	words("study", "its name", func(l RepetitionLoad) string { return l.Record.Study }),
	figure("repetition", "integer", "from 1", func(l RepetitionLoad) float64 { return float64(l.Record.Repetition) }),
	words("broker", "which was measured", func(l RepetitionLoad) string { return l.Record.Spec.Broker }),
	words("label", "the label of the point", func(l RepetitionLoad) string { return l.Record.Label }),
	words("point", "same as label, which is a keyword of jq", func(l RepetitionLoad) string { return l.Record.Label }),
	words("point_id", "hash of the complete spec", func(l RepetitionLoad) string { return l.Record.PointID }),
	words("load", `"rate 1k/s"; a curve has an object for each of its rates`, func(l RepetitionLoad) string { return l.Name }),
	words("status", "how the repetition ended: ok, failed, void, refused, aborted or published", func(l RepetitionLoad) string { return string(l.Record.Status) }),
	words("reason", `"" when ok`, func(l RepetitionLoad) string { return l.Record.Reason }),
	{Key: "doubts", Type: "array", Doc: `"code: sentence"`, of: flatDoubts},
}

// trustFields say when and how the figures were taken.
var trustFields = []FlatField{
	{Key: "began", Type: "string", Nullable: true, Doc: "RFC 3339 with nanoseconds", of: flatBegan},
	{
		Key: "closed_loop", Type: "boolean", Doc: "the latencies say how full the client's window or the backlog was",
		of: func(l RepetitionLoad) any { return l.Record.Spec.ClosedLoop() },
	},
	figure("clock_bound_ns", "integer", "error of e2e latencies, either way; 0: both times are of one clock", clockBound),
	{Key: "at_least", Type: "array", Doc: "keys of the latencies that are lower bounds, because messages never came", of: lowerBounds},
	{
		Key: "goals", Type: "array", Doc: "the answers to all goals of a search; sustainable_low and sustainable_high answer the first",
		of: func(l RepetitionLoad) any { return FlatGoals(l.Record) },
	},
}

// words is a field of text, which is "" where nothing is known.
func words(key, doc string, of func(RepetitionLoad) string) FlatField {
	return FlatField{Key: key, Type: "string", Doc: doc, of: func(l RepetitionLoad) any { return of(l) }}
}

// figure is a field of numbers. It is null for NaN and infinity, which JSON doesn't have, and rounds those of type integer.
func figure(key, jsonType, doc string, of func(RepetitionLoad) float64) FlatField {
	return FlatField{Key: key, Type: jsonType, Nullable: true, Doc: doc, of: func(l RepetitionLoad) any {
		v := of(l)
		switch {
		case math.IsNaN(v), math.IsInf(v, 0):
			return nil
		case jsonType == "integer":
			return int64(math.Round(v))
		}
		return v
	}}
}

// metricFields has a field for each metric.
func metricFields() []FlatField {
	var fields []FlatField
	for _, m := range Metrics {
		jsonType := "number"
		if m.Unit == unit.Nanoseconds || m.Unit == unit.Bytes || m.Unit == unit.Count {
			jsonType = "integer"
		}
		fields = append(fields, figure(m.Key, jsonType, m.Meaning(), func(l RepetitionLoad) float64 { return m.AsRecorded().Of(l.Record) }))
	}
	return fields
}

// Flat flattens a record: one object for each load that was measured in it.
func Flat(r store.Record) []FlatRecord {
	var flat []FlatRecord
	for _, l := range Loads(r) {
		f := FlatRecord{axes: map[string]any{}}
		for _, field := range FlatFields {
			f.values = append(f.values, field.of(l))
		}
		for name, text := range r.Axes {
			f.axes[name] = settingValue(text)
		}
		flat = append(flat, f)
	}
	return flat
}

// Value is the value of a key of FlatFields, nil where it is null: a string, bool, int64, float64, []string or []FlatGoal. It
// panics for any other key.
func (f FlatRecord) Value(key string) any {
	return f.values[slices.IndexFunc(FlatFields, func(field FlatField) bool { return field.Key == key })]
}

// MarshalJSON writes the object.
func (f FlatRecord) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	write := func(key string, value any) error {
		member, err := json.Marshal(map[string]any{key: value})
		if err != nil {
			return err
		}
		if out.Len() > 0 {
			out.WriteByte(',')
		}
		out.Write(member[1 : len(member)-1]) // without braces
		return nil
	}
	for i, field := range FlatFields {
		if err := write(field.Key, f.values[i]); err != nil {
			return nil, err
		}
	}
	for _, name := range sortedKeys(f.axes) {
		if err := write(axisPrefix+name, f.axes[name]); err != nil {
			return nil, err
		}
	}
	return slices.Concat([]byte("{"), out.Bytes(), []byte("}")), nil
}

func flatDoubts(l RepetitionLoad) any {
	doubts := []string{}
	for _, d := range l.Record.Doubts {
		doubts = append(doubts, d.Code+": "+d.Text)
	}
	return doubts
}

func flatBegan(l RepetitionLoad) any {
	if l.Record.Began.IsZero() {
		return nil
	}
	return l.Record.Began.Format(time.RFC3339Nano)
}

func clockBound(l RepetitionLoad) float64 {
	if r := l.Record.Result; r != nil && r.Latency.EndToEnd.Count() > 0 {
		return float64(r.ClockBoundNs)
	}
	return math.NaN()
}

func lowerBounds(l RepetitionLoad) any {
	keys := []string{}
	for _, m := range Metrics {
		if math.IsInf(m.AsRecorded().AtMost(l.Record), 1) {
			keys = append(keys, m.Key)
		}
	}
	return keys
}
