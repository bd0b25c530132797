package exchange

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestAnHdrHistogramHasTheQuantilesOfTheSortedValues(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		sorted, per := latencies.Draw(t, "ns"), rapid.SampledFrom([]int64{1, 1000}).Draw(t, "per")
		h, err := hdr(recorded(sorted), per)
		if err != nil {
			t.Fatal(err)
		}
		if int(h.TotalCount()) != len(sorted) {
			t.Fatalf("%d values, want %d", h.TotalCount(), len(sorted))
		}
		for i, v := range sorted {
			want := float64(v / per)
			got := float64(h.ValueAtPercentile(100 * float64(i+1) / float64(len(sorted))))
			if got < math.Floor(want*(1-1.0/1024)) || got > math.Ceil(want*(1+within)) {
				t.Fatalf("value %d of %d is %v, want %v", i, len(sorted), got, want)
			}
		}
	})
}

// percentiles is a distribution as WriteHgrm prints it.
type percentiles struct {
	rows                      [][]float64 // value, share, count and, but for the last, 1/(1−share)
	mean, deviation, max, sum float64
	comments                  []string
}

func printed(t *rapid.T, d results.Distribution, kind results.LatencyKind) (p percentiles) {
	t.Helper()
	var text bytes.Buffer
	if err := WriteHgrm(&text, d, kind); err != nil {
		t.Fatal(err)
	}
	footer := regexp.MustCompile(`#\[Mean += +([0-9.]+), StdDeviation += +([0-9.]+)\]\n#\[Max += +([0-9.]+), Total count +=? +(\d+)\]\n$`).FindStringSubmatch(text.String())
	if footer == nil {
		t.Fatalf("no footer as Java writes it:\n%s", text.String())
	}
	for i, into := range []*float64{&p.mean, &p.deviation, &p.max, &p.sum} {
		*into, _ = strconv.ParseFloat(footer[i+1], 64)
	}
	for line := range strings.Lines(text.String()) {
		switch words := strings.Fields(line); {
		case strings.HasPrefix(line, "#"):
			p.comments = append(p.comments, strings.TrimSpace(line))
		case len(words) > 0 && words[0] != "Value":
			var row []float64
			for _, w := range words {
				v, err := strconv.ParseFloat(w, 64)
				if err != nil {
					t.Fatal(err)
				}
				row = append(row, v)
			}
			p.rows = append(p.rows, row)
		}
	}
	return p
}

func TestPercentileTextAgreesWithTheSortedValues(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		sorted := latencies.Draw(t, "ns")
		n := len(sorted)
		p := printed(t, results.Distribution{Used: true, Latencies: recorded(sorted)}, results.LatencyKinds[0])
		var sum, squares float64
		for _, v := range sorted {
			sum += float64(v) / 1e6
		}
		mean := sum / float64(n)
		for _, v := range sorted {
			squares += (float64(v)/1e6 - mean) * (float64(v)/1e6 - mean)
		}
		largest := float64(sorted[n-1]) / 1e6
		if math.Abs(p.mean-mean) > within*mean+0.002 || math.Abs(p.max-largest) > within*largest+0.002 || int(p.sum) != n {
			t.Fatalf("mean %v, largest %v, %v values; want %v ms, %v ms, %d", p.mean, p.max, p.sum, mean, largest, n)
		}
		if want := math.Sqrt(squares / float64(n)); math.Abs(p.deviation-want) > within*largest+0.002 {
			t.Fatalf("deviation %v, want %v ms", p.deviation, want)
		}
		for i, row := range p.rows {
			if count := int(row[2]); count < 1 || count > n || row[1] > float64(count)/float64(n)+1e-9 || math.Abs(row[0]-float64(sorted[count-1])/1e6) > within*row[0]+0.002 {
				t.Fatalf("%v of %d values", row, n)
			}
			if last := i == len(p.rows)-1; last != (len(row) == 3) || last && (row[1] != 1 || int(row[2]) != n) {
				t.Fatalf("row %d of %d: %v", i, len(p.rows), row)
			}
			if len(row) == 4 && math.Abs(row[3]*(1-row[1])-1) > 0.01 {
				t.Fatalf("1/(1−%v) is not %v", row[1], row[3])
			}
		}
		if len(p.comments) != 3 {
			t.Fatalf("%q", p.comments)
		}
	})
}

