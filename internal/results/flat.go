package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

// FlatRecord is one load of a record as a flat JSON object: always the keys of FlatFields, in their order, with null for values
// that were not measured or are not known. The settings that its study varied follow as "axis.NAME".
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

// FlatFields lists the keys of flat records in their order: identity, settings, every metric of Metrics, and the quality of the figures.
var FlatFields = slices.Concat(identityFields, settingFields, metricFields(), trustFields)

// identityFields say what was measured, and how it ended.
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

// words is a field of text, which is "" if nothing is known.
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
	axes := map[string]any{} // that all loads share: both may be many
	for name, text := range r.Axes {
		axes[name] = settingValue(text)
	}
	return lists.Map(Loads(r), func(l RepetitionLoad) FlatRecord {
		return FlatRecord{axes: axes, values: lists.Map(FlatFields, func(f FlatField) any { return f.of(l) })}
	})
}

// Value is the value of a key of FlatFields: a string, bool, int64, float64, []string or []FlatGoal; nil for null. It panics for
// any other key.
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

// settingFields are the settings in which records usually differ, as numbers in base units. Other settings that a study varied are axes.
var settingFields = []FlatField{
	words("broker_version", "as the broker said", func(l RepetitionLoad) string { return l.Record.Versions.Broker }),
	words("measure", "what was measured: rate, sustainable, curve, peak, count or backlog", func(l RepetitionLoad) string { return l.Record.Spec.Measure }),
	words("delivery", "guarantee that was asked for", func(l RepetitionLoad) string { return l.Record.Spec.Delivery }),
	words("persistence", "what has happened to a message when it is acknowledged", func(l RepetitionLoad) string { return l.Record.Spec.Persistence }),
	words("acks", "who must have a message then", func(l RepetitionLoad) string { return l.Record.Spec.Acks }),
	setting("message_size", "number", "bytes, the mean of a distribution", func(s study.Spec) float64 { return s.MessageSize.Mean() }),
	figure("rate", "number", "messages per second that the load asks for; null without a constant rate", askedRate),
	figure("rate_share", "number", "the same as a share of the sustainable rate, where it was given so: 0.5", askedShare),
	setting("nodes", "integer", "of the broker", func(s study.Spec) float64 { return float64(s.Nodes) }),
	setting("replicas", "integer", "copies of each message", func(s study.Spec) float64 { return float64(s.Replicas) }),
	setting("topics", "integer", "or queues, or subjects", func(s study.Spec) float64 { return float64(s.Topics) }),
	setting("partitions", "integer", "of each topic", func(s study.Spec) float64 { return float64(s.PartitionsPerTopic) }),
	setting("producers", "integer", "of all topics", func(s study.Spec) float64 { return float64(s.Topics * s.ProducersPerTopic) }),
	receiverSetting("subscriptions", "of each topic", func(s study.Spec) int { return s.SubscriptionsPerTopic }),
	receiverSetting("consumers", "of all topics and subscriptions", func(s study.Spec) int { return s.Topics * s.ConsumersPerTopic() }),
	setting("duration_ns", "integer", "of the measured phase", func(s study.Spec) float64 { return float64(s.Duration) }),
}

// setting is a field with a number of the spec that is never 0: 0 means not known, as in records of other tools.
func setting(key, jsonType, doc string, of func(study.Spec) float64) FlatField {
	return figure(key, jsonType, doc, func(l RepetitionLoad) float64 {
		v := of(l.Record.Spec)
		return knownIf(v != 0, v)
	})
}

// receiverSetting is a field with a number of the spec that is 0 without subscriptions. Records of other tools don't have the
// number of subscriptions.
func receiverSetting(key, doc string, of func(study.Spec) int) FlatField {
	return figure(key, "integer", doc, func(l RepetitionLoad) float64 {
		s := l.Record.Spec
		isStated := s.SubscriptionsPerTopic > 0 || s.Topics > 0 && s.Measure != study.MeasureImported && s.Measure != study.MeasureImportedClosedLoop
		return knownIf(isStated, float64(of(s)))
	})
}

