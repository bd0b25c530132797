package provision

import (
	"context"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/testkit"
)

const container = "/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// tcp writes the table of sockets: "address:port" in the kernel's notation, state, owner and inode.
func (f fakeProc) tcp(table string, lines ...string) {
	text := "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	for i, l := range lines {
		w := strings.Fields(l)
		text += "   " + strconv.Itoa(i) + ": " + w[0] + " 00000000:0000 " + w[1] + " 00000000:00000000 00:00000000 00000000     " +
			w[2] + "        0 " + w[3] + " 1 0000000000000000 100 0 0 10 0\n"
	}
	f.write("net/"+table, "%s", text)
}

func (f fakeProc) find(self int, port uint64) (*Foreign, string) {
	m := &Foreign{mount: f.dir, self: self, seen: map[identity]Usage{}, parents: map[identity]int{}}
	at := endpoint{[]net.IP{net.IPv4(127, 0, 0, 1)}, port}
	pids, why := listeners(f.dir, at)
	if why = m.passable(pids, why); why != "" {
		return nil, why
	}
	m.endpoints, m.roots = []endpoint{at}, m.identities(pids)
	m.look()
	return m, ""
}

// again has the next reading look for new processes.
func (f *Foreign) again() Usage { f.scanned = time.Time{}; return f.Sample() }

func TestAProcessIsFoundByTheSocketItListensOn(t *testing.T) {
	for name, c := range map[string]struct {
		v4, v6 []string
		procs  []fakeProcess
		want   string // the process, or why there is none
	}{
		"by its address": {[]string{"0100007F:1628 0A 0 71"}, nil, []fakeProcess{{pid: 50, name: "beam.smp", sockets: []int{70, 71}}}, "beam.smp, process 50"},
		"any address":    {[]string{"00000000:1628 0A 0 71"}, nil, []fakeProcess{{pid: 50, name: "java", sockets: []int{71}}}, "java, process 50"},
		"IPv6, any address": {
			nil,
			[]string{"00000000000000000000000000000000:1628 0A 0 71"},
			[]fakeProcess{{pid: 50, name: "java", sockets: []int{71}}},
			"java, process 50",
		},
		"IPv4 in IPv6": {
			nil,
			[]string{"0000000000000000FFFF00000100007F:1628 0A 0 71"},
			[]fakeProcess{{pid: 50, name: "java", sockets: []int{71}}},
			"java, process 50",
		},
		"workers share a socket": {
			[]string{"0100007F:1628 0A 0 71"},
			nil,
			[]fakeProcess{{pid: 50, name: "main", sockets: []int{71}}, {pid: 51, parent: 50, name: "work", sockets: []int{71}}},
			"main, process 50; work, process 51",
		},
		"no server listens":   {[]string{"0100007F:1628 01 0 71", "0100007F:1629 0A 0 71"}, nil, []fakeProcess{{pid: 50, name: "x", sockets: []int{71}}}, "no socket of this network namespace listens on it"},
		"at another address":  {[]string{"0500A8C0:1628 0A 0 71"}, nil, []fakeProcess{{pid: 50, name: "x", sockets: []int{71}}}, "no socket of this network namespace listens on it"},
		"of another user":     {[]string{"0100007F:1628 0A 0 71"}, nil, []fakeProcess{{pid: 50, name: "x"}}, "its socket belongs to the user root, whose processes can't be looked into"},
		"published by docker": {[]string{"0100007F:1628 0A 0 71"}, nil, []fakeProcess{{pid: 50, name: "docker-proxy", sockets: []int{71}}}, "docker-proxy listens on it, which passes everything on"},
		"behind a proxy":      {[]string{"0100007F:1628 0A 0 71"}, nil, []fakeProcess{{pid: 50, name: "haproxy", sockets: []int{71}}}, "haproxy listens on it, which passes everything on"},
		"of this process":     {[]string{"0100007F:1628 0A 0 71"}, nil, []fakeProcess{{pid: 7, name: "brokermark", sockets: []int{71}}}, "this process itself listens on it"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeProc(t)
			f.machine(0, 0, 0, 0)
			f.tcp("tcp", c.v4...)
			f.tcp("tcp6", c.v6...)
			f.add(c.procs...)
			m, why := f.find(7, 0x1628)
			if m != nil {
				why = m.String()
			}
			if why != c.want {
				t.Errorf("%q, want %q", why, c.want)
			}
		})
	}
}

