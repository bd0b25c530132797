package exchange

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/brokermark/brokermark/internal/study"
)

// Elsewhere says what to do instead with a file of another tool that is no workload in the words of a spec, whose tree root is; nil: it has
// none. It is empty if the file is none that is known.
func Elsewhere(name string, data []byte, root *yaml.Node) string {
	if ext := filepath.Ext(name); slices.Contains([]string{".properties", ".conf", ".cnf", ".cfg", ".ini"}, ext) {
		return "a configuration of a client or a server, which is not read; give what of it matters as settings: " +
			"--broker kafka --set client.linger.ms=5 --set server.num.io.threads=16 (brokermark list settings kafka)"
	}
	var result struct {
		Driver string
		Rates  []float64 `json:"publishRate"`
	}
	if json.Unmarshal(data, &result) == nil && result.Driver != "" && len(result.Rates) > 0 {
		return "a result of the OpenMessaging Benchmark and no workload; brokermark import " + strconv.Quote(name) + " stores it"
	}
	if scenarios := scenariosOf(name, root); len(scenarios) > 0 && scenarios[0].Type != "" && scenarios[0].Name != "" {
		return perfTest(scenarios)
	}
	return trogdor(data)
}

// scenariosOf reads a spec of PerfTest, which may have single quotes as YAML has; nil if it is none.
func scenariosOf(name string, root *yaml.Node) (scenarios []scenario) {
	if root == nil || root.Kind != yaml.SequenceNode {
		return nil
	}
	plain, err := study.Plain(name, root)
	if err != nil {
		return nil
	}
	text, _ := json.Marshal(plain) // nothing, of .inf
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&scenarios) != nil {
		return nil
	}
	return scenarios
}

// scenario is one of a spec of RabbitMQ's PerfTest.
type scenario struct {
	Name, Type string
	Params     []map[string]any
	Variables  []struct {
		Name   string
		Values []any
	}
}

// parameters are those of PerfTest that a flag says. A size is at least that of the header that PerfTest writes.
var parameters = []struct {
	name string
	flag func(values []string) string
}{
	{"producer-count", flagOf("--producers")},
	{"consumer-count", func(values []string) string {
		if slices.Equal(values, []string{"0"}) {
			return "--subscriptions 0"
		}
		return flagOf("--consumers")(values)
	}},
	{"min-msg-size", func(values []string) string {
		for i, v := range values {
			if n, err := strconv.Atoi(v); err == nil && n < 12 {
				values[i] = "12"
			}
		}
		return flagOf("--size")(values)
	}},
	{"producer-rate-limit", flagOf("--rate")},
	{"time-limit", func(values []string) string { return flagOf("--duration")(values) + "s" }},
}

func flagOf(name string) func([]string) string {
	return func(values []string) string { return name + " " + strings.Join(values, ",") }
}

// mostScenarios bounds of how many scenarios the command is said.
const mostScenarios = 20

// perfTest says the command of each scenario that has one; of the others what their words are.
func perfTest(scenarios []scenario) string {
	text := "a spec of PerfTest's scenarios, which is not read; write a study with producer-count as producers, consumer-count as consumers, min-msg-size as size, " +
		"producer-rate-limit as rate and time-limit as duration; variables are axes, and rate-vs-latency is measure: curve"
	for i, s := range scenarios {
		if i == mostScenarios {
			return text + fmt.Sprintf("; and %d more", len(scenarios)-i)
		}
		if command := s.command(); command != "" {
			text += fmt.Sprintf("; %s is: %s", strconv.Quote(s.Name), command)
		}
	}
	return text
}

