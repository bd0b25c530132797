package cli_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/brokermark/brokermark/internal/ledger"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/testkit"
)

// inNamespaces marks the process of these tests that has a network of its own: the coordinator's and the broker's host.
const inNamespaces = "BROKERMARK_CLI_TEST_IN_NAMESPACES"

// asBroker makes this binary a NATS server that listens on the address that the variable holds.
const asBroker = "BROKERMARK_CLI_TEST_AS_BROKER"

func serveBroker(host string) {
	s, err := server.NewServer(&server.Options{Host: host, Port: server.RANDOM_PORT, NoLog: true, NoSigs: true})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s.Start()
	fmt.Fprintln(os.Stderr, "at", s.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
	s.Shutdown()
}

// Agents on hosts of their own, as far as one machine has them: networks that meet at a bridge, and monotonic clocks that are days apart.
// The same point gives the same counts by any number of them.
func TestAgentsInNamespacesCountTheSame(t *testing.T) {
	testkit.Long(t)
	if os.Getenv(inNamespaces) != "" {
		sameCounts(t)
		return
	}
	for _, program := range []string{"ip", "unshare"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("namespaces are made with %s, which is not here", program)
		}
	}
	c := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	c.Env = append(os.Environ(), inNamespaces+"=1")
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() != 0 {
		t.Skip("only root makes namespaces")
	}
	out, err := c.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}

func ip(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		t.Fatalf("ip %v: %v %s", args, err, out)
	}
}

// The addresses exist in the tests' namespaces alone.
const here = "10.99.0.1"

func sameCounts(t *testing.T) {
	ip(t, "link", "set", "lo", "up")
	ip(t, "link", "add", "bridge", "type", "bridge")
	ip(t, "addr", "add", here+"/24", "dev", "bridge")
	ip(t, "link", "set", "bridge", "up")
	h := newPlace(t)
	broker := startWith(t, []string{asBroker + "=" + here})
	var at string
	until(t, "the broker listens", func() bool { _, at, _ = strings.Cut(strings.TrimSpace(broker.text()), "at "); return at != "" })
	var want ledger.Books
	for _, n := range []int{1, 2, 4, 8} {
		r := h.onHosts(t, at, n)
		if r.Result == nil {
			t.Fatalf("%d agents: %s %s", n, r.Status, r.Reason)
		}
		books := r.Result.Books
		var first, last, bound int64
		for i, a := range r.Agents {
			if i == 0 || a.StartLateNs < first {
				first = a.StartLateNs
			}
			last, bound = max(last, a.StartLateNs), max(bound, a.ClockBoundNs)
			if days := time.Duration(a.ClockOffsetNs).Hours() / 24; days < 0.5 {
				t.Errorf("%s: its clock is said to be %v days ahead", a.Name, days)
			}
		}
		t.Logf("%d agents: %s, %d due, %d received; they started within %s, give or take %s that clocks may differ", n, r.Status, books.Due, books.Received, time.Duration(last-first), time.Duration(bound))
		if n == 1 {
			want = books
		}
		if !reflect.DeepEqual(books, want) || books.Due != 2000 || books.Received != 2000 || len(r.Agents) != n {
			t.Errorf("%d agents: %+v; want %+v", len(r.Agents), books, want)
		}
	}
}

// onHosts runs a point on n agents, each on a host of its own whose clock is i days ahead.
func (h place) onHosts(t *testing.T, broker string, n int) store.Record {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.db")
	env := []string{"BROKERMARK_HOME=" + h.dir, asProgram + "=1"}
	run := startWith(t, env, "run", "--broker", "nats", "--attach", broker, "--set", "topics=8", "--agents", strconv.Itoa(n), "--control", here+":0",
		"--rate", "1000", "--set", "warmup.for=500ms", "--duration", "2s", "--set", "drain=10s", "--store", path)
	var with []string
	join := regexp.MustCompile(`--join 'nats://[^:]+:(\d+)(\?[^']+)' --token-file (\S+)`)
	until(t, "the run says how to join", func() bool { with = join.FindStringSubmatch(run.text()); return with != nil })
	var agents []*process
	for i := range n {
		a := newHost(t, env, i+1, os.Args[0], "agent", "--join", "nats://"+here+":"+with[1]+with[2], "--token-file", with[3], "--name", fmt.Sprint("host", i+1), "--once")
		agents = append(agents, a)
	}
	exitCode(t, run.Cmd)
	for _, a := range agents {
		if code := exitCode(t, a.Cmd); code != 0 {
			t.Errorf("an agent ended with %d", code)
		}
	}
	list := records(t, path)
	if len(list) != 1 {
		t.Fatalf("%d records; the run said:\n%s", len(list), run.text())
	}
	return list[0]
}

// newHost runs a command in namespaces of its own: a network with one address, and a monotonic clock that is so many days ahead.
func newHost(t *testing.T, env []string, number int, args ...string) *process {
	t.Helper()
	inner := `echo ready >&2; read go; ip link set lo up; ip addr add "$0"/24 dev eth0; ip link set eth0 up; exec "$@" </dev/null`
	address := fmt.Sprintf("10.99.0.%d", number+1)
	p := startProgram(t, env, "unshare", append([]string{"--net", "--time", "--monotonic", strconv.Itoa(number * 24 * 3600), "--fork", "--kill-child", "--", "sh", "-c", inner, address}, args...)...)
	until(t, "the host is there", func() bool { return strings.Contains(p.text(), "ready") })
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", p.Process.Pid, p.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	outside := fmt.Sprint("host", number)
	ip(t, "link", "add", outside, "type", "veth", "peer", "name", "eth0", "netns", strings.TrimSpace(string(children)))
	ip(t, "link", "set", outside, "master", "bridge", "up")
	if _, err := p.stdin.Write([]byte("go\n")); err != nil {
		t.Fatal(err)
	}
	return p
}
