package cli

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/brokermark/brokermark/internal/fleet"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/watch"
	"github.com/brokermark/brokermark/internal/worker"
)

var anyRun = study.Run{Point: &study.Point{ID: "1", Label: "kafka messageSize=100 delivery=at-least-once", Spec: study.Spec{Broker: "kafka"}}, Repetition: 2}

// atLoad is what the lab tells while a trial at 12,000/s runs.
func atLoad(f *watch.Follower) {
	f.Event(lab.Event{Kind: lab.Began, Run: anyRun, Done: 3, Total: 24, Left: 200 * time.Second})
	f.Event(lab.Event{Kind: lab.Staged, Run: anyRun, Done: 3, Total: 24, Stage: "short trial", Target: 12_000})
	for i := range int64(20) {
		f.Event(lab.Event{
			Kind: lab.Sampled, Run: anyRun, Done: 3, Total: 24, Stage: "short trial", Target: 12_000, CPU: lab.Cores{Broker: 1.2, Generator: 0.4},
			Sample: &worker.Sample{
				At: i * 100e6, Phase: measure.Measured, Sending: true, Count: measure.Count{Sent: i * 1190, Received: i * 1180}, Backlog: 120,
				EndToEnd: worker.Quantiles{Count: 500, P50: 1_200_000, P99: 4_500_000},
			},
		})
	}
}

