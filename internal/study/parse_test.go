package study

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestParseNamesFileLinePathAndWhatIsAllowed(t *testing.T) {
	for name, c := range map[string]struct{ doc, want string }{
		"nothing":            {"", `f.yaml: empty; a study says at least what is measured, such as measure: peak`},
		"only a comment":     {"# hello\n", `f.yaml: empty; a study says at least what is measured, such as measure: peak`},
		"a list":             {"- 1\n", `f.yaml:1: a list is not a study; allowed: a mapping of settings`},
		"a word":             {"peak\n", `f.yaml:1: "peak" is not a study; allowed: a mapping of settings`},
		"two documents":      {"topics: 1\n---\ntopics: 2\n", `f.yaml:2: a second document; a file holds one`},
		"no UTF-8":           {"topics: 1\nname: caf\xe9\n", `f.yaml:2: not YAML: incomplete UTF-8 octet sequence`},
		"no characters":      {"topics: 1\nx: 1\nname: \x01\n", `f.yaml:3: not YAML: control characters are not allowed`},
		"no YAML":            {"topics: 1\n\tx: 2\n", `f.yaml:2: not YAML: a tab indents x: 2; allowed: spaces`},
		"unknown key":        {"topics: 1\nproducerRat: 5\n", `f.yaml:2: producerRat: unknown key "producerRat"; did you mean "producerRate"?`},
		"unknown nested key": {"load:\n  rat: 5\n", `f.yaml:2: load.rat: unknown key "rat"; allowed: shape, rate, to, steps, repeat, burst; did you mean "rate"?`},
		"far from any key":   {"load:\n  zzzzzzzz: 5\n", `f.yaml:2: load.zzzzzzzz: unknown key "zzzzzzzz"; allowed: shape, rate, to, steps, repeat, burst`},
		"wrong case":         {"messagesize: 5\n", `f.yaml:1: messagesize: unknown key "messagesize"; did you mean "messageSize"?`},
		"misspelt study key": {"bsae: {topics: 1}\n", `f.yaml:1: bsae: unknown key "bsae"; did you mean "base"?`},
		"unknown in base":    {"base:\n  topcs: 1\n", `f.yaml:2: base.topcs: unknown key "topcs"; did you mean "topics"?`},
		"unknown in a fault": {"faults:\n- at: 1s\n  doo: kill\n", `f.yaml:3: faults[0].doo: unknown key "doo"; allowed: at, do, node, for; did you mean "do"?`},
		"computed, not given": {
			"payloadDigest: abc\n", `f.yaml:1: payloadDigest: unknown key "payloadDigest"; did you mean "payloadFile"?`,
		},
		"a key twice":         {"topics: 1\ntopics: 2\n", `f.yaml:2: topics: given twice, first at line 1`},
		"two spellings":       {"size: 10\nmessageSize: 10\n", `f.yaml:2: messageSize: given twice: "size" at line 1 means the same`},
		"dotted and nested":   {"load.rate: 10\nload: {rate: 10}\n", `f.yaml:2: load.rate: given twice: "load.rate" at line 1 means the same`},
		"theirs and ours":     {"duration: 30s\ntestDurationMinutes: 1\n", `f.yaml:2: testDurationMinutes: given twice: "duration" at line 1 means the same`},
		"version twice":       {"version: 4.1\nbroker: kafka@4.3.1\n", `f.yaml:2: broker: given twice: "version" at line 1 means the same`},
		"top level and base":  {"topics: 1\nbase:\n  topics: 2\n", `f.yaml:1: topics: given twice: also in base at line 3`},
		"text for a number":   {"topics: many\n", `f.yaml:1: topics: "many" is not a whole number`},
		"fraction":            {"topics: 1.5\n", `f.yaml:1: topics: "1.5" is not a whole number`},
		"list for a number":   {"topics: [1, 2]\n", `f.yaml:1: topics: a list is not a whole number; several values belong under axes`},
		"groups as a list":    {"consumers: [3, 2]\n", `f.yaml:1: consumerPerSubscription: a list is not a whole number; several values belong under axes, and the consumers of several subscriptions are written 3+2`},
		"groups of a word":    {"topics: 1\nconsumers: 3+some\n", `f.yaml:2: consumerPerSubscription: "3+some" is not a number for each subscription, such as 3+2`},
		"plain subscriptions": {"subscriptions: [1, 2]\n", `f.yaml:1: subscriptions: a list with "1" in it; allowed: a whole number, or a list of {consumers: 3}; several values belong under axes`},
		"no subscription":     {"subscriptions: []\n", `f.yaml:1: subscriptions: no subscription in the list; allowed: 0 for none, or a list of {consumers: 3}`},
		"unknown of a group":  {"subscriptions:\n- consumers: 3\n- consumer: 2\n", `f.yaml:3: subscriptions[1].consumer: unknown key "consumer"; allowed: consumers; did you mean "consumers"?`},
		"groups, twice":       {"subscriptions: [{consumers: 3}]\nconsumers: 2\n", `f.yaml:2: consumers: given twice: "subscriptions" at line 1 means the same`},
		"nothing for one":     {"topics:\n", `f.yaml:1: topics: nothing is not a whole number`},
		"text for a rate":     {"load: {rate: fast}\n", `f.yaml:1: load.rate: "fast" is not a rate; allowed: messages per second, such as 20000, 20k or 20k/s`},
		"scalar for a group":  {"load: 5\n", `f.yaml:1: load: "5" is not a mapping; allowed: shape, rate, to, steps, repeat, burst`},
		"no unit":             {"duration: 30\n", `f.yaml:1: duration: "30" has no unit; allowed: a time such as 30s, 500ms, 1.5m`},
		"unknown unit":        {"duration: 30 parsecs\n", `f.yaml:1: duration: "30 parsecs" is not a time; allowed: a time with its unit such as 30s, 500ms, 1.5m`},
		"bad warm-up":         {"warmup: automatic\n", `f.yaml:1: warmup: "automatic" is not a time; allowed: a time with its unit such as 30s, 500ms, 1.5m`},
		"list for a warm-up":  {"warmup: [1s]\n", `f.yaml:1: warmup: a list is not a time, auto, or a mapping with auto, for, max`},
		"bad place":           {"place: everywhere\n", `f.yaml:1: place: "everywhere" is not one of topic, spread`},
		"list for a place":    {"place: [a, b]\n", `f.yaml:1: place: a list is not topic, spread, or a mapping with producers and consumers, which name agents`},
		"place of nobody":     {"place: {producer: [a]}\n", `f.yaml:1: place.producer: unknown key "producer"; allowed: deal, producers, consumers; did you mean "producers"?`},
		"bad size":            {"messageSize: big\n", `f.yaml:1: messageSize: "big" is not a size; allowed: bytes such as 100, 1KiB, 1MB`},
		"list of plain sizes": {"messageSize: [100, 200]\n", `f.yaml:1: messageSize: a list of plain sizes; allowed: a size, or a list of {size, weight}; several values belong under axes`},
		"a size of 20 digits": {"messageSize: 99999999999999999999\n", `f.yaml:1: messageSize: "99999999999999999999" is beyond 1 PiB`},
		"a number too large":  {"topics: 1e30\n", `f.yaml:1: topics: "1e30" is too large`},
		"huge size":           {"messageSize: 9EB\n", `f.yaml:1: messageSize: "9EB" is beyond 1 PiB`},
		"unknown word":        {"delivery: at-leastonce\n", `f.yaml:1: delivery: "at-leastonce" is not one of at-most-once, at-least-once, exactly-once; did you mean "at-least-once"?`},
		"unknown fault":       {"faults: [{at: 1s, do: stop}]\n", `f.yaml:1: faults[0].do: "stop" is not one of pause, resume, kill, restart`},
		"neither on nor off":  {"tls: maybe\n", `f.yaml:1: tls: "maybe" is not one of off, on, mutual`},
		"bad flag":            {"backlog: {keepSending: 7}\n", `f.yaml:1: backlog.keepSending: "7" is not true or false`},
		"no broker":           {"broker: '@4.3'\n", `f.yaml:1: broker: "@4.3" is not a broker; allowed: a name such as kafka, or kafka@4.3.1`},
		"no version":          {"broker: kafka@\n", `f.yaml:1: broker: "kafka@" is not a broker; allowed: a name such as kafka, or kafka@4.3.1`},
		"native list":         {"server: {hosts: [a, b]}\n", `f.yaml:1: server.hosts: a list is not a single value: native settings are texts, numbers, true or false`},
		"native scalar":       {"client: 5\n", `f.yaml:1: client: "5" is not a mapping of native settings`},
		"minutes":             {"testDurationMinutes: ${minutes:-15}\n", `f.yaml:1: testDurationMinutes: "${minutes:-15}" is not a number`},
		"negative minutes":    {"warmupDurationMinutes: -1\n", `f.yaml:1: warmupDurationMinutes: -1 is not a number of minutes; allowed: 0 to 10080`},
		"negative GB":         {"consumerBacklogSizeGB: -1\n", `f.yaml:1: consumerBacklogSizeGB: -1 is not a number of GB; allowed: 0 to 1048576`},
		"repeats":             {"repeats: 0\n", `f.yaml:1: repeats: 0 is out of range; allowed: 1 to 10000`},
		"axes: a list":        {"axes: [1]\n", `f.yaml:1: axes: a list is not a mapping of settings to lists of values`},
		"axes: a scalar":      {"axes: {topics: 5}\n", `f.yaml:1: axes.topics: "5" is not a list of values, nor {from, to, step}`},
		"axes: empty":         {"axes: {topics: []}\n", `f.yaml:1: axes.topics: no value; allowed: a list of values, or {from, to, step}`},
		"axes: of nothing":    {"axes: {payloadFile: [~]}\n", `f.yaml:1: axes.payloadFile: no value; allowed: a list of values, or {from, to, step}`},
		"axes: unknown":       {"axes: {topic: [1], topcs: [1, 2]}\n", "f.yaml:1: axes.topicConfig: \"1\" is not a mapping of native settings\nf.yaml:1: axes.topcs: unknown key \"topcs\"; did you mean \"topics\"?"},
		"axes: two spellings": {"axes:\n  size: [10]\n  messageSize: [20]\n", `f.yaml:3: axes.messageSize: given twice: the axis at line 2 means the same`},
		"axes: bad value":     {"axes:\n  topics:\n  - 1\n  - two\n", `f.yaml:4: axes.topics: "two" is not a whole number`},
		"axes: half a range":  {"axes: {topics: {from: 1, to: 5}}\n", `f.yaml:1: axes.topics: a range needs from, to and either step or factor`},
		"axes: endless range": {"axes: {topics: {from: 1, to: 5, step: 0}}\n", `f.yaml:1: axes.topics: the range has no values or more than 10000; allowed: from <= to, step > 0, factor > 1`},
		"choice without name": {"axes: {g: [{set: {topics: 1}}]}\n", `f.yaml:1: axes.g[0].name: "": every choice needs a name of its own`},
		"choice: unknown":     {"axes: {g: [{name: a, set: {topcs: 1}}]}\n", `f.yaml:1: axes.g[0].set.topcs: unknown key "topcs"; did you mean "topics"?`},
		"sweep without name":  {"sweeps: [{axes: {topics: [1]}}]\n", `f.yaml:1: sweeps[0].name: "": every sweep needs a name of its own`},
		"sweep: unknown":      {"sweeps: [{name: a, axis: {}}]\n", `f.yaml:1: sweeps[0].axis: unknown key "axis"; allowed: name, set, axes, exclude; did you mean "axes"?`},
		"exclude: a mapping":  {"exclude: {topics: 1}\n", `f.yaml:1: exclude: a mapping is not a list of mappings of settings to values`},
		"points: a mapping":   {"points: {topics: 1}\n", `f.yaml:1: points: a mapping is not a list of mappings of settings`},
		"several at once": {
			"topcs: 1\ndelivery: once\nload: {shape: round}\n",
			"f.yaml:1: topcs: unknown key \"topcs\"; did you mean \"topics\"?\n" +
				"f.yaml:2: delivery: \"once\" is not one of at-most-once, at-least-once, exactly-once; did you mean \"at-most-once\"?\n" +
				"f.yaml:3: load.shape: \"round\" is not one of constant, poisson, steps, ramp, bursts",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("f.yaml", []byte(c.doc))
			wantError(t, err, c.want)
		})
	}
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	var es *Errors
	if !errors.As(err, &es) {
		t.Fatalf("got %v (%T), want *Errors: %s", err, err, want)
	}
	if es.Error() != want {
		t.Errorf("got\n%s\nwant\n%s", es.Error(), want)
	}
}

