package fleet_test

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/fleet"
	"github.com/brokermark/brokermark/internal/testkit"
	"github.com/brokermark/brokermark/internal/worker"
)

// asBookkeeper makes this binary a process with one agent, which books a minute's traffic: the variable holds its name, the number of consumers
// of all agents together, and the folder for its results.
const asBookkeeper = "BROKERMARK_FLEET_TEST_AS_BOOKKEEPER"

// minute is a million messages a second for a minute, of one producer. Of several consumers each receives a part, at random.
func minute(consumers int) *traffic {
	m := newTraffic(1, 1, 1, consumers, 60_000_000)
	m.lossEvery = 1_000_003
	if consumers > 1 {
		m.twice = 999_983
	}
	return m
}

// keepBooks is the process that asBookkeeper makes.
func keepBooks(what string) error {
	var name, dir string
	var consumers int
	if _, err := fmt.Sscan(what, &name, &consumers, &dir); err != nil {
		return err
	}
	return beAgents([]fleet.Options{{Name: name, Dir: dir, Worker: &bookkeeper{traffic: minute(consumers), hasty: true}}})
}

// memory reads a line of /proc/self/status in bytes: VmRSS is what this process has in memory, and VmHWM the most since resetPeak.
func memory(t *testing.T, line string) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		testkit.Lacks(t, "this system doesn't report the memory of a process: %v", err)
	}
	_, rest, _ := strings.Cut(string(text), line+":")
	number, _, _ := strings.Cut(strings.TrimSpace(rest), " kB")
	kb, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return kb << 10
}

func resetPeak(t *testing.T) {
	t.Helper()
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		testkit.Lacks(t, "this system doesn't reset the peak memory of a process: %v", err)
	}
}

// The accounts of a million messages a second for a minute, of two agents in processes of their own, become one result: packed, kept on disk, sent
// through the control server, unpacked and joined. What that takes docs/fleet.md says; a time and memory several times as large fail the test.
func TestAMinuteOfAMillionMessagesASecondCrossesTheControlChannel(t *testing.T) {
	testkit.Long(t)
	for name, consumers := range map[string]int{"one sends, the other receives": 1, "both receive half, at random": 2} {
		t.Run(name, func(t *testing.T) {
			c := control(t)
			for _, agent := range []string{"left", "right"} {
				startAgents(t, c, fmt.Sprintf("%s=%s %d %s", asBookkeeper, agent, consumers, t.TempDir()))
			}
			f, err := gather(t, c, 2, 30*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			a := f.Agent()
			of := minute(consumers)
			p := plan(t, 1)
			p.Worker, p.Place.Spread = of.plan, true
			if _, err := a.Prepare(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			resetPeak(t)
			before, crossed := memory(t, "VmRSS"), c.Traffic()
			out, parts := a.Run(t.Context(), worker.Load{Duration: time.Minute, Drain: time.Second})
			after, peak := clock.Now(), memory(t, "VmHWM")
			crossed.Bytes = c.Traffic().Bytes - crossed.Bytes
			if out.Err != nil || len(parts) != 2 {
				t.Fatalf("%v, %d parts", out.Err, len(parts))
			}
			var lost, twice int64
			for number := range of.messages {
				if of.lost(number) {
					lost++
				} else if of.twice > 0 && number%of.twice == 0 {
					twice++
				}
			}
			b := out.Measured
			if b.Sent != int64(of.messages) || b.Acked != b.Sent || b.Lost != lost || b.LostAcked != lost || b.Received != b.Sent-lost || b.Duplicated != twice || b.Reordered+b.Corrupted+b.Stale != 0 || !b.Balanced() {
				t.Errorf("%+v; want %d lost, %d twice", b, lost, twice)
			}
			took := time.Duration(after - out.LastAcked) // since the later agent had booked its last message
			t.Logf("%d lost and %d twice of %d; %.1f MB crossed; %s until they were joined; the coordinator, with its control server, had %d MB before and %d MB at most",
				lost, twice, of.messages, float64(crossed.Bytes)/1e6, took.Round(time.Millisecond), before/1e6, peak/1e6)
			if took > 10*time.Second || peak-before > 400e6 {
				t.Errorf("%s, %d MB more", took, (peak-before)/1e6)
			}
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
