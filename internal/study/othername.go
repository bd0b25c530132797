package study

import (
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// other is another name of a setting: short forms for the command line, and the OpenMessaging Benchmark's keys if ours differ. If
// settings is nil it is just a synonym of path.
type other struct {
	name, path string
	settings   func(d decoder, w written) []setting
}

var others []other

func init() {
	others = []other{
		{name: "size", path: "messageSize"},
		{name: "rate", path: "load.rate"},
		{name: "shape", path: "load.shape"},
		{name: "partitions", path: "partitionsPerTopic"},
		{name: "producers", path: "producersPerTopic"},
		{name: "subscriptions", path: "subscriptionsPerTopic", settings: decoder.subscriptions},
		{name: "consumers", path: "consumerPerSubscription"},
		{name: "consumersPerSubscription", path: "consumerPerSubscription"},
		{name: "topic", path: "topicConfig"},
		{name: "broker", path: "broker", settings: takes(brokerAtVersion)},
		{name: "warmup", path: "warmup.for", settings: decoder.warmup},
		{name: "place", path: "place.deal", settings: decoder.place},
		{name: "producerRate", path: "load.rate", settings: takes(producerRate)},
		{name: "testDurationMinutes", path: "duration", settings: takes(testDuration)},
		{name: "warmupDurationMinutes", path: "warmup.for", settings: takes(warmupMinutes)},
		{name: "consumerBacklogSizeGB", path: "backlog.bytes", settings: takes(backlogSize)},
		{name: "backlogDrainRatio", path: "backlog.drainRatio", settings: takes(drainRatio)},
		{name: "logDir", path: "", settings: decoder.ignored},
		{name: "logIntervalMillis", path: "", settings: decoder.printing},
		{name: "sampleRateMillis", path: "", settings: decoder.printing},
		{name: "producerRateList", path: "load.steps", settings: takes(rateList)},
		{name: "network.broker.loss", path: "", settings: decoder.noLoss},
		{name: "network.client.loss", path: "", settings: decoder.noLoss},
	}
}

func otherName(path string) (other, bool) {
	for _, o := range others {
		if o.name == path {
			return o, true
		}
		if o.settings == nil && strings.HasPrefix(path, o.name+".") {
			return other{name: path, path: o.path + strings.TrimPrefix(path, o.name)}, true
		}
	}
	return other{}, false
}

func otherNames() []string { return texts(others, func(o other) string { return o.name }) }

// written is a short form, or a key of the OpenMessaging Benchmark, with its value in a document.
type written struct {
	n    *yaml.Node // its value
	at   place
	name string
	full string // its path, for errors
}

// says is a setting that w means.
func (w written) says(path string, value any) setting {
	return setting{path: path, value: value, at: w.at, as: w.name}
}

// softly is says for a setting that is dropped if it has no effect.
func (w written) softly(path string, value any) setting {
	s := w.says(path, value)
	s.soft = true
	return s
}

// takes decodes the value as a T, and calls settings for the settings that it means.
func takes[T any](settings func(d decoder, w written, value T) []setting) func(decoder, written) []setting {
	return func(d decoder, w written) []setting {
		var value T
		if !d.into(w.n, w.full, &value) {
			return nil
		}
		return settings(d, w, value)
	}
}

// brokerAtVersion splits kafka@4.3.1.
func brokerAtVersion(d decoder, w written, text string) []setting {
	broker, version, versioned := strings.Cut(text, "@")
	if broker == "" || versioned && version == "" || strings.ContainsAny(text, " \t/\\") {
		d.add(d.at(w.n), w.full, "%q is not a broker; allowed: a name such as kafka, or kafka@4.3.1", text)
		return nil
	}
	out := []setting{w.says("broker", broker)}
	if versioned {
		out = append(out, w.says("version", version))
	}
	return out
}

// warmup takes "auto" or a time; the whole group is a mapping.
func (d decoder) warmup(w written) []setting {
	if w.n.Kind == yaml.ScalarNode && w.n.Value == "auto" {
		return []setting{w.says("warmup.auto", true)}
	}
	if !isScalar(w.n) {
		d.add(d.at(w.n), w.full, "%s is not a time, auto, or a mapping with auto, for, max", Seen(w.n))
		return nil
	}
	fixed := func(_ decoder, w written, t Duration) []setting {
		return []setting{w.says("warmup.for", t), w.says("warmup.auto", false)}
	}
	return takes(fixed)(d, w)
}

// FlatOut is the rate from which on a workload of the OpenMessaging Benchmark means full speed: half of its own files have it.
const FlatOut = 10_000_000

// producerRate is load.rate, but 0 means the highest sustainable rate, and FlatOut the peak.
func producerRate(d decoder, w written, rate float64) []setting {
	switch {
	case rate == 0:
		return []setting{w.softly(impliedMeasure, MeasureSustainable)}
	case rate >= FlatOut && rate <= maxRate:
		d.note("producerRate: %s is read as measure: peak, as much as goes", inWords(rate))
		return []setting{w.softly(impliedMeasure, MeasurePeak)}
	}
	return []setting{w.says("load.rate", rate)}
}

// printing decodes the keys for how often the other tool prints.
func (d decoder) printing(w written) []setting {
	d.note("%s is ignored: it says how often the OpenMessaging Benchmark prints", w.name)
	return nil
}

func testDuration(d decoder, w written, minutes float64) []setting {
	t, ok := d.minutes(w, minutes)
	if !ok {
		return nil
	}
	return []setting{w.softly("duration", t)}
}

func warmupMinutes(d decoder, w written, minutes float64) []setting {
	t, ok := d.minutes(w, minutes)
	if !ok {
		return nil
	}
	return []setting{w.softly("warmup.for", t), w.softly("warmup.auto", false)}
}

func (d decoder) minutes(w written, m float64) (Duration, bool) {
	if !(m >= 0 && m <= maxDuration.Seconds()/60) {
		d.add(d.at(w.n), w.full, "%s is not a number of minutes; allowed: 0 to %s", w.n.Value, inWords(maxDuration.Seconds()/60))
		return 0, false
	}
	return Duration(m * 60e9), true
}

// backlogSize means the backlog measure as the OpenMessaging Benchmark runs it: its GB are 2^30 bytes and its producers continue
// while the backlog drains. 0 means no backlog.
func backlogSize(d decoder, w written, gb float64) []setting {
	switch {
	case !(gb >= 0 && gb <= 1<<20):
		d.add(d.at(w.n), w.full, "%s is not a number of GB; allowed: 0 to %d", w.n.Value, 1<<20)
	case gb > 0:
		return []setting{w.says("backlog.bytes", Size(gb*(1<<30))), w.says("backlog.keepSending", true)}
	}
	return nil
}

func drainRatio(_ decoder, w written, ratio float64) []setting {
	return []setting{w.softly("backlog.drainRatio", ratio)}
}

// ignored decodes keys for the other tool's output files.
func (d decoder) ignored(written) []setting { return nil }

// noLoss refuses a share of packets to lose.
func (d decoder) noLoss(w written) []setting {
	d.add(w.at, w.full, "is not possible: a proxy passes on connections, which lose nothing, not packets; loss only delays a connection, as jitter does")
	return nil
}