// command is that of a scenario; empty if it has parameters that no flag says, or groups of producers and consumers.
func (s scenario) command() string {
	values := map[string][]string{}
	if len(s.Params) > 1 {
		return ""
	}
	for _, params := range s.Params {
		for name, value := range params {
			values[name] = []string{fmt.Sprint(value)}
		}
	}
	for _, v := range s.Variables {
		for _, value := range v.Values {
			values[v.Name] = append(values[v.Name], fmt.Sprint(value))
		}
	}
	measure := "peak"
	switch _, paced := values["producer-rate-limit"]; {
	case s.Type == "rate-vs-latency":
		measure = "curve"
	case s.Type != "simple" && s.Type != "varying":
		return ""
	case paced:
		measure = "rate"
	}
	words := []string{"brokermark run --broker rabbitmq --measure", measure}
	said := 0
	for _, p := range parameters {
		if given, ok := values[p.name]; ok && !slices.ContainsFunc(given, func(v string) bool { return !number.MatchString(v) }) {
			words = append(words, p.flag(given))
			said++
		}
	}
	command := strings.Join(words, " ")
	if said < len(values) {
		return ""
	}
	return command
}

// number matches a value that is neither a flag nor special to any shell: a spec may come from an attacker.
var number = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)

// trogdorLoads are the specs of Trogdor that a command says: the payload of their messages unless they say another, and what more the
// command has.
var trogdorLoads = map[string]struct {
	size int
	more string
}{
	"ProduceBenchSpec":      {512, " --subscriptions 0"},
	"RoundTripWorkloadSpec": {32, ""},
}

// comment is a line of JSON as Trogdor takes it.
var comment = regexp.MustCompile(`(?m)^\s*//.*$`)

// trogdor says the command of a spec that has one, and what of it the command doesn't say; of others what their words are.
func trogdor(data []byte) string {
	data = comment.ReplaceAll(data, nil)
	type topics struct {
		Partitions int `json:"numPartitions"`
		Replicas   int `json:"replicationFactor"`
	}
	var spec struct {
		Class  string `json:"class"`
		Rate   int    `json:"targetMessagesPerSec"`
		Count  int    `json:"maxMessages"`
		Values struct {
			Size int `json:"size"`
		} `json:"valueGenerator"`
		Topics map[string]topics `json:"activeTopics"`
	}
	err := json.Unmarshal(data, &spec)
	if !strings.Contains(spec.Class, "trogdor") {
		return ""
	}
	count, alike := 0, topics{}
	for name, t := range spec.Topics {
		if n := expanded(name); n == 0 || count > 0 && t != alike {
			err = fmt.Errorf("topics of several kinds")
		} else {
			count, alike = count+n, t
		}
	}
	load, known := trogdorLoads[spec.Class[strings.LastIndexByte(spec.Class, '.')+1:]]
	if err != nil || count == 0 || !known {
		return "a spec of Kafka's Trogdor, which is not read; write what it does as a study (brokermark list settings): targetMessagesPerSec is rate, maxMessages count.messages"
	}
	others := map[string]json.RawMessage{}
	_ = json.Unmarshal(data, &others)
	for _, said := range []string{"class", "targetMessagesPerSec", "maxMessages", "valueGenerator", "activeTopics", "startMs", "durationMs", "producerNode", "clientNode", "bootstrapServers"} {
		delete(others, said)
	}
	left := ""
	if len(others) > 0 {
		left = ", but for " + inLine(strings.Join(slices.Sorted(maps.Keys(others)), ", "))
	}
	return "a spec of Kafka's Trogdor, which is not read; its load" + left + " is: " + fmt.Sprintf(
		"brokermark run --broker kafka --rate %d --set count.messages=%d%s --topics %d --size %d --partitions %d --replicas %d",
		spec.Rate, spec.Count, load.more, count, cmp.Or(spec.Values.Size, load.size), max(1, alike.Partitions), max(1, alike.Replicas),
	)
}

// expanded is how many topics a name of Trogdor's stands for: foo[1-3] for three. It is 0 if the name is none.
func expanded(name string) int {
	m := topicRange.FindStringSubmatch(name)
	if m == nil {
		return 1
	}
	first, _ := strconv.Atoi(m[1])
	last, err := strconv.Atoi(m[2])
	if err != nil || last < first || last-first >= 1_000_000 {
		return 0
	}
	return last - first + 1
}

var topicRange = regexp.MustCompile(`\[([0-9]+)-([0-9]+)\]`)
