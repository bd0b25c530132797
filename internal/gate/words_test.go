package gate_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

func TestWhatIsNoThresholdIsNoneOnAChangeEither(t *testing.T) {
	for text, want := range map[string]string{
		"": "is no threshold", "e2e_p99": "is no threshold", "e2e_p99 > ": "is no threshold", "> 5%": "is no threshold", "e2e_p99 => 5%": "is no threshold",
		"p99 > 5%": `unknown metric "p99"; did you mean "e2e_p99"?`, "e2e_p99 > 5": `"5" is no change`, "e2e_p99 > 5ms": `"5ms" is no change`,
		"e2e_p99 > x%": `"x%" is no percentage`, "e2e_p99 > NaN%": `"NaN%" is no percentage`, "e2e_p99 > Inf%": `"Inf%" is no percentage`,
	} {
		if _, err := gate.ParseChange(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseChange(%q): %v, want %q", text, err, want)
		}
		if _, err := gate.ParseAll([]string{"e2e_p99 > 5%", text}, gate.ParseChange); err == nil {
			t.Errorf("%q beside a threshold is accepted", text)
		}
	}
}

var examples = regexp.MustCompile(`such as ([^ ]+(?: or [^ ]+)?)$`)

// A complaint that names nothing allowed is no help: the example that it names is accepted, for every metric.
func TestTheExamplesOfAComplaintAreAccepted(t *testing.T) {
	for _, m := range results.Metrics {
		_, err := gate.Parse(m.Key + " > nonsense")
		if err == nil {
			t.Fatalf("%s > nonsense is accepted", m.Key)
		}
		found := examples.FindStringSubmatch(err.Error())
		if found == nil {
			t.Errorf("%s: no example in %v", m.Key, err)
			continue
		}
		for value := range strings.SplitSeq(found[1], " or ") {
			if _, err := gate.Parse(m.Key + " > " + value); err != nil {
				t.Errorf("the example of %s: %v", m.Key, err)
			}
		}
	}
}

func TestAShareOfOneMessageIsAll(t *testing.T) {
	r := point("x", time.Millisecond, 0)
	r.Result.OfferedRate, r.Result.PublishRate, r.Result.ReceiveRate = 1, 1, 1
	r.Result.Books = store.Books{Due: 1, Sent: 1, Unsent: 1, Acked: 1, Failed: 1, Unresolved: 1, Resent: 1, Expected: 1, Received: 1, Lost: 1, LostAcked: 1, Dropped: 1, Duplicated: 1, Reordered: 1, Corrupted: 1}
	for _, metric := range []string{
		"sent", "unsent", "acked", "failed", "unresolved", "resent", "received", "lost", "lost_acked", "dropped", "duplicated", "reordered", "corrupted", "publish_rate", "receive_rate",
	} {
		if got, want := judge(t, metric+" >= 100%", r), "failed x: 100 % (n=1)"; got != want {
			t.Errorf("%s: %s, want %s", metric, got, want)
		}
	}
}

func TestAChangeNamesTheRateItIsAbout(t *testing.T) {
	ms := time.Millisecond
	pair := results.Pair{
		Title: "a to b",
		A:     results.Of([]store.Record{curve("a", 1, loadPoint(1000, store.OK, ms, 0), loadPoint(2000, store.OK, ms, 0))}).Points,
		B:     results.Of([]store.Record{curve("b", 1, loadPoint(1000, store.OK, ms, 0), loadPoint(2000, store.Failed, ms, 0))}).Points,
	}
	condition, err := gate.ParseChange("e2e_p99 > 10%")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range gate.Changes([]results.Pair{pair}, []gate.Condition{condition}, false) {
		got = append(got, v.Point+" "+string(v.Outcome)+" by "+v.Condition)
	}
	if want := "a to b, rate 1k/s undecided by e2e_p99 > 10%; a to b, rate 2k/s failed by e2e_p99 > 10%"; strings.Join(got, "; ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A run that was cut off has a beginning and no end.
func TestARepetitionWithoutAnEndTookNoTime(t *testing.T) {
	began := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	whole, cut := point("x", time.Millisecond, 0), point("x", time.Millisecond, 0)
	whole.Began, whole.Ended = began, began.Add(90*time.Second)
	cut.Repetition, cut.Status, cut.Began = 2, store.Aborted, began
	verdicts := gate.Endings(results.Of([]store.Record{whole, cut}))
	if len(verdicts) != 1 || verdicts[0].Seconds != 90 {
		t.Errorf("%+v, want one of 90 s", verdicts)
	}
}
