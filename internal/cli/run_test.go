package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/provision"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// flatKeys are promised to scripts.
var flatKeys = strings.Fields(`broker label point status reason doubts sent acked received lost duplicated reordered corrupted
	publish_rate receive_rate sustainable_low sustainable_high e2e_p50_ns e2e_p90_ns e2e_p95_ns e2e_p99_ns e2e_p999_ns e2e_max_ns
	publish_p50_ns publish_p99_ns service_p50_ns service_p99_ns lag_p99_ns broker_cpu_s_per_million generator_cpu_s_per_million
	broker_rss_bytes broker_disk_write_bytes began point_id closed_loop goals`)

func TestJSONLinesAreOneObjectPerRepetitionAndNothingElse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	args := short("--store", path, "--format", "jsonl", "--repeat", "2", "--axis", "messageSize=50,100", "--axis", "client.latency=0s,1ms")
	list := brokermark(t, args...).want(t, 0).objects(t)
	if len(list) != 8 {
		t.Fatalf("%d objects, want 2 sizes × 2 latencies × 2 repetitions", len(list))
	}
	for _, o := range list {
		for _, key := range flatKeys {
			if _, ok := o[key]; !ok {
				t.Errorf("no %q in %v", key, o)
			}
		}
		if o["sent"] != 200.0 || o["status"] != "ok" {
			t.Errorf("sent %v with status %v, want 200 and ok: %v", o["sent"], o["status"], o)
		}
	}
	t.Run("stored ones too", func(t *testing.T) {
		again := brokermark(t, args...).want(t, 0)
		if got := again.objects(t); len(got) != 8 || !slices.ContainsFunc(list, func(o map[string]any) bool { return o["began"] == got[0]["began"] }) {
			t.Errorf("%d objects, want the 8 that are stored", len(got))
		}
		if n := strings.Count(again.err, "(stored before)"); n != 8 {
			t.Errorf("stderr tells of %d stored repetitions, want 8:\n%s", n, again.err)
		}
	})
	t.Run("again", func(t *testing.T) {
		got := brokermark(t, append(args, "--again")...).want(t, 0).objects(t)
		if len(got) != 8 || slices.ContainsFunc(list, func(o map[string]any) bool { return o["began"] == got[0]["began"] }) {
			t.Errorf("%d objects, want 8 new ones", len(got))
		}
	})
}

func TestASpecFromStandardInputAndAnOMBFileRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	spec := "broker: sim\nmeasure: count\ncount: {messages: 200}\n"
	if list := with(t, t.Context(), spec, "run", "-", "--store", path, "--format", "jsonl").want(t, 0).objects(t); len(list) != 1 {
		t.Errorf("%d objects, want 1", len(list))
	}
	omb := file(t, "simple.yaml", `name: 1 producer / 1 consumers on 1 topic
topics: 1
partitionsPerTopic: 1
messageSize: 1024
useRandomizedPayloads: true
randomBytesRatio: 0.5
randomizedPayloadPoolSize: 1000
subscriptionsPerTopic: 1
consumerPerSubscription: 1
producersPerTopic: 1
producerRate: 1000
consumerBacklogSizeGB: 0
testDurationMinutes: 5
`)
	args := []string{"run", omb, "--broker", "sim", "--set", "duration=300ms", "--set", "warmup=50ms", "--store", path, "--format", "jsonl"}
	list := brokermark(t, args...).objects(t) // a busy machine may make it void, which is not this test's business
	if len(list) != 1 || list[0]["sent"] != 300.0 {
		t.Errorf("got %v, want one repetition of 300 messages", list)
	}
}

func TestNATSRunsAsAProcessThatIsAccountedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	args := count("nats", "--store", path)
	o := brokermark(t, append(args, "--format", "jsonl")...).want(t, 0).objects(t)[0]
	if rss, _ := o["broker_rss_bytes"].(float64); o["lost"] != 0.0 || o["sent"] != 200.0 || rss <= 0 {
		t.Errorf("sent %v, lost %v, broker memory %v", o["sent"], o["lost"], o["broker_rss_bytes"])
	}
	table := brokermark(t, args...).want(t, 0)
	for _, want := range []string{"nats", "Stored in " + path} {
		if !strings.Contains(table.out, want) {
			t.Errorf("no %q in the summary:\n%s", want, table.out)
		}
	}
	nothingRuns(t)
}

