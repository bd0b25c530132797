package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/brokermark/brokermark/internal/cli"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store/pgtest"
)

// asProgram makes this binary the program itself, for tests that send it signals.
const asProgram = "BROKERMARK_CLI_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	provision.Main() // this binary is also the supervisor and the NATS server of these tests
	if os.Getenv(asProgram) != "" {
		registerCrashing()
		os.Exit(cli.Program())
	}
	if dir := os.Getenv(asControl); dir != "" {
		serveControl(dir)
		return
	}
	if host := os.Getenv(asBroker); host != "" {
		serveBroker(host)
		return
	}
	if pid := os.Getenv(asRemover); pid != "" {
		remove(pid)
		return
	}
	if signal.Ignored(syscall.SIGHUP) { // by nohup: a program that these tests start would ignore it as well, unless this process handles it
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	os.Exit(inHome(m.Run))
}

// inHome runs the tests with a work directory of their own, which is removed when they have ended.
func inHome(run func() int) int {
	home, err := ownDir("cli")
	if err == nil {
		err = os.Setenv("BROKERMARK_HOME", home)
	}
	end := func() {}
	if err == nil {
		end, err = watchOver()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer end()
	defer pgtest.Stop()
	return run()
}

// result is what a run of the program gave.
type result struct {
	code     int
	out, err string
}

func brokermark(t *testing.T, args ...string) result {
	t.Helper()
	return with(t, t.Context(), "", args...)
}

func with(t *testing.T, ctx context.Context, stdin string, args ...string) result {
	t.Helper()
	var out, err bytes.Buffer
	code := cli.Main(ctx, args, strings.NewReader(stdin), &out, &err)
	return result{code, out.String(), err.String()}
}

// measured is brokermark for a command that measures. Repetitions that were void, on a machine that had other things to do, run again
// with the same command, which is given up to three times more.
func measured(t *testing.T, args ...string) result {
	t.Helper()
	r := brokermark(t, args...)
	for again := 0; r.code == 5 && again < 3; again++ {
		r = brokermark(t, args...)
	}
	return r
}

func (r result) want(t *testing.T, code int) result {
	t.Helper()
	if r.code != code {
		t.Fatalf("exit code %d, want %d\nstdout: %s\nstderr: %s", r.code, code, r.out, r.err)
	}
	return r
}

// objects decodes JSON lines and fails on anything else.
func (r result) objects(t *testing.T) []map[string]any {
	t.Helper()
	var list []map[string]any
	for line := range strings.Lines(r.out) {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("stdout holds %q, which is no JSON object: %v", line, err)
		}
		list = append(list, o)
	}
	return list
}

// count sends 200 messages as fast as it can. A fixed rate would make these tests void on a busy machine.
func count(broker string, more ...string) []string {
	args := []string{"run", "--broker", broker, "--measure", "count", "--set", "drain=5s"}
	if !slices.ContainsFunc(more, func(arg string) bool { return strings.HasPrefix(arg, "count.messages=") }) {
		args = append(args, "--set", "count.messages=200")
	}
	return append(args, more...)
}

// short is a point on the in-process broker that takes a fraction of a second.
func short(more ...string) []string { return count("sim", more...) }

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
