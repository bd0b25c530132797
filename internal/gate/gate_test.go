package gate_test

import (
	"encoding/xml"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/reports"
)

func TestAThresholdThatCantBeUnderstoodIsASentence(t *testing.T) {
	for text, want := range map[string]string{
		"":                            `"" is no threshold; allowed: METRIC OPERATOR VALUE, such as e2e_p99 > 50ms`,
		"e2e_p99":                     "is no threshold",
		"e2e_p99 >":                   "is no threshold",
		"> 50ms":                      "is no threshold",
		"e2e_p99 => 50ms":             "is no threshold",
		"e2e p99 > 50ms":              "is no threshold",
		"p99 > 50ms":                  `unknown metric "p99"; did you mean "e2e_p99"?`,
		"e2e_p99 > 50":                `"50" is no value here; allowed: a time with its unit`,
		"e2e_p99 > fast":              `"fast" is no value here`,
		"e2e_p99 > -1ms":              `"-1ms" is negative`,
		"e2e_p99 > 50%":               "e2e_p99_ns is no share of anything",
		"sustainable < NaN":           `"NaN" is no value here; allowed: a rate`,
		"sustainable < Inf":           `"Inf" is no value here`,
		"sustainable < 1e306k":        `"1e306k" is no value here`,
		"sustainable < 10 per second": "is no value here",
		"broker_rss > 1parsec":        "allowed: bytes",
		"lost > some%":                `"some%" is no percentage`,
		"lost > -1%":                  `"-1%" is below all that can be; allowed: 0% and more`,
		"lost > 0 and acked < 1":      "is no value here; allowed: a number",
	} {
		if _, err := gate.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): %v; want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"e2e_p99 > 50ms":  `"50ms" is no change; allowed: a percentage such as e2e_p99_ns > 10%`,
		"sustainable < %": `"%" is no percentage`,
		"e2e_p99 > -500%": `"-500%" is below all that can be; allowed: -100% and more`,
	} {
		if _, err := gate.ParseChange(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseChange(%q): %v; want %q", text, err, want)
		}
	}
}

func TestAnUnknownMetricIsAnsweredWithTheClosestNames(t *testing.T) {
	for name, want := range map[string]string{
		"e2e_p98": "e2e_p90, e2e_p95, e2e_p99", "throughput_": "throughput", "foo": "", "e2e_p9999": "",
	} {
		_, err := gate.Parse(name + " > 50ms")
		if prefix := fmt.Sprintf("unknown metric %q; closest: ", name); err == nil || !strings.HasPrefix(err.Error(), prefix+want) || len(err.Error()) > 80 {
			t.Errorf("%v, want %s%s", err, prefix, want)
		}
	}
	for _, m := range results.Metrics {
		if _, err := gate.ParseChange(m.Short() + " > 5%"); err != nil {
			t.Errorf("%s: %v", m.Short(), err)
		}
	}
}

// point is a repetition at 1,000/s with a p99 and a sustainable rate.
func point(broker string, p99 time.Duration, sustainable float64) store.Record {
	h := hist.New()
	h.RecordN(int64(p99), 10_000)
	return store.Record{
		PointID: broker, Study: "s", Status: store.OK, Repetition: 1, Spec: study.Spec{Broker: broker, Measure: "rate", Load: study.Load{Shape: "constant"}, Delivery: "at-least-once", MessageSize: study.Sizes{{Size: 100, Weight: 1}}},
		Result: &store.Result{Measurement: store.Measurement{
			Books:       store.Books{Due: 1000, Sent: 1000, Acked: 1000, Expected: 2000, Received: 1990, Lost: 10},
			OfferedRate: 1000, PublishRate: 990, ReceiveRate: 1500,
			Latency: store.Latency{EndToEnd: h.Snapshot()},
			Cost:    store.Cost{BrokerKnown: broker != "attached", BrokerRSSBytes: 300 << 20, BrokerUserSeconds: 0.002, Messages: 1000},
		}, Sustainable: &store.Sustainable{HeldNs: 20e9, Low: sustainable, High: sustainable + 1}},
	}
}

