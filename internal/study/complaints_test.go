package study

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestWrittenInTheWrongShapeIsNamedWithWhatItShouldBe(t *testing.T) {
	for doc, want := range map[string]string{
		"axes:":                           "",
		"messageSize: [100]":              `f.yaml:1: messageSize: a list of plain sizes; allowed: a size, or a list of {size, weight}; several values belong under axes`,
		"objectives: {lost: }":            `f.yaml:1: objectives.lost: nothing is not a bound; allowed: the worst that is allowed, or a comparison such as '< 20ms'`,
		"base: {objectives: {lost: [0]}}": `f.yaml:1: base.objectives.lost: a list is not a bound; allowed: the worst that is allowed, or a comparison such as '< 20ms'`,
		"server: {objectives: }":          `f.yaml:1: server.objectives: nothing is not a single value: native settings are texts, numbers, true or false`,
		"axes: 5":                         `f.yaml:1: axes: "5" is not a mapping of settings to lists of values`,
		"axes: {g: [{name: a, sat: {}}]}": `f.yaml:1: axes.g[0].sat: unknown key "sat"; allowed: name, set; did you mean "set"?`,
		"axes: {g: [{name: a, set: 5}]}":  `f.yaml:1: axes.g[0].set: "5" is not a mapping of settings`,
		"axes: {g: [{name: a, set: {}}, {name: a, set: {}}]}":                                                 `f.yaml:1: axes.g[1].name: "a": every choice needs a name of its own`,
		"axes: {g: [{name: a, set: {}}, 5]}":                                                                  `f.yaml:1: axes.g: unknown key "g"; brokermark list settings shows those of a spec`,
		"axes: {topics: {from: 1, to: 2, stop: 1}}":                                                           `f.yaml:1: axes.topics.stop: unknown key "stop"; allowed: from, to, step, factor; did you mean "step"?`,
		"axes: {topics: {from: 1, to: x, step: 1}}":                                                           `f.yaml:1: axes.topics.to: "x" is not a number`,
		"axes: {topics: {from: 1, to: [2], step: 1}}":                                                         `f.yaml:1: axes.topics.to: a list is not a number`,
		"axes: {topics: {from: 1, to: .nan, step: 1}}":                                                        `f.yaml:1: axes.topics.to: ".nan" is not a number`,
		"axes: {topics: {from: 1, to: inf, step: 1}}":                                                         `f.yaml:1: axes.topics.to: "inf" is not a number`,
		"axes: {topics: {from: 1, to: 2, step: 1, factor: 2}}":                                                `f.yaml:1: axes.topics: a range needs from, to and either step or factor`,
		"axes: {topics: {to: 2, step: 1}}":                                                                    `f.yaml:1: axes.topics: a range needs from, to and either step or factor`,
		"exclude: [5]":                                                                                        `f.yaml:1: exclude[0]: "5" is not a mapping of settings to values`,
		"axes: {topics: [1, 2]}\nexclude: [{}]":                                                               `f.yaml:2: exclude[0]: empty; a rule has a condition at least, such as {topics: 1}`,
		"axes: {topics: [1, 2]}\nexclude: [{topics: 3}]":                                                      `f.yaml:2: exclude[0].topics: 3 is not one of 1, 2`,
		"axes: {client.a: [1ms, 2ms]}\nexclude: [{client.a: [2ms, 1000us]}]":                                  `f.yaml:2: exclude[0].client.a: 1000us is not one of 1ms, 2ms`,
		"axes: {broker: [kafka@4, kafka@3]}\nexclude: [{broker: kafka@2}]":                                    `f.yaml:2: exclude[0].broker: kafka@2 is not one of kafka@4, kafka@3`,
		"axes: {m: [{name: a, set: {topics: 1}}, {name: b, set: {topics: 2}}]}\nexclude: [{topics: 3}]":       `f.yaml:2: exclude[0].topics: 3 is not one of 1, 2`,
		"axes: {topics: [1, 2]}\nscales: {quick: {axes: {topics: [1]}, exclude: [{topics: 3}]}}":              `f.yaml:2: scales.quick.exclude[0].topics: 3 is not one of 1, 2`,
		"sweeps: [{name: s, axes: {topics: [1, 2]}}, {name: t, axes: {topics: [3]}}]\nexclude: [{topics: 4}]": `f.yaml:2: exclude[0].topics: 4 is not one of 1, 2, 3`,
		"axes: {topics: [1, 2]}\nexclude: [{topics: x}]":                                                      `f.yaml:2: exclude[0].topics: "x" is not a whole number`,
		"axes: {m: [{name: a, set: {seed: 1}}, {name: b, set: {seed: 2}}]}\nexclude: [{m: c}]":                `f.yaml:2: exclude[0].m: "c" is not one of a, b`,
		"sweeps: [{name: s, axes: {topics: [1, 2]}}, {name: t}]\nexclude: [{topcs: 1}]":                       `f.yaml:2: exclude[0].topcs: no axis or setting "topcs"; did you mean "topics"?`,
		"axes: {topics: [1, 2]}\nexclude: [{topcs: 1}]":                                                       `f.yaml:2: exclude[0].topcs: no axis or setting "topcs"; did you mean "topics"?`,
		"axes: {m: [{name: a, set: {}}]}\nscales: {quick: {exclude: [{m: b}]}}":                               `f.yaml:2: scales.quick.exclude[0].m: "b" is not one of a`,
		"base: 5": `f.yaml:1: base: "5" is not a mapping of settings`,
		// A rule may be about a setting that no axis varies, about a value that a scale leaves out, and about one of several sweeps.
		"topics: 3\naxes: {partitions: [1, 2]}\nexclude: [{topics: 3, partitions: 2}, {topics: 4, partitions: 2}]": "",
		"axes: {topics: [1, 2]}\nexclude: [{topics: 2, consumers: 1}]\nscales: {quick: {axes: {topics: [1]}}}":     "",
		"axes: {topics: [1, 2]}\nscales: {quick: {axes: {topics: [1, 7]}, exclude: [{topics: 7}]}}":                "",
		"sweeps: [{name: s, axes: {topics: [1, 2]}}, {name: t, set: {topics: 3}}]\nexclude: [{topics: 3}]":         "",
		"axes: {broker: [kafka@4, kafka@3]}\nexclude: [{broker: kafka, topics: 2}]":                                "",
		"axes: {client.a: [1, 2]}\nexclude: [{client.a: [1, '2'], topics: 2}]":                                     "",
		"sweeps: {name: a}":              `f.yaml:1: sweeps: a mapping is not a list of {name, set, axes, exclude}`,
		"sweeps: [5]":                    `f.yaml:1: sweeps[0]: "5" is not a mapping with name, set, axes, exclude`,
		"sweeps: [{name: a}, {name: a}]": `f.yaml:1: sweeps[1].name: "a": every sweep needs a name of its own`,
		"sweeps: [{name: a, set: [5]}]":  `f.yaml:1: sweeps[0].set: a list is not a mapping of settings`,
		"points: [5]":                    `f.yaml:1: points[0]: "5" is not a mapping of settings`,
		"points: [{topics: x}]":          `f.yaml:1: points[0].topics: "x" is not a whole number`,
		"server: {a: 1}\nserver.a: 2":    `f.yaml:2: server.a: given twice: "server.a" at line 1 means the same`,
		"server:":                        "",
		"load:":                          "",
		"payloadFile:":                   "",
		"delivery:":                      `f.yaml:1: delivery: nothing is not one of at-most-once, at-least-once, exactly-once`,
		"name: [a]":                      `f.yaml:1: name: a list is not a text; several values belong under axes`,
		"repeats: {a: 1}":                `f.yaml:1: repeats: a mapping is not a whole number`,
		"useRandomizedPayloads: []":      `f.yaml:1: useRandomizedPayloads: a list is not true or false; several values belong under axes`,
		"rate: []":                       `f.yaml:1: load.rate: a list is not a number; several values belong under axes`,
		"duration: {}":                   `f.yaml:1: duration: a mapping is not a time`,
		"curve.rates: 5":                 `f.yaml:1: curve.rates: "5" is not a list of numbers; allowed: such as [5]`,
		"curve.rates: ":                  `f.yaml:1: curve.rates: nothing is not a list of numbers`,
		"curve.rates: [5, x]":            `f.yaml:1: curve.rates[1]: "x" is not a rate; allowed: messages per second, such as 20000, 20k or 20k/s`,
		"curve.rates: [x, 5]":            `f.yaml:1: curve.rates[0]: "x" is not a rate; allowed: messages per second, such as 20000, 20k or 20k/s`,
		"attach:":                        `f.yaml:1: attach: nothing is not a list of texts`,
		"faults: [5]":                    `f.yaml:1: faults[0]: "5" is not a mapping with at, do, node, for`,
		"faults: [{att: 5s, do: kill}]":  `f.yaml:1: faults[0].att: unknown key "att"; allowed: at, do, node, for; did you mean "at"?`,
		"server: {a: }":                  `f.yaml:1: server.a: nothing is not a single value: native settings are texts, numbers, true or false`,
		"server: 5":                      `f.yaml:1: server: "5" is not a mapping of native settings`,
		"broker: [a]":                    `f.yaml:1: broker: a list is not a text; several values belong under axes`,
		"broker: a b":                    `f.yaml:1: broker: "a b" is not a broker; allowed: a name such as kafka, or kafka@4.3.1`,
		"warmup: ":                       `f.yaml:1: warmup: nothing is not a time, auto, or a mapping with auto, for, max`,
		"warmup: {fro: 1s}":              `f.yaml:1: warmup.fro: unknown key "fro"; allowed: auto, for, max; did you mean "for"?`,
		"producerRate: x":                `f.yaml:1: producerRate: "x" is not a rate; allowed: messages per second, such as 20000, 20k or 20k/s`,
		"warmupDurationMinutes: x":       `f.yaml:1: warmupDurationMinutes: "x" is not a number`,
		"consumerBacklogSizeGB: x":       `f.yaml:1: consumerBacklogSizeGB: "x" is not a number`,
		"backlogDrainRatio: x":           `f.yaml:1: backlogDrainRatio: "x" is not a number`,
		"logDir: [what, ever]":           "",
		"[a]: 5":                         `f.yaml:1: a list is not a key`,
		"a: &a {b: 1}\nbase: *a":         "f.yaml:1: a: unknown key \"a\"; brokermark list settings shows those of a spec\nf.yaml:1: base.b: unknown key \"b\"; settings of a broker stand below client, server or topicConfig; brokermark list settings shows all others",
		"x.y.z: 5":                       `f.yaml:1: x.y.z: unknown key "x.y.z"; brokermark list settings shows those of a spec`,
		"load.burst: {rat: 5}":           `f.yaml:1: load.burst.rat: unknown key "rat"; allowed: rate, every, for; did you mean "rate"?`,
		"base: {topics: 1}\ntopics: 2":   `f.yaml:2: topics: given twice: also in base at line 1`,
		"base: {name: a, seed: 3}\nname: b\nseed: 4": "",
	} {
		_, err := Parse("f.yaml", []byte(doc))
		if want == "" {
			if err != nil {
				t.Errorf("%q: %v", doc, err)
			}
			continue
		}
		var es *Errors
		if !errors.As(err, &es) || es.Error() != want {
			t.Errorf("%q:\ngot  %v\nwant %s", doc, err, want)
		}
	}
}

