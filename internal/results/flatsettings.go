package results

import (
	"math"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/study"
)

// settingFields are the settings in which records usually differ, as numbers in base units. Any other that a study varied is an axis.
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

// setting is a field with a number of the spec that is never 0: a 0 says that it isn't known, as in records of other tools.
func setting(key, jsonType, doc string, of func(study.Spec) float64) FlatField {
	return figure(key, jsonType, doc, func(l RepetitionLoad) float64 {
		v := of(l.Record.Spec)
		return knownIf(v != 0, v)
	})
}

// receiverSetting is a field with a number of the spec that may be 0, where nothing subscribes. Records of other tools don't say
// how many subscriptions there were.
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

// knownIf is v, or NaN unless it is known.
func knownIf(known bool, v float64) float64 {
	if !known {
		return math.NaN()
	}
	return v
}

// axisPrefix begins the keys of axes.
const axisPrefix = "axis."

// settingValue is what the text of a setting stands for: a number in bytes or nanoseconds if it is a size, a time or a plain
// number, or else the text. The version 3.10 is a text, as it isn't 3.1.
func settingValue(text string) any {
	v, isNumber := Magnitude(text)
	isPlain := strings.Trim(text, "0123456789.-") == ""
	if !isNumber || math.IsInf(v, 0) || isPlain && strconv.FormatFloat(v, 'f', -1, 64) != text {
		return text
	}
	return v
}
