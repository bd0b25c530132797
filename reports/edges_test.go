package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

func TestASearchIsToldByWhatPassedAndWhatFailed(t *testing.T) {
	for want, s := range map[string]store.Sustainable{
		"no rate was found": {},
		"no rate passed, the lowest that failed was 5k/s": {High: 5000},
		"at least 5k/s, no rate failed":                   {Low: 5000},
		"5–6k/s":                                          {Low: 5000, High: 6000},
	} {
		if got := results.BoundsText(s.Low, s.High); got != want {
			t.Errorf("%+v is told as %q, want %q", s, got, want)
		}
	}
	for limited, want := range map[string]string{"": "what ran out is not known", "unknown": "what ran out is not known", "cpu": "what ran out: cpu"} {
		if got := limitText(&store.Sustainable{Limit: limited}); got != want {
			t.Errorf("%q is told as %q, want %q", limited, got, want)
		}
	}
	if got := endingText(store.Record{Status: store.OK}) + endingText(store.Record{Status: store.Void, Reason: "late"}); got != "okvoid (late)" {
		t.Errorf("endings %q", got)
	}
	text := string(rendered(t, build(t, "trials", atRate("kafka", 1)), "markdown", 0))
	if !strings.Contains(text, "No record holds a search") || !strings.Contains(text, "1 repetition of 1 point") {
		t.Errorf("without a search: %s", text)
	}
}

func TestATrialIsARowOfItsFigures(t *testing.T) {
	trial := store.Trial{
		Kind: "short", Rate: 1, Verdict: "fail", Reason: "r", PublishRate: 2, ReceiveRate: 3, BacklogSlope: 4, EndToEndP50: 5, EndToEndP99: 6, Seconds: 7,
	}
	table := trialTable("s", &store.Sustainable{Trials: []store.Trial{trial, trial}})
	want := map[string]any{
		"search": "s", "trial": 2.0, "kind": "short", "rate": 1.0, "verdict": "fail", "publish_rate": 2.0, "receive_rate": 3.0, "backlog_slope": 4.0,
		"e2e_p50_ns": 5.0, "e2e_p99_ns": 6.0, "seconds": 7.0, "reason": "r",
	}
	for _, c := range table.Columns {
		cell := table.Rows[1][c.Key]
		if got := any(cell.Number); cell.Kind == document.Words && cell.Text != want[c.Key] || cell.Kind == document.Figure && got != want[c.Key] || cell.Kind == document.Blank {
			t.Errorf("%s is %+v, want %v", c.Key, cell, want[c.Key])
		}
	}
	for slope, want := range map[float64]float64{0.0099: 0, -0.0099: 0, 0.02: 0.02, -0.02: -0.02} {
		if got := trialTable("s", &store.Sustainable{Trials: []store.Trial{{BacklogSlope: slope}}}).Rows[0]["backlog_slope"].Number; got != want {
			t.Errorf("a slope of %v is shown as %v", slope, got)
		}
	}
}