func askedRate(l RepetitionLoad) float64 {
	if l.Rate > 0 { // of a curve
		return l.Rate
	}
	rate := fixedRate(l.Record.Spec)
	return knownIf(rate > 0, rate)
}

func askedShare(l RepetitionLoad) float64 { return knownIf(l.fraction.given(), float64(l.fraction)) }

// axisPrefix begins the keys of axes.
const axisPrefix = "axis."

// settingValue converts the text of a setting: a size, a time or a plain number becomes a number in bytes or nanoseconds; others
// stay text. The version 3.10 stays text, because it isn't 3.1.
func settingValue(text string) any {
	v, isNumber := Magnitude(text)
	isPlain := strings.Trim(text, "0123456789.-") == ""
	if !isNumber || math.IsInf(v, 0) || isPlain && strconv.FormatFloat(v, 'f', -1, 64) != text {
		return text
	}
	return v
}

// FlatColumn describes a column of FlatTable.
type FlatColumn struct {
	Name    string
	Type    string // string, boolean, integer, number, or array: several texts with " | " between them
	Unit    string // of numbers; "" for a plain one
	Meaning string
}

// FlatColumns describes the columns of the table of these records, in its order.
func FlatColumns(records []store.Record) []FlatColumn {
	columns := lists.Map(FlatFields, func(f FlatField) FlatColumn { return FlatColumn{f.Key, f.Type, f.unit(), f.Doc} })
	numbers := map[string]bool{} // by axis: whether all values are numbers
	for _, r := range records {
		for axis, text := range r.Axes {
			_, isNumber := settingValue(text).(float64)
			before, known := numbers[axis]
			numbers[axis] = isNumber && (before || !known)
		}
	}
	for _, axis := range sortedKeys(numbers) {
		c := FlatColumn{axisPrefix + axis, "string", "", AxisMeaning}
		if numbers[axis] {
			c.Type = "number"
		}
		columns = append(columns, c)
	}
	return columns
}

// AxisMeaning describes every axis.
const AxisMeaning = "a setting that the study varied; a size is in bytes, a time in nanoseconds"

// baseUnits are the names of the units of flat records.
var baseUnits = map[unit.Unit]string{
	unit.Nanoseconds: "ns", unit.Seconds: "s", unit.PerSecond: "1/s", unit.Bytes: "B", unit.CPUSeconds: "s per million messages",
}

func (f FlatField) unit() string {
	if m, err := MetricByKey(f.Key); err == nil && m.Unit != unit.None {
		return baseUnits[m.Unit]
	}
	for _, known := range [][2]string{{"_ns", "ns"}, {"_pct", "%"}, {"_mb_s", "MB/s"}, {"_us_per_request", "µs"}, {"message_size", "B"}} {
		if strings.HasSuffix(f.Key, known[0]) {
			return known[1]
		}
	}
	if f.Key == "rate" {
		return baseUnits[unit.PerSecond]
	}
	return ""
}

// FlatTable is the flat form of records as a table with the keys of FlatFields, followed by the axes of all records. A value is a
// string, a number or a bool; nil if it is not known. Lists are joined, and an axis that a record doesn't have is nil. The rows
// are made while they are read, and can be read again.
func FlatTable(records []store.Record) (header []string, rows iter.Seq[[]any]) {
	var axes []string
	for _, c := range FlatColumns(records) {
		header = append(header, c.Name)
		if axis, ok := strings.CutPrefix(c.Name, axisPrefix); ok {
			axes = append(axes, axis)
		}
	}
	return header, func(yield func([]any) bool) {
		for _, r := range records {
			for _, flat := range Flat(r) {
				row := lists.Map(flat.values, tableValue)
				for _, axis := range axes {
					row = append(row, flat.axes[axis])
				}
				if !yield(row) {
					return
				}
			}
		}
	}
}

// tableValue is a value of a flat record as one cell.
func tableValue(value any) any {
	const separator = " | "
	switch v := value.(type) {
	case nil, string, bool, int64, float64:
		return v
	case []string:
		return strings.Join(v, separator)
	case []FlatGoal:
		return strings.Join(lists.Map(v, FlatGoal.String), separator)
	}
	panic(fmt.Sprintf("results: a table has no form for a %T", value))
}