// listening is a server (50) with a child, beside others.
func listening(t *testing.T, cgroup string) fakeProc {
	f := newFakeProc(t)
	f.machine(0, 0, 0, 0)
	f.tcp("tcp", "0100007F:1628 0A 0 71")
	f.add(
		fakeProcess{pid: 1, name: "init"},
		fakeProcess{pid: 7, parent: 1, name: "brokermark", cgroup: "/user.slice/session-2.scope"},
		fakeProcess{pid: 50, parent: 1, name: "beam.smp", start: 5, user: 100, system: 20, cuser: 3, pages: 10, read: 512, written: 4096, sockets: []int{71}, cgroup: cgroup},
		fakeProcess{pid: 51, parent: 50, name: "erl_child_setup", start: 6, user: 4, pages: 2, read: 1024, written: 100, cgroup: cgroup},
		fakeProcess{pid: 60, parent: 1, name: "epmd", start: 4, user: 9, pages: 1, cgroup: cgroup},
	)
	return f
}

func TestWhatBelongsToAListeningProcessIsMeteredWithIt(t *testing.T) {
	const tick, alone, together = 10 * time.Millisecond, 2, 3
	for cgroup, want := range map[string]int{
		"/": alone, "/user.slice/session-2.scope": alone, "/user.slice/user-1000.slice/user@1000.service/init.scope": alone,
		"/system.slice/rabbitmq-server.service": together, container: together,
		"/user.slice/user-1000.slice/user@1000.service/app.slice/rabbit.service": together,
	} {
		f := listening(t, cgroup)
		m, why := f.find(7, 0x1628)
		if m == nil {
			t.Fatal(why)
		}
		u := m.Sample()
		user, pages := 107*tick, 12
		if want == together {
			user, pages = 116*tick, 13
		}
		if u.Processes != want || u.User != user || u.System != 20*tick || u.RSSBytes != int64(pages*os.Getpagesize()) || u.DiskWriteBytes != 4196 || u.DiskReadBytes != 1536 {
			t.Errorf("%s: %+v, want %d processes, %v", cgroup, u, want, user)
		}
		if n := len(m.Roots()); n != want {
			t.Errorf("%s: %d roots", cgroup, n)
		}
	}
}

func TestTheGeneratorInTheBrokersServiceIsNotTheBrokers(t *testing.T) {
	f := listening(t, "/system.slice/job.service")
	f.add(fakeProcess{pid: 7, parent: 1, name: "brokermark", user: 9000, cgroup: "/system.slice/job.service"})
	m, _ := f.find(7, 0x1628)
	if u := m.Sample(); u.Processes != 2 {
		t.Errorf("%+v, want the server and its child alone", u)
	}
}

func TestTheUsageOfAForeignBrokerNeverGoesBack(t *testing.T) {
	const tick = 10 * time.Millisecond
	f := listening(t, "")
	m, why := f.find(7, 0x1628)
	if m == nil {
		t.Fatal(why)
	}
	var readBefore int64
	server := fakeProcess{pid: 50, parent: 1, name: "beam.smp", start: 5, user: 100, system: 20, cuser: 3, written: 4096}
	for i, step := range []struct {
		change func()
		user   time.Duration
		wrote  int64
		alive  int
	}{
		{func() {}, 107, 4196, 2},
		{func() { f.add(fakeProcess{pid: 52, parent: 51, name: "inet_gethost", start: 90, user: 6, written: 10}) }, 113, 4206, 3},
		// A child ends and is reaped by its parent: 7 in the end, of which 6 were seen.
		{func() {
			f.remove(52)
			f.add(fakeProcess{pid: 51, parent: 50, name: "erl_child_setup", start: 6, user: 4, cuser: 7, written: 110})
		}, 114, 4206, 2},
		{func() { f.remove(51); server.cuser += 11; server.written += 110; f.add(server) }, 114, 4206, 1},
		{func() { f.remove(50) }, 114, 4206, 0}, // nobody of ours reaps the server
		{func() {
			f.add(fakeProcess{pid: 80, parent: 1, name: "beam.smp", start: 95, user: 10, sockets: []int{71}})
		}, 124, 4206, 1},
		{func() {
			f.remove(80)
			f.add(fakeProcess{pid: 80, parent: 1, name: "someone else", start: 99, user: 1000})
		}, 124, 4206, 0},
	} {
		step.change()
		u := m.again()
		if u.DiskReadBytes < readBefore || u.DiskReadBytes < 512 {
			t.Errorf("step %d: %d bytes read after %d", i+1, u.DiskReadBytes, readBefore)
		}
		readBefore = u.DiskReadBytes
		if u.User != step.user*tick || u.DiskWriteBytes != step.wrote || u.Processes != step.alive {
			t.Errorf("step %d: %+v, want %v, %d bytes written, %d processes", i+1, u, step.user*tick, step.wrote, step.alive)
		}
	}
}

