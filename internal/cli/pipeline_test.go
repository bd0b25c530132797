package cli_test

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/testkit"
)

func TestPipelineRefusesWhatItCannotDo(t *testing.T) {
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"server"}, "no broker"},
		{[]string{"server", "--broker", "jetstream"}, "--attach"},
		{[]string{"server", "--broker", "jetstream", "--attach", "127.0.0.1:1", "--answer", "later"}, "confirmed, at-once"},
		{[]string{"server", "--broker", "jetstream", "--attach", "127.0.0.1:1", "--pool", "0"}, "--pool 0"},
		{[]string{"server", "--broker", "jetstream", "--attach", "127.0.0.1:1", "--https-cert", "a"}, "go together"},
		{[]string{"server", "--broker", "jetstream,kafka", "--attach", "127.0.0.1:1"}, "one broker"},
		{[]string{"server", "--broker", "sim", "--attach", "127.0.0.1:1"}, "attach"},
		{[]string{"server", "--broker", "jetstream", "--attach", "127.0.0.1:1", "--set", "client.prefetch=1"}, "prefetch"},
		{[]string{"consumer", "--broker", "jetstream", "--attach", "127.0.0.1:1", "--threads", "0"}, "--threads 0"},
		{[]string{"load"}, "arg"},
		{[]string{"load", "127.0.0.1:80"}, "http://host:port"},
		{[]string{"load", "ftp://x"}, "http://host:port"},
		{[]string{"load", "http://x/other"}, "--method"},
		{[]string{"load", "http://x", "--threads", "0"}, "0 threads"},
		{[]string{"load", "http://x", "--rate", "-1"}, "--rate"},
		{[]string{"load", "http://x", "--format", "xml"}, "text, json"},
		{[]string{"load", "http://x", "--method", "GET /"}, "method"},
		{[]string{"load", "http://x", "--body", "no-such-file"}, "no-such-file"},
		{[]string{"load", "https://x", "--ca-file", "no-such-file"}, "no-such-file"},
		{[]string{"load", "http://x", "--ca-file", "a"}, "https"},
	} {
		r := brokermark(t, append([]string{"pipeline"}, c.args...)...)
		if r.code != 2 || !strings.Contains(r.err, c.says) {
			t.Errorf("%v: exit code %d, %s; want 2 and %q", c.args, r.code, r.err, c.says)
		}
	}
}