// thrice are three repetitions that are alike.
func thrice(r store.Record) []store.Record {
	var records []store.Record
	for i := range 3 {
		r.Repetition = i + 1
		records = append(records, r)
	}
	return records
}

func repeated(broker string, p99s ...time.Duration) []store.Record {
	var records []store.Record
	for i, p99 := range p99s {
		r := point(broker, p99, float64(10_000+i))
		r.Repetition = i + 1
		records = append(records, r)
	}
	return records
}

func ended(status store.Status, reason string) store.Record {
	r := point(string(status), time.Millisecond, 0)
	r.Status, r.Reason = status, reason+"\nand more"
	if status != store.Void {
		r.Result = nil
	}
	return r
}

func judge(t *testing.T, text string, records ...store.Record) string {
	t.Helper()
	c, err := gate.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, v := range gate.Judge(results.Of(records), []gate.Condition{c}) {
		lines = append(lines, fmt.Sprintf("%s %s: %s", v.Outcome, strings.Split(v.Point, ",")[0], v.Text))
	}
	return strings.Join(lines, "\n")
}

func TestAThresholdIsComparedInItsUnit(t *testing.T) {
	r := point("x", 50*time.Millisecond, 10_000)
	for text, want := range map[string]string{
		"e2e_p99 > 40ms":               "failed x: 50.0 ms (n=1)",
		"e2e_p99_ns > 40000us":         "failed x: 50.0 ms (n=1)",
		"e2e_p99>0.06s":                "passed x: 50.0 ms (n=1)",
		"e2e_p99 > 60 ms":              "passed x: 50.0 ms (n=1)",
		"sustainable < 10k/s":          "passed x: 10k/s (n=1)",
		"sustainable <= 10k/s":         "undecided x: 10k/s (n=1): the search leaves that much open, and the truth lies within 10–10.0k/s",
		"sustainable_low < 0.011M":     "failed x: 10k/s (n=1)",
		"sustainable < 9k/s":           "passed x: 10k/s (n=1)",
		"broker_rss > 250MiB":          "failed x: 300 MiB (n=1)",
		"broker_rss >= 1GB":            "passed x: 300 MiB (n=1)",
		"broker_cpu > 1.5s":            "failed x: 2.00 s (n=1)",
		"broker_cpu_s_per_million > 3": "passed x: 2.00 s (n=1)",
		"lost > 0":                     "failed x: 10 (n=1)",
		"lost > 0.4%":                  "failed x: 0.500 % (n=1)",
		"lost >= 1%":                   "passed x: 0.500 % (n=1)",
		"publish_rate < 99.5%":         "failed x: 99.0 % (n=1)",
		"receive_rate < 75%":           "passed x: 75.0 % (n=1)", // of 1,000/s to two subscriptions
	} {
		if got := judge(t, text, r); got != want {
			t.Errorf("%s: %s; want %s", text, got, want)
		}
	}
}

