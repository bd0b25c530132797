package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/fleet"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/testkit"
)

// natsUp starts a NATS server that goes on after the command that started it.
func natsUp(t *testing.T) (address string) {
	t.Helper()
	up := brokermark(t, "broker", "up", "nats").want(t, 0)
	t.Cleanup(func() { brokermark(t, "broker", "down", "nats").want(t, 0) })
	address = regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(up.out)
	if address == "" {
		t.Fatalf("no address in %s", up.out)
	}
	return address
}

// meeting is a control server of the user's own, and the flags by which processes meet there.
func meeting(t *testing.T) (m *fleet.Meeting, join string, token []string) {
	t.Helper()
	dir := t.TempDir()
	s, secret, err := usersServer(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Shutdown)
	address, err := fleet.ParseAddress(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	if m, err = fleet.Reach(t.Context(), nil, address, secret, t.Logf); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m, address.String(), []string{"--token-file", fleet.TokenFile(dir)}
}

func joined(t *testing.T, m *fleet.Meeting, agents int) {
	t.Helper()
	until(t, "the agents have joined", func() bool {
		list, err := m.List(t.Context())
		return err == nil && len(list) == agents
	})
}

// One agent meters a NATS server for this process, another one for a run; this process meters the server, too.
func TestAnAgentOnTheBrokersHostMetersItAsThisProcessWould(t *testing.T) {
	address := natsUp(t)
	m, join, token := meeting(t)
	_, port, _ := strings.Cut(address, ":")
	start(t, append([]string{"agent", "--join", join, "--name", "mine", "--meter", ":" + port}, token...)...)
	joined(t, m, 1)
	f, err := m.Gather(t.Context(), fleet.Gathering{Wait: time.Second, Build: buildOf(t, m), Say: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	meters := f.Meters(t.Context(), []string{"192.0.2.7:4222", address})
	if len(meters) != 1 || len(meters[0].Facts().Serves) != 1 || meters[0].Facts().Serves[0] != address {
		t.Fatalf("%+v", meters)
	}
	if err := meters[0].Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	start(t, append([]string{"agent", "--join", join, "--name", "meter", "--meter", address}, token...)...)
	start(t, append([]string{"agent", "--join", join, "--name", "load"}, token...)...)
	joined(t, m, 3)
	local, missing := provision.Find(t.Context(), []string{address})
	if local == nil {
		t.Fatal(missing)
	}
	flushes, err := provision.WatchFlushes()
	if err == nil {
		defer flushes.Close()
	}
	from, begin := clock.Now(), local.Sample()
	path := filepath.Join(t.TempDir(), "s.db")
	run := start(t, append([]string{"run", "--broker", "nats", "--attach", address, "--rate", "10000", "--set", "warmup.for=0s", "--duration", "2s", "--agents", "1", "--control", join, "--store", path}, token...)...)
	code := exitCode(t, run.Cmd)
	until, end := clock.Now(), local.Sample()
	if code != 0 && code != 5 {
		t.Fatalf("exit code %d", code)
	}
	here := (end.User + end.System - begin.User - begin.System).Seconds()

	used, err := meters[0].At(t.Context(), from, until)
	if err != nil {
		t.Fatal(err)
	}
	there := cpu(used[1]) - cpu(used[0])
	if ratio := there / here; ratio < 0.9 || ratio > 1.1 { // a tick of the kernel at each end is 1 % of it
		t.Errorf("the agent saw %.2f s, this process %.2f s", there, here)
	}
	if used[1].Used.DiskWriteBytes != end.DiskWriteBytes || used[1].Used.RSSBytes <= 0 || (used[1].Flushes < 0) != (flushes == nil) {
		t.Errorf("%+v, here %+v", used[1], end)
	}

	r := records(t, path)[0]
	c := r.Result.Cost
	if broker := c.BrokerUserSeconds + c.BrokerSystemSeconds; !c.BrokerKnown || broker > 1.1*here || broker < 0.5*here || c.BrokerRSSBytes <= 0 || (c.BrokerFlushes == nil) != (flushes == nil) {
		t.Errorf("%.2f s of all of the server's %.2f s: %+v", broker, here, c)
	}
	if len(r.Meters) != 1 || !strings.HasPrefix(r.Meters[0].Name, "meter on ") || r.Meters[0].Addresses[0] != address || r.Meters[0].ClockBoundNs != 0 || len(r.Agents) != 1 || !strings.HasPrefix(r.Agents[0].Name, "load on ") {
		t.Errorf("%+v, %+v", r.Meters, r.Agents)
	}
	for _, d := range r.Doubts {
		if d.Code == "attached" && !strings.Contains(d.Text, "its cost is that of the processes that agents meter (") || d.Code == "busy-machine" && strings.Contains(d.Text, "nats") {
			t.Errorf("%+v", d)
		}
	}
	reported := 0
	for _, o := range brokermark(t, "report", "--store", path, "--format", "jsonl").want(t, 0).objects(t) {
		if o["broker"] != "nats" {
			continue
		}
		reported++
		if per, known := o["broker_cpu_s_per_million"].(float64); !known || per <= 0 {
			t.Errorf("%v of the report's %v", o["broker_cpu_s_per_million"], o)
		}
	}
	if reported == 0 {
		t.Error("the report has no row")
	}
}

func cpu(m agent.Metered) float64 { return (m.Used.User + m.Used.System).Seconds() }

// buildOf is what the agents at a meeting were built from.
func buildOf(t *testing.T, m *fleet.Meeting) string {
	t.Helper()
	list, err := m.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return list[0].Info.Build
}

// A meter that is lost leaves the rest of the trial as it is.
func TestWithoutItsMeterWhatABrokerCostIsNotKnown(t *testing.T) {
	testkit.Long(t) // most of it is waiting until the meter is given up
	address := natsUp(t)
	m, join, token := meeting(t)
	meter := start(t, append([]string{"agent", "--join", join, "--name", "meter", "--meter", address}, token...)...)
	start(t, append([]string{"agent", "--join", join, "--name", "load"}, token...)...)
	joined(t, m, 2)
	path := filepath.Join(t.TempDir(), "s.db")
	run := start(t, append([]string{"run", "--broker", "nats", "--attach", address, "--rate", "500", "--set", "warmup.for=0s", "--duration", "2s", "--agents", "1", "--control", join, "--store", path}, token...)...)
	until(t, "the run uses the meter", func() bool { return strings.Contains(meter.text(), "working for ") })
	time.Sleep(time.Second)
	if err := meter.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if code := exitCode(t, run.Cmd); code != 0 && code != 5 {
		t.Fatalf("exit code %d", code)
	}
	r := records(t, path)[0]
	var said string
	for _, d := range r.Doubts {
		if d.Code == "meter-lost" {
			said = d.Text
		}
	}
	if r.Result.Cost.BrokerKnown || r.Result.Books.Received != 1000 || !strings.Contains(said, "the broker's cost is not known: agent meter on ") || !strings.Contains(said, " was lost: it was not heard for ") {
		t.Errorf("%s, %q, %+v", r.Status, said, r.Result.Cost)
	}
	if r.Status == store.Aborted {
		t.Errorf("%s: %s", r.Status, r.Reason)
	}
}

func TestWhatCannotBeMeteredIsRefused(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]string{
		"4194305":     "--meter: no process 4194305 to meter",
		":none":       `--meter: port "none" is not a number up to 65535`,
		"127.0.0.1:1": "--meter: 127.0.0.1:1: no socket of this network namespace listens on it",
		"no-such":     "--meter: no process of the unit no-such.service runs; allowed is",
	} {
		if r := brokermark(t, "agent", "--join", "nats://127.0.0.1:1", "--token-file", token, "--meter", what); r.code != 2 || !strings.Contains(r.err, want) {
			t.Errorf("%s: exit code %d, %s; want %q", what, r.code, r.err, want)
		}
	}
}
