package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/brokermark/brokermark/internal/clock"
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
// The same point gives the same counts by any number of them, none of its latencies is less than the broker's
// delay, and the agents start within a millisecond where each has a core.
func TestAgentsInNamespacesMeasureTheSame(t *testing.T) {
	testkit.Long(t)
	if os.Getenv(inNamespaces) != "" {
		sameMeasurements(t)
		return
	}
	for _, program := range []string{"ip", "unshare"} {
		if _, err := exec.LookPath(program); err != nil {
			testkit.Lacks(t, "namespaces are made with %s, which is not here", program)
		}
	}
	c := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	c.Env = append(os.Environ(), inNamespaces+"=1")
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() != 0 {
		testkit.Lacks(t, "only root makes namespaces")
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

func sameMeasurements(t *testing.T) {
	ip(t, "link", "set", "lo", "up")
	ip(t, "link", "add", "bridge", "type", "bridge")
	ip(t, "addr", "add", here+"/24", "dev", "bridge")
	ip(t, "link", "set", "bridge", "up")
	h := newPlace(t)
	broker := startWith(t, []string{asBroker + "=" + here})
	var at string
	until(t, "the broker listens", func() bool { _, at, _ = strings.Cut(strings.TrimSpace(broker.text()), "at "); return at != "" })
	at = delayed(t, at)
	for _, c := range []struct {
		name    string
		repeats int
		set     []string
	}{
		{"each topic on one agent", 3, []string{"topics=8"}},
		{"one topic on all agents", 3, []string{"topics=1", "producersPerTopic=8", "subscriptionsPerTopic=2", "consumerPerSubscription=4", "place=spread"}},
	} {
		var first store.Record
		for _, n := range []int{1, 2, 4, 8} {
			spreads := []time.Duration{}
			for _, r := range h.onHosts(t, at, n, c.repeats, c.set) {
				if r.Result == nil || len(r.Agents) != n {
					t.Fatalf("%s, %d agents: %d took part: %s %s", c.name, n, len(r.Agents), r.Status, r.Reason)
				}
				if first.Result == nil {
					first = r
				}
				sameAs(t, fmt.Sprintf("%s, %d agents", c.name, n), r, first)
				spreads = append(spreads, startSpread(t, r))
			}
			slices.Sort(spreads)
			t.Logf("%s, %d agents: they started within %v", c.name, n, spreads)
			// More of them than cores wake one after the other.
			if middle := spreads[len(spreads)/2]; n <= runtime.NumCPU() && middle > time.Millisecond {
				t.Errorf("%s, %d agents: half of the time they started %s apart or more", c.name, n, middle)
			}
		}
	}
}

// sameAs compares the counts of a repetition with those of another one of the same point by one agent. No latency may be less than the broker's
// delay, whatever the clocks of both ends show. How much more it is depends on what else these two dozen processes do, which is more than the
// histogram's resolution; that the quantiles are the same is shown by TestQuantilesAreTheSameOnAnyNumberOfAgents, of latencies known in advance.
func sameAs(t *testing.T, what string, r, one store.Record) {
	t.Helper()
	got, want := r.Result.Books, one.Result.Books
	// Consumers of one subscription compete: which of them gets a message first is a matter of chance.
	got.Reordered, want.Reordered = 0, 0
	if got != want || got.Due != 2000 || got.Received != got.Expected || got.Expected == 0 {
		t.Errorf("%s: %+v; want %+v", what, got, want)
	}
	bound, h := r.Result.ClockBoundNs, r.Result.Latency.EndToEnd
	if h.Min() < int64(brokerDelay)-bound {
		t.Errorf("%s: a message took %s ± %s; none took less than %s", what, time.Duration(h.Min()), time.Duration(bound), brokerDelay)
	}
	t.Logf("%s: %s, %d due, %d received, latencies %s at least, %s at the median, %s at p99, ± %s", what, r.Status, got.Due, got.Received,
		time.Duration(h.Min()), time.Duration(h.Quantile(0.5)), time.Duration(h.Quantile(0.99)), time.Duration(bound))
}

// startSpread is by how much the agents of a repetition started apart, by clocks of which each has to be found a day or more ahead.
func startSpread(t *testing.T, r store.Record) time.Duration {
	t.Helper()
	late := []int64{}
	for _, a := range r.Agents {
		late = append(late, a.StartLateNs)
		if days := time.Duration(a.ClockOffsetNs).Hours() / 24; days < 0.5 {
			t.Errorf("%s: its clock is said to be %v days ahead", a.Name, days)
		}
	}
	return time.Duration(slices.Max(late) - slices.Min(late))
}

// brokerDelay is how much later than the broker sends them messages come to the agents.
const brokerDelay = 500 * time.Millisecond

// delayed is an address at which the broker's deliveries come brokerDelay later than it sends them. What it says when a client connects doesn't: a
// client makes one connection after the other.
func delayed(t *testing.T, broker string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", here+":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", broker)
			if err != nil {
				_ = client.Close()
				continue
			}
			go func() {
				_, _ = io.Copy(server, client)
				_ = server.Close()
			}()
			go delay(client, server)
		}
	}()
	return l.Addr().String()
}

// delay passes on what comes, brokerDelay later if it is messages.
func delay(to, from net.Conn) {
	type part struct {
		due  int64
		text []byte
	}
	parts := make(chan part, 1<<16)
	go func() {
		defer to.Close()
		for p := range parts {
			time.Sleep(time.Duration(p.due - clock.Now()))
			if _, err := to.Write(p.text); err != nil {
				_ = from.Close()
			}
		}
	}()
	defer close(parts)
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		due := clock.Now()
		if !bytes.HasPrefix(buffer[:n], []byte("INFO")) && !bytes.HasPrefix(buffer[:n], []byte("PONG")) {
			due += int64(brokerDelay)
		}
		parts <- part{due, bytes.Clone(buffer[:n])}
	}
}

// onHosts runs a point on n agents, each on a host of its own whose clock is i days ahead.
func (h place) onHosts(t *testing.T, broker string, n, repeats int, set []string) []store.Record {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.db")
	env := []string{"BROKERMARK_HOME=" + h.dir, asProgram + "=1"}
	args := []string{
		"run", "--broker", "nats", "--attach", broker, "--agents", strconv.Itoa(n), "--control", here + ":0", "--repeat", strconv.Itoa(repeats),
		"--rate", "1000", "--set", "warmup.for=500ms", "--duration", "2s", "--set", "drain=10s", "--store", path,
	}
	for _, one := range set {
		args = append(args, "--set", one)
	}
	run := startWith(t, env, args...)
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
	if len(list) != repeats {
		t.Fatalf("%d records; the run said:\n%s", len(list), run.text())
	}
	return list
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
