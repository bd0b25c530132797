package cli_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/ledger"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/testkit"
)

// process is the program as a process, with what it has said on stderr.
type process struct {
	*exec.Cmd
	said  string
	stdin io.WriteCloser
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	return startWith(t, []string{asProgram + "=1"}, args...)
}

func startWith(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	return startProgram(t, env, os.Args[0], args...)
}

func startProgram(t *testing.T, env []string, program string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(program, args...), said: filepath.Join(t.TempDir(), "stderr")}
	p.Env = append(os.Environ(), env...)
	f, err := os.Create(p.said)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p.Stderr = f
	if p.stdin, err = p.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Process.Signal(syscall.SIGCONT)
		_ = p.Process.Kill()
		_ = p.Wait()
		if t.Failed() {
			t.Logf("%v said:\n%s", args, p.text())
		}
	})
	return p
}

func (p *process) text() string {
	text, _ := os.ReadFile(p.said)
	return string(text)
}

var joinWith = regexp.MustCompile(`--join '([^']+)' --token-file (\S+)`)

// onAgents starts a run on so many agents, and the agents.
func onAgents(t *testing.T, names []string, args ...string) (run *process, agents []*process, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "s.db")
	run = start(t, append([]string{"run", "--broker", "nats", "--set", "topics=2", "--agents", string('0' + rune(len(names))), "--control", "127.0.0.1:0", "--agents-wait", "60s", "--store", path}, args...)...)
	var with []string
	until(t, "the run says how to join", func() bool { with = joinWith.FindStringSubmatch(run.text()); return with != nil })
	for _, name := range names {
		agents = append(agents, start(t, "agent", "--join", with[1], "--token-file", with[2], "--name", name))
	}
	return run, agents, path
}