func TestStateSaysWhatThereIs(t *testing.T) {
	records := func(statuses ...store.Status) []results.Point {
		var out []store.Record
		for i, s := range statuses {
			out = append(out, store.Record{PointID: fmt.Sprint(i / 2), Repetition: i, Status: s})
		}
		return results.Of(out).Points
	}
	ok, void, failed, refused := store.OK, store.Void, store.Failed, store.Refused
	for want, points := range map[string][]results.Point{
		"The store holds no record yet: nothing was measured.":                                           nil,
		"1 repetition of 1 point: 1 ok. A single point: there is nothing to compare it with.":            records(ok),
		"2 repetitions of 1 point: 1 failed, 1 ok. A single point: there is nothing to compare it with.": records(ok, failed),
		"3 repetitions of 2 points: 3 ok.":                                                               records(ok, ok, ok),
		"2 repetitions of 1 point: 2 void. Every one is void: no conclusion can be drawn.":               records(void, void),
		"3 repetitions of 2 points: 1 refused, 2 void. None ended ok: no conclusion can be drawn.":       records(void, refused, void),
	} {
		if got := statusSentence(points); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestALossIsCountedOverEveryRepetitionThatRan(t *testing.T) {
	records := atRate("kafka", 4)
	for i, status := range []store.Status{store.OK, store.Failed, store.Void, store.Aborted} {
		result := *records[i].Result
		result.Books.Lost = int64(math.Pow(10, float64(i)))
		records[i].Result, records[i].Status = &result, status
	}
	points := results.Of(records).Points
	if cell := totalCell(points[0], "lost"); cell.Number != 11 {
		t.Errorf("lost %v, want 1 and 10", cell.Number)
	}
	if cell := totalCell(points[0], "sent"); cell.Number != 20_000 {
		t.Errorf("sent %v", cell.Number)
	}
	void := records[2:3]
	if cell := totalCell(results.Of(void).Points[0], "lost"); cell.Kind != document.Blank {
		t.Errorf("a void point lost %+v", cell)
	}
}

func TestFootnotesSayWhyAndWhatIsDoubted(t *testing.T) {
	records := atRate("kafka", 4)
	for i := range 2 { // the same but for its figure
		why := remark.Of("lost %d", 5+i)
		records[i].Status, records[i].Reason, records[i].Figures = store.Failed, why.Text, why.Figures
	}
	records[2].Reason = "said of an ok record, so never"
	for i := range records {
		late := remark.Of("%d late", i)
		records[i].Doubts = []store.Doubt{{Code: "late", Text: late.Text, Figures: late.Figures}, {Code: "loss", Text: "lost"}}
	}
	p := results.Of(records).Points[0]
	var notes document.Footnotes
	if marks := reasonMarks(p, &notes); !slices.Equal(marks, []int{1}) {
		t.Errorf("marks %v", marks)
	}
	if cell := doubtsCell("kafka", doubtsOf(p.Shown()), &notes); cell.Number != 2 || !slices.Equal(cell.Marks, []int{2, 3}) {
		t.Errorf("doubts %+v", cell)
	}
	texts := fmt.Sprint(notes.Blocks())
	if !strings.Contains(texts, "failed: lost 5–6 (2 alike)") || strings.Contains(texts, "never") || !strings.Contains(texts, "loss: lost") {
		t.Errorf("notes %s", texts)
	}
	if cell := doubtsCell("kafka", doubtsOf(atRate("kafka", 1)), &notes); cell.Kind != document.Blank {
		t.Errorf("no doubts are %+v", cell)
	}
	refused := records[:1:1]
	refused[0].Status, refused[0].Reason = store.Refused, "acks: can't"
	other := refused[0]
	other.Spec.Broker = "nats"
	a, b := reasonMarks(results.Of(refused).Points[0], &notes), reasonMarks(results.Of([]store.Record{other}).Points[0], &notes)
	if !slices.Equal(a, b) || len(a) != 1 {
		t.Errorf("brokers that refuse the same have the notes %v and %v", a, b)
	}
}

func TestLostMessagesAreListedByTheirNumbers(t *testing.T) {
	if got := lostRanges(store.Stream{LostRanges: [][2]int64{{1, 3}, {7, 7}, {9, 10}}, LostRangesCut: true}); got != "1–3 7 9–10 …" {
		t.Errorf("got %q", got)
	}
	if got := lostRanges(store.Stream{LostRanges: [][2]int64{{5, 5}}}); got != "5" {
		t.Errorf("got %q", got)
	}
	// Every count of the books has its own column.
	b := store.Books{Due: 1, Unsent: 2, Sent: 3, Acked: 4, Failed: 5, Unresolved: 6, Expected: 7, Received: 8, Lost: 9, LostAcked: 10, Duplicated: 11, Reordered: 12, Corrupted: 13, Resent: 14}
	want := map[string]float64{
		"due": 1, "unsent": 2, "sent": 3, "acked": 4, "failed": 5, "unresolved": 6, "expected": 7, "received": 8, "lost": 9, "lost_acked": 10,
		"duplicated": 11, "reordered": 12, "corrupted": 13, "resent": 14,
	}
	itself := func(b store.Books) *store.Books { return &b }
	columns := countColumns(bookKeys, nil, itself)
	if len(columns) != len(want) {
		t.Fatalf("%d columns, %d counts", len(columns), len(want))
	}
	for _, c := range columns {
		if c.cell(b).Number != want[c.Key] || c.Data {
			t.Errorf("%s is %v, want %v", c.Key, c.cell(b).Number, want[c.Key])
		}
	}
	of := countColumns(streamKeys, hiddenColumns{"lost": true}, itself)
	if len(of) >= len(columns) {
		t.Errorf("of a stream there are %d columns", len(of))
	}
	for _, c := range of {
		if c.Data != (c.Key == "lost") || c.Key == "resent" {
			t.Errorf("%s: %+v", c.Key, c)
		}
	}
}

func TestALedgerShowsTheColumnsThatSaySomething(t *testing.T) {
	hidden := func(records []store.Record) string {
		var keys []string
		for _, c := range build(t, "ledger", records).Tables()[0].Columns {
			if c.Data {
				keys = append(keys, c.Key)
			}
		}
		return strings.Join(keys, " ")
	}
	once := atRate("kafka", 1)
	with := func(change func(*store.Record)) []store.Record { return altered(once, "", change) }
	base := hidden(once)
	for key, records := range map[string][]store.Record{
		"repetition": atRate("kafka", 2),
		"resent":     with(func(r *store.Record) { r.Result.Books.Resent = 1 }),
		"expected":   with(func(r *store.Record) { r.Result.Books.Expected *= 2 }),
	} {
		if !strings.Contains(base, key) || strings.Contains(hidden(records), key) {
			t.Errorf("%s: hidden are %q, else %q", key, hidden(records), base)
		}
	}
	faultless := string(rendered(t, build(t, "ledger", once), "markdown", 0))
	unknown := string(rendered(t, build(t, "ledger", with(func(r *store.Record) { r.Result.Books.Duplicated = 1 })), "markdown", 0))
	known := string(rendered(t, build(t, "ledger", with(func(r *store.Record) {
		r.Result.Books.Lost = 1
		r.Result.Streams = []store.Stream{{Topic: "t", LostRanges: [][2]int64{{4, 4}}}}
	})), "markdown", 0))
	for text, words := range map[string]string{faultless: "No stream shows a fault", unknown: "was not recorded", known: "Faults: kafka"} {
		for _, other := range []string{"No stream shows a fault", "was not recorded", "Faults: kafka"} {
			if strings.Contains(text, other) != (other == words) {
				t.Errorf("%q: %v in %s", other, other != words, text)
			}
		}
	}
	resentText := string(rendered(t, build(t, "ledger", with(func(r *store.Record) { r.Result.Books.Resent = 1 })), "markdown", 0))
	if !strings.Contains(resentText, "Resent: sent once more") || strings.Contains(faultless, "Resent:") {
		t.Error("resent messages aren't explained where there are any")
	}
}

func TestAPointsRepetitionsAreToldOneByOne(t *testing.T) {
	began := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	p := results.Point{Records: []store.Record{
		{Repetition: 1, Status: store.OK, Began: began, Ended: began.Add(90 * time.Second)},
		{Repetition: 2, Status: store.Refused, Reason: "no"},
	}}
	if got, want := repetitions(p), "repetition 1 ok, 2026-03-01T09:00:00Z, took 1m30s; repetition 2 refused (no)."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTheWordsOfAFaultAndAGuarantee(t *testing.T) {
	second := study.Duration(time.Second)
	for want, faults := range map[string][]study.Fault{
		"kill -9":                   {{Do: "kill"}},
		"kill -9, 1s":               {{Do: "kill", Node: "1", For: second}},
		"kill -9 leader, 1s":        {{Do: "kill", Node: "leader", For: second}},
		"pause leader, 1s":          {{Do: "pause", Node: "leader", For: second}},
		"pause, 1s, node 2":         {{Do: "pause", Node: "2", For: second}},
		"restart; pause, all nodes": {{Do: "restart"}, {Do: "pause", Node: "all"}},
		"kill -9, 1s, server-1":     {{Do: "kill", Node: "server-1", For: second}},
		"pause, 1s, balancer":       {{Do: "pause", Node: "balancer", For: second}},
	} {
		if got := faultText(faults); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for want, s := range map[string]study.Spec{
		"d, p":                      {Delivery: "d", Persistence: "p", Replicas: 1, Ordering: "ordered"},
		"d, p, 3 copies":            {Delivery: "d", Persistence: "p", Replicas: 3, Ordering: "ordered"},
		"d, p, 2 copies, unordered": {Delivery: "d", Persistence: "p", Replicas: 2, Ordering: "unordered"},
	} {
		if got := guaranteeText(s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, c := range []struct {
		books store.Books
		wrong bool
	}{
		{store.Books{Sent: 6, Acked: 3, Failed: 2, Unresolved: 1, Expected: 12, Received: 8, Lost: 4}, false},
		{store.Books{Sent: 7, Acked: 3, Failed: 2, Unresolved: 1, Expected: 12, Received: 8, Lost: 4}, true},
		{store.Books{Sent: 6, Acked: 3, Failed: 2, Unresolved: 1, Expected: 12, Received: 9, Lost: 4}, true},
	} {
		if c.books.BalancedAsStored() == c.wrong {
			t.Errorf("%+v: unbalanced %v", c.books, !c.wrong)
		}
	}
}

// at is the rate that a verdict compares at; more than two of them are told in short.
func TestManyFixedRatesAreToldInShort(t *testing.T) {
	var records []store.Record
	for i, rate := range []float64{1000, 2000, 3000} {
		for _, broker := range []string{"kafka", "jetstream"} {
			records = append(records, altered(atRate(broker, 5), fmt.Sprint(rate), func(r *store.Record) { r.Spec.Load.Rate = rate })...)
		}
		text := textOf(rankingVerdicts(group{"g", results.Of(records).Points}))
		full := strings.Count(text, "At rate ")
		short := strings.Count(text, "Lowest e2e p99: ")
		switch {
		case i < 2 && (full != i+1 || short != i+1):
			t.Errorf("%d rates: %s", i+1, text)
		case i == 2 && (full != 0 || short != 1 || strings.Count(text, " at ") != 3):
			t.Errorf("%d rates: %s", i+1, text)
		}
	}
}

func TestCostsAreToldOfTheBestTwo(t *testing.T) {
	brokers := []string{"kafka", "jetstream", "rabbitmq"}
	for n := 1; n <= 3; n++ {
		var records []store.Record
		for _, broker := range brokers[:n] {
			records = append(records, altered(atRate("kafka", 7), broker, func(r *store.Record) {
				r.Spec.Broker, r.Spec.Measure, r.Spec.Load.Rate = broker, "peak", 0
				r.Axes["broker"] = broker
			})...)
		}
		text := textOf(rankingVerdicts(group{"g", results.Of(records).Points}))
		if got, want := strings.Count(text, "At that rate"), []int{0, 1, 2, 0}[n]; got != want {
			t.Errorf("%d on a level: costs of %d, want %d: %s", n, got, want, text)
		}
	}
	for measure, words := range map[string]string{"peak": "At that rate kafka had", "count": "In that, kafka had", "backlog": "In that, kafka had"} {
		records := altered(atRate("kafka", 1), "", func(r *store.Record) {
			r.Spec.Measure, r.Spec.Load.Rate = measure, 0
			r.Result.Count, r.Result.Backlog = &store.Count{TotalSeconds: 1}, &store.Backlog{DrainRate: 1}
		})
		if text := textOf(rankingVerdicts(group{"g", results.Of(records).Points})); !strings.Contains(text, words) {
			t.Errorf("%s: %s", measure, text)
		}
	}
}

func TestAVerdictNamesWhoHasNoFigure(t *testing.T) {
	kafka := atRate("kafka", 2)
	void := altered(atRate("jetstream", 1), "", func(r *store.Record) { r.Status = store.Void })
	no := altered(atRate("rabbitmq", 1), "", func(r *store.Record) { r.Status, r.Result = store.Refused, nil })
	again := altered(no[:0], "", nil)
	for _, r := range no {
		r.PointID, r.Spec.Load.Rate = "other", 5
		again = append(again, r)
	}
	v := rankingVerdicts(group{"g", results.Of(slices.Concat(kafka, void, no, again)).Points})[0]
	text := v.Text()
	for _, want := range []string{"g: With nothing to compare it with: e2e p99 of kafka", "Without a usable figure: jetstream at rate 1k/s (void).", "Refused by rabbitmq."} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	var nats []store.Record
	for _, r := range slices.Concat(no, again) {
		r.PointID, r.Spec.Broker = r.PointID+"nats", "nats"
		nats = append(nats, r)
	}
	if got := rankingVerdicts(group{"g", results.Of(slices.Concat(no, again, nats)).Points})[0]; got.Detail != "Refused by nats, rabbitmq." {
		t.Errorf("two brokers at two rates each: %q", got.Detail)
	}
	if got := rankingVerdicts(group{"g", results.Of(no).Points})[0]; got.Finding != "No conclusion." || got.Detail != "Refused by rabbitmq." || got.About != "g" {
		t.Errorf("%+v", got)
	}
	if got := rankingVerdicts(group{"g", results.Of(altered(kafka, "", func(r *store.Record) { r.Spec.Measure = "novel" })).Points})[0]; got.Finding != "No conclusion." {
		t.Errorf("of a measure without a headline: %+v", got)
	}
}

func TestAChartHasRoomForTheLowestTheMiddleAndTheHighestOfTheSharedRates(t *testing.T) {
	measured := func(rates ...float64) contender {
		var records []store.Record
		for i, rate := range rates {
			records = append(records, altered([]store.Record{both(int64(i), rate, 1e6, 1e6, store.OK)}, fmt.Sprint(rate), func(*store.Record) {})...)
		}
		return contendersOf(results.Of(records).Points)[0]
	}
	seven := []float64{100, 200, 300, 400, 500, 600, 700}
	for want, sides := range map[string][]contender{
		"[100 400 700]": {measured(seven...)},
		"[200 300 700]": {measured(seven...), measured(200, 300, 700)},
		"[200 500]":     {measured(seven...), measured(200, 500), measured(100, 200, 500)},
		"[]":            nil,
	} {
		rates := seven
		if sides == nil {
			rates = nil
		}
		if got := fmt.Sprint(chartedRates(rates, sides)); got != want {
			t.Errorf("%s are drawn, want %s", got, want)
		}
	}
}

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
		"Left out: 1 workload that only one side was given.":                    say(kafka, append(other, jetstream...)),
		"No repetition of jetstream ended ok (void): no conclusion.":            say(kafka, altered(jetstream, "", func(r *store.Record) { r.Status = store.Void })),
		"No repetition of kafka ended ok (failed): no conclusion.":              say(altered(kafka, "", func(r *store.Record) { r.Status = store.Failed }), jetstream),
		"Warning: the compared records differ":                                  say(kafka, altered(jetstream, "", func(r *store.Record) { r.Host.Cores = 64 })),
		"jetstream is lower than kafka, 0.288× [0.277–0.300×], which is better": say(kafka, jetstream),
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
	worse := Compare(Side{"kafka", results.Of(jetstream)}, Side{"jetstream", results.Of(kafka)}, "broker")
	if text := string(rendered(t, worse, "markdown", 0)); !strings.Contains(text, "jetstream is higher than kafka") || !strings.Contains(text, "which is worse") {
		t.Errorf("the other way round: %s", text)
	}
}

// Each row of a comparison holds its own test, and whoever is better is named.
func TestARowOfAComparisonSaysWhoIsBetter(t *testing.T) {
	sides := [2][]store.Record{atRate("kafka", 7), atRate("jetstream", 7)}
	for flip := range 2 {
		a, b := sides[flip], sides[1-flip]
		table := Compare(Side{"first", results.Of(a)}, Side{"second", results.Of(b)}, "broker").Tables()[0]
		better := map[string]string{
			"published": "no difference shown", "e2e p50": "second", "e2e p99": "second", "publish p99": "second", "broker CPU": "first", "generator CPU": "first", "broker memory": "second",
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
			if row["tests"].Number != 6 || row["first_n"].Number != 7 || row["second_n"].Number != 7 || row["n"].Text != "7, 7" {
				t.Errorf("%s: %+v", name, row)
			}
			p, alone := row["p"].Number, row["p_alone"].Number
			if name != "published" && (math.Abs(p-alone*6) > 1e-9 || math.Abs(alone-2.0/3432) > 1e-9) || name == "published" && (p != 1 || alone != 1) {
				t.Errorf("%s: p %v, alone %v", name, p, alone)
			}
			delete(better, name)
		}
		if len(better) != 0 {
			t.Errorf("no rows of %v", better)
		}
	}
}

func TestCalmIsWithoutFaults(t *testing.T) {
	quiet, faulty := atRate("kafka", 1), altered(atRate("kafka", 1), "f", func(r *store.Record) { r.Spec.Faults = []study.Fault{{Do: "kill"}} })
	points := results.Of(append(quiet, faulty...)).Points
	if got := rankable(points); len(got) != 1 || len(got[0].Spec.Faults) != 0 || len(points) != 2 {
		t.Errorf("%d of %d are calm", len(got), len(points))
	}
	text := string(rendered(t, build(t, "summary", append(quiet, faulty...)), "markdown", 0))
	if !strings.Contains(text, "Through faults: ") || strings.Contains(string(rendered(t, build(t, "summary", quiet), "markdown", 0)), "Through faults") {
		t.Errorf("faults are told where there are any: %s", text)
	}
}
