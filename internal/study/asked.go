package study

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/usual"
)

// unasked are settings, or groups of them, that Asked leaves out: those in the names of points and loads, those that are no work,
// and the length and number of measurements.
var unasked = []string{
	"name", "label", "broker", "version", "login", "user", "oauth", "passwordEnv", "passwordFile", "caFile", "certFile", "keyFile", "delivery", "relays", "place",
	"messageSize", "measure", "load", "warmup", "duration", "drain", "sustainable", "curve", "count", "backlog", "read", "objectives", "seed", "isolation",
	"brokerWarmup", "payloadColumn", "topicPrefix", "server", "client", "topicConfig", "headers", "keys", "zipfExponent",
}

// causes are the settings from which other defaults follow, beside the pipeline.
var causes = []string{
	"broker", "version", "attach", "delivery", "replicas", "measure", "generator", "topics", "partitionsPerTopic", "producersPerTopic",
	"consumerPerSubscription", "messageSize", "payloadFile", "useRandomizedPayloads", "consumerDelay", "load.rate",
}

// nouns are the settings that count something, with the word for it.
var nouns = map[string]string{
	"nodes": "node", "replicas": "replica", "topics": "topic", "partitionsPerTopic": "partition", "producersPerTopic": "producer",
	"subscriptionsPerTopic": "subscription", "consumerPerSubscription": "consumer", "connections": "connection",
}

// Asked lists the paths of a complete spec's settings that are no defaults, beside broker, size, guarantee and load:
// subscriptionsPerTopic, client.linger.ms. It leaves out the length and number of measurements. Unknown settings of specs
// imported from another tool's results are left out, too.
func (s Spec) Asked() []string {
	d := newDraft("")
	given := func(path string) {
		if v := layout().leaves[path].in(reflect.ValueOf(s)); v.IsValid() && !v.IsZero() {
			d.given[path] = ranked{setting: setting{path: path, value: v.Interface(), as: path}}
		}
	}
	compared, left := causes, unasked
	if s.Pipeline != nil { // a pipeline has producers and consumers of its own
		compared = slices.DeleteFunc(slices.Clone(causes), func(path string) bool { return path == "producersPerTopic" || path == "consumerPerSubscription" })
		left = append(slices.Clone(unasked), "producersPerTopic", "inFlight") // these follow from it
		d.given["pipeline.servers"] = ranked{setting: setting{path: "pipeline.servers", value: 1}}
	}
	for _, path := range compared {
		given(path)
	}
	fromCauses, from, own := reflect.ValueOf(fixed()), reflect.ValueOf(complete(d)), reflect.ValueOf(s)
	var asked []string
	for _, a := range abouts {
		if slices.ContainsFunc(left, func(u string) bool {
			below, ok := strings.CutPrefix(a.path, u)
			return ok && (below == "" || below[0] == '.')
		}) {
			continue
		}
		defaults := from
		if slices.Contains(compared, a.path) {
			defaults = fromCauses
		}
		value := valueAt(own, a.path)
		known := value != "" && value != "0" && value != "false" || a.path == "subscriptionsPerTopic" && s.ProducersPerTopic > 0
		if known && value != valueAt(defaults, a.path) {
			asked = append(asked, a.path)
		}
	}
	if s.Sustainable.Latency > 0 || len(s.Sustainable.Goals) > 0 {
		asked = append(asked, "sustainable.latency")
	}
	if s.Tails() {
		for i, part := range []int{s.Backlog.Topics, s.Backlog.Subscriptions} {
			if part > 0 {
				asked = append(asked, []string{"backlog.topics", "backlog.subscriptions"}[i])
			}
		}
	}
	for _, group := range []struct {
		name   string
		values map[string]any
	}{{"server", s.Server}, {"client", s.Client}, {"topicConfig", s.Topic}, {"headers", s.Headers}} {
		for _, name := range slices.Sorted(maps.Keys(group.values)) {
			asked = append(asked, group.name+"."+name)
		}
	}
	return asked
}

// UsualValue is the value at a path if a spec for the same broker doesn't set it; empty if that is not known, or only described
// by other settings.
func UsualValue(s Spec, path string) string {
	if path = canonical(path); path == "broker" {
		return ""
	}
	if l, ok := layout().leaves[path]; ok && len(layout().native[path].index) == 0 {
		return text(l.in(reflect.ValueOf(fixed())))
	}
	return usual.Of(s.Broker).Settings[path]
}

// InWords describes the setting at a path: "3 subscriptions", "persistence fsync", "client.linger.ms 5".
func (s Spec) InWords(path string) string {
	value := valueAt(reflect.ValueOf(s), path)
	noun, counted := nouns[path]
	switch {
	case counted && value == "1":
		return "1 " + noun
	case counted:
		return value + " " + noun + "s"
	case path == "attach":
		return "attached"
	case path == "backlog.topics":
		return fmt.Sprintf("backlog in %s of %d topics", value, s.Topics)
	case path == "backlog.subscriptions":
		return fmt.Sprintf("backlog of %s of %d subscriptions", value, s.SubscriptionsPerTopic)
	case path == "faults":
		return "with faults"
	case path == "ordering":
		return value
	case path == "payloadFile":
		return "payloads of " + filepath.Base(value)
	case path == "sustainable.latency":
		return boundsInWords(s.Sustainable)
	}
	return path + " " + value
}

// boundsInWords describes the latency bounds of a search: "p99 within 20ms".
func boundsInWords(s Sustainable) string {
	goals := s.Goals
	if len(goals) == 0 {
		goals = []SearchGoal{{Latency: s.Latency, Quantile: s.Quantile}}
	}
	var words []string
	for _, g := range goals {
		switch {
		case g.Latency == 0:
		case g.Quantile == 1:
			words = append(words, fmt.Sprintf("max within %s", g.Latency))
		default:
			words = append(words, fmt.Sprintf("p%s within %s", number(100*g.Quantile), g.Latency))
		}
	}
	return strings.Join(words, ", ")
}