func TestEveryKindOfEndingHasItsExitCode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	for _, c := range []struct {
		name, want string
		code       int
		args       []string
	}{
		{"refused altogether", "nothing was measured: every point was refused", 2, []string{"run", "--broker", "nats", "--delivery", "exactly-once", "--measure", "peak"}},
		{"nothing at the address", "1 of 1 repetition found no broker", 3, []string{"run", "--broker", "nats", "--attach", "127.0.0.1:1", "--measure", "peak"}},
		{"messages that fail", "1 of 1 repetition failed", 4, short("--set", "client.fail.every=2")},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := brokermark(t, append(c.args, "--store", path, "--format", "jsonl")...).want(t, c.code)
			complains(t, r, c.want)
			if list := r.objects(t); len(list) != 1 || list[0]["reason"] == "" {
				t.Errorf("want one object with a reason: %s", r.out)
			}
		})
	}
	t.Run("a refused point among others is an answer", func(t *testing.T) {
		list := brokermark(t, short("--delivery", "at-most-once,exactly-once", "--store", path, "--format", "jsonl")...).want(t, 0).objects(t)
		statuses := []any{list[0]["status"], list[1]["status"]}
		if !slices.Contains(statuses, any("ok")) || !slices.Contains(statuses, any("refused")) {
			t.Errorf("statuses %v, want ok and refused", statuses)
		}
	})
}

func TestAnInterruptRecordsThePointAndLeavesNothingRunning(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	ctx, interrupt := context.WithCancel(t.Context())
	defer time.AfterFunc(1500*time.Millisecond, interrupt).Stop()
	args := []string{"run", "--broker", "nats", "--measure", "count", "--set", "count.messages=1000000000", "--store", path}
	r := with(t, ctx, "", append(args, "--format", "jsonl")...).want(t, 130)
	if list := r.objects(t); len(list) != 1 || list[0]["status"] != "aborted" || list[0]["reason"] != "interrupted" {
		t.Errorf("want one aborted repetition, got: %s", r.out)
	}
	if !strings.Contains(r.err, "0 of 1 repetitions are done and stored in "+path) {
		t.Errorf("stderr: %s", r.err)
	}
	nothingRuns(t)
	if list := brokermark(t, "export", "--store", path).want(t, 0).objects(t); len(list) != 1 || list[0]["status"] != "aborted" {
		t.Errorf("the store holds %v, want the aborted repetition", list)
	}
	if plan := brokermark(t, append([]string{"check"}, args[1:]...)...).want(t, 0).out; strings.Contains(plan, "stored already") {
		t.Errorf("an aborted repetition counts as done:\n%s", plan)
	}
}

func nothingRuns(t *testing.T) {
	t.Helper()
	h, err := provision.NewHost(provision.DefaultDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if running := h.Running(); len(running) > 0 {
		t.Errorf("still running: %v", running)
	}
}

func TestABrokerGoesUpIsMeasuredAndComesDown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	up := brokermark(t, "broker", "up", "nats").want(t, 0)
	defer brokermark(t, "broker", "down", "--all")
	_, rest, found := strings.Cut(up.out, "--attach ")
	if !found {
		t.Fatalf("no way to attach in: %s", up.out)
	}
	address := strings.Fields(rest)[0]
	if status := brokermark(t, "broker", "status", "--format", "jsonl").want(t, 0).objects(t); len(status) != 1 || status[0]["addresses"] != address {
		t.Errorf("status %v, want %s", status, address)
	}
	o := brokermark(t, count("nats", "--attach", address, "--store", path, "--format", "jsonl")...).want(t, 0).objects(t)[0]
	if memory, known := o["broker_rss_bytes"].(float64); o["received"] != 200.0 || !known || memory < 1<<20 {
		t.Errorf("received %v, want 200; memory %v of an attached broker on this host", o["received"], o["broker_rss_bytes"])
	}
	if log := brokermark(t, "broker", "logs", "nats", "-n", "3").want(t, 0); strings.Count(log.out, "\n") != 3 {
		t.Errorf("log: %s", log.out)
	}
	brokermark(t, "broker", "down", "nats").want(t, 0)
	nothingRuns(t)
}