func TestPercentileTextBeginsWithWhatItIsOf(t *testing.T) {
	d := results.Distribution{RowTitle: "rate 5/s\n", N: 3, Latencies: recorded([]int64{5e6})}
	d.Point.ID, d.Point.Name, d.Point.Spec.Delivery = "id", "na\x7fme", "at-least-once"
	d.Point.Spec.MessageSize = study.Sizes{{Size: 100, Weight: 1}}
	testkit.Check(t, func(t *rapid.T) {
		d.Used = rapid.Bool().Draw(t, "used")
		p := printed(t, d, e2eKind)
		if want := "#[end-to-end latency (received − intended) of na me, 100 B, at-least-once, rate 5/s ; point id; repetitions: 3; milliseconds]"; p.comments[0] != want {
			t.Fatalf("got  %s\nwant %s", p.comments[0], want)
		}
		if warned := slices.Contains(p.comments, "#[void or failed: no conclusion may be drawn from it]"); warned == d.Used {
			t.Fatalf("%q", p.comments)
		}
	})
}

var e2eKind = results.LatencyKinds[0]

func TestALogBeginsWithItsFormatAndTheFirstIntervalsTime(t *testing.T) {
	empty := store.Record{Began: time.Unix(1, 0), Result: &store.Result{}}
	r := store.Record{PointID: "p", Status: store.OK, Began: time.Unix(1700000000, 0), Result: &store.Result{}}
	r.Result.Seconds, r.Result.Latency.EndToEnd = 2.3, recorded([]int64{1e6})
	var log bytes.Buffer
	if err := WriteHlog(&log, []store.Record{{}, empty, r, r}, e2eKind); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"#[Logged by brokermark: end-to-end latency (received − intended), nanoseconds]", "#[Histogram log format version 1.3]",
		"#[StartTime: 1700000000 (seconds since epoch), 2023-11-14T22:13:20Z]", `"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"`,
	}
	lines := strings.Split(log.String(), "\n")
	if len(lines) != 7 || !slices.Equal(lines[:4], want) || !strings.HasPrefix(lines[4], "Tag=p,1700000000.000000,2.300000,1.000") || lines[5] != lines[4] {
		t.Errorf("%s", log.String())
	}
}

func TestEveryLoadOfACurveIsAnIntervalOfItsOwnLength(t *testing.T) {
	r := store.Record{PointID: "p", Status: store.OK, Began: time.Unix(1700000000, 0), Result: &store.Result{}}
	r.Result.Seconds, r.Result.Latency.EndToEnd = 7, recorded([]int64{1e9})
	for i, seconds := range []float64{3, 2, 1.5} {
		c := store.CurvePoint{Rate: float64(i + 1), Status: store.OK}
		c.Seconds, c.Latency.EndToEnd = seconds, recorded([]int64{int64(i+1) * 1e6})
		r.Result.Curve = append(r.Result.Curve, c)
	}
	r.Result.Curve[2].Status = store.Void
	r.Result.Curve = append(r.Result.Curve, store.CurvePoint{Rate: 4, Status: store.Failed}) // nothing was measured
	var log bytes.Buffer
	if err := WriteHlog(&log, []store.Record{r}, e2eKind); err != nil {
		t.Fatal(err)
	}
	var got []string
	for reader := hdrhistogram.NewHistogramLogReader(&log); ; {
		h, err := reader.NextIntervalHistogram()
		if err != nil {
			t.Fatal(err)
		}
		if h == nil {
			break
		}
		got = append(got, fmt.Sprint(h.Tag(), " ", h.EndTimeMs()-h.StartTimeMs(), " ms"))
	}
	if want := []string{"p-curve_1/s 3000 ms", "p-curve_2/s 2000 ms", "p-curve_3/s-void 1500 ms"}; !slices.Equal(got, want) {
		t.Errorf("intervals %q, want %q", got, want)
	}
}

func TestHostileTextsStayWithinTagsAndLines(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("a,ä \n\t\r\x00\x1f\x7f!~"))).Draw(t, "text")
		tag, line := []rune(inTag(text)), []rune(inLine(text))
		for i, r := range []rune(text) {
			if unfit := r <= ' ' || r == 0x7f || r == ','; unfit && tag[i] != '_' || !unfit && tag[i] != r {
				t.Fatalf("%q became the tag %q", text, string(tag))
			}
			if unfit := r < ' ' || r == 0x7f; unfit && line[i] != ' ' || !unfit && line[i] != r {
				t.Fatalf("%q became the line %q", text, string(line))
			}
		}
	})
}
