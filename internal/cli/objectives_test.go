package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The latency of sim is exactly what the spec says, so these objectives have known answers.
const withObjectives = `question: Who keeps 20 ms?
repeats: 1
base: {broker: sim, measure: count, count: {messages: 100}, load: {rate: 500}, drain: 5s}
axes:
  client.latency: [1ms, 60ms]
objectives: {e2e_p50: "< 20ms", lost: 0}
`

func TestObjectivesAreJudgedInEveryAnswer(t *testing.T) {
	dir := t.TempDir()
	db, spec, junit := filepath.Join(dir, "s.db"), filepath.Join(dir, "slo.yaml"), filepath.Join(dir, "j.xml")
	write(t, spec, withObjectives)
	r := measured(t, "run", spec, "--store", db, "--junit", junit).want(t, 7)
	for _, says := range []string{"objective e2e_p50 < 20ms: failed 1, passed 1", "objective lost <= 0: passed 2", "1 failure of objectives"} {
		if !strings.Contains(r.err, says) {
			t.Errorf("stderr doesn't say %q:\n%s", says, r.err)
		}
	}
	missed := "Objective e2e_p50 < 20ms: Missed by 1 of 2 loads. sim latency=60ms"
	for _, report := range []string{"summary", "headtohead"} {
		out := brokermark(t, "report", report, "--store", db).want(t, 7).out
		if said := strings.Join(strings.Fields(out), " "); !strings.Contains(said, "Missed by 1 of 2 loads") || !strings.Contains(said, "objective missed") {
			t.Errorf("%s doesn't say %q:\n%s", report, missed, out)
		}
	}
	if xml, err := os.ReadFile(junit); err != nil || !strings.Contains(string(xml), `<testsuite name="e2e_p50 &lt; 20ms" tests="2" failures="1"`) {
		t.Errorf("%v; JUnit says:\n%s", err, xml)
	}
	page := filepath.Join(dir, "r.html")
	brokermark(t, "report", "--store", db, "-o", page).want(t, 7)
	if html, err := os.ReadFile(page); err != nil || !strings.Contains(string(html), "Objective e2e_p50 &lt; 20ms") {
		t.Errorf("%v; the page doesn't speak of the objective", err)
	}
	out := brokermark(t, "compare", "client.latency=1ms", "client.latency=60ms", "--store", db).want(t, 0).out
	if said := strings.Join(strings.Fields(out), " "); !strings.Contains(said, "client.latency=60ms: Objective e2e_p50 < 20ms: Not met. sim, 100 B, at-least-once") {
		t.Errorf("compare says:\n%s", out)
	}
	// What should be reached is no part of a point: another bound needs no other measurement.
	const changed = "The objectives of 2 points have changed since these were measured: run used the new ones; report uses the stored ones."
	if strings.Contains(r.out, "have changed") {
		t.Errorf("the first run says:\n%s", r.out)
	}
	write(t, spec, strings.Replace(withObjectives, "< 20ms", "< 200ms", 1))
	if r := brokermark(t, "run", spec, "--store", db).want(t, 0); !strings.Contains(strings.Join(strings.Fields(r.out), " "), changed) {
		t.Errorf("with another bound:\n%s", r.out)
	}
	brokermark(t, "report", "--store", db).want(t, 7)
	if r := brokermark(t, "run", spec, "--store", db).want(t, 0); strings.Count(r.err, "(stored before)") != 2 || !strings.Contains(r.err, "objective e2e_p50 < 200ms: passed 2") {
		t.Errorf("with another bound:\n%s", r.err)
	}
	write(t, spec, strings.Replace(withObjectives, "e2e_p50", "e2e_p5", 1))
	if r := brokermark(t, "check", spec, "--store", db).want(t, 2); !strings.Contains(r.err, "slo.yaml:6: objectives.e2e_p5: unknown metric") {
		t.Errorf("a metric that doesn't exist:\n%s", r.err)
	}
}

func TestAnObjectiveThatNoPointMeasuresIsRefusedBeforeTheRun(t *testing.T) {
	spec := filepath.Join(t.TempDir(), "slo.yaml")
	write(t, spec, strings.Replace(withObjectives, "e2e_p50: \"< 20ms\"", "sustainable: 10k/s", 1))
	for _, command := range []string{"check", "run"} {
		r := brokermark(t, command, spec, "--store", filepath.Join(t.TempDir(), "s.db")).want(t, 2)
		if want := "slo.yaml:6: objectives.sustainable: measure: count doesn't find it"; !strings.Contains(r.err, want) {
			t.Errorf("%s says %q, want %q", command, r.err, want)
		}
	}
}

func TestAnObjectiveIsALineInTheFigure(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "s.db")
	brokermark(t, "run", "--broker", "sim", "--measure", "rate", "--rate", "500", "--duration", "300ms", "--set", "warmup=0s", "--set", "objectives.e2e_p99=< 20ms",
		"--set", "drain=2s", "--store", db)
	svg := filepath.Join(dir, "f.svg")
	brokermark(t, "figure", "latency-throughput", "--store", db, "-o", svg).want(t, 0)
	if text, err := os.ReadFile(svg); err != nil || !strings.Contains(string(text), "objective e2e_p99 &lt; 20ms") {
		t.Errorf("%v; the figure names no objective", err)
	}
}