func TestTheLiveViewSaysWhatGoesOnAndFitsItsColumns(t *testing.T) {
	var f watch.Follower
	atLoad(&f)
	v := f.View(time.Now())
	v.StageNs = int64(4 * time.Second)
	got := strings.Join(lines(v, 79), "\n")
	for _, want := range []string{
		"[4/24] kafka messageSize=100 delivery=at-least-once #2", "left\n",
		"  short trial, measuring 4s\n",
		"  rate  11.9k/s of 12k/s          backlog  120\n",
		"  p99   4.50 ms, p50 1.20 ms      cpu      broker 1.20, generator 0.40 cores",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
	v.Now.Target, v.Now.Sent, v.Now.Backlog, v.Now.P50Ns, v.Now.P99Ns = 999_500_000, 999_400_000, 1_234_567_890, 59_990_000_000, 61_110_000_000
	v.Now.BrokerCPU, v.Now.GeneratorCPU = 128.5, 100.25
	for _, width := range []int{40, 75, 79, 100} {
		for i, line := range lines(v, width) {
			w := runewidth.StringWidth(line)
			if i == 0 && w != width || w > max(width, 46) { // below 46 columns the long figures are cut off
				t.Errorf("line %d takes %d columns of %d: %q", i, w, width, line)
			}
		}
	}
}

func TestTheLiveViewBeforeBetweenAndAfterLoads(t *testing.T) {
	var f watch.Follower
	view := func() string { return strings.Join(lines(f.View(time.Now()), 79), "\n") }
	if got := view(); got != "" {
		t.Errorf("before anything: %q", got)
	}
	f.Note("unpacking kafka")
	if got := view(); got != "unpacking kafka" {
		t.Errorf("while installing: %q", got)
	}
	f.Event(lab.Event{Kind: lab.Began, Run: anyRun, Done: 0, Total: 2})
	if got := view(); !strings.HasPrefix(got, "[1/2] kafka") || !strings.HasSuffix(got, "\n  preparing") {
		t.Errorf("before the load: %q", got)
	}
	atLoad(&f)
	f.Event(lab.Event{Kind: lab.Staged, Run: anyRun, Done: 3, Total: 24, Stage: "short trial", Target: 6_000})
	if got := view(); strings.Contains(got, "p99") {
		t.Errorf("figures of the trial before: %q", got)
	}
	f.Event(lab.Event{Kind: lab.Ended, Run: anyRun, Done: 4, Total: 24, Record: &store.Record{Status: store.OK}})
	if got := view(); got != "" {
		t.Errorf("between two repetitions: %q", got)
	}
}

func TestTheLineThatStaysSaysHowItEnded(t *testing.T) {
	h := hist.New()
	h.Record(3_000_000)
	result := func(r store.Result) *store.Result {
		r.Latency.EndToEnd = h.Snapshot()
		return &r
	}
	began := time.Unix(1000, 0)
	for want, r := range map[string]store.Record{
		": refused: nats can't": {Status: store.Refused, Reason: "nats can't"},
		": failed: it died":     {Status: store.Failed, Reason: "it died\nits log"},
		": ok  sustainable 1–1.05k/s, held 20s  p99 3.00 ms  (42s)": {Status: store.OK, Result: result(store.Result{Sustainable: &store.Sustainable{HeldNs: 20e9, Low: 1000, High: 1050}})},
		": ok  sustainable 1–1.05k/s, held 20s (p99 ≤ 2ms: 500–520/s, held 20s)  p99 3.00 ms  (42s)": {Status: store.OK, Result: result(store.Result{Sustainable: &store.Sustainable{
			HeldNs: 20e9, Low: 1000, High: 1050,
			Goals: []store.GoalResult{{Low: 1000, High: 1050, HeldNs: 20e9}, {LatencyNs: 2e6, Quantile: 0.99, Low: 500, High: 520, HeldNs: 20e9}},
		}})},
		": ok  throughput 900/s  p99 3.00 ms  doubts: machine  (42s)": {Status: store.OK, Result: result(store.Result{Measurement: store.Measurement{PublishRate: 900}}), Doubts: []store.Doubt{{Code: "busy-machine"}}},
		": ok  200 messages in 1.5s  (42s)":                           {Status: store.OK, Result: result(store.Result{Count: &store.Count{Messages: 200, TotalSeconds: 1.5}})},
		": ok  1 message in 1.5s  (42s)":                              {Status: store.OK, Result: result(store.Result{Count: &store.Count{Messages: 1, TotalSeconds: 1.5}})},
		": ok  drained at 5k/s  (42s)":                                {Status: store.OK, Result: result(store.Result{Backlog: &store.Backlog{DrainRate: 5000}})},
		": ok, but the rate was missed: 8 of 12 messages due were never sent  throughput 1k/s  p99 3.00 ms  (42s)": {
			Status: store.OK, Result: result(store.Result{Measurement: store.Measurement{PublishRate: 1000}}),
			Doubts: []store.Doubt{{Code: "rate-missed", Text: "8 of 12 messages due were never sent"}},
		},
		": ok, but the rate was missed: rate 9k/s: 1k/s came through  1 rate  doubts: not everything came  (42s)": {
			Status: store.OK, Doubts: []store.Doubt{{Code: "attached"}},
			Result: result(store.Result{Curve: []store.CurvePoint{{Rate: 9000, Status: store.OK, Doubts: []store.Doubt{{Code: "rate-missed", Text: "1k/s came through"}, {Code: "loss"}}}}}),
		},
		": ok  2 rates  (42s)": {Status: store.OK, Result: result(store.Result{Curve: make([]store.CurvePoint, 2)})},
	} {
		r.Began, r.Ended = began, began.Add(42*time.Second)
		if got := finished(lab.Event{Run: anyRun, Done: 4, Total: 24, Record: &r}, false); got != "[4/24] kafka messageSize=100 delivery=at-least-once #2"+want {
			t.Errorf("got  %s\nwant …%s", got, want)
		}
	}
}

func TestALineThatIsTooLongIsFoldedBetweenFiguresOrWords(t *testing.T) {
	for line, want := range map[string]string{
		"[2/36] nats: ok": "[2/36] nats: ok",
		"[2/36] jetstream load.rate=1000 persistence=memory: ok  received 1k/s  p99 1.14 ms  doubts 1  (2.6s)":        "[2/36] jetstream load.rate=1000 persistence=memory: ok  received 1k/s\n      p99 1.14 ms  doubts 1  (2.6s)",
		"[2/36] nats: refused: persistence: log is not supported: core NATS writes nothing to a disk; jetstream does": "[2/36] nats: refused: persistence: log is not supported: core NATS writes\n      nothing to a disk; jetstream does",
		"[2/36] " + strings.Repeat("x", 90): "[2/36] " + strings.Repeat("x", 90),
	} {
		if got := folded(line, 80); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

func TestAPanicBecomesASentenceAndItsTraceAFile(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var out strings.Builder
	s := &shell{err: &out}
	code := func() (code int) {
		defer func() { code = s.crashed(recover()) }()
		panic("the sky fell")
	}()
	_, path, _ := strings.Cut(strings.TrimSpace(out.String()), "and attach ")
	trace, err := os.ReadFile(path)
	if code != exitInternal || err != nil || !strings.Contains(string(trace), "the sky fell") || strings.Contains(out.String(), "goroutine") {
		t.Errorf("exit code %d, %v, stderr: %s", code, err, out.String())
	}
}

func TestTheOutcomeOfASearchNeverPrintsAnUnknownBoundAsARate(t *testing.T) {
	for want, s := range map[string]store.Sustainable{
		"at least 545k/s, held 20s, no rate failed":       {HeldNs: 20e9, Low: 545_000},
		"no rate passed, the lowest that failed was 1k/s": {High: 1000},
		"no rate was found":                               {},
		"sustainable 1–2k/s, held 20s":                    {HeldNs: 20e9, Low: 1000, High: 2000},
	} {
		got := told(store.Record{Result: &store.Result{Sustainable: &s}})
		if !strings.Contains(got, want) || strings.Contains(got, "0/s–") || strings.Contains(got, "–0/s") {
			t.Errorf("%+v: %q, want %q", s, got, want)
		}
	}
}

func TestTheOutcomeOfAPeakIsWhatCameThrough(t *testing.T) {
	m := store.Measurement{PublishRate: 250_000, ReceiveRate: 200, Throughput: 9000}
	r := store.Record{Spec: study.Spec{Measure: "peak", SubscriptionsPerTopic: 1}, Result: &store.Result{Measurement: m}}
	if got := told(r); !strings.Contains(got, "throughput 9k/s") || strings.Contains(got, "250k") {
		t.Errorf("%q", got)
	}
}

func TestTheOutcomeOfALoadIsWhatCameToEverySubscription(t *testing.T) {
	r := store.Record{Spec: study.Spec{Measure: "peak"}, Result: &store.Result{Measurement: store.Measurement{PublishRate: 250_000}}}
	if got := told(r); !strings.Contains(got, "throughput 250k/s") {
		t.Errorf("%q", got)
	}
	r.Spec.Measure, r.Spec.SubscriptionsPerTopic, r.Result.ReceiveRate = "rate", 2, 400_000
	if got := told(r); !strings.Contains(got, "throughput 200k/s") {
		t.Errorf("%q", got)
	}
}

// Reasons quote what brokers, agents and hosts say, which may be meant for the terminal.
func TestNothingThatIsQuotedDrivesTheTerminal(t *testing.T) {
	const evil = "\x1b]0;evil\x07\x1b[2Jline\u202e"
	var out bytes.Buffer
	p := newProgress(&out)
	p.say("the broker says %s", evil)
	p.event(lab.Event{Kind: lab.Ended, Run: study.Run{Point: &study.Point{}}, Record: &store.Record{Status: store.Failed, Reason: evil, Label: evil}})
	p.close()
	s := &shell{out: &out, err: &out}
	s.ended(t.Context(), errors.New(evil))
	if err := s.showAgents([]fleet.Status{{Info: fleet.Info{Name: evil, Host: "a\nb"}, Busy: evil}}); err != nil {
		t.Error(err)
	}
	if got := out.String(); strings.ContainsAny(got, "\x1b\x07\u202e") || strings.Count(got, "line") < 5 || strings.Contains(got, "a\nb") {
		t.Errorf("%q", got)
	}
}
