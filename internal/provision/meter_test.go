package provision

import (
	"math"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/procfs"
)

// What the children of children burn is seen while they live and kept when they are gone, over restarts too.
func TestMeterCountsGrandchildrenAndNeverGoesBack(t *testing.T) {
	in := start(t, newHost(t), Options{Server: map[string]any{"daemon": true}})
	m := in.Meter()
	before := m.Sample()
	if before.Processes != 2 || before.RSSBytes == 0 {
		t.Errorf("at first: %+v", before)
	}
	ask(t, in, 1, "burn")
	burnt := m.Sample()
	if burnt.User-before.User < 50*time.Millisecond {
		t.Errorf("a burning grandchild took only %v", burnt.User-before.User)
	}
	if err := in.Kill(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	dead := m.Sample()
	if dead.User < burnt.User || dead.Processes != 0 || dead.RSSBytes != 0 {
		t.Errorf("after the kill: %+v, before it: %+v", dead, burnt)
	}
	if err := in.Restart(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	again := m.Sample()
	if again.User < dead.User || again.Processes != 2 {
		t.Errorf("after the restart: %+v, before it: %+v", again, dead)
	}
	ask(t, in, 1, "burn")
	if last := m.Sample(); last.User-again.User < 50*time.Millisecond {
		t.Errorf("the second burn took only %v", last.User-again.User)
	}
}

func TestMeterSeesDiskWritesAndData(t *testing.T) {
	in := start(t, newHost(t), Options{})
	m := in.Meter()
	before, data := m.Sample(), m.DataBytes()
	ask(t, in, 1, "write")
	eventually(t, "1 MiB of data", func() bool { return m.DataBytes()-data >= 1<<20 })
	if wrote := m.Sample().DiskWriteBytes; before.DiskWriteBytes >= 0 && wrote-before.DiskWriteBytes < 1<<20 {
		t.Errorf("disk writes grew by %d", wrote-before.DiskWriteBytes)
	}
}

func TestMeterKeepsWhatWasSeenWhenASupervisorIsKilled(t *testing.T) {
	in := start(t, newHost(t), Options{})
	ask(t, in, 1, "burn")
	seen := in.Meter().Sample()
	p := in.members[0].current()
	if err := syscall.Kill(p.Supervisor.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-in.Deaths()
	if u := in.Meter().Sample(); u.User < seen.User {
		t.Errorf("%v after %v", u.User, seen.User)
	}
}

func TestSelfUsageIsOfThisProcess(t *testing.T) {
	before := SelfUsage()
	x := 1
	for end := time.Now().Add(100 * time.Millisecond); time.Now().Before(end); x++ {
	}
	after := SelfUsage()
	if after.User+after.System <= before.User+before.System || after.RSSBytes == 0 || x == 0 {
		t.Errorf("%+v after %+v", after, before)
	}
}

func BenchmarkMeterSample(b *testing.B) {
	h, err := NewHost(os.TempDir()+"/provision-bench", nil)
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(h.Dir)
	in, err := h.Start(b.Context(), Options{Broker: "testbroker", Nodes: 3})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = in.Stop(b.Context()) }()
	for b.Loop() {
		in.Meter().Sample()
	}
}

// Our executable is several times as large as a NATS server, and how much of it is in memory depends on the page cache.
func TestAProgramOfOursIsNotChargedWithOurExecutable(t *testing.T) {
	in := start(t, newHost(t), Options{})
	m := in.Meter()
	memory := m.Sample().RSSBytes
	var anonymous, mapped int64
	for _, pid := range m.PIDs() {
		p, err := procfs.NewProc(pid)
		if err != nil {
			t.Fatal(err)
		}
		s, err := p.NewStatus()
		if err != nil {
			t.Fatal(err)
		}
		anonymous += int64(s.RssAnon)
		mapped += int64(s.RssFile)
	}
	if math.Abs(float64(memory-anonymous)) > float64(mapped)/2 {
		t.Errorf("%d bytes of memory, of which %d are its own and %d those of files", memory, anonymous, mapped)
	}
}
