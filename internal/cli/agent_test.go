package cli_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

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
	st, err := store.OpenReadOnly(path)
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
	run, agents, path := onAgents(t, []string{"left", "right"}, "--rate", "500", "--set", "warmup.for=200ms", "--duration", "1s")
	if code := exitCode(t, run.Cmd); code != 0 && code != 5 { // void: on a machine that had other things to do
		t.Fatalf("exit code %d", code)
	}
	r := records(t, path)[0]
	if b := r.Result.Books; b.Due != 500 || b.Received != 500 || b.Lost+b.Duplicated+b.Corrupted != 0 || !b.Balanced() {
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