func TestDiskTrafficThatCannotBeReadIsUnknown(t *testing.T) {
	f := listening(t, "")
	if err := os.Remove(f.dir + "/51/io"); err != nil {
		t.Fatal(err)
	}
	m, _ := f.find(7, 0x1628)
	if u := m.Sample(); u.DiskWriteBytes != -1 || u.DiskReadBytes != -1 || u.User == 0 {
		t.Errorf("%+v", u)
	}
}

func TestAddressesElsewhereAreNotLookedForHere(t *testing.T) {
	f, missing := Find(t.Context(), []string{"192.0.2.7:5672", "127.0.0.1:1", "127.0.0.1:none"})
	if f != nil || len(missing) != 3 {
		t.Fatalf("%v, %+v", f, missing)
	}
	for i, want := range []Missing{
		{"192.0.2.7:5672", false, "it is not on this machine"},
		{"127.0.0.1:1", true, "no socket of this network namespace listens on it"},
		{"127.0.0.1:none", false, `port "none" is not a number`},
	} {
		if missing[i] != want {
			t.Errorf("%+v, want %+v", missing[i], want)
		}
	}
}

const spinVariable = "PROVISION_TEST_SPIN"

// TestSpin is no test but what the tests below run as other processes: it listens, if it is told to, and keeps a core busy.
func TestSpin(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv(spinVariable))
	if err != nil {
		testkit.Without(t, "only for other tests")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	os.Stdout.WriteString(l.Addr().String() + "\n")
	for end := time.Now().Add(length); time.Now().Before(end); {
	}
}

// spin starts such a process and returns its address when it listens.
func spin(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestSpin$")
	cmd.Env = append(os.Environ(), spinVariable+"=20s")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	line := make([]byte, 100)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(line[:n]))
}

func TestARunningProcessIsMeteredByItsAddressAndNoOther(t *testing.T) {
	address := spin(t)
	before := TakeCensus()
	f, missing := Find(t.Context(), []string{address})
	if f == nil || len(missing) > 0 {
		t.Fatalf("%+v", missing)
	}
	first := f.Sample()
	const burnt = 300 * time.Millisecond
	eventually(t, "0.3 s of processor time", func() bool { return f.Sample().User-first.User >= burnt })
	after := TakeCensus()
	with, without := after.Since(before, os.Getpid(), nil), after.Since(before, os.Getpid(), f.Roots())
	// Other processes are in both.
	if diff := with.Used - without.Used; diff < burnt {
		t.Errorf("among others it used %v, as the broker's %v: it used at least %v", with.Used, without.Used, burnt)
	}
	if u := f.Sample(); u.Processes != 1 || u.RSSBytes == 0 {
		t.Errorf("%+v", u)
	}
}

func TestAProgramInsideThisBinaryGoesByItsOwnName(t *testing.T) {
	in, err := newHost(t).Start(t.Context(), Options{Broker: "testbroker"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Stop(context.Background()) })
	f, missing := Find(t.Context(), in.Addresses())
	if f == nil || !strings.HasPrefix(f.String(), "testbroker, process ") {
		t.Errorf("found %s, missing %v", f, missing)
	}
}