func TestADocumentOfMoreThanEightMebibytesIsNoStudy(t *testing.T) {
	doc := "topics: 2\n#" + strings.Repeat(strings.Repeat("x", 127)+"\n#", maxDocument/129)
	doc += strings.Repeat("x", maxDocument-len(doc))
	if _, err := Parse("f.yaml", []byte(doc)); err != nil || len(doc) != 8<<20 {
		t.Errorf("%d bytes: %v", len(doc), err)
	}
	_, err := Parse("f.yaml", []byte(doc+"x"))
	wantError(t, err, "f.yaml: larger than 8MiB: that is no study")
}

func TestNameAndSeedAtTheTopAreTheStudysToo(t *testing.T) {
	s := parse(t, "base: {name: inner, seed: 3, topics: 2}\nname: outer\nseed: 4\n")
	p := expand(t, s)[0]
	if s.Name != "outer" || s.Seed != 4 || p.Spec.Name != "inner" || p.Spec.Seed != 3 || p.Study != "outer" || p.Spec.Topics != 2 {
		t.Errorf("%q, %d and %q, %d", s.Name, s.Seed, p.Spec.Name, p.Spec.Seed)
	}
	if s := New("x"); s.Repeats != 1 || s.Seed != 0 || s.Name != "x" || len(expand(t, s)) != 1 {
		t.Errorf("%+v", s)
	}
	if s := parse(t, "question: q\ndescription: d\nsource: s\nrepeats: 7"); fmt.Sprint(s.Question, s.Description, s.Source, s.Repeats, s.File) != "qds7f.yaml" {
		t.Errorf("%+v", s)
	}
}

