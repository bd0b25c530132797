package cli_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/storetest"
	"github.com/brokermark/brokermark/internal/study"
)

// What was exported, and what another store holds, comes back whole and once.
func TestOwnRecordsComeBack(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	stored(t, in("a.db"))
	exported := brokermark(t, "export", "--store", in("a.db")).want(t, 0).out
	write(t, in("a.jsonl"), exported)
	write(t, in("a.flat"), brokermark(t, "export", "--store", in("a.db"), "--format", "flat").want(t, 0).out)
	brokermark(t, "export", "--store", in("a.db"), "--format", "hlog", "-o", in("a.hlog")).want(t, 0)
	write(t, in("empty"), "")
	first := brokermark(t, "import", in("a.jsonl"), "--store", in("b.db")).want(t, 0)
	if want := in("a.jsonl") + ": 8 records stored, 0 there already\n"; first.out != want {
		t.Errorf("said %q, want %q", first.out, want)
	}
	if again := brokermark(t, "import", in("a.jsonl"), in("a.db"), "--store", in("b.db")).want(t, 0); strings.Count(again.out, ": 0 records stored, 8 there already\n") != 2 {
		t.Errorf("said %q", again.out)
	}
	if back := brokermark(t, "export", "--store", in("b.db")).want(t, 0).out; back != exported {
		t.Errorf("came back as\n%.2000s\nwent as\n%.2000s", back, exported)
	}
	for name, want := range map[string]string{
		"empty":  " is empty",
		"a.flat": " holds figures only, no whole records",
		"a.hlog": " is a latency distribution of HdrHistogram: it doesn't say of which broker and load",
	} {
		complains(t, brokermark(t, "import", in(name), "--store", in("b.db")).want(t, 2), in(name)+want)
	}
	if _, err := os.Stat(in("b.db")); err != nil {
		t.Error(err)
	}
}

// What a stranger's record has users paste into their clients is made here, of checked values.
func TestARecordOfAnotherChoosesNoCodeThatIsPasted(t *testing.T) {
	dir := t.TempDir()
	db, file := filepath.Join(dir, "s.db"), filepath.Join(dir, "a.jsonl")
	r := storetest.Products[1].Record(100, "rate", 1)
	r.Began, r.Spec.Client = storetest.Began, map[string]any{"vhost": `x"); system("evil`, "heartbeat": "20s"}
	r.Settings = store.Settings{
		Server: map[string]any{"log.file": "/root/.bashrc", "vm_memory_high_watermark.relative": 0.5}, Client: map[string]any{"vhost": "/", "heartbeat": "20s"},
		Topic: map[string]any{"x-queue-type": "quorum"},
	}
	line, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, strings.Replace(string(line), `"settings":{`, `"settings":{"pasted":[{"library":"Java","text":"evil();\n","without":["evil: evil"]}],`, 1)+"\n")
	brokermark(t, "import", file, "--store", db).want(t, 0)
	out := brokermark(t, "report", "points", "--store", db, "--format", "markdown").want(t, 0).out
	_, pasted, found := strings.Cut(out, "The client's settings for Java")
	if want := "use files or listen: server.log.file."; !strings.Contains(out, want) {
		t.Errorf("no %q in\n%s", want, out)
	}
	if !found || !strings.Contains(pasted, "factory.setRequestedHeartbeat(20);") || strings.Contains(out, "evil();") || strings.Contains(pasted, `setVirtualHost("x`) {
		t.Errorf("shown is\n%s", out)
	}
}

func TestASpecOfNoSenseIsPastedWithoutAPanic(t *testing.T) {
	pasted := 0
	for _, broker := range driver.Names() {
		for _, delivery := range []string{"at-most-once", "at-least-once", "exactly-once", "x"} {
			s := study.Spec{Broker: broker, Delivery: delivery, Persistence: "x", Acks: "x", Replicas: -1}
			s.MessageSize = study.Sizes{{Size: math.MaxInt64, Weight: 1}}
			pasted += len(lab.Pasted(s))
		}
	}
	if pasted == 0 {
		t.Error("nothing is pasted at all")
	}
}

// Whatever another store or a file holds, no figure is taken that nobody can have measured.
func TestARecordThatNobodyCanHaveMeasuredIsNotImported(t *testing.T) {
	cpu := int64(-1)
	for name, c := range map[string]struct {
		change func(r *store.Record)
		says   string
	}{
		"a negative cost":           {func(r *store.Record) { r.Result.Cost.BrokerUserSeconds = -5 }, "its cost broker_user_seconds is -5; allowed: 0 or more"},
		"negative memory":           {func(r *store.Record) { r.Result.Cost.BrokerRSSBytes = -1 }, "its cost broker_rss_bytes is -1"},
		"negative flushes":          {func(r *store.Record) { r.Result.Cost.BrokerFlushes = &cpu }, "its cost broker_flushes is -1"},
		"a host of negative memory": {func(r *store.Record) { r.Host.MemoryBytes = -1 }, "its host has "},
		"a date to come":            {func(r *store.Record) { r.Ended = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) }, "it is from "},
		"a date of nobody":          {func(r *store.Record) { r.Began = time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC) }, "it is from 0001-01-02"},
		"a rate beyond all":         {func(r *store.Record) { r.Result.PublishRate = 1e308 }, "its publish_rate is 1e+308; allowed: up to 1e+18 either way"},
		"a cost beyond all":         {func(r *store.Record) { r.Result.Cost.BrokerUserSeconds = 1e308 }, "its broker_user_seconds is 1e+308"},
		"a published one":           {func(r *store.Record) { r.Result.Given = map[string]float64{"e2e_p99": -1e308} }, "is -1e+308"},
		"a negative count":          {func(r *store.Record) { r.Result.Books.Acked = -1 }, "its count acked is -1"},
		"a negative rate":           {func(r *store.Record) { r.Result.PublishRate = -1 }, "its publish_rate is -1"},
		"no broker":                 {func(r *store.Record) { r.Spec.Broker = "" }, "it has no spec.broker"},
		"another status":            {func(r *store.Record) { r.Status = "fine" }, `its status is "fine"`},
		"unknown growth of data":    {func(r *store.Record) { r.Result.Cost.BrokerDataGrowthBytes = -1 }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			db, lines := filepath.Join(dir, "a.db"), filepath.Join(dir, "a.jsonl")
			r := storetest.Demo()[0]
			copied := *r.Result
			r.Result = &copied
			c.change(&r)
			st, err := store.Open(db)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := st.Append(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
			write(t, lines, brokermark(t, "export", "--store", db).want(t, 0).out)
			for _, path := range []string{db, lines} {
				if c.says == "" {
					brokermark(t, "import", path, "--store", filepath.Join(dir, "b.db")).want(t, 0)
					continue
				}
				if got := brokermark(t, "import", path, "--store", filepath.Join(dir, "b.db")).want(t, 2); !strings.Contains(got.err, "not a record: ") || !strings.Contains(got.err, c.says) {
					t.Errorf("%s: %s, want %s", path, got.err, c.says)
				}
			}
		})
	}
}