func TestErrorsShowTenProblemsAndCountTheRest(t *testing.T) {
	_, err := Parse("f.yaml", []byte(strings.Repeat("x", 1)+"1: 1\n"+"x2: 1\nx3: 1\nx4: 1\nx5: 1\nx6: 1\nx7: 1\nx8: 1\nx9: 1\nxa: 1\nxb: 1\nxc: 1\n"))
	var es *Errors
	if !errors.As(err, &es) || len(es.Problems) != 12 {
		t.Fatalf("got %v, want 12 problems", err)
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 11 || lines[10] != "and 2 more" {
		t.Errorf("got %d lines, the last %q", len(lines), lines[len(lines)-1])
	}
	if p := es.Problems[0]; p.File != "f.yaml" || p.Line != 1 || p.Path != "x1" {
		t.Errorf("got %+v", p)
	}
}

func TestParseKeepsWhatBrokersReadAsTheyWriteIt(t *testing.T) {
	spec := one(t, `
broker: rabbitmq@3.10
server: {num.io.threads: 4, log.flush: true, ratio: 0.25, since: 2024-01-02}
client:
  linger.ms: "5"
topic.queue: quorum
`).Spec
	if spec.Broker != "rabbitmq" || spec.Version != "3.10" {
		t.Errorf("got %s %s", spec.Broker, spec.Version)
	}
	for name, want := range map[string]any{"num.io.threads": 4, "log.flush": true, "ratio": 0.25, "since": "2024-01-02"} {
		if got := spec.Server[name]; got != want {
			t.Errorf("server %s: got %#v, want %#v", name, got, want)
		}
	}
	if spec.Client["linger.ms"] != "5" || spec.Topic["queue"] != "quorum" {
		t.Errorf("got client %v, topic %v", spec.Client, spec.Topic)
	}
}

// one parses a study of one point.
func one(t *testing.T, doc string) Point {
	t.Helper()
	points := expand(t, parse(t, doc))
	if len(points) != 1 {
		t.Fatalf("got %d points, want 1", len(points))
	}
	return points[0]
}

func parse(t *testing.T, doc string) *Study {
	t.Helper()
	s, err := Parse("f.yaml", []byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func expand(t *testing.T, s *Study) []Point {
	t.Helper()
	points, err := s.Points()
	if err != nil {
		t.Fatal(err)
	}
	return points
}

// same compares specs field by field, by their stored form.
func same(t *testing.T, got, want Spec) {
	t.Helper()
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range g.NumField() {
		a, errA := json.Marshal(g.Field(i).Interface())
		b, errB := json.Marshal(w.Field(i).Interface())
		if string(a) != string(b) || errA != nil || errB != nil {
			t.Errorf("%s: got %s, want %s", g.Type().Field(i).Name, a, b)
		}
	}
}

func TestAStudyIsNamedAfterItselfItsFileOrItsFolder(t *testing.T) {
	for file, want := range map[string]string{"a/b/rabiee/study.yaml": "rabiee", "study.yaml": "study", "/study.yml": "study", "x/y.yaml": "y", "-": "-"} {
		s, err := Parse(file, []byte("topics: 1"))
		if err != nil || s.Name != want {
			t.Errorf("%s: got %q, %v, want %q", file, s.Name, err, want)
		}
	}
	if s := parse(t, "name: own"); s.Name != "own" {
		t.Errorf("got %q", s.Name)
	}
}