func TestPayloadsThatCannotBeReadAreExplained(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "study.data", "12345678")
	write(t, dir, "big", strings.Repeat("x", maxSamples/2+1))
	big := filepath.Join(dir, "two")
	if err := os.Mkdir(big, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if err := os.Link(filepath.Join(dir, "big"), filepath.Join(big, name)); err != nil {
			t.Fatal(err)
		}
	}
	mixed := filepath.Join(dir, "mixed")
	if err := os.Mkdir(mixed, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, mixed, "a", "12345678")
	write(t, mixed, "b", "1234567890")
	for doc, want := range map[string]string{
		"payloadFile: two":                         "f: payloadFile: payloads can't be read: more than 64MiB of samples",
		"payloadFile: " + strings.Repeat("x", 300): "file name too long",
		"payloadFile: mixed\nsize: 8":              "8, but the payloads in " + mixed + " have 8 to 10; leave messageSize out to use their own",
		"payloadFile: mixed\nsize: [{size: 8, weight: 1}, {size: 10, weight: 1}]": "",
		"payloadFile: study.data\nsize: 8":                                        "",
		"payloadFile: big":                                                        "",
	} {
		s, err := Parse(filepath.Join(dir, "f"), []byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Points()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), strings.TrimPrefix(want, "f: ")) {
			t.Errorf("%.40q: %v, want %q", doc, err, want)
		}
	}
	// Beside the study, and one folder above it.
	for _, file := range []string{"f.yaml", "sub/f.yaml"} {
		s, err := Parse(filepath.Join(dir, file), []byte("payloadFile: study.data"))
		if err != nil {
			t.Fatal(err)
		}
		p := expand(t, s)[0].Spec
		if len(p.PayloadDigest) != 32 || p.MessageSize.String() != "8" || filepath.Clean(p.PayloadFile) != filepath.Join(dir, "study.data") {
			t.Errorf("%s: %q, digest %s, size %s", file, p.PayloadFile, p.PayloadDigest, p.MessageSize)
		}
	}
}

