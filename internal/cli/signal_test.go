package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/cli"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
)

// endless starts the program on a measurement that doesn't end and returns when its broker is up.
func endless(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0], "run", "--broker", "nats", "--measure", "count", "--set", "count.messages=1000000000", "--store", path)
	c.Env, c.Stderr = append(os.Environ(), asProgram+"=1"), new(bytes.Buffer)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	h, err := provision.NewHost(provision.DefaultDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	until(t, "a broker runs", func() bool { return len(h.Running()) == 1 })
	return c
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not after 30 s: %s", what)
		}
	}
}

func exitCode(t *testing.T, c *exec.Cmd) int {
	t.Helper()
	var exit *exec.ExitError
	late := time.AfterFunc(2*time.Minute, func() { _ = c.Process.Kill() }) // a program that doesn't end fails by its exit code
	defer late.Stop()
	if err := c.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode()
}

func TestAnInterruptedRunSaysWhereTheSameCommandBegins(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	for _, c := range []struct{ flag, want string }{
		{"--keep", "; the same command goes on from there\n"}, {"--again", "; because of --again, the same command begins anew\n"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var out, said bytes.Buffer
		code := cli.Main(ctx, []string{"run", "--broker", "sim", "--measure", "count", "--set", "count.messages=1000000000", "--store", path, c.flag}, strings.NewReader(""), &out, &said)
		if code != 130 || !strings.Contains(said.String(), "interrupted; 0 of 1 repetitions are done and stored in "+path+c.want) {
			t.Errorf("%s: exit code %d, said %q", c.flag, code, said.String())
		}
	}
}

func TestTheFirstSignalEndsWhatHasStartedNothing(t *testing.T) {
	c := exec.Command(os.Args[0], "check", "-")
	c.Env = append(os.Environ(), asProgram+"=1")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	if _, err := in.Write(bytes.Repeat([]byte("#\n"), 1<<20)); err != nil { // more than a pipe holds: the program reads
		t.Fatal(err)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := exitCode(t, c); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
}

func TestEverySignalRecordsWhatIsUnderWayAndTheSecondLeavesAtOnce(t *testing.T) {
	for name, signals := range map[string][]os.Signal{
		"one SIGTERM": {syscall.SIGTERM}, "two different": {syscall.SIGTERM, os.Interrupt}, "a terminal that closes": {syscall.SIGHUP, syscall.SIGHUP},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.db")
			c := endless(t, path)
			for _, s := range signals {
				if err := c.Process.Signal(s); err != nil {
					t.Fatal(err)
				}
			}
			// Of two signals that are sent at once either may be the first to arrive.
			code, want := exitCode(t, c), []int{}
			for _, s := range signals {
				want = append(want, 128+int(s.(syscall.Signal)))
			}
			if !slices.Contains(want, code) {
				t.Errorf("exit code %d, want one of %d", code, want)
			}
			h, err := provision.NewHost(provision.DefaultDir(), nil)
			if err != nil {
				t.Fatal(err)
			}
			until(t, "no broker is left", func() bool { return len(h.Running()) == 0 })
			st, err := store.OpenReadOnlyContext(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			records, err := st.Records(t.Context(), store.Filter{})
			if err != nil || len(records) != 1 || records[0].Status != store.Aborted {
				t.Errorf("%d records, %v; want one aborted", len(records), err)
			}
		})
	}
}

// GNU timeout signals the program and then the program's group, which is the program again.
func TestTwoEqualSignalsAtOnceAreOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	c := endless(t, path)
	for range 2 {
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Millisecond) // equal signals of which none was taken yet are one to the kernel
	}
	code, said := exitCode(t, c), c.Stderr.(*bytes.Buffer).String()
	if code != 143 || !strings.Contains(said, "interrupted; 0 of 1 repetitions are done and stored in "+path) {
		t.Errorf("exit code %d, said %q; want 143 and where to go on", code, said)
	}
}

func TestABrokerThatCantBeInstalledIsExitCode3OrLeftOut(t *testing.T) {
	t.Setenv("PATH", "") // no java, and nothing to install it with
	path := filepath.Join(t.TempDir(), "s.db")
	args := []string{"--measure", "count", "--set", "count.messages=200", "--store", path, "--format", "jsonl"}
	r := brokermark(t, append([]string{"run", "--broker", "kafka,sim"}, args...)...).want(t, 3)
	complains(t, r, "1 of 2 repetitions found no broker; the first: ")
	if n := len(r.objects(t)); n != 2 {
		t.Errorf("%d objects, want kafka's and sim's", n)
	}
	r = brokermark(t, append([]string{"run", "--broker", "kafka,sim", "--available", "--again"}, args...)...).want(t, 0)
	if n := len(r.objects(t)); n != 1 || !strings.Contains(r.err, "leaving out kafka: ") {
		t.Errorf("%d objects, want sim's; stderr: %s", n, r.err)
	}
	r = brokermark(t, append([]string{"run", "--broker", "kafka", "--available", "--again"}, args...)...).want(t, 3)
	complains(t, r, "none of the brokers can be started on this machine")
	if out := brokermark(t, "doctor").want(t, 0).out; !strings.Contains(out, "java is missing") {
		t.Errorf("doctor doesn't see that java is missing:\n%s", out)
	}
	r = brokermark(t, "broker", "install", "kafka").want(t, 3)
	complains(t, r, "kafka 4.3.1: ")
}

// A registry that sends another file than the known one may be under attack: going on without the broker would hide it.
func TestAnAlteredDownloadEndsTheRunWithAvailableToo(t *testing.T) {
	bin := t.TempDir()
	script := "#!/bin/sh\necho 'verifying github.com/x/y@v1.0.0: checksum mismatch' >&2\necho 'SECURITY ERROR' >&2\nexit 1\n"
	if err := errors.Join(os.WriteFile(filepath.Join(bin, "go"), []byte(script), 0o755), os.Chmod(filepath.Dir(bin), 0o755), os.Chmod(bin, 0o755)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	home, err := ownDir("altered") // where nothing is installed
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(home)
	t.Setenv("BROKERMARK_HOME", home)
	r := brokermark(t, "run", "--broker", "nats-streaming,sim", "--available", "--measure", "count", "--set", "count.messages=200",
		"--store", filepath.Join(t.TempDir(), "s.db"), "--format", "jsonl").want(t, 3)
	if n := len(r.objects(t)); n != 0 || !strings.Contains(r.err, "checksum mismatch") {
		t.Errorf("%d objects, want none; stderr: %s", n, r.err)
	}
}

// A pipe between the program and a reader of lines stays line by line: every object is written as its repetition ends.
func TestObjectsComeAsRepetitionsEnd(t *testing.T) {
	c := exec.Command(os.Args[0], short("--axis", "count.messages=200,1000000000", "--format", "jsonl", "--store", filepath.Join(t.TempDir(), "s.db"), "--seed", "1")...)
	c.Env = append(os.Environ(), asProgram+"=1")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Wait() }()
	defer func() { _ = c.Process.Signal(os.Interrupt) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, `{"`) || !strings.Contains(line, `"broker":"sim"`) {
		t.Errorf("read %q, %v", line, err)
	}
}
