package agent

import (
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/provision"
)

func TestWhatWasUsedBetweenTwoReadingsGrowsEvenly(t *testing.T) {
	reading := func(at int64, cpu time.Duration, disk, flushes int64) Metered {
		return Metered{At: at, Used: provision.Usage{User: cpu, System: 2 * cpu, RSSBytes: disk, Disk: provision.Disk{DiskReadBytes: disk, DiskWriteBytes: 2 * disk}}, Flushes: flushes}
	}
	a, b := reading(1000, 100*time.Millisecond, 4096, 10), reading(2000, 200*time.Millisecond, 8192, 30)
	for at, want := range map[int64]Metered{
		500:  reading(500, 100*time.Millisecond, 4096, 10), // before both: the first
		1000: reading(1000, 100*time.Millisecond, 4096, 10),
		1250: reading(1250, 125*time.Millisecond, 5120, 15),
		2000: reading(2000, 200*time.Millisecond, 8192, 30),
		9000: reading(9000, 200*time.Millisecond, 8192, 30), // after both: the last
	} {
		got := Between(a, b, at)
		want.Used.RSSBytes = b.Used.RSSBytes
		if got.At != want.At || got.Used != want.Used || got.Flushes != want.Flushes {
			t.Errorf("at %d: %+v, want %+v", at, got, want)
		}
	}
	a.Flushes, a.Used.DiskReadBytes = -1, -1
	if got := Between(a, b, 1500); got.Flushes != -1 || got.Used.DiskReadBytes != -1 || got.Used.DiskWriteBytes != 12288 {
		t.Errorf("what is not known has become %+v", got)
	}
}

// It is unknown whether calls that the kernel lost between two readings came before or after a time in between.
func TestFlushesLostBetweenTwoReadingsLeaveTheirNumberThereUnknown(t *testing.T) {
	a, b := Metered{At: 1000, Flushes: 10, Gaps: 1}, Metered{At: 2000, Flushes: 30, Gaps: 2}
	if got := Between(a, b, 1500); got.Flushes != NotCounted {
		t.Errorf("%d flushes, though some were lost", got.Flushes)
	}
	if got := Between(a, b, 2000); got.Flushes != 30 || got.Gaps != 2 {
		t.Errorf("%+v at the time of the second reading", got)
	}
}
