package provision

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// testTool is a run of the tool as a process of its own: it starts a broker, says where, and waits to be killed.
func testTool(args []string) int {
	h, err := NewHost(args[0], nil)
	if err != nil {
		return 2
	}
	if args[1] == "install" {
		i := &Install{Dir: filepath.Join(h.installs(), "half.new")}
		_ = os.Mkdir(i.Dir, 0o755)
		_ = json.NewEncoder(os.Stdout).Encode("half")
		_, _ = i.Run(context.Background(), Command{Path: "sh", Args: []string{"-c", "sleep 1000 & echo $! > pid; wait"}})
		return 1
	}
	o := Options{Broker: "testbroker", Nodes: 2, Server: map[string]any{"daemon": true}}
	if args[1] == "in memory" {
		o.DataInMemory = 32 << 20
	}
	if args[1] == "limited" {
		o.Limits = Limits{CPU: 1.5}
	}
	in, err := h.Start(context.Background(), o)
	if err != nil {
		return 3
	}
	if args[1] == "detach" {
		if in.Detach() != nil {
			return 4
		}
	}
	_ = json.NewEncoder(os.Stdout).Encode(in.ID())
	time.Sleep(time.Hour)
	return 0
}

func runTool(t *testing.T, h *Host, mode string) (tool *exec.Cmd, id string) {
	t.Helper()
	tool = exec.Command(self, programArg, "0", strconv.Itoa(os.Getpid()), "testtool", h.Dir, mode)
	out, err := tool.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := tool.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = tool.Process.Kill()
		_ = tool.Wait()
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &id) != nil {
		t.Fatalf("the tool said %q, %v", line, err)
	}
	return tool, id
}

func TestKilledToolLeavesNoProcessAndNoDirectory(t *testing.T) {
	h := newHost(t)
	tool, id := runTool(t, h, "stay")
	s, err := readState(filepath.Join(h.runs(), id))
	if err != nil || s.Running != 2 {
		t.Fatalf("%d nodes run, %v", s.Running, err)
	}
	var pids []int
	for _, n := range s.Nodes {
		pids = append(pids, n.Supervisor.PID)
		for _, d := range descendants(n.Supervisor.PID) {
			pids = append(pids, d.PID)
		}
	}
	if len(pids) < 6 {
		t.Fatalf("expected supervisors, brokers and daemons, found %v", pids)
	}
	_ = tool.Process.Signal(syscall.SIGKILL)
	eventually(t, "every process gone", func() bool { return !slices.ContainsFunc(pids, alive) })
	eventually(t, "the directory gone", func() bool { return isEmpty(t, h.runs()) })
}

func TestToolKilledInMidInstallLeavesNothing(t *testing.T) {
	h := newHost(t)
	tool, _ := runTool(t, h, "install")
	var works []string
	eventually(t, "the download runs", func() bool {
		works, _ = filepath.Glob(filepath.Join(h.installs(), "half.new", ".work-*", "pid"))
		return len(works) == 1
	})
	download := readPID(t, works[0])
	_ = tool.Process.Kill()
	eventually(t, "the download ended", func() bool { return !alive(download) })
	eventually(t, "the half installation gone", func() bool { return isEmpty(t, h.installs()) })
}

func TestABrokerOfWhichSeveralRunIsAskedForByTheIDsOfThose(t *testing.T) {
	h := newHost(t)
	var ids []string
	for _, broker := range []string{"several", "testbroker", "testbroker"} {
		in, err := h.Start(t.Context(), Options{Broker: broker})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = in.Stop(context.Background()) })
		ids = append(ids, in.ID())
	}
	want := "2 instances of testbroker are running, name one by its id: " + ids[1] + ", " + ids[2]
	if _, err := h.Attach("testbroker"); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestDetachedInstanceOutlivesItsToolAndIsFoundAgain(t *testing.T) {
	h := newHost(t)
	tool, id := runTool(t, h, "detach")
	_ = tool.Process.Kill()
	_ = tool.Wait()
	if swept := h.sweepRuns(); len(swept) > 0 {
		t.Fatal("a running instance was swept away")
	}
	list := h.Running()
	if len(list) != 1 || list[0].ID != id || list[0].Running != 2 {
		t.Fatalf("running: %+v", list)
	}
	in, err := h.Attach("testbroker")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Stop(context.Background()) }()
	if got := ask(t, in, 2, "id"); got != id {
		t.Errorf("node 2 is %q", got)
	}
	if u := in.Meter().Sample(); u.Processes != 4 {
		t.Errorf("%d processes are metered", u.Processes)
	}
	if err := in.Restart(t.Context(), 1); err != nil {
		t.Error(err)
	}
	if got := ask(t, in, 1, "id"); got != id {
		t.Errorf("node 1 is %q", got)
	}
	if err := in.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(h.Running()) > 0 || !isEmpty(t, h.runs()) {
		t.Error("something is left")
	}
	if _, err := h.Attach(id); err == nil || !strings.Contains(err.Error(), "no broker is running") {
		t.Error(err)
	}
}