func TestFieldsSayWhatTheirValuesLookLike(t *testing.T) {
	got := map[string]Field{}
	for _, f := range Fields() {
		got[f.Path] = f
	}
	for path, want := range map[string]string{
		"duration": "time", "inFlight.bytes": "size", "messageSize": "size, or list of {size, weight}", "load.steps": "list of {rate, to, for}",
		"faults": "list of {at, do, node, for}", "topics": "whole number", "seed": "whole number", "load.rate": "number", "warmup.auto": "true or false",
		"attach": "list of texts", "curve.rates": "list of numbers", "server": "native settings", "broker": "text",
	} {
		if got[path].Type != want {
			t.Errorf("%s: %q, want %q", path, got[path].Type, want)
		}
	}
	if f := got["partitionsPerTopic"]; fmt.Sprintf("%v %v %v", f.Also, f.Default, f.Measures) != "[partitions] 1 []" {
		t.Errorf("%+v", f)
	}
	if f := got["load.rate"]; fmt.Sprintf("%v %v %v", f.Also, f.Default, f.Measures) != "[rate producerRate] none [rate count backlog]" {
		t.Errorf("%+v", f)
	}
	if f := got["broker"]; len(f.Also) != 0 || f.Default != "nats" {
		t.Errorf("%+v", f)
	}
}

func TestAValueIsWrittenAsAPersonWould(t *testing.T) {
	for want, v := range map[string]any{
		"1.5": 1.5, "1000000": 1e6, "1,2.5": []float64{1, 2.5}, "3s": seconds(3), "1KiB": Size(1024), "true": true, "x": "x", "5 2s": Step{Rate: 5, For: seconds(2)}, "5 0 2s": Step{5, new(float64), seconds(2)},
		"1s kill 2": Fault{At: seconds(1), Do: "kill", Node: "2"}, "7": 7, "a,b": []string{"a", "b"},
	} {
		if got := text(reflect.ValueOf(v)); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
	if text(reflect.Value{}) != "" || text(reflect.ValueOf([]any{1, "x"})) != "1,x" {
		t.Error("nothing, or values of several types")
	}
}

func TestComplaintsComeInTheSameOrderEveryTime(t *testing.T) {
	for _, doc := range []string{
		"{pipeline: {servers: 1}, broker: kafka, topics: 2, subscriptionsPerTopic: 2}",
		"axes: {a: [{name: x, set: {acks: leader, delivery: at-least-once, persistence: log}}], b: [{name: y, set: {acks: quorum, delivery: at-least-once, persistence: log}}]}",
		"{broker: nats, sweeps: [{name: a}], scales: {quick: {sweeps: {x: {}, y: {}, z: {}, v: {}}}}}",
		"{broker: nats, sweeps: [{name: a}], axes: {topics: [1], partitions: [1]}, exhibits: [{title: t, experiment: a, columns: [x], rows: topics, where: {topics: 1, u: 1, v: 1, w: 1}}]}",
		"{broker: nats, client: {a: {}, b: {}}, server: {c: {}, d: {}}, x: 1, y: 2, z: 3}",
	} {
		seen := map[string]bool{}
		for range 20 {
			s, err := Parse("f.yaml", []byte(doc))
			if err == nil {
				_, err = s.Points()
			}
			if err == nil || !strings.Contains(err.Error(), "\n") {
				t.Fatalf("%s: %v, want several complaints", doc, err)
			}
			seen[err.Error()] = true
		}
		if len(seen) > 1 {
			t.Errorf("%s: %d different texts: %v", doc, len(seen), slices.Collect(maps.Keys(seen))[:2])
		}
	}
}
