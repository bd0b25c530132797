package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/testkit"
)

// A message stays 20 ms in the window of sim, so that a window of 10 makes 500 messages per second, and a capacity of 300 is below what a
// window of 100 makes.
func TestAPlantedWindowMovesWithTwiceOfItAndAPlantedCapacityDoesNot(t *testing.T) {
	testkit.NotShort(t)
	t.Parallel()
	for name, c := range map[string]struct{ settings, says string }{
		"window":   {"inFlight.messages=10 client.ack.latency=20ms", "The rate moved: unconfirmed messages had no place in the window. With inFlight.messages 20: throughput"},
		"capacity": {"inFlight.messages=100 client.capacity=300", "The rate didn't move: the window is full because of something else. With inFlight.messages 200: throughput"},
	} {
		t.Run(name, func(t *testing.T) {
			db := filepath.Join(t.TempDir(), "s.db")
			args := []string{"run", "--explain", "--broker", "sim", "--measure", "peak", "--size", "100", "--store", db, "--set", "duration=700ms", "--set", "warmup=300ms"}
			for _, s := range strings.Fields(c.settings) {
				args = append(args, "--set", s)
			}
			r := brokermark(t, args...).want(t, 0)
			out := strings.Join(strings.Fields(r.out), " ")
			for _, says := range []string{"The limit of sim peak: client-window.", "Twice the window. " + c.says, "(3 repetitions each)"} {
				if !strings.Contains(out, says) {
					t.Errorf("it doesn't say %q:\n%s", says, r.out)
				}
			}
			if !strings.Contains(r.err, "explain: the limit was client-window; 3 repetitions of unchanged and twice the window in turns") {
				t.Errorf("the progress says\n%s", r.err)
			}
			again := brokermark(t, args...).want(t, 0)
			if !strings.Contains(again.out, "Twice the window. ") || strings.Count(again.err, "(stored before)") != 7 {
				t.Errorf("again it says\n%s%s", again.out, again.err)
			}
			if out := brokermark(t, "report", "explain", "--store", db).want(t, 0).out; !strings.Contains(strings.Join(strings.Fields(out), " "), c.says) {
				t.Errorf("the report says\n%s", out)
			}
			if out := brokermark(t, "report", "--store", db, "--format", "csv").want(t, 0).out; strings.Contains(out, "twice") || strings.Contains(out, "unchanged") {
				t.Errorf("what explains counts as a result:\n%s", out)
			}
		})
	}
}

// Each message takes 10 ms to the broker and back, so that a window of one makes 100 messages per second.
func TestTheLimitOfARunningBrokerIsExplainedAndProfiled(t *testing.T) {
	testkit.NotShort(t) // and not beside other tests: one profile at a time is taken of a process
	dir := t.TempDir()
	db := filepath.Join(dir, "s.db")
	r := brokermark(t, strings.Fields("run --explain --broker jetstream --measure peak --size 100 --set inFlight.messages=1 --set network.broker.delay=5ms "+
		"--set duration=2s --set warmup=300ms --store "+db)...).want(t, 0)
	out := strings.Join(strings.Fields(r.out), " ")
	for _, says := range []string{"The limit of jetstream peak: client-window.", "The rate moved: unconfirmed messages had no place in the window.", "Flame graphs, of a repetition that doesn't count"} {
		if !strings.Contains(out, says) {
			t.Errorf("it doesn't say %q:\n%s%s", says, r.err, r.out)
		}
	}
	for _, name := range []string{"generator", "jetstream-1"} {
		drawn, _ := filepath.Glob(filepath.Join(dir, "explain-*", name+".svg"))
		if len(drawn) != 1 {
			t.Fatalf("flame graphs of %s: %v", name, drawn)
		}
		if text, err := os.ReadFile(drawn[0]); err != nil || !strings.Contains(string(text), "<title>all: 100.0 %") {
			t.Errorf("%v: %s is no flame graph", err, drawn[0])
		}
	}
	if out := brokermark(t, "export", "--store", db, "--format", "flat").want(t, 0).out; strings.Contains(out, "profiled") || strings.Contains(r.err, "profiled") {
		t.Errorf("a repetition with profilers left a figure:\n%s%s", out, r.err)
	}
}

func TestWhatCannotBeExplainedIsSaid(t *testing.T) {
	testkit.NotShort(t)
	t.Parallel()
	for name, c := range map[string]struct{ args, says string }{
		"kept up": {"--measure rate --rate 200", "Nothing to explain: the broker kept up with what was offered"},
		"a delay": {"--measure peak --set consumerDelay=5ms --set inFlight.messages=10", "Not tried: consumer-delay: the spec asks for that work of the application."},
	} {
		t.Run(name, func(t *testing.T) {
			args := append(strings.Fields("run --explain --quick --broker sim --size 100 --set duration=700ms --set warmup=300ms "+c.args), "--store", filepath.Join(t.TempDir(), "s.db"))
			r := measured(t, args...).want(t, 0)
			if !strings.Contains(strings.Join(strings.Fields(r.out), " "), c.says) {
				t.Errorf("it doesn't say %q:\n%s", c.says, r.out)
			}
		})
	}
}

func TestExplainIsOfOnePointWhoseLimitIsNamed(t *testing.T) {
	db, spec := filepath.Join(t.TempDir(), "never.db"), filepath.Join(t.TempDir(), "spec.yaml")
	write(t, spec, "{broker: nats, measure: rate, load.rate: 100, faults: [{at: 1s, do: kill, for: 1s}]}\n")
	for args, want := range map[string]string{
		"--broker sim,nats":                                      "--explain: 2 points; allowed: one",
		"--broker sim --measure curve":                           "--explain: measure: curve has no limit that is named; allowed: peak, count, rate and sustainable",
		"--broker sim --measure peak --agents 2":                 "--explain: not with --agents: ",
		"--broker kafka --measure backlog":                       "--explain: measure: backlog has no limit that is named",
		"--broker rabbitmq --measure peak --generator perf-test": "--explain: generator: perf-test has no limit that is named",
		spec: "--explain: faults change the rate as well",
	} {
		for _, command := range []string{"run", "check"} {
			r := brokermark(t, append([]string{command, "--explain", "--store", db}, strings.Fields(args)...)...).want(t, 2)
			if !strings.Contains(r.err, want) {
				t.Errorf("%s %s says %q, want %q", command, args, r.err, want)
			}
		}
	}
	if _, err := os.Stat(db); err == nil {
		t.Error("bad input left a store behind")
	}
	r := brokermark(t, "check", "--explain", "--broker", "sim", "--measure", "peak", "--set", "duration=10s").want(t, 0)
	if !strings.Contains(r.out, "Then --explain repeats the point without and with one or two changes of what was its limit") {
		t.Errorf("the plan says\n%s", r.out)
	}
}