// killedWhole kills a tool and its supervisors at once, so that none of them cleans up. It returns the instance, whose
// directory is left, and a process in it.
func killedWhole(t *testing.T, h *Host) (id string, daemon int) {
	t.Helper()
	tool, id := runTool(t, h, "stay")
	dir := filepath.Join(h.runs(), id)
	s, err := readState(dir)
	if err != nil {
		t.Fatal(err)
	}
	_ = tool.Process.Signal(syscall.SIGSTOP)
	eventually(t, "the tool stopped", func() bool { // until then it would notice that they are, and clear up itself
		for _, d := range descendants(os.Getpid()) {
			if d.PID == tool.Process.Pid {
				return d.State == "T"
			}
		}
		return false
	})
	daemon = readPID(t, filepath.Join(dir, "node-1", "daemon.pid"))
	for _, n := range s.Nodes {
		_ = syscall.Kill(n.Supervisor.PID, syscall.SIGKILL)
	}
	_ = tool.Process.Kill()
	_ = tool.Wait()
	eventually(t, "main processes dead with their supervisors", func() bool { return !alive(s.Nodes[0].Main) })
	if !alive(daemon) {
		t.Fatal("the daemon died already; nothing to sweep")
	}
	return id, daemon
}

func TestTheNextCommandRemovesWhatKilledOnesLeft(t *testing.T) {
	for name, next := range map[string]func(h *Host) error{
		"any": func(h *Host) error { _, err := NewHost(h.Dir, nil); return err },
		"clean": func(h *Host) error {
			list, err := Holdings(h.Dir)
			if err != nil {
				return err
			}
			return Clear(h.Dir, list)
		},
	} {
		h := newHost(t)
		_, daemon := killedWhole(t, h)
		eventually(t, "what was left is removed by "+name, func() bool { // the kernel may still be at the killed ones
			err := next(h)
			return err == nil && !alive(daemon)
		})
		if left, _ := filepath.Glob(filepath.Join(h.runs(), "*")); len(left) > 0 {
			t.Errorf("%s: left are %v", name, left)
		}
	}
}

func TestNothingIsLeftOfANodeWhoseSupervisorIsKilled(t *testing.T) {
	in := start(t, newHost(t), Options{Server: map[string]any{"daemon": true}})
	node := in.cluster.Nodes[0]
	daemon := readPID(t, filepath.Join(node.Dir, "daemon.pid"))
	_ = syscall.Kill(in.members[0].current().Supervisor.PID, syscall.SIGKILL)
	if d := <-in.Deaths(); !strings.Contains(d.Reason, "its supervisor was killed") {
		t.Errorf("%+v", d)
	}
	eventually(t, "the daemon dead", func() bool { return !alive(daemon) })
}

func TestUnexpectedDeathIsReportedWithItsLog(t *testing.T) {
	in := start(t, newHost(t), Options{Nodes: 2})
	ask(t, in, 2, "exit")
	d := <-in.Deaths()
	if d.Node != 2 || d.Reason != "exited with code 7" || !strings.Contains(d.String(), "cruel world") {
		t.Errorf("%+v", d)
	}
	if err := in.Pause(t.Context(), 2); err == nil || !strings.Contains(err.Error(), "does not run") {
		t.Error(err)
	}
}

func TestPausedNodeAnswersOnlyAfterResume(t *testing.T) {
	in := start(t, newHost(t), Options{Server: map[string]any{"daemon": true}})
	if err := in.Pause(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for _, d := range descendants(in.members[0].current().Supervisor.PID) {
		if d.State != "T" {
			t.Errorf("process %d is in state %s", d.PID, d.State)
		}
	}
	brief, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if got, err := askTLS(brief, in.Addresses()[0], nil, "id"); err == nil {
		t.Errorf("a paused node answers %q", got)
	}
	if err := in.Resume(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, in, 1, "id"); got != in.ID() {
		t.Errorf("answer %q", got)
	}
}

func TestPausedNodeCanBeStoppedAndRestarted(t *testing.T) {
	in := start(t, newHost(t), Options{})
	for range 2 {
		if err := in.Pause(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		if err := in.Restart(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := in.Pause(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if err := in.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestKilledNodeRestartsOnItsOwnDataAndPorts(t *testing.T) {
	in := start(t, newHost(t), Options{Nodes: 2})
	ask(t, in, 1, "write")
	before := ask(t, in, 1, "who")
	if err := in.Kill(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if _, err := askTLS(t.Context(), in.Addresses()[0], nil, "id"); err == nil {
		t.Error("a killed node answers")
	}
	ask(t, in, 2, "id")
	if err := in.Restart(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if ask(t, in, 1, "who") == before {
		t.Error("it is the same process")
	}
	if got := ask(t, in, 1, "stored"); got != "<nil>" {
		t.Errorf("its data: %s", got)
	}
	select {
	case d := <-in.Deaths():
		t.Errorf("a kill on purpose is reported as a death: %v", d)
	default:
	}
}

func TestRestartsAtTheSameTimeDoNotHarmEachOther(t *testing.T) {
	in := start(t, newHost(t), Options{})
	var all errgroup.Group
	for range 3 {
		all.Go(func() error { return in.Restart(t.Context(), 1) })
	}
	if err := all.Wait(); err != nil {
		t.Error(err)
	}
	if got := ask(t, in, 1, "id"); got != in.ID() {
		t.Errorf("answer %q", got)
	}
}

func TestFaultsAreAimedAtNodes(t *testing.T) {
	in := start(t, newHost(t), Options{Nodes: 3})
	for _, c := range []struct {
		target string
		want   []int
		err    string
	}{
		{"4", nil, "no node 4"},
		{"0", nil, "no node 0"},
		{"first", nil, "allowed: all, leader, or a number"},
		{"all", []int{1, 2, 3}, ""},
		{"leader", []int{2}, ""},
		{"3", []int{3}, ""},
	} {
		got, err := in.NodeOf(t.Context(), c.target)
		if !slices.Equal(got, c.want) || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: %v, %v", c.target, got, err)
		}
	}
}
