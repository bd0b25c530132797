package lab

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/remark"
)

// Each row has one thing at its limit, or none, and the text says what users read.
func TestTheLimitAndTheNextOneAreNamed(t *testing.T) {
	cores := func(p bottleneck, inUse float64) bottleneck {
		p.cores, p.inUse, p.users = 2, inUse, remark.Of("broker (%.1f) and generator (%.1f)", inUse/2, inUse/2)
		return p
	}
	thread := strain{thread: "redis-server", threadRan: 0.98}
	for name, c := range map[string]struct {
		seen bottleneck
		want string
	}{
		"nothing is known":  {bottleneck{}, "nothing that was looked at was at its limit"},
		"nothing is at it":  {cores(bottleneck{strain: strain{thread: "x", threadRan: 0.61}}, 0.4), "nothing that was looked at was at its limit; nearest to it: one thread of the broker, x, at 61 % of a core"},
		"nothing is near":   {cores(bottleneck{strain: strain{thread: "x", threadRan: 0.4}}, 0.4), "nothing that was looked at was at its limit"},
		"one thread":        {cores(bottleneck{strain: thread, blocked: 0.97}, 1.7), "the limit: one thread of the broker, redis-server, at 98 % of a core; next: the machine's 2 cores, of which broker (0.8) and generator (0.8) used 1.7"},
		"an ended thread":   {bottleneck{strain: strain{threadRan: 1}}, "the limit: one thread of the broker at 100 % of a core"},
		"thread, then cpu":  {cores(bottleneck{strain: thread}, 1.9), "the limit: one thread of the broker, redis-server, at 98 % of a core; next: the machine's 2 cores, of which broker (0.9) and generator (0.9) used 1.9"},
		"the cores":         {cores(bottleneck{strain: strain{waitedCPU: 0.8}, blocked: 1}, 1.9), "the limit: the machine's 2 cores, of which broker (0.9) and generator (0.9) used 1.9, and threads waited for one for 80 % of the time"},
		"a thread waits":    {cores(bottleneck{strain: strain{thread: "x", threadRan: 0.6, threadWaited: 0.35}}, 1.2), "the limit: one thread of the broker, x, ran for 60 % of the time and waited for a core for 35 %; next: one thread of the broker, x, at 60 % of a core"},
		"the window":        {cores(bottleneck{blocked: 0.97}, 0.3), "the limit: producers waited for a free place in the window for 97 % of their time"},
		"its own quota":     {bottleneck{held: 0.4, heldSeen: "the broker itself held back", blocked: 1}, "the limit: the broker itself held back"},
		"the disk":          {bottleneck{strain: strain{disk: "vda", diskWorked: 0.96}, blocked: 1}, "the limit: the disk, vda, was busy for 96 % of the time"},
		"a throttled disk":  {bottleneck{strain: strain{disk: "vda", diskWorked: 0.2, waitedIO: 0.93}}, "the limit: threads waited for a disk for 93 % of the time"},
		"memory":            {bottleneck{strain: strain{waitedMemory: 0.3}}, "the limit: threads waited for memory for 30 % of the time"},
		"limits.broker.cpu": {bottleneck{broker: 0.19, cpuLimit: 0.2}, "the limit: the broker used 0.19 of the 0.20 cores that limits.broker.cpu leaves it"},
		"limits.broker.io":  {bottleneck{ioLimit: 1 << 20, strain: strain{diskBytes: 1 << 20, waitedIO: 0.9}, blocked: 1}, "the limit: the broker wrote or read 1MiB/s of the 1MiB/s that limits.broker.io leaves it; next: threads waited for a disk for 90 % of the time"},
		"written back":      {bottleneck{ioLimit: 1e6, strain: strain{diskBytes: 2e6}, blocked: 1}, "the limit: producers waited for a free place in the window for 100 % of their time"},
		"the bandwidth":     {bottleneck{strain: strain{linkPassed: 0.98}, blocked: 1}, "the limit: a connection passed bytes at the bandwidth of the network that the spec asks for, for 98 % of the time"},
		"affinity":          {bottleneck{broker: 0.97, cores: 2, strain: strain{allowed: 1}}, "the limit: the broker used 0.97 cores, and may run on 1"},
		"all cores allowed": {cores(bottleneck{broker: 1.1, strain: strain{allowed: 2}}, 1.1), "nothing that was looked at was at its limit; nearest to it: the machine's 2 cores, of which broker (0.6) and generator (0.6) used 1.1"},
		"slow consumers":    {bottleneck{working: 0.95, blocked: 0.9}, "the limit: the busiest consumer worked on its messages for 95 % of the time"},
		"slow producers":    {bottleneck{preparing: 1.2}, "the limit: the busiest producer worked on its messages for 100 % of the time"},
		"the client's Send": {bottleneck{sending: 0.85}, "the limit: producers were in the client's Send for 85 % of their time"},
		"a goroutine":       {bottleneck{goroutine: "readLoop", goroutineShare: 0.97, goroutineMost: 0.9, strain: thread}, "the limit: readLoop of the generator used 0.97 of a core, all that one goroutine can; next: one thread of the broker, redis-server, at 98 % of a core"},
		"the latency":       {bottleneck{latency: "the bound on the latency", generator: "it was late"}, "the limit: it was late; next: the bound on the latency"},
	} {
		if c.seen.goroutineMost == 0 {
			c.seen.goroutineMost = 0.9
		}
		if got := c.seen.limits().String(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A share at its threshold is not beyond it, and a rule that looks at nothing would pass the test above.
func TestEveryCauseCanBeTheLimitAndIsExplained(t *testing.T) {
	all := bottleneck{
		generator: "g", latency: "l", client: "c", heldSeen: "h", held: 1, preparing: 1, working: 1, cores: 2, inUse: 2, broker: 1, cpuLimit: 1, ioLimit: 1,
		goroutineMost: 0.9, blocked: 1, sending: 1,
		strain: strain{threadRan: 1, allowed: 1, diskWorked: 1, waitedMemory: 1, linkPassed: 1, diskBytes: 1},
	}
	page, err := os.ReadFile("../../docs/explain.md")
	if err != nil {
		t.Fatal(err)
	}
	causes := map[string]bool{}
	for _, c := range all.candidates() {
		if c.near() > 1 {
			causes[c.cause] = true
		}
		if !strings.Contains(string(page), "| `"+c.cause+"` |") {
			t.Errorf("docs/explain.md doesn't explain %s", c.cause)
		}
	}
	if len(causes) != 16 {
		t.Errorf("%d causes: %v", len(causes), causes)
	}
	if got := all.limits(); len(got) != 2 || got.Cause() != limitGenerator || got[1].Cause != limitLatency {
		t.Errorf("of all that is at its limit the first two are %v", got)
	}
	if got := (bottleneck{blocked: blockedMost, goroutineMost: 0.9}).limits(); got.Cause() != "" {
		t.Errorf("half of the time is the limit: %s", got)
	}
}

// The kernel's counts become shares of the time between two readings; disks count only if the broker used one.
func TestStrainIsWhatHappenedBetweenTwoReadings(t *testing.T) {
	at := func(ns, written int64, w work) fullReading {
		w.at = ns
		r := fullReading{reading: reading{at: ns}, work: &w}
		r.broker.DiskWriteBytes = written
		return r
	}
	from, to := work{}, work{allowed: 3, links: [][]time.Duration{{time.Second, 1500 * time.Millisecond}, {time.Second}}}
	from.links = [][]time.Duration{{time.Second}}
	from.waits.Disks = map[string]time.Duration{"vda": time.Second}
	to.waits.Disks = map[string]time.Duration{"vda": 2 * time.Second}
	to.waits.IO, to.waits.Memory, to.waits.CPU = time.Second, 200*time.Millisecond, time.Hour
	s := strainBetween(at(1e9, 0, from), at(3e9, 512, to))
	if want := (strain{allowed: 3, disk: "vda", diskWorked: 0.5, diskBytes: 256, waitedIO: 0.5, waitedMemory: 0.1, waitedCPU: 1, linkPassed: 0.75}); s != want {
		t.Errorf("%+v, want %+v", s, want)
	}
	if s := strainBetween(at(1e9, 7, from), at(3e9, 7, to)); s.disk != "" || s.waitedIO != 0 || s.waitedMemory != 0.1 {
		t.Errorf("a broker that wrote nothing: %+v", s)
	}
	if s := strainBetween(fullReading{}, at(3e9, 7, to)); s != (strain{}) {
		t.Errorf("half of it was read: %+v", s)
	}
}
