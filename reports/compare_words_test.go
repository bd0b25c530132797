package reports

import (
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

func TestAComparisonSaysWhatItCantCompare(t *testing.T) {
	kafka, jetstream := atRate("kafka", 7), atRate("jetstream", 7)
	say := func(a, b []store.Record, named ...string) string {
		return strings.ReplaceAll(string(rendered(t, Compare(Side{"kafka", results.Of(a)}, Side{"jetstream", results.Of(b)}, append(named, "broker")...), "markdown", 0)), "\\", "")
	}
	other := altered(jetstream, "5", func(r *store.Record) { r.Spec.Load.Rate = 5 })
	for want, text := range map[string]string{
		"Nothing to compare: no point of kafka (7 records) has the message size, guarantee and load of a point of jetstream (7 records); they differ in load.rate: 1000 and 5.": say(kafka, other),
		"Nothing to compare: every repetition of kafka (7 records) is one of jetstream (14 records), too.":                                                                      say(kafka, append(slices.Clone(jetstream), kafka...)),
		"Nothing to compare: every repetition of kafka (7 records) is one of jetstream (7 records), too.":                                                                       say(jetstream, jetstream),
		"## 100 B, at-least-once against 1 KiB, at-least-once, rate 1k/s": say(kafka, altered(jetstream, "k", func(r *store.Record) {
			r.Spec.MessageSize = study.Sizes{{Size: 1024, Weight: 1}}
		}), "messageSize"),
		"Left out: 1 workload that only one side was given.":         say(kafka, append(other, jetstream...)),
		"No repetition of jetstream ended ok (void): no conclusion.": say(kafka, altered(jetstream, "", func(r *store.Record) { r.Status = store.Void })),
		"No repetition of jetstream ended ok (failed, void): no conclusion.": say(kafka, slices.Concat(
			altered(jetstream, "", func(r *store.Record) { r.Status = store.Void }),
			altered(jetstream, "b", func(r *store.Record) { r.Status = store.Failed }))),
		"No repetition of kafka ended ok (failed): no conclusion.":           say(altered(kafka, "", func(r *store.Record) { r.Status = store.Failed }), jetstream),
		"Warning: the compared records differ":                               say(kafka, altered(jetstream, "", func(r *store.Record) { r.Host.Cores = 64 })),
		"jetstream is 3.5 times lower than kafka, which is better (0.288× [": say(kafka, jetstream),
		"total time: nothing but zeros on both sides.": say(
			altered(kafka, "", func(r *store.Record) { r.Spec.Measure, r.Result.Count = "count", &store.Count{} }),
			altered(jetstream, "", func(r *store.Record) { r.Spec.Measure, r.Result.Count = "count", &store.Count{} })),
		"total time: not known of jetstream": say(
			altered(kafka, "", func(r *store.Record) { r.Spec.Measure, r.Result.Count = "count", &store.Count{TotalSeconds: 1} }),
			altered(jetstream, "", func(r *store.Record) { r.Spec.Measure = "count" })),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if text := say(kafka, jetstream); strings.Contains(text, "Left out") || strings.Contains(text, "Warning") || strings.Contains(text, "closed loops") {
		t.Errorf("more is said than there is: %s", text)
	}
	void := altered(jetstream, "", func(r *store.Record) { r.Status = store.Void })
	if text := say(kafka, void); strings.Contains(text, "Student's t") {
		t.Errorf("the columns of no table are explained: %s", text)
	}
	worse := Compare(Side{"kafka", results.Of(jetstream)}, Side{"jetstream", results.Of(kafka)}, "broker")
	if text := string(rendered(t, worse, "markdown", 0)); !strings.Contains(text, "jetstream is 3.5 times higher than kafka") || !strings.Contains(text, "which is worse") {
		t.Errorf("the other way round: %s", text)
	}
}

// Of a publication is known where in its study a figure stands, and not all that it was measured with.
func TestPublishedFiguresArePairedByTheirPlaceInTheStudy(t *testing.T) {
	published := func(broker, size string) Side {
		return Side{broker, results.Of(altered(atRate(broker, 1), size, func(r *store.Record) {
			r.Kind, r.Status, r.Study = store.KindPublished, store.Published, "paper"
			r.Axes = map[string]string{"broker": broker, "messageSize": size}
			r.Result = &store.Result{Given: map[string]float64{results.KeyEndToEndMean: 5}}
		}))}
	}
	kafka, jetstream := published("kafka", "100"), published("jetstream", "100")
	if pairs := Pairs(kafka, jetstream, "broker"); len(pairs) != 1 {
		t.Errorf("of two brokers: %d pairs, want 1", len(pairs))
	}
	const want = "Nothing to compare: no point of kafka (1 record) has the study and place in it of a point of jetstream (1 record)"
	if text := NothingToCompare(kafka, jetstream); text != want {
		t.Errorf("got  %q\nwant %q", text, want)
	}
	if text := NothingToCompare(kafka, published("jetstream", "200"), "broker"); text != want {
		t.Errorf("of two sizes: %q", text)
	}
}

// Each row of a comparison holds its own test and names the better side.
func TestARowOfAComparisonSaysWhoIsBetter(t *testing.T) {
	sides := [2][]store.Record{atRate("kafka", 7), atRate("jetstream", 7)}
	for flip := range 2 {
		a, b := sides[flip], sides[1-flip]
		table := Compare(Side{"first", results.Of(a)}, Side{"second", results.Of(b)}, "broker").Tables()[0]
		better := map[string]string{
			"throughput": "no tenth apart", "e2e p50": "second", "e2e p99": "second", "publish p99": "second", "broker CPU": "first", "generator CPU": "first", "broker memory": "second",
		}
		for _, row := range table.Rows {
			name := row["metric"].Text
			want := better[name]
			if want == "first" || want == "second" {
				if flip == 1 {
					want = map[string]string{"first": "second", "second": "first"}[want]
				}
				want += " better"
			}
			if got := row["finding"].Text; got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
			if row["tests"].Number != 7 || row["first_n"].Number != 7 || row["second_n"].Number != 7 || row["n"].Text != "7, 7" {
				t.Errorf("%s: %+v", name, row)
			}
			p, alone := row["p"].Number, row["p_alone"].Number
			if name != "throughput" && (p < alone || p > 7*alone || p > 1e-6) || name == "throughput" && (p != 1 || alone != 1) {
				t.Errorf("%s: p %v, alone %v", name, p, alone)
			}
			delete(better, name)
		}
		if len(better) != 0 {
			t.Errorf("no rows of %v", better)
		}
	}
}

// comparedWords sets jetstream against kafka and gives the words of it.
func comparedWords(t *testing.T, a, b []store.Record, named ...string) string {
	t.Helper()
	d := Compare(Side{"kafka", results.Of(a)}, Side{"jetstream", results.Of(b)}, append(named, "broker")...)
	return strings.ReplaceAll(string(rendered(t, d, "markdown", 0)), "\\", "")
}

func TestAClosedLoopOnEitherSideOfAComparisonIsNamed(t *testing.T) {
	loop := func(broker string, closed bool) []store.Record {
		return altered(atRate(broker, 2), "", func(r *store.Record) {
			if closed {
				r.Spec.Measure, r.Spec.Load = "peak", study.Load{Shape: "constant"}
			}
		})
	}
	for _, closed := range [][2]bool{{true, false}, {false, true}, {true, true}, {false, false}} {
		text := comparedWords(t, loop("kafka", closed[0]), loop("jetstream", closed[1]), "measure")
		if got := strings.Contains(text, "are closed loops"); got != (closed[0] || closed[1]) {
			t.Errorf("closed %v: said %v:\n%s", closed, got, text)
		}
	}
}

func TestAComparisonTestsTheHeadlineOfEveryMeasurement(t *testing.T) {
	peaks := func(broker string, throughput float64) []store.Record {
		return altered(atRate(broker, 7), "", func(r *store.Record) {
			r.Spec.Measure, r.Spec.Load = "peak", study.Load{Shape: "constant"}
			r.Result.Throughput = throughput + float64(r.Repetition)
		})
	}
	text := comparedWords(t, peaks("kafka", 10_000), peaks("jetstream", 12_000))
	for _, want := range []string{"throughput: jetstream is 20.0 % higher than kafka, which is better (1.20×", "| throughput | 10.0k/s", "Holm over 4 tests"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestAComparisonOfFewOrEqualRunsHasWordsOfItsOwn(t *testing.T) {
	kafka, same := atRate("kafka", 1), altered(atRate("kafka", 1), "b", func(r *store.Record) { r.Spec.Broker, r.Axes["broker"] = "jetstream", "jetstream" })
	count := func(records []store.Record, seconds *store.Count) []store.Record {
		return altered(records, "", func(r *store.Record) { r.Spec.Measure, r.Result.Count = "count", seconds })
	}
	losing := altered(kafka, "", func(r *store.Record) { r.Result.Books.LostAcked = 3 })
	for want, text := range map[string]string{
		"e2e p99: undecided; the runs point to jetstream equal to kafka: one run each decides nothing": comparedWords(t, kafka, same),
		"total time: not known of kafka": comparedWords(t, count(kafka, nil), count(same, nil)),
		"total time: undecided; the runs point to jetstream 2.0 times higher than kafka: one run each": comparedWords(t, count(kafka, &store.Count{TotalSeconds: 1}), count(same, &store.Count{TotalSeconds: 2})),
		"| lost after ack | 3 | 0 |": comparedWords(t, losing, same),
		"| lost after ack | 0 | 3 |": comparedWords(t, kafka, altered(same, "", func(r *store.Record) { r.Result.Books.LostAcked = 3 })),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if text := comparedWords(t, kafka, same); strings.Contains(text, "lost after ack") {
		t.Errorf("nothing but zeros is compared:\n%s", text)
	}
}

// The figures of a comparison are of repetitions that ended ok, so it says in words what the others lost.
func TestAComparisonTellsOfRepetitionsThatFailed(t *testing.T) {
	kafka, jetstream := atRate("kafka", 4), atRate("jetstream", 6)
	if text := comparedWords(t, kafka, jetstream); strings.Contains(text, "failed") {
		t.Errorf("none failed:\n%s", text)
	}
	for i := range jetstream[:2] {
		jetstream[i].Status, jetstream[i].Reason = store.Failed, "20 messages were lost\nlog of the broker"
	}
	text := comparedWords(t, kafka, jetstream)
	want := "jetstream: failed 2 of 6, ok 4 of 6: 20 messages were lost. The figures are of those that ended ok."
	if !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
}

// The test alone would show a difference that the clocks may have made: the sentence must say that it is open, and why.
func TestAComparisonSaysWhatClocksLeaveOpen(t *testing.T) {
	compared := func(bound int64) string {
		byClocks := func(broker string) Side {
			return Side{broker, results.Of(altered(atRate(broker, 7), "", func(r *store.Record) { r.Result.ClockBoundNs = bound }))}
		}
		return string(rendered(t, Compare(byClocks("kafka"), byClocks("jetstream"), "broker"), "markdown", 0))
	}
	const open = "e2e p99: undecided (n=7 and n=7, the clocks by which they were taken leave ±2.00 s open)."
	if text := compared(1e9); !strings.Contains(text, open) {
		t.Errorf("no %q in %s", open, text)
	}
	for _, bound := range []int64{0, 1} {
		if text := compared(bound); strings.Contains(text, "leave") && strings.Contains(text, "undecided") {
			t.Errorf("with a bound of %d ns the clocks leave nothing open: %s", bound, text)
		}
	}
}

// With several brokers on both sides, as of a nightly run, a heading without the broker can't be told from the next, and a test of that name
// swallows the others.
func TestAComparisonNamesTheBrokerAndWhatWasAskedFor(t *testing.T) {
	var a, b []store.Record
	for _, broker := range []string{"kafka", "jetstream"} {
		asks := func(nodes int) func(*store.Record) {
			return func(r *store.Record) {
				r.Spec.SubscriptionsPerTopic, r.Spec.Nodes, r.Spec.Client = 3, nodes, map[string]any{"linger": 5}
			}
		}
		a = append(a, altered(atRate(broker, 1), "", asks(3))...)
		b = append(b, altered(atRate(broker, 1), "", asks(1))...)
	}
	var titles []string
	for _, p := range Pairs(Side{"monday", results.Of(a)}, Side{"tuesday", results.Of(b)}, "nodes") {
		titles = append(titles, p.Title)
	}
	want := []string{
		"kafka, 100 B, at-least-once, 3 subscriptions, client.linger 5, rate 1k/s", "jetstream, 100 B, at-least-once, 3 subscriptions, client.linger 5, rate 1k/s",
	}
	slices.Sort(titles)
	slices.Sort(want)
	if !slices.Equal(titles, want) {
		t.Errorf("%q", titles)
	}
	d := build(t, "headtohead", a)
	heading := document.Heading{Level: 1, Text: "100 B, at-least-once, 3 nodes, 3 subscriptions, client.linger 5"}
	if !slices.Contains(d.Blocks, document.Block(heading)) {
		t.Errorf("no %q in %+v", heading.Text, d.Blocks)
	}
	for _, v := range gate.Endings(results.Of(a)) {
		if !strings.HasSuffix(v.Point, ", 100 B, at-least-once, 3 nodes, 3 subscriptions, client.linger 5, rate 1k/s") {
			t.Errorf("a gate is named %q", v.Point)
		}
	}
}
