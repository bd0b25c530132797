package provision

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func init() { Register(severalRecipe()) }

// severalRecipe is a node of two processes that note what happens to them, and a preparation between the two.
func severalRecipe() Recipe {
	return Recipe{
		Broker: "several", Versions: []Version{{Name: "1"}}, Ports: []string{"client"}, MaxNodes: 1,
		Command: func(n *Node) (Command, error) {
			in := func(name string) string { return filepath.Join(n.Dir, name) }
			lives := func(name string, after ...string) Step {
				script := fmt.Sprintf(`echo $$ > %[1]s.pid; echo %[1]s >> order; trap 'echo -%[1]s >> order; rm %[1]s.up; exit 0' TERM; touch %[1]s.up; while :; do sleep 0.02; done`, name)
				return Step{Name: name, Path: "sh", Args: []string{"-c", script}, After: after}
			}
			prepare := "echo prepare >> order"
			if s, ok := n.Cluster.Settings["prepare"].(string); ok {
				prepare = s
			}
			return Together([]string{"EXTRA=1"},
				lives("storage"),
				Step{Name: "prepare", Path: "sh", Args: []string{"-c", prepare}, Done: in("prepared"), After: []string{in("storage.up")}},
				lives("broker", in("storage.up"), in("prepared")))
		},
		Ready: func(_ context.Context, n *Node) error {
			_, err := os.Stat(filepath.Join(n.Dir, "broker.up"))
			return err
		},
	}
}

func startSeveral(t *testing.T, server map[string]any) (*Instance, error) {
	t.Helper()
	in, err := newHost(t).Start(t.Context(), Options{Broker: "several", Server: server, Keep: true})
	if err == nil {
		t.Cleanup(func() { _ = in.Stop(context.Background()) })
	}
	return in, err
}

func orderOf(t *testing.T, in *Instance) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(in.members[0].node.Dir, "order"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

func TestANodeOfSeveralProcessesStartsThemInOrderAndStopsThemInTheReverse(t *testing.T) {
	in, err := startSeveral(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Restart(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if err := in.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{"storage", "prepare", "broker", "-broker", "-storage", "storage", "broker", "-broker", "-storage"}
	if got := orderOf(t, in); !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
}

// endingRecipe is work that is divided among processes.
func endingRecipe(name, last string) Recipe {
	return Recipe{
		Broker: name, Versions: []Version{{Name: "1"}}, MaxNodes: 1, Part: true, Ends: true,
		Command: func(*Node) (Command, error) {
			step := func(name, script string) Step {
				return Step{Name: name, Path: "sh", Args: []string{"-c", script}, Ends: true}
			}
			return Together(nil, step("first", "echo first"), step("last", last))
		},
	}
}

func init() {
	Register(endingRecipe("divided", "sleep 0.5; echo last"))
	Register(endingRecipe("divided-in-vain", "sleep 0.5; exit 3"))
}

func TestWorkThatIsDividedEndsWithTheLastProcess(t *testing.T) {
	for name, want := range map[string]string{"divided": "", "divided-in-vain": "last has ended: exit status 3"} {
		in, err := newHost(t).Start(t.Context(), Options{Broker: name})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = in.Stop(context.Background()) })
		err = in.Wait(t.Context())
		printed := strings.Join(in.LogTail(1, 9), " ")
		if want == "" && (err != nil || printed != "first last") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, printed %s", name, err, printed)
		}
	}
}

func TestAPreparationThatFailsFailsTheStartAndIsNamed(t *testing.T) {
	_, err := startSeveral(t, map[string]any{"prepare": "echo no space; exit 3"})
	var died *ErrDied
	if !errors.As(err, &died) {
		t.Fatalf("%v; want an ErrDied", err)
	}
	for _, want := range []string{"no space", "prepare has failed: exit status 3"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
}

func TestTheEndOfOneOfSeveralProcessesIsTheEndOfTheNode(t *testing.T) {
	in, err := startSeveral(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := in.members[0].node.Dir
	broker := readPID(t, filepath.Join(dir, "broker.pid"))
	if err := syscall.Kill(readPID(t, filepath.Join(dir, "storage.pid")), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case d := <-in.Deaths():
		if !strings.Contains(d.String(), "storage has ended: signal: killed") {
			t.Errorf("%v", d)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("nobody noticed")
	}
	if alive(broker) {
		t.Error("the other process lives on")
	}
}

func TestANodeOfSeveralProcessesIsKilledAndMeteredAsOne(t *testing.T) {
	in, err := startSeveral(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := in.members[0].node.Dir
	pids := []int{readPID(t, filepath.Join(dir, "storage.pid")), readPID(t, filepath.Join(dir, "broker.pid"))}
	if err := in.Kill(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d has survived", pid)
		}
	}
	if got := orderOf(t, in); slices.Contains(got, "-broker") {
		t.Errorf("%v: it was asked to end, not killed", got)
	}
}
