package worker

import (
	"math"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/measure"
)

func TestASilenceIsATimeInWhichSomethingWasOpenAndNothingGotDone(t *testing.T) {
	type sample struct{ at, done, open int64 }
	for name, c := range map[string]struct {
		samples []sample
		want    int64
	}{
		"nothing at all":                         {nil, 1000},
		"nothing delivered":                      {[]sample{{150, 0, 1}, {900, 0, 1}, {1300, 0, 1}}, 1000},
		"a standstill in the middle":             {[]sample{{150, 1, 1}, {300, 2, 1}, {700, 2, 1}, {800, 3, 1}, {1099, 9, 1}}, 500},
		"one that ends in the drain":             {[]sample{{150, 1, 1}, {400, 2, 1}, {1300, 3, 1}, {5000, 3, 1}}, 900},
		"quiet after the last one isn't missing": {[]sample{{200, 1, 1}, {500, 2, 1}, {800, 3, 1}, {1090, 4, 1}, {9000, 4, 1}}, 300},
		"in the drain only":                      {[]sample{{150, 1, 1}, {1090, 9, 1}, {1120, 10, 1}, {5000, 11, 1}}, 940},
		"warm-up doesn't count":                  {[]sample{{10, 5, 1}, {90, 5, 1}, {350, 6, 1}, {600, 7, 1}, {900, 8, 1}, {1050, 9, 1}}, 300},
		"while nothing was due":                  {[]sample{{150, 1, 1}, {200, 2, 0}, {500, 2, 0}, {520, 2, 1}, {700, 3, 1}, {1090, 4, 1}}, 390},
		"due only after a while":                 {[]sample{{150, 1, 0}, {700, 1, 0}, {1000, 1, 1}, {1050, 2, 0}}, 350},
		"nothing due at the end":                 {[]sample{{150, 1, 1}, {400, 2, 1}, {1090, 2, 0}}, 250},
	} {
		for _, known := range []int64{1100, math.MaxInt64} { // the end of the phase, while the trial runs
			var s silenceRecorder
			for _, x := range c.samples {
				s.add(phaseTimes{From: 100, Until: known}, x.at, Progress{Finished: x.done, Outstanding: x.open})
			}
			var longest int64
			for _, g := range s.silences(phaseTimes{From: 100, Until: 1100}) {
				longest = max(longest, g.To-g.From)
			}
			if longest != c.want {
				t.Errorf("%s: %d ns, want %d", name, longest, c.want)
			}
		}
	}
}

func TestTheLongestSilencesAreKeptOverADay(t *testing.T) {
	var s silenceRecorder
	const day = int64(86_400e9)
	phase := phaseTimes{From: 0, Until: day}
	for at, n := int64(0), int64(0); at < day; n++ {
		s.add(phase, at, Progress{Finished: n, Outstanding: 1})
		if at += 20e6; n%100_000 == 99_999 {
			at += n * 1000 // some are longer
		}
	}
	longest := s.silences(phase)
	if len(longest) > 2*maxSilences {
		t.Errorf("%d are kept", len(longest))
	}
	lengths := []int64{}
	for _, g := range longest {
		lengths = append(lengths, g.To-g.From)
	}
	slices.Sort(lengths)
	if got, want := lengths[len(lengths)-1], int64(20e6+4_299_999*1000); got != want {
		t.Errorf("the longest is %d ns, want %d", got, want)
	}
}

func TestARowIsThinnedEvenly(t *testing.T) {
	for _, limit := range []int{1, 2, 7, 8} {
		thinEvenly(t, limit)
	}
}

func thinEvenly(t *testing.T, limit int) {
	t.Helper()
	row := NewThinned[int](limit)
	for i := range 1000 {
		row.Add(i)
		kept := row.Values()
		if len(kept) > limit || len(kept) < min(i+1, (limit+1)/2) {
			t.Fatalf("of at most %d, after %d values %d are kept", limit, i+1, len(kept))
		}
		step := i + 1
		if len(kept) > 1 {
			step = kept[1]
		}
		for k, v := range kept {
			if v != k*step {
				t.Fatalf("after %d values: %v", i+1, kept)
			}
		}
		if last := kept[len(kept)-1]; i-last >= step {
			t.Fatalf("after %d values the last that is kept is %d: %v", i+1, last, kept)
		}
	}
}

func TestADayOfSamplesTakesNoMoreMemoryThanAnHour(t *testing.T) {
	w := prepared(t, 1, 100)
	tr := w.begin(Load{Messages: 1}, 0)
	tr.recording.watch.Close()
	o := newObserver(w, tr)
	const day = int64(86_400e9)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for at := int64(SampleEvery); at <= day; at += int64(SampleEvery) {
		n := at / 50_000 // 20,000/s
		o.keep(Sample{At: at, Count: measure.Count{Sent: n, Acked: n, Received: n - n%7}, Due: n, Undelivered: n % 7}, phaseTimes{From: 0, Until: day})
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	grown := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Attr("grown_bytes", strconv.FormatInt(max(0, grown), 10)) // for make bench
	if grown > 20<<20 {
		t.Errorf("a day of samples takes %d MiB", grown>>20)
	}
	samples := o.samples.Values()
	first, last := samples[0], samples[len(samples)-1]
	if first.At != int64(SampleEvery) || day-last.At > int64(4*time.Second) || last.Count.Sent != last.At/50_000 {
		t.Errorf("from %d to %d, with %d sent", first.At, last.At, last.Count.Sent)
	}
}
