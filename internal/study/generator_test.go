package study

import (
	"strings"
	"testing"
)

func TestWhatNoMakersToolDoesIsRefusedByName(t *testing.T) {
	for given, want := range map[string]string{
		"measure: sustainable":             "measure: sustainable can't be combined with generator: perf-test",
		"measure: backlog":                 "measure: backlog can't be combined",
		"load: {shape: poisson, rate: 10}": "load.shape: poisson can't be combined",
		"keyDistributor: ZIPF":             "keyDistributor: not used with generator: perf-test",
		"faults: [{at: 1s, do: kill}]":     "faults: not used",
		"relays: 2":                        "relays: not used",
		"consumersApart: true":             "consumersApart: not used",
		"warmup: 2s":                       "warmup.for: not used",
		"pipeline: {servers: 1}":           "pipeline.servers: not used",
		"topics: 2":                        "topics: 2; generator: perf-test has 1",
		"tls: on":                          "tls: on can't be combined",
		"seed: 3":                          "seed: not used",
		"messageSize: [{size: 10, weight: 1}, {size: 20, weight: 1}]": "messageSize: several sizes",
	} {
		document := "broker: rabbitmq\ngenerator: perf-test\n" + given + "\n"
		if !strings.Contains(given, "measure") && !strings.Contains(given, "load") {
			document += "measure: rate\nload.rate: 10\n"
		}
		s, err := Parse("x.yaml", []byte(document))
		if err == nil {
			_, err = s.Points()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", given, err, want)
		}
	}
}

func TestOurOwnGeneratorIsThatOfASpecThatNamesNone(t *testing.T) {
	const spec = "broker: rabbitmq\nmeasure: rate\nload.rate: 10\n"
	own, named, tool := only(t, spec), only(t, spec+"generator: brokermark\n"), only(t, spec+"generator: perf-test\n")
	if own.ID != named.ID || named.Spec.Generator != "" {
		t.Errorf("%s and %s, %q", own.ID, named.ID, named.Spec.Generator)
	}
	if tool.ID == own.ID || tool.Spec.Warmup.For != 0 {
		t.Errorf("%s with a tool, after a warm-up of %s", tool.ID, tool.Spec.Warmup.For)
	}
}

func only(t *testing.T, document string) Point {
	t.Helper()
	s, err := Parse("x.yaml", []byte(document))
	if err != nil {
		t.Fatal(err)
	}
	points, err := s.Points()
	if err != nil || len(points) != 1 {
		t.Fatal(points, err)
	}
	return points[0]
}