// brokers is how many of them run here.
func brokers(t *testing.T) int {
	t.Helper()
	h, err := provision.NewHost(provision.DefaultDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return len(h.Running())
}

func records(t *testing.T, path string) []store.Record {
	t.Helper()
	st, err := store.OpenReadOnlyContext(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	list, err := st.Records(t.Context(), store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestARunOnAgentsIsARun(t *testing.T) {
	run, agents, path := onAgents(t, []string{"left", "right"}, "--rate", "500", "--set", "place=spread", "--set", "warmup.for=200ms", "--duration", "1s")
	if code := exitCode(t, run.Cmd); code != 0 && code != 5 { // void: on a machine that had other things to do
		t.Fatalf("exit code %d", code)
	}
	r := records(t, path)[0]
	if b := r.Result.Books; b.Due != 500 || b.Received != 500 || b.Lost+b.Duplicated+b.Reordered+b.Corrupted != 0 || !b.Balanced() {
		t.Errorf("%+v", b)
	}
	if len(r.Agents) != 2 || !strings.HasPrefix(r.Agents[0].Name, "left on ") || r.Agents[1].Producers != 1 || r.Agents[0].ClockBoundNs != 0 || r.Agents[1].StartLateNs < 0 {
		t.Errorf("%+v", r.Agents)
	}
	if c := r.Result.Cost; !c.BrokerKnown || c.GeneratorUserSeconds <= 0 || c.GeneratorRSSBytes <= 0 {
		t.Errorf("%+v", c)
	}
	for _, a := range agents {
		until(t, "the agent is free", func() bool { return strings.Contains(a.text(), "the run of ") })
	}
	if n := brokers(t); n != 0 {
		t.Errorf("%d brokers are left", n)
	}
}

// One topic's messages are the same, and none is lost, doubled or corrupted, on any number of agents and whatever their clocks show. How many were
// reordered is left out: the consumers of a subscription compete, so the order in which two of them get messages is a matter of chance. One
// process sees that order; several agents must say that they don't know it.
func TestOneTopicOnAnyNumberOfAgents(t *testing.T) {
	testkit.Long(t) // fifteen processes of agents, and a broker for each number of them
	first := ledger.Books{}
	for _, c := range []struct {
		n      int
		shifts []string // of the agents' clocks, s
	}{{1, nil}, {2, nil}, {4, nil}, {8, nil}, {2, []string{"3600", "86400"}}} {
		t.Run(fmt.Sprint(c.n, c.shifts), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.db")
			run := start(t, "run", "--broker", "jetstream", "--set", "producersPerTopic=4", "--set", "subscriptionsPerTopic=2", "--set", "consumerPerSubscription=2", "--set", "place=spread",
				"--agents", strconv.Itoa(c.n), "--control", "127.0.0.1:0", "--store", path, "--rate", "1000", "--set", "warmup.for=500ms", "--duration", "2s")
			var with []string
			until(t, "the run says how to join", func() bool { with = joinWith.FindStringSubmatch(run.text()); return with != nil })
			for i := range c.n {
				args := []string{"agent", "--join", with[1], "--token-file", with[2], "--name", fmt.Sprint("a", i), "--once"}
				if c.shifts == nil {
					start(t, args...)
					continue
				}
				shifted(t, c.shifts[i], args...)
			}
			if code := exitCode(t, run.Cmd); code != 0 && code != 5 {
				t.Fatalf("exit code %d", code)
			}
			r := records(t, path)[0]
			b := r.Result.Books
			b.Reordered = 0
			if first.Due == 0 {
				first = b
			}
			if b != first || b.Sent != 2000 || b.Received != 4000 || b.Lost+b.Duplicated+b.Corrupted+b.Stale != 0 || len(r.Agents) != c.n {
				t.Errorf("%+v on %d agents, want %+v: %s", b, len(r.Agents), first, r.Reason)
			}
			if unknown := slices.ContainsFunc(r.Doubts, func(d store.Doubt) bool { return d.Code == "order-unknown" }); unknown != (c.n > 1) {
				t.Errorf("%d agents: the order is unknown: %t", c.n, unknown)
			}
			if bound := r.Result.ClockBoundNs; (bound != 0) != (c.shifts != nil) || bound > int64(100*time.Millisecond) {
				t.Errorf("a bound of %s", time.Duration(bound))
			}
			for i := range c.shifts {
				shift, err := strconv.ParseInt(c.shifts[i], 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				a := r.Agents[i]
				t.Logf("shifted by %d s: %d ns more, ± %d; latencies ± %d", shift, a.ClockOffsetNs-shift*1e9, a.ClockBoundNs, r.Result.ClockBoundNs)
				// Each process finds the axis by a calibration of its own, which is worse on a busy machine.
				if off := a.ClockOffsetNs - shift*1e9; max(off, -off) > a.ClockBoundNs+int64(40*time.Microsecond) {
					t.Errorf("%s is taken to be %d ns ahead, ± %d", a.Name, a.ClockOffsetNs, a.ClockBoundNs)
				}
			}
		})
	}
}

// shifted starts the program with a monotonic clock that is so many seconds ahead.
func shifted(t *testing.T, seconds string, args ...string) *process {
	t.Helper()
	if err := exec.Command("unshare", "--time", "--monotonic", "1", "--fork", "true").Run(); err != nil {
		testkit.Lacks(t, "the kernel makes no time namespace for us: %v", err)
	}
	return startProgram(t, []string{asProgram + "=1"}, "unshare", append([]string{"--time", "--monotonic", seconds, "--fork", "--kill-child", os.Args[0]}, args...)...)
}

// disturbed runs on two agents, does something to one of the processes at a moment of the measured phase, and returns how the run
// ended.
func disturbed(t *testing.T, after time.Duration, what func(run, left, right *process)) (code int, path string, run, left, right *process) {
	t.Helper()
	run, agents, path := onAgents(t, []string{"left", "right"}, "--rate", "500", "--set", "warmup.for=0s", "--duration", "60s")
	for _, a := range agents {
		until(t, "the agent works", func() bool { return strings.Contains(a.text(), "working for ") })
	}
	time.Sleep(after)
	what(run, agents[0], agents[1])
	return exitCode(t, run.Cmd), path, run, agents[0], agents[1]
}

func TestALostAgentAbortsTheTrialByItsName(t *testing.T) {
	for name, signal := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "stopped": syscall.SIGSTOP} {
		t.Run(name, func(t *testing.T) {
			if name == "killed" {
				testkit.Long(t) // to the coordinator it is as silent as one that stands still
			}
			code, path, _, left, _ := disturbed(t, time.Second, func(_, _, right *process) { _ = right.Process.Signal(signal) })
			list := records(t, path)
			if code != 4 || len(list) != 1 || list[0].Status != store.Aborted || !strings.Contains(list[0].Reason, "agent right on ") || !strings.Contains(list[0].Reason, "was lost: it was not heard for ") {
				t.Errorf("exit code %d, %+v", code, list)
			}
			until(t, "the other agent is free", func() bool { return strings.Contains(left.text(), "the run of ") })
			if n := brokers(t); n != 0 {
				t.Errorf("%d brokers are left", n)
			}
		})
	}
}

func TestAgentsCleanUpAfterACoordinatorThatDied(t *testing.T) {
	began := time.Now()
	_, _, _, left, right := disturbed(t, time.Second, func(run, _, _ *process) { _ = run.Process.Kill(); began = time.Now() })
	for _, a := range []*process{left, right} {
		until(t, "the agent cleans up", func() bool { return strings.Contains(a.text(), ": cleaning up") })
	}
	t.Logf("both agents cleaned up %s after the coordinator was killed", time.Since(began))
	until(t, "no broker is left", func() bool { return brokers(t) == 0 })
	for _, a := range []*process{left, right} {
		if err := a.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if code := exitCode(t, a.Cmd); code != 143 {
			t.Errorf("exit code %d, want 143", code)
		}
	}
}

func TestWhatAgentsCannotRunIsRefusedBeforeAnythingStarts(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--broker", "sim", "--agents", "1"}, "sim runs in this process"},
		{[]string{"--broker", "nats", "--agents", "2"}, "and there are 1 of these"},
		{[]string{"--broker", "nats", "--agents", "1", "--set", "consumersApart=true"}, "consumersApart: true starts a process of this machine"},
		{[]string{"--broker", "nats", "--agents", "-1"}, "--agents -1"},
		{[]string{"--broker", "nats", "--set", "place=spread"}, "place: spread is not supported: there are no agents: --agents says how many"},
		{[]string{"--broker", "nats", "--agents", "3", "--set", "place=spread"}, "place: spread has 2 clients of producers and consumers to deal"},
		{[]string{"--broker", "nats", "--agents", "3", "--set", "place={producers: [a], consumers: [b]}"}, "place names 2 agents: a, b"},
		{[]string{"--broker", "nats", "--agents", "3", "--set", "place={producers: [a, b], consumers: [c]}"}, "2 agents are to have producers, and there are 1 to deal"},
		{[]string{"--broker", "nats", "--agents", "2", "--set", "place.producers=[a]", "--axis", "place.consumers=b,c"}, "points name different agents in place: a, b, and a, c"},
		{[]string{"--broker", "nats", "--agents", "2", "--set", "place=spread", "--set", "messageSize=31"}, "can't carry its times to another agent"},
		{[]string{"--broker", "nats", "--agents", "1", "--control", "nats://elsewhere:4222", "--token-file", os.Args[0]}, "token file"},
	} {
		for _, command := range []string{"run", "check"} {
			if command == "check" && slices.Contains(c.args, "--control") {
				continue
			}
			r := brokermark(t, append([]string{command, "--store", filepath.Join(t.TempDir(), "s.db")}, c.args...)...)
			if r.code != 2 || !strings.Contains(r.err, c.want) {
				t.Errorf("%s %v: exit code %d, %s; want %q", command, c.args, r.code, r.err, c.want)
			}
		}
	}
	if r := brokermark(t, "agent"); r.code != 2 || !strings.Contains(r.err, "--join and --token-file are needed") {
		t.Errorf("%+v", r)
	}
}

func TestAnAgentThatIsTheLimitVoidsTheRunAndIsNamed(t *testing.T) {
	run, agents, path := onAgents(t, []string{"left", "right"}, "--rate", "500", "--set", "warmup.for=200ms", "--duration", "3s")
	right := agents[1]
	until(t, "the agent works", func() bool { return strings.Contains(right.text(), "working for ") })
	over := make(chan struct{})
	var stopping sync.WaitGroup
	stopping.Go(func() { // it works a third of the time
		for {
			_ = right.Process.Signal(syscall.SIGSTOP)
			time.Sleep(200 * time.Millisecond)
			_ = right.Process.Signal(syscall.SIGCONT)
			select {
			case <-over:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	code := exitCode(t, run.Cmd)
	close(over)
	stopping.Wait()
	r := records(t, path)[0]
	if code != 5 || r.Status != store.Void || !strings.HasPrefix(r.Reason, "agent right on ") || !strings.Contains(r.Reason, " late at p99 ") || !strings.Contains(r.Reason, "the longest pause was ") {
		t.Errorf("exit code %d: %s %s", code, r.Status, r.Reason)
	}
}