// The sentence that ends a run is about what its exit code is about, whatever else did not end well before.
func TestTheReasonGivenIsThatOfTheExitCode(t *testing.T) {
	lossy := file(t, "lossy.yaml", "broker: sim\nmeasure: count\ncount: {messages: 200}\ndrain: 2s\nclient: {loss.every: 10}\n")
	refused := file(t, "refused.yaml", "base: {broker: sim, measure: count, count: {messages: 200}, persistence: log}\naxes: {messageSize: [50, 60, 70, 80]}\n")
	r := brokermark(t, "run", refused, lossy, "--store", filepath.Join(t.TempDir(), "s.db")).want(t, 4)
	complains(t, r, "1 of 5 repetitions failed; the first: sim count: 20 messages were lost")
	if !strings.Contains(r.err, "] lossy: sim count: failed") {
		t.Errorf("no line says of which study it is:\n%s", r.err)
	}
}

func TestThePlanSaysWhatSetsPointsApart(t *testing.T) {
	plan := brokermark(t, append([]string{"check"}, short("--axis", "client.latency=0s,1ms", "--size", "50,100", "--format", "jsonl")[1:]...)...).want(t, 0)
	apart := map[string]bool{}
	for line := range strings.Lines(plan.out) {
		for _, value := range []string{"0s", "1ms"} {
			if strings.Contains(line, `"apart":"client.latency=`+value+`"`) {
				apart[value] = true
			}
		}
		if strings.Contains(line, `messageSize=`) {
			t.Errorf("the size has a column of its own: %s", line)
		}
	}
	if len(apart) != 2 {
		t.Errorf("no line for each latency in:\n%s", plan.out)
	}
}

func TestThePlanAddsUpTheTimesItShows(t *testing.T) {
	for duration, want := range map[string]string{"1500ms": "about 2.5s,", "300s": "about 5m1s,", "209.6s": "about 3m31s,"} {
		args := []string{"check", "--broker", "sim", "--rate", "100", "--set", "warmup=0s", "--duration", duration}
		if plan := brokermark(t, args...).want(t, 0).out; !strings.Contains(plan, want) {
			t.Errorf("no %q in:\n%s", want, plan)
		}
	}
}

// A point that two of the studies named have is one point: it is shown, counted and measured once, and nobody else measured it.
func TestAPointOfTwoStudiesIsPlannedOnce(t *testing.T) {
	first := file(t, "first.yaml", "broker: sim\nmeasure: count\ncount: {messages: 200}\n")
	second := file(t, "second.yaml", "base: {broker: sim, measure: count, count: {messages: 200}}\naxes: {topics: [1, 2]}\nrepeats: 2\n")
	args := []string{first, second, "--store", filepath.Join(t.TempDir(), "s.db")}
	plan := brokermark(t, append([]string{"check"}, args...)...).want(t, 0).out
	if !strings.Contains(plan, "2 points, 4 repetitions; about 4s") || strings.Contains(plan, "\n3 ") {
		t.Errorf("want 2 points, and 4 repetitions, 2 of them of the point that both have:\n%s", plan)
	}
	r := brokermark(t, append([]string{"run", "--format", "jsonl"}, args...)...).want(t, 0)
	if n := len(r.objects(t)); n != 4 || strings.Contains(r.err, "another runner") || !strings.Contains(r.err, "[4/4]") {
		t.Errorf("%d objects:\n%s", n, r.err)
	}
	refused := file(t, "refused.yaml", "broker: nats\ndelivery: exactly-once\nmeasure: peak\n")
	complains(t, brokermark(t, "check", refused, refused).want(t, 2), "every point would be refused")
}
