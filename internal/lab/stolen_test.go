package lab

import (
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// meterStolen returns a metering that has read, every half second, what was stolen from two cores in all.
func meterStolen(readings ...[2]time.Duration) *metering {
	m := &metering{}
	var before reading
	for i, stolen := range readings {
		r := reading{at: int64(i) * 5e8, stolen: map[int]time.Duration{0: stolen[0], 1: stolen[1]}}
		if i > 0 {
			m.addBurst(before, r)
		}
		before = r
	}
	return m
}

func TestALatencyThatTheHypervisorShapedIsDoubted(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		stolen []([2]time.Duration) // from two cores, every half second
		from   time.Duration        // of the measured phase, which lasts 5 s from there
		last   time.Duration        // when the last message came
		p99    time.Duration
		want   string
	}{
		"one core taken for 190 ms": {
			[][2]time.Duration{{3 * time.Hour, 0}, {3 * time.Hour, 0}, {3*time.Hour + 10*ms, 190 * ms}, {3*time.Hour + 20*ms, 190 * ms}},
			0, 0, 226 * ms,
			"the hypervisor took 190ms of core 1 within half a second, 1s after the measured phase began, and 190ms in all such times: what ran there stood still, and the latency end to end was 226ms at p99",
		},
		"too short for that latency": {[][2]time.Duration{{0, 0}, {0, 60 * ms}}, 0, 0, 226 * ms, ""},
		"too seldom for the p99": {
			[][2]time.Duration{{0, 0}, {0, 60 * ms}},
			0, 0, 30 * ms,
			"the hypervisor took 60ms of core 1 within half a second, 500ms after the measured phase began, and 60ms in all such times: what ran there stood still, and the latency end to end was 30ms at p99.9",
		},
		"in the warm-up": {[][2]time.Duration{{0, 0}, {0, 190 * ms}, {0, 190 * ms}}, time.Second, 0, 226 * ms, ""},
		"in the drain, after the last message": {
			[][2]time.Duration{{0, 0}, {0, 0}, {0, 190 * ms}}, -6 * time.Second, 500 * ms, 226 * ms, "",
		},
		"in the drain, before the last message": {
			[][2]time.Duration{{0, 0}, {0, 0}, {0, 190 * ms}},
			-6 * time.Second, 501 * ms, 226 * ms,
			"the hypervisor took 190ms of core 1 within half a second, 7s after the measured phase began, and 190ms in all such times: what ran there stood still, and the latency end to end was 226ms at p99",
		},
		"a little in every half second": {[][2]time.Duration{{0, 0}, {20 * ms, 0}, {40 * ms, 0}, {60 * ms, 0}, {80 * ms, 0}, {100 * ms, 0}}, 0, 0, 2 * ms, ""},
	} {
		h := hist.New()
		h.RecordN(int64(c.p99), 1000)
		tr := trial{Outcome: worker.Outcome{From: int64(c.from), Until: int64(c.from + 5*time.Second), LastReceived: int64(c.last), Histograms: measure.Histograms{EndToEnd: h.Snapshot()}}}
		tr.bursts = meterStolen(c.stolen...).bursts
		b, d := &bench{spec: study.Defaults()}, doubts{}
		b.doubtGenerator(tr, &d)
		var got []string
		for _, doubt := range d {
			if doubt.Code == "stolen" {
				got = append(got, doubt.Text)
			}
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}

func TestACoreThatWasNotReadBeforeLostNothing(t *testing.T) {
	m := &metering{}
	m.addBurst(reading{}, reading{at: 5e8, stolen: map[int]time.Duration{0: time.Hour}})
	if len(m.bursts) > 0 {
		t.Errorf("%+v", m.bursts)
	}
}