func TestAPointIsJudgedByTheMedianOfItsRepetitions(t *testing.T) {
	records := repeated("x", 1*time.Millisecond, 200*time.Millisecond, 3*time.Millisecond)
	if got, want := judge(t, "e2e_p99 > 50ms", records...), "passed x: 3.00 ms, 1.00 ms–200 ms (n=3)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestWhatCantBeJudgedFailsWithItsReasonAndWhatIsRefusedIsSkipped(t *testing.T) {
	fine := point("x", time.Millisecond, 1)
	broken := ended(store.Failed, "3 messages were lost")
	broken.PointID, broken.Repetition = "x", 2
	aborted := ended(store.Aborted, "interrupted")
	peak := point("peak", time.Millisecond, 1)
	peak.Spec.Measure = "peak"
	attached := point("attached", time.Millisecond, 1)
	for _, c := range []struct {
		name, condition string
		records         []store.Record
		want            string
	}{
		{"no records", "lost > 0", nil, "failed all points: no point has a value to judge"},
		{"void", "lost < 0", []store.Record{ended(store.Void, "the generator was late")}, "failed void: void: the generator was late"},
		{"failed", "lost < 0", []store.Record{ended(store.Failed, "it died")}, "failed failed: failed: it died"},
		{"aborted", "lost < 0", []store.Record{aborted}, "failed aborted: aborted: interrupted"},
		{"one repetition failed", "lost < 0", []store.Record{fine, broken}, "failed x: failed 1 of 2, ok 1 of 2: 3 messages were lost"},
		{"refused", "lost < 0", []store.Record{ended(store.Refused, "nats can't"), fine}, "skipped refused: refused: nats can't\npassed x: 10 (n=1)"},
		{"all refused", "lost < 0", []store.Record{ended(store.Refused, "nats can't")}, "skipped refused: refused: nats can't\nfailed all points: no point has a value to judge"},
		{"not measured anywhere", "drain_rate < 5k/s", []store.Record{fine}, "skipped x: drain_rate was not measured\nfailed all points: no point has a value to judge"},
		{
			"the latency of a closed loop", "e2e_p99 > 50ms",
			[]store.Record{peak},
			"skipped peak: e2e_p99_ns was not measured: the latency of a closed loop says how full the window or the backlog was\nfailed all points: no point has a value to judge",
		},
		{"the rate of a closed loop", "drain_rate < 5k/s", []store.Record{peak}, "skipped peak: drain_rate was not measured\nfailed all points: no point has a value to judge"},
		{"not measured here", "broker_rss > 1GiB", []store.Record{attached, fine}, "skipped attached: broker_rss_bytes was not measured\npassed x: 300 MiB (n=1)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := judge(t, c.condition, c.records...); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func change(t *testing.T, text string, a, b []store.Record) string {
	t.Helper()
	c, err := gate.ParseChange(text)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, v := range gate.Changes(reports.Pairs(reports.Side{Set: results.Of(a)}, reports.Side{Set: results.Of(b)}, "broker"), []gate.Condition{c}, false) {
		lines = append(lines, fmt.Sprintf("%s %s", v.Outcome, v.Text))
	}
	return strings.Join(lines, "\n")
}

func TestAChangeThatTheClocksMayHaveMadeIsUndecided(t *testing.T) {
	ms := time.Millisecond
	for bound, want := range map[time.Duration]string{0: "failed ", ms / 10: "failed ", 3 * ms: "undecided "} {
		before, after := repeated("a", 6*ms, 7*ms, 8*ms, 9*ms, 10*ms), repeated("b", 11*ms, 12*ms, 12*ms, 13*ms, 14*ms)
		for _, records := range [][]store.Record{before, after} {
			for i := range records {
				result := *records[i].Result
				result.ClockBoundNs = int64(bound)
				records[i].Result = &result
			}
		}
		if got := change(t, "e2e_p99 > +10%", before, after); !strings.HasPrefix(got, want) || strings.Contains(got, "±6.00 ms") != (want == "undecided ") {
			t.Errorf("known to %s: %s; want %s", bound, got, want)
		}
	}
}

// Both figures may be off, so the change lies between those of the two most distant and the two closest figures.
func TestTheErrorOfEitherSidesClocksLeavesAChangeOpen(t *testing.T) {
	ms := time.Millisecond
	known := func(to time.Duration, records []store.Record) []store.Record {
		result := *records[0].Result
		result.ClockBoundNs = int64(to)
		records[0].Result = &result
		return thrice(records[0])
	}
	for _, c := range []struct {
		condition                    string
		before, bound, after, bound2 time.Duration
		want                         string
	}{
		{"e2e_p99 > 150%", 2 * ms, ms, 3 * ms, 0, "undecided "},      // 1 ms to 3 ms would be +200 %
		{"e2e_p99 > 250%", 2 * ms, ms, 3 * ms, 0, "passed "},         // and more it can't be
		{"e2e_p99 > 150%", 2 * ms, 0, 3 * ms, ms, "passed "},         // 2 ms to 4 ms is +100 %
		{"e2e_p99 > 90%", 2 * ms, 0, 3 * ms, ms, "undecided "},       //
		{"e2e_p99 > 1000%", 2 * ms, 3 * ms, 3 * ms, 0, "undecided "}, // the first may have been nothing
		{"e2e_p99 != 0%", 8 * ms, 3 * ms, 9 * ms, 0, "undecided "},   // 9 ms to 9 ms lies within
		{"e2e_p99 != 0%", 8 * ms, ms / 10, 9 * ms, 0, "failed "},
	} {
		got := change(t, c.condition, known(c.bound, repeated("a", c.before)), known(c.bound2, repeated("b", c.after)))
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s, %s ± %s to %s ± %s: %s; want %s", c.condition, c.before, c.bound, c.after, c.bound2, got, c.want)
		}
	}
}

func TestJUnitHoldsEveryVerdictWhateverTheNames(t *testing.T) {
	hostile := point("x", 50*time.Millisecond, 1)
	hostile.Study, hostile.Spec.Broker = `<script>alert("1")</script>`, "x\x00 & ]]>"
	records := []store.Record{hostile, ended(store.Void, `the "generator" was <late>`), ended(store.Refused, "can't")}
	conditions, err := gate.ParseAll([]string{"e2e_p99 > 10ms", "e2e_p99  >  10ms", "lost > 1%"}, gate.Parse)
	if err != nil || len(conditions) != 2 {
		t.Fatalf("%d conditions, %v; want the repeated one once", len(conditions), err)
	}
	verdicts := append(gate.Endings(results.Of(records)), gate.Judge(results.Of(records), conditions)...)
	if n := gate.Failures(verdicts); n != 4 { // void three times, the latency once
		t.Errorf("%d failures, want 4: %+v", n, verdicts)
	}
	var out strings.Builder
	if err := gate.WriteJUnit(&out, verdicts); err != nil {
		t.Fatal(err)
	}
	var read struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Skipped  int `xml:"skipped,attr"`
		Suites   []struct {
			Name  string `xml:"name,attr"`
			Cases []struct {
				Name    string `xml:"name,attr"`
				Class   string `xml:"classname,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
				} `xml:"failure"`
				Skipped *struct{} `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(out.String()), &read); err != nil {
		t.Fatalf("%v in:\n%s", err, out.String())
	}
	if read.Tests != 9 || read.Failures != 4 || read.Skipped != 3 || len(read.Suites) != 3 || read.Suites[1].Name != "e2e_p99 > 10ms" {
		t.Errorf("%d tests, %d failures, %d skipped, %d suites:\n%s", read.Tests, read.Failures, read.Skipped, len(read.Suites), out.String())
	}
	for _, c := range read.Suites[0].Cases {
		if strings.HasPrefix(c.Name, "void") && (c.Failure == nil || c.Failure.Message != `void: the "generator" was <late>`) {
			t.Errorf("the void point: %+v", c)
		}
		if strings.HasPrefix(c.Name, "x") && (c.Class != `brokermark.<script>alert("1")</script>` || !strings.HasPrefix(c.Name, "x\ufffd & ]]>")) {
			t.Errorf("the hostile point: %+v", c)
		}
	}
}

func TestAChangeOfTheLatencyOfAClosedLoopIsNoChange(t *testing.T) {
	before, after := point("x", time.Millisecond, 1), point("x", time.Second, 1)
	before.Spec.Measure, after.Spec.Measure = "peak", "peak"
	want := "skipped e2e_p99_ns was not measured on both sides: the latency of a closed loop says how full the window or the backlog was"
	if got := change(t, "e2e_p99 > 10%", []store.Record{before}, []store.Record{after}); !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