func TestPipelineServerThatFindsNoBrokerSaysSo(t *testing.T) {
	r := brokermark(t, "pipeline", "server", "--broker", "jetstream", "--attach", "127.0.0.1:1", "--listen", "127.0.0.1:0")
	if r.code != 3 || !strings.Contains(r.err, "127.0.0.1:1") {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
}

func TestPipelineLoadDrivesAnyEndpoint(t *testing.T) {
	var puts atomic.Int64
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut && strings.HasPrefix(r.URL.Path, "/items/") {
			puts.Add(1)
			return
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	defer h.Close()
	body := filepath.Join(t.TempDir(), "item.json")
	if err := os.WriteFile(body, []byte(`{"n":{i}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	r := brokermark(t, "pipeline", "load", h.URL+"/items/{i}", "--method", "put", "--body", body, "--requests", "50", "--threads", "3", "--format", "json")
	r.want(t, 0)
	var got struct {
		Successful, Failed int64
		Rate               float64 `json:"requests_per_s"`
		WallMs             float64 `json:"wall_ms"`
		Response           struct {
			Mean   float64 `json:"mean_ms"`
			Median float64 `json:"median_ms"`
			P99    float64 `json:"p99_ms"`
			Min    float64 `json:"min_ms"`
			Max    float64 `json:"max_ms"`
		}
	}
	if err := json.Unmarshal([]byte(r.out), &got); err != nil || got.Successful != 50 || got.Rate <= 0 || puts.Load() != 50 {
		t.Errorf("%s, %d requests came: %v", r.out, puts.Load(), err)
	}
	if w := got.WallMs; w <= 0 || math.Abs(got.Rate*w/1e3-50) > 0.01 { // 50 requests in this time
		t.Errorf("%v requests/s for %v ms", got.Rate, w)
	}
	if a := got.Response; a.Min <= 0 || a.Min > a.Median || a.Median > a.P99 || a.P99 > a.Max || a.Mean < a.Min || a.Mean > a.Max || a.Max > got.WallMs {
		t.Errorf("response times %+v of %v ms", a, got.WallMs)
	}
	r = brokermark(t, "pipeline", "load", h.URL, "--requests", "5", "--threads", "2")
	if r.code != 4 || !strings.Contains(r.out, "failed requests      5") || !strings.Contains(r.err, "404 Not Found") {
		t.Errorf("exit code %d: %s%s", r.code, r.out, r.err)
	}
	nobody := "http://" + freePort(t)
	if r = brokermark(t, "pipeline", "load", nobody, "--requests", "5", "--retries", "0"); r.code != 4 || strings.Contains(r.out, "response") {
		t.Errorf("exit code %d, and response times without a response: %s", r.code, r.out)
	}
	if r = brokermark(t, "pipeline", "load", nobody, "--requests", "5", "--retries", "0", "--format", "json"); !strings.Contains(r.out, `"response":null`) {
		t.Errorf("response times without a response: %s", r.out)
	}
	r = brokermark(t, "pipeline", "load", h.URL+"/items/{i}", "--method", "PUT", "--rate", "200", "--duration", "300ms", "--warmup", "0s", "--threads", "3")
	r.want(t, 0)
	if !strings.Contains(r.out, "from when due") || puts.Load() != 110 {
		t.Errorf("%s, %d requests came", r.out, puts.Load())
	}
}

func TestAPipelineByHand(t *testing.T) {
	t.Chdir(t.TempDir())
	up := brokermark(t, "broker", "up", "nats")
	up.want(t, 0)
	defer func() { brokermark(t, "broker", "down", "nats").want(t, 0) }()
	_, address, _ := strings.Cut(up.out, "address: ")
	address, _, _ = strings.Cut(address, "\n")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan result, 2)
	server, taking := freePort(t), freePort(t)
	go func() {
		ended <- with(t, ctx, "", "pipeline", "server", "--broker", "nats", "--attach", address, "--listen", server, "--consumer", taking)
	}()
	awaitHealth(t, server)
	go func() {
		ended <- with(t, ctx, "", "pipeline", "consumer", "--broker", "nats", "--attach", address, "--listen", taking, "--threads", "2")
	}()
	awaitHealth(t, taking)
	brokermark(t, "pipeline", "load", "http://"+server, "--requests", "300", "--threads", "5").want(t, 0)
	a, err := http.Get("http://" + server + "/skiers/1/vertical?resort=1")
	if err != nil || a.StatusCode != http.StatusOK {
		t.Errorf("%v, %v", a, err)
	}
	stop()
	for range 2 {
		if r := <-ended; r.code != 130 {
			t.Errorf("exit code %d: %s", r.code, r.err)
		}
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	h := httptest.NewServer(nil)
	defer h.Close()
	return strings.TrimPrefix(h.URL, "http://")
}

func awaitHealth(t *testing.T, address string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if a, err := http.Get("http://" + address + "/health"); err == nil {
			a.Body.Close()
			return
		}
	}
	t.Fatalf("no server listens at %s", address)
}

// The threshold of the fourth study, fewer than 1,000 messages in the queue, on records that were measured here: one whose
// consumer was killed, so that the queue grew for a second, and one of a broker that tells nothing of its queue.
func TestTheLongestQueueOfAMeasuredPipelineIsJudged(t *testing.T) {
	testkit.NotShort(t)
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("grows.yaml", `
broker: jetstream
persistence: log
measure: rate
load.rate: 300
warmup: 0s
duration: 3s
drain: 30s
client: {AckWait: 1s}
pipeline: {threads: 40, pool: 4, state: sqlite}
consumerPerSubscription: 4
faults: [{at: 1s, do: kill, node: consumer, for: 1s}]
`)
	r := brokermark(t, "run", "grows.yaml", "--store", "grows.db", "--fail-if", "queue_max > 1000")
	r.want(t, 0)
	if !strings.Contains(r.err, "gate queue_max > 1000: passed 1") {
		t.Errorf("%s", r.err)
	}
	r = brokermark(t, "report", "--store", "grows.db", "--fail-if", "queue_max > 100")
	r.want(t, 7)
	_, value, _ := strings.Cut(r.err, "rate 300/s: ")
	value, _, _ = strings.Cut(value, " ")
	if longest, err := strconv.Atoi(value); err != nil || longest <= 100 || longest > 900 {
		t.Errorf("300 rides a second and nobody to take them for more than a second made a queue of %q: %s", value, r.err)
	}
	write("silent.yaml", "broker: nats\nmeasure: count\ncount.messages: 50\npipeline: {threads: 2, pool: 2}\n")
	r = brokermark(t, "run", "silent.yaml", "--store", "silent.db", "--fail-if", "queue_max > 1000")
	r.want(t, 7)
	if !strings.Contains(r.err, "gate queue_max > 1000: failed 1") {
		t.Errorf("%s", r.err)
	}
}

// A pipeline's points are records like all others: the same commands read them, and its own figures are in each.
func TestWhatReadsRecordsReadsThoseOfPipelines(t *testing.T) {
	testkit.NotShort(t)
	t.Chdir(t.TempDir())
	spec := "broker: jetstream\nmeasure: count\ncount.messages: 1000\ntls: on\npipeline: {servers: 1, threads: 20, pool: 4}\nconsumerPerSubscription: 2\naxes: {pipeline.answer: [confirmed, at-once]}\n"
	if err := os.WriteFile("two.yaml", []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	brokermark(t, "run", "two.yaml", "--store", "two.db").want(t, 0)
	for _, c := range []struct {
		args string
		says []string
	}{
		{"report summary --store two.db", []string{"confirmed", "at-once"}},
		{"report headtohead --store two.db", []string{"jetstream"}},
		{"report --store two.db --format csv summary", []string{"queue_max", "server_cpu_us_per_request"}},
		{"compare --store two.db pipeline.answer=confirmed pipeline.answer=at-once", []string{"response p99", "server CPU", "consumer CPU"}},
		{"export --store two.db --format flat", []string{"response_p99_ns", "queue_max"}},
		{"report --store two.db -o page.html", nil},
		{"report --store two.db -o sheet.xlsx", nil},
	} {
		r := brokermark(t, strings.Fields(c.args)...)
		r.want(t, 0)
		for _, want := range c.says {
			if !strings.Contains(r.out, want) {
				t.Errorf("%s: no %q in\n%s", c.args, want, r.out)
			}
		}
	}
	for _, file := range []string{"page.html", "sheet.xlsx"} {
		if i, err := os.Stat(file); err != nil || i.Size() < 5000 {
			t.Errorf("%s: %v, %v", file, i, err)
		}
	}
}
