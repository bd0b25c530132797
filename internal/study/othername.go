package study

import (
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// other is another name of a setting: short forms for the command line, and the OpenMessaging Benchmark's keys where
// ours differ. Where settings is nil it is a mere synonym of path.
type other struct {
	name, path string
	settings   func(d decoder, at place, n *yaml.Node, name, full string) []setting
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
		{name: "broker", path: "broker", settings: decoder.brokerAtVersion},
		{name: "warmup", path: "warmup.for", settings: decoder.warmup},
		{name: "place", path: "place.deal", settings: decoder.place},
		{name: "producerRate", path: "load.rate", settings: decoder.producerRate},
		{name: "testDurationMinutes", path: "duration", settings: decoder.testDuration},
		{name: "warmupDurationMinutes", path: "warmup.for", settings: decoder.warmupMinutes},
		{name: "consumerBacklogSizeGB", path: "backlog.bytes", settings: decoder.backlogSize},
		{name: "backlogDrainRatio", path: "backlog.drainRatio", settings: decoder.drainRatio},
		{name: "logDir", path: "", settings: decoder.ignored},
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

func otherNames() []string {
	var names []string
	for _, o := range others {
		names = append(names, o.name)
	}
	return names
}

// brokerAtVersion splits kafka@4.3.1.
func (d decoder) brokerAtVersion(at place, n *yaml.Node, name, full string) []setting {
	var text string
	if !d.into(n, full, &text) {
		return nil
	}
	broker, version, versioned := strings.Cut(text, "@")
	if broker == "" || versioned && version == "" || strings.ContainsAny(text, " \t/\\") {
		d.add(d.at(n), full, "%q is not a broker; allowed: a name such as kafka, or kafka@4.3.1", text)
		return nil
	}
	out := []setting{{path: "broker", value: broker, at: at, as: name}}
	if versioned {
		out = append(out, setting{path: "version", value: version, at: at, as: name})
	}
	return out
}

// warmup takes "auto", a time, or the whole group.
func (d decoder) warmup(at place, n *yaml.Node, name, full string) []setting {
	if n.Kind == yaml.MappingNode {
		return d.layer(n, name, strings.TrimSuffix(strings.TrimSuffix(full, name), "."), nil)
	}
	if n.Kind == yaml.ScalarNode && n.Value == "auto" {
		return []setting{{path: "warmup.auto", value: true, at: at, as: name}}
	}
	var t Duration
	if !isScalar(n) {
		d.add(d.at(n), full, "%s is not a time, auto, or a mapping with auto, for, max", Seen(n))
		return nil
	}
	if !d.into(n, full, &t) {
		return nil
	}
	return fixedWarmup(t, at, name, false)
}

func fixedWarmup(t Duration, at place, as string, soft bool) []setting {
	return []setting{
		{path: "warmup.for", value: t, at: at, as: as, soft: soft},
		{path: "warmup.auto", value: false, at: at, as: as, soft: soft},
	}
}

// producerRate is load.rate, but 0 asks for the highest sustainable rate.
func (d decoder) producerRate(at place, n *yaml.Node, name, full string) []setting {
	var rate float64
	if !d.into(n, full, &rate) {
		return nil
	}
	if rate == 0 {
		return []setting{{path: impliedMeasure, value: MeasureSustainable, at: at, as: name, soft: true}}
	}
	return []setting{{path: "load.rate", value: rate, at: at, as: name}}
}

func (d decoder) testDuration(at place, n *yaml.Node, name, full string) []setting {
	t, ok := d.minutes(n, full)
	if !ok {
		return nil
	}
	return []setting{{path: "duration", value: t, at: at, as: name, soft: true}}
}

func (d decoder) warmupMinutes(at place, n *yaml.Node, name, full string) []setting {
	t, ok := d.minutes(n, full)
	if !ok {
		return nil
	}
	return fixedWarmup(t, at, name, true)
}

func (d decoder) minutes(n *yaml.Node, full string) (Duration, bool) {
	var m float64
	if !d.into(n, full, &m) {
		return 0, false
	}
	if !(m >= 0 && m <= maxDuration.Seconds()/60) {
		d.add(d.at(n), full, "%s is not a number of minutes; allowed: 0 to %s", n.Value, number(maxDuration.Seconds()/60))
		return 0, false
	}
	return Duration(m * 60e9), true
}

// backlogSize asks for the backlog measure as the OpenMessaging Benchmark runs it: its GB are 2^30 bytes and its
// producers go on while the backlog drains. 0 asks for nothing.
func (d decoder) backlogSize(at place, n *yaml.Node, name, full string) []setting {
	var gb float64
	if !d.into(n, full, &gb) {
		return nil
	}
	if !(gb >= 0 && gb <= 1<<20) {
		d.add(d.at(n), full, "%s is not a number of GB; allowed: 0 to %d", n.Value, 1<<20)
		return nil
	}
	if gb == 0 {
		return nil
	}
	return []setting{
		{path: "backlog.bytes", value: Size(gb * (1 << 30)), at: at, as: name},
		{path: "backlog.keepSending", value: true, at: at, as: name},
	}
}

func (d decoder) drainRatio(at place, n *yaml.Node, name, full string) []setting {
	var ratio float64
	if !d.into(n, full, &ratio) {
		return nil
	}
	return []setting{{path: "backlog.drainRatio", value: ratio, at: at, as: name, soft: true}}
}

// ignored keys say where the other tool writes its files.
func (d decoder) ignored(place, *yaml.Node, string, string) []setting { return nil }
