package worker

import (
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
)

func TestTheHeapMayGrowByNoMoreThanItsLeastSize(t *testing.T) {
	const least = 64 << 20
	for inUse, want := range map[int64]int{0: 1000, least / 4: 300, least / 2: 100, least: 100, 100 * least: 100} {
		if got := percentFor(inUse, least); got != want {
			t.Errorf("%d bytes in use: %d %%, want %d", inUse, got, want)
		}
	}
}

var inUseNow [][]byte

// What is in use is followed: 200 MB more bring the runtime's own rule back, and the end of the trial what was set before.
func TestCollectionsAreRareInTrialsWhereLittleIsInUse(t *testing.T) {
	t.Setenv("GOGC", "")
	before := debug.SetGCPercent(75)
	defer debug.SetGCPercent(before)
	defer func() { inUseNow = nil }()
	percent := func() int {
		s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(s)
		return int(s[0].Value.Uint64())
	}
	c := collectLess(64 << 20)
	if got := percent(); got <= byDefault {
		t.Errorf("%d %% with little in use", got)
	}
	for range 200 {
		inUseNow = append(inUseNow, make([]byte, 1<<20))
	}
	for began := clock.Now(); percent() != byDefault; {
		inUseNow[0] = make([]byte, 1<<20)
		if clock.Now()-began > int64(20*time.Second) {
			t.Fatalf("%d %% with 200 MB in use", percent())
		}
	}
	c.end()
	c.end()
	if got := percent(); got != 75 {
		t.Errorf("%d %% afterwards, want the 75 from before", got)
	}
}
