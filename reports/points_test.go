package reports

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/usual"
)

func TestAPointsRepetitionsAreToldOneByOne(t *testing.T) {
	began := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	p := results.Point{Records: []store.Record{
		{Repetition: 1, Status: store.OK, Began: began, Ended: began.Add(90 * time.Second)},
		{Repetition: 2, Status: store.Refused, Reason: "no"},
		{Repetition: 3, Status: store.Aborted, Began: began},
	}}
	if got, want := repetitionsSentence(p), "repetition 1 ok, 2026-03-01T09:00:00Z, took 1m30s; repetition 2 refused (no); repetition 3 aborted, 2026-03-01T09:00:00Z."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestARecordThatIsNoJSONIsAnErrorThatNamesItsPoint(t *testing.T) {
	r, err := Lookup("points")
	if err != nil {
		t.Fatal(err)
	}
	spec, settings := atRate("kafka", 1)[0], atRate("kafka", 1)[0]
	spec.Spec.Client = map[string]any{"f": math.NaN()}
	settings.Settings.Client = map[string]any{"f": math.Inf(1)}
	for _, broken := range []store.Record{spec, settings} {
		if _, err := r.Build(results.Of([]store.Record{broken})); err == nil || !strings.Contains(err.Error(), "point "+broken.PointID+" as YAML: json: unsupported value") {
			t.Errorf("got %v", err)
		}
	}
}

func TestThePointsReportTellsOfTheLastAttempt(t *testing.T) {
	records := atRate("kafka", 3)
	for i := range records {
		records[i].Spec.Seed = int64(100 + i)
		records[i].Began = time.Date(2026, 3, 1+i, 9, 0, 0, 0, time.UTC)
		records[i].Ended = records[i].Began.Add(1500 * time.Millisecond)
	}
	text := string(rendered(t, build(t, "points", records), "markdown", 0))
	if !strings.Contains(text, "seed: 102") || strings.Contains(text, "seed: 100\n") {
		t.Errorf("not the spec of the last attempt:\n%s", text)
	}
	if !strings.Contains(text, "repetition 3 ok, 2026-03-03T09:00:00Z, took 2s.") {
		t.Errorf("the repetitions are told as\n%s", text)
	}
}

func TestClientSettingsAreShownAsTheyArePasted(t *testing.T) {
	r := atRate("kafka", 1)[0]
	was := results.Paste
	t.Cleanup(func() { results.Paste = was })
	results.Paste = func(study.Spec) []results.Pasted {
		return []results.Pasted{{Library: "Java", Text: "# producer\nlinger.ms=5\n"}, {Library: "Go", Text: "kgo.X(5),\n", Without: []string{"max.poll.records 9: ask for so many", "x 1: y"}}}
	}
	text := string(rendered(t, build(t, "points", []store.Record{r}), "markdown", 0))
	for _, want := range []string{
		"The client's settings for Java:", "linger.ms=5\n", "The client's settings for Go:", "kgo.X(5),\n", "Without counterpart there: max.poll.records 9: ask for so many; x 1: y.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Count(text, "linger.ms=5") != 1 || strings.Contains(text, "pasted") {
		t.Errorf("what is pasted stands among the settings, too:\n%s", text)
	}
}

// A record may come from an attacker, and its settings are pasted into the configuration of brokers and clients.
func TestSettingsThatNeedTrustAreNamedBeforeTheyArePasted(t *testing.T) {
	usual.Register("trusted", usual.Defaults{Tuning: []string{"num.io.threads", "log.roll.ms"}, Settings: map[string]string{"client.linger.ms": "0", "client.vhost": "/"}})
	r := atRate("kafka", 1)[0]
	r.Spec.Broker = "trusted"
	r.Settings.Server = map[string]any{"num.io.threads": 4, "jvm.Xmx": "2g", "log.roll.ms": "${env:HOME}", "logfile": "x", "jvm.XX:OnError": "x"}
	r.Settings.Client = map[string]any{"linger.ms": "5", "vhost": "/", "interceptor.classes": "org.evil.X"}
	text := string(rendered(t, build(t, "points", []store.Record{r}), "markdown", 0))
	if want := "use files or listen: client.interceptor.classes, server.jvm.XX:OnError, server.log.roll.ms and server.logfile."; !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
	r.Settings.Server, r.Settings.Client = map[string]any{"num.io.threads": 4}, map[string]any{"linger.ms": "5ms", "vhost": "/"}
	if text := string(rendered(t, build(t, "points", []store.Record{r}), "markdown", 0)); strings.Contains(text, "Before you paste") {
		t.Errorf("harmless settings are warned of:\n%s", text)
	}
}

// Thirty settings with nothing in them hide the few that were in force.
func TestWhatWasInForceLeavesOutWhatTheBrokerDecides(t *testing.T) {
	r := atRate("kafka", 1)[0]
	r.Settings.Topic = map[string]any{"cleanup.policy": "", "retention.ms": "60000"}
	r.Settings.Client = map[string]any{"linger.ms": 0, "compression.type": "none", "sasl": ""}
	text := string(rendered(t, build(t, "points", []store.Record{r}), "markdown", 0))
	for _, setting := range []string{"retention.ms:", "linger.ms: 0", "compression.type: none"} {
		if !strings.Contains(text, setting) {
			t.Errorf("no %q in\n%s", setting, text)
		}
	}
	if strings.Contains(text, "cleanup.policy") || strings.Contains(text, "sasl") {
		t.Errorf("empty settings are listed:\n%s", text)
	}
	if r.Settings.Topic["cleanup.policy"] != "" || len(r.Settings.Topic) != 2 {
		t.Error("the record was changed")
	}
}
