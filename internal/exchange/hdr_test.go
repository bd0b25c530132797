package exchange

import (
	"bufio"
	"bytes"
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/storetest"
)

// within is the precision of our buckets (1/256) and HdrHistogram's (1/1024) together.
const within = 1.0/256 + 1.0/1024

func near(a, b float64) bool { return math.Abs(a-b) <= within*math.Max(a, b)+1 }

func e2e(t *testing.T) results.LatencyKind {
	t.Helper()
	kind, err := results.LatencyByName("e2e")
	if err != nil {
		t.Fatal(err)
	}
	return kind
}

func TestALogReadBackByTheReferenceLibraryHoldsTheSameValues(t *testing.T) {
	records := storetest.Demo()
	var log bytes.Buffer
	if err := WriteHlog(&log, records, e2e(t)); err != nil {
		t.Fatal(err)
	}
	reader := hdrhistogram.NewHistogramLogReader(&log)
	n := 0
	for _, r := range records {
		for _, want := range intervals(r, e2e(t)) {
			got, err := reader.NextIntervalHistogram()
			if err != nil || got == nil {
				t.Fatalf("interval %d: %v, %v", n, got, err)
			}
			n++
			if got.Tag() != want.tag || strings.ContainsAny(got.Tag(), ", \n") {
				t.Errorf("tag %q, want %q", got.Tag(), want.tag)
			}
			if got.TotalCount() != want.latency.Count() {
				t.Errorf("%s: %d values, want %d", want.tag, got.TotalCount(), want.latency.Count())
			}
			for _, q := range []float64{0, 0.01, 0.5, 0.9, 0.99, 0.999, 1} {
				if a, b := float64(got.ValueAtPercentile(100*q)), float64(want.latency.Quantile(q)); !near(a, b) && q > 0 {
					t.Errorf("%s at %v: %v, want %v", want.tag, q, a, b)
				}
			}
			if a, b := float64(got.Min()), float64(want.latency.Min()); !near(a, b) {
				t.Errorf("%s: smallest %v, want %v", want.tag, a, b)
			}
			if a, b := float64(got.Max()), float64(want.latency.Max()); !near(a, b) {
				t.Errorf("%s: largest %v, want %v", want.tag, a, b)
			}
			if d := got.StartTimeMs() - r.Began.UnixMilli(); d < -1 || d > 1 { // seconds with six digits in between
				t.Errorf("%s began %d, want %d", want.tag, got.StartTimeMs(), r.Began.UnixMilli())
			}
			if got := got.EndTimeMs() - got.StartTimeMs(); got < 9_999 || got > 10_001 {
				t.Errorf("%s took %d ms, want 10 s", want.tag, got)
			}
		}
	}
	if more, _ := reader.NextIntervalHistogram(); more != nil {
		t.Error("the log holds more than the records")
	}
	if n < 100 {
		t.Errorf("only %d intervals", n)
	}
}

func TestVoidIntervalsHaveATagOfTheirOwn(t *testing.T) {
	var tags []string
	for _, r := range storetest.Demo() {
		if r.Spec.Broker == "rabbitmq" && r.Status == store.Void {
			for _, i := range intervals(r, e2e(t)) {
				tags = append(tags, i.tag)
			}
		}
	}
	if len(tags) != 3 || tags[0] != "rabbitmq-100-rate-void" {
		t.Errorf("tags %q", tags)
	}
}

func TestPercentileTextHoldsTheDistribution(t *testing.T) {
	number := regexp.MustCompile(`^ *([0-9.]+) +([0-9.]+) +(\d+)( +[0-9.]+)?$`)
	for _, d := range results.Distributions(results.Of(storetest.Demo()).Points, e2e(t)) {
		var text bytes.Buffer
		if err := WriteHgrm(&text, d, e2e(t)); err != nil {
			t.Fatal(err)
		}
		lines, last := 0, int64(0)
		for s := bufio.NewScanner(&text); s.Scan(); {
			m := number.FindStringSubmatch(s.Text())
			if m == nil {
				if s.Text() != "" && s.Text()[0] != '#' && !strings.Contains(s.Text(), "Percentile") {
					t.Errorf("neither a number nor a comment: %q", s.Text())
				}
				continue
			}
			lines++
			value, _ := strconv.ParseFloat(m[1], 64)
			last, _ = strconv.ParseInt(m[3], 10, 64)
			rank := float64(last) / float64(d.Latencies.Count())
			if want := float64(d.Latencies.Quantile(rank)) / 1e6; math.Abs(value-want) > within*want+0.001 {
				t.Errorf("%s: %v ms at rank %v, want %v", d.Point.ID, value, rank, want)
			}
		}
		if lines < 10 || last != d.Latencies.Count() {
			t.Errorf("%s: %d lines up to %d of %d values", d.Point.ID, lines, last, d.Latencies.Count())
		}
	}
}

func TestAbsentHistogramsAreAnsweredWithAnError(t *testing.T) {
	var out bytes.Buffer
	empty := storetest.Empty()
	for _, what := range []string{"nothing", "nothing measured"} {
		records, ok := empty[what]
		if !ok {
			t.Fatalf("there is no example %q", what)
		}
		if err := WriteHlog(&out, records, e2e(t)); !errors.Is(err, ErrEmpty) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := WriteHgrm(&out, results.Distribution{}, e2e(t)); !errors.Is(err, ErrEmpty) {
		t.Error(err)
	}
}

func TestExtremesSurvive(t *testing.T) {
	for _, values := range [][]int64{{0}, {1}, {0, 1, 2}, {hist.Limit - 1}, {1, hist.Limit * 3}} {
		h := hist.New()
		for _, v := range values {
			h.Record(v)
		}
		got, err := hdr(h.Snapshot(), 1)
		if err != nil {
			t.Fatalf("%v: %v", values, err)
		}
		if !near(float64(got.Max()), float64(values[len(values)-1])) || !near(float64(got.Min()), float64(values[0])) {
			t.Errorf("%v became %d to %d", values, got.Min(), got.Max())
		}
	}
}

func TestWhatIsOfAClosedLoopSaysSo(t *testing.T) {
	for _, measure := range []string{"rate", "peak"} {
		r := storetest.Demo()[1]
		r.Spec.Measure, r.Result.Curve = measure, nil
		all := results.Distributions(results.Of([]store.Record{r}).Points, e2e(t))
		if len(all) != 1 {
			t.Fatalf("%s: %d distributions", measure, len(all))
		}
		var hgrm, hlog bytes.Buffer
		if err := errors.Join(WriteHgrm(&hgrm, all[0], e2e(t)), WriteHlog(&hlog, []store.Record{r}, e2e(t))); err != nil {
			t.Fatal(err)
		}
		want := measure == "peak"
		if got := strings.Contains(hgrm.String(), "#[closed loop: "); got != want {
			t.Errorf("percentile text of a %s says that it is of a closed loop: %v", measure, got)
		}
		if got := strings.Contains(hlog.String(), "-closed-loop,"); got != want {
			t.Errorf("log of a %s says that it is of a closed loop: %v", measure, got)
		}
	}
}
