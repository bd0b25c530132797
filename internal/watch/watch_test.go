package watch

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"go.uber.org/goleak"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

const hostile = "<script>alert(1)</script> \"x\" \\ \xff\n"

func run(repetition int) study.Run {
	return study.Run{Repetition: repetition, Point: &study.Point{
		ID: "0123456789abcdef", Study: "s", Label: hostile, Spec: study.Spec{Broker: "rabbitmq", Measure: "rate"},
	}}
}

// watched is a follower and its metrics, which hear the same.
type watched struct {
	f Follower
	m *Metrics
}

func newWatched() *watched {
	w := &watched{}
	w.f.Outcome = func(store.Record) Outcome {
		return Outcome{Text: "received 900/s", P99Ns: 2_000_000, Doubts: []string{"generator", "too short"}}
	}
	w.m = NewMetrics(&w.f)
	return w
}

func (w *watched) event(e lab.Event) {
	w.f.Event(e)
	w.m.Event(e)
}

// trial is two seconds at 1,000/s, one in a hundred failing, each delivered twice after 2 ms.
func (w *watched) trial(repetition int, target float64) {
	w.load(run(repetition), target)
}

func (w *watched) load(r study.Run, target float64) {
	repetition := r.Repetition
	w.event(lab.Event{Kind: lab.Staged, Run: r, Done: repetition - 1, Total: 3, Stage: "fixed load", Target: target})
	var h hist.Histogram
	for i := range int64(21) {
		s := worker.Sample{
			At: i * 1e8, Phase: measure.Measured, Sending: i < 20, Count: measure.Count{Sent: i * 100, Acked: i * 99, Failed: i, Received: i * 198},
			Backlog: 7, EndToEnd: worker.Quantiles{Count: 50, P50: 1e6, P99: 2e6},
		}
		for range 99 {
			h.Record(2_000_000)
		}
		if i%5 == 0 {
			s.Latency = &worker.Latency{EndToEnd: h.Snapshot(), Service: h.Snapshot()}
		}
		w.event(lab.Event{
			Kind: lab.Sampled, Run: r, Done: repetition - 1, Total: 3, Stage: "fixed load", Target: target, Sample: &s,
			CPU: lab.Cores{Broker: 0.5, Generator: 0.25}, Agents: []lab.AgentCores{{Name: "left on h", Cores: 0.1}, {Name: "right on h", Cores: 0.15}},
		})
	}
}

func (w *watched) ended(repetition int, status store.Status) {
	began := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	w.event(lab.Event{Kind: lab.Ended, Run: run(repetition), Done: repetition, Total: 3, Record: &store.Record{
		Status: status, Reason: "late\nvery", Began: began, Ended: began.Add(5 * time.Second),
	}})
}

// site has the page and the metrics of a run.
func site(f *Follower, m *Metrics) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /", Page(f))
	mux.Handle("GET /metrics", m.Handler())
	return mux
}

func (w *watched) serve(t *testing.T) *Server {
	t.Helper()
	s, err := Serve("127.0.0.1:0", "", site(&w.f, w.m))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// scrape reads the metrics as Prometheus does.
func scrape(t *testing.T, s *Server) map[string]*dto.MetricFamily {
	t.Helper()
	response, err := http.Get(s.URL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// find is the one metric of a family that has a label, "" = any.
func find(t *testing.T, families map[string]*dto.MetricFamily, name, label, value string) *dto.Metric {
	t.Helper()
	for _, m := range families[name].GetMetric() {
		for _, l := range m.Label {
			if label != "" && l.GetName() == label && l.GetValue() == value {
				return m
			}
		}
		if label == "" {
			return m
		}
	}
	t.Fatalf("no %s{%s=%q}", name, label, value)
	return nil
}

func TestAScrapeHoldsOpenTelemetrysMessagingMetricsOfTheRun(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	defer http.DefaultClient.CloseIdleConnections()
	w := newWatched()
	s := w.serve(t)
	defer s.Close()
	if families := scrape(t, s); families["messaging_client_sent_messages_total"] != nil || find(t, families, "brokermark_repetitions_planned", "", "").Gauge.GetValue() != 0 {
		t.Errorf("before the run: %v", families)
	}
	w.event(lab.Event{Kind: lab.Began, Run: run(1), Total: 3, Left: time.Minute})
	w.trial(1, 1000)
	families := scrape(t, s)
	for _, c := range []struct {
		name, label, value string
		want               float64
	}{
		{"messaging_client_sent_messages_total", "error_type", "_OTHER", 20},
		{"messaging_client_sent_messages_total", "messaging_system", "rabbitmq", 1980},
		{"messaging_client_consumed_messages_total", "messaging_operation_name", "receive", 3960},
		{"brokermark_backlog_messages", "", "", 7},
		{"brokermark_target_rate", "", "", 1000},
		{"brokermark_broker_cpu_cores", "", "", 0.5},
		{"brokermark_generator_cpu_cores", "", "", 0.25},
		{"brokermark_agent_cpu_cores", "agent", "left on h", 0.1},
		{"brokermark_agent_cpu_cores", "agent", "right on h", 0.15},
		{"brokermark_repetitions_planned", "", "", 3},
		{"brokermark_run_info", "phase", "draining", 1},
		{"brokermark_run_info", "point", strings.ToValidUTF8(hostile, "\ufffd"), 1},
	} {
		m := find(t, families, c.name, c.label, c.value)
		if got := m.GetGauge().GetValue() + m.GetCounter().GetValue(); got != c.want {
			t.Errorf("%s{%s=%q} is %v, want %v", c.name, c.label, c.value, got, c.want)
		}
	}
	for name, labels := range map[string]string{
		"messaging_client_operation_duration_seconds": "messaging_destination_template messaging_destination_temporary messaging_operation_name messaging_system",
		"brokermark_end_to_end_latency_seconds":       "messaging_destination_template messaging_destination_temporary messaging_system",
	} {
		m := find(t, families, name, "messaging_destination_template", "bm-01234567-{repetition}-{run}-{topic}")
		var names []string
		for _, l := range m.Label {
			names = append(names, l.GetName())
		}
		if strings.Join(names, " ") != labels {
			t.Errorf("%s has labels %v, want %s", name, names, labels)
		}
		h := m.GetHistogram()
		if h.GetSampleCount() != 21*99 || h.GetSampleSum() < 0.99*21*99*0.002 || h.GetSampleSum() > 1.01*21*99*0.002 {
			t.Errorf("%s: %d values, sum %v; want 2079 of 2 ms", name, h.GetSampleCount(), h.GetSampleSum())
		}
		for _, b := range h.Bucket {
			if below := b.GetUpperBound() >= 0.0025; (b.GetCumulativeCount() == 2079) != below {
				t.Errorf("%s: %d values up to %v s", name, b.GetCumulativeCount(), b.GetUpperBound())
			}
		}
	}
}

func TestCountersNeverFallFromOneTrialToTheNext(t *testing.T) {
	w := newWatched()
	s := w.serve(t)
	defer s.Close()
	for i := 1; i <= 2; i++ {
		w.event(lab.Event{Kind: lab.Began, Run: run(i), Total: 3})
		w.trial(i, 1000)
		w.trial(i, 1000)
		w.ended(i, store.Void)
	}
	w.event(lab.Event{Kind: lab.Skipped, Run: run(3), Done: 3, Total: 4})
	w.event(lab.Event{Kind: lab.Spared, Run: run(4), Done: 4, Total: 4})
	families := scrape(t, s)
	if got := find(t, families, "messaging_client_consumed_messages_total", "", "").Counter.GetValue(); got != 4*3960 {
		t.Errorf("%v messages consumed, want those of four trials: %d", got, 4*3960)
	}
	if got := find(t, families, "messaging_client_operation_duration_seconds", "", "").Histogram.GetSampleCount(); got != 4*2079 {
		t.Errorf("%v operations, want %d", got, 4*2079)
	}
	if got := find(t, families, "brokermark_repetitions_total", "status", "void").Counter.GetValue(); got != 2 {
		t.Errorf("%v void repetitions, want 2", got)
	}
	for _, status := range []string{"skipped", "spared"} {
		if got := find(t, families, "brokermark_repetitions_total", "status", status).Counter.GetValue(); got != 1 {
			t.Errorf("%v %s repetitions, want 1", got, status)
		}
	}
	for _, name := range []string{"brokermark_run_info", "brokermark_backlog_messages", "brokermark_time_left_seconds"} {
		if families[name] != nil {
			t.Errorf("%s is exposed although nothing runs", name)
		}
	}
}

// events reads the page's messages.
func events(t *testing.T, s *Server) (next func() message, body io.Closer) {
	t.Helper()
	response, err := http.Get(s.URL + "/events")
	if err != nil {
		t.Fatal(err)
	}
	if kind := response.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Errorf("content type %q", kind)
	}
	lines := bufio.NewScanner(response.Body)
	return func() message {
		t.Helper()
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				var m message
				if err := json.Unmarshal([]byte(data), &m); err != nil {
					t.Fatalf("%v: %s", err, data)
				}
				return m
			}
		}
		t.Fatalf("the stream ended: %v", lines.Err())
		return message{}
	}, response.Body
}

func TestAPageIsToldWhatItMissedThenWhatIsNewAndTheEnd(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	defer http.DefaultClient.CloseIdleConnections()
	w := newWatched()
	s := w.serve(t)
	w.ended(1, store.OK)
	w.event(lab.Event{Kind: lab.Began, Run: run(2), Done: 1, Total: 3, Left: time.Minute})
	w.trial(2, 1000)
	next, body := events(t, s)
	defer body.Close()
	m := next()
	if n := m.View.Now; n == nil || n.Sent != 1000 || n.Received != 1980 || n.Target != 1000 || n.Backlog != 7 || n.P99Ns != 2e6 || n.BrokerCPU != 0.5 {
		t.Errorf("now: %+v", n)
	}
	if v := m.View; v.Done != 1 || v.Total != 3 || v.Stage != "fixed load" || v.Phase != "draining" || v.LeftNs <= 0 || !strings.Contains(v.Title, "<script>") {
		t.Errorf("view: %+v", v)
	}
	if len(m.Ticks) == 0 || len(m.Endings) != 1 || m.Endings[0].Text != "received 900/s" {
		t.Errorf("history: %d ticks, endings %+v", len(m.Ticks), m.Endings)
	}
	w.ended(2, store.Void)
	if m = next(); len(m.Ticks) != 0 || len(m.Endings) != 1 || m.Endings[0].Text != "late" || m.Endings[0].Status != "void" || m.View.Now != nil {
		t.Errorf("after the second repetition: %+v", m)
	}
	closed := make(chan error)
	go func() { closed <- s.Close() }()
	for !m.Finished {
		m = next()
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

func TestNeitherPageNorMetricsHoldTheLatencyOfAClosedLoop(t *testing.T) {
	backlogged := run(1)
	backlogged.Point.Spec.Measure = study.MeasureBacklog
	for name, c := range map[string]struct {
		run    study.Run
		target float64
	}{"as fast as possible": {run(1), 0}, "a backlog at a rate": {backlogged, 1000}} {
		w := newWatched()
		s := w.serve(t)
		w.event(lab.Event{Kind: lab.Began, Run: c.run, Total: 3})
		w.load(c.run, c.target)
		if n := w.f.View(time.Now()).Now; n == nil || n.P50Ns != 0 || n.P99Ns != 0 || !n.ClosedLoop || n.Sent != 1000 {
			t.Errorf("%s: the page shows %+v", name, n)
		}
		families := scrape(t, s)
		for _, latency := range []string{"messaging_client_operation_duration_seconds", "brokermark_end_to_end_latency_seconds"} {
			if families[latency] != nil {
				t.Errorf("%s: a scrape holds %v", name, families[latency])
			}
		}
		if got := find(t, families, "messaging_client_consumed_messages_total", "", "").Counter.GetValue(); got != 3960 {
			t.Errorf("%s: %v messages consumed, want 3960", name, got)
		}
		s.Close()
	}
}

func TestTheProbeOfASearchAddsNothingToItsLatencies(t *testing.T) {
	w := newWatched()
	s := w.serve(t)
	defer s.Close()
	w.event(lab.Event{Kind: lab.Began, Run: run(1), Total: 3})
	w.trial(1, 1000)
	w.trial(1, 0) // another probe, as when a search begins again
	w.trial(1, 1000)
	families := scrape(t, s)
	if got := find(t, families, "brokermark_end_to_end_latency_seconds", "", "").Histogram.GetSampleCount(); got != 2*2079 {
		t.Errorf("%v latencies, want those of the two trials at a rate: %d", got, 2*2079)
	}
}

func TestThePageLoadsNothingButItself(t *testing.T) {
	w := newWatched()
	s := w.serve(t)
	defer s.Close()
	for path, kind := range map[string]string{"/": "text/html", "/watch.js": "text/javascript", "/watch.css": "text/css", "/icon.svg": "image/svg"} {
		response, err := http.Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if got := response.Header.Get("Content-Type"); response.StatusCode != 200 || !strings.HasPrefix(got, kind) {
			t.Errorf("%s: %s, %s", path, response.Status, got)
		}
		if text := strings.ReplaceAll(string(body), "http://www.w3.org/2000/svg", ""); strings.Contains(text, "//") && strings.Contains(text, "http") {
			t.Errorf("%s names another place", path)
		}
		if policy := response.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'self'") {
			t.Errorf("%s: policy %q", path, policy)
		}
	}
	if response, err := http.Post(s.URL+"/", "text/plain", strings.NewReader("x")); err != nil || response.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %v, %v", response, err)
	}
}

func TestAnAddressIsCompletedOrRefused(t *testing.T) {
	for text, want := range map[string]string{
		"9464": "127.0.0.1:9464", ":9464": "127.0.0.1:9464", "0.0.0.0:80": "0.0.0.0:80", "localhost:0": "localhost:0", "[::1]:80": "[::1]:80",
		"": "", "x": "", "70000": "", "-1": "", "+9464": "", "host": "", "host:http": "", "::1:80": "", "http://127.0.0.1:80": "",
	} {
		got, err := Address(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("Address(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestAnAddressInUseIsASentence(t *testing.T) {
	w := newWatched()
	s := w.serve(t)
	defer s.Close()
	_, err := Serve(strings.TrimPrefix(s.URL, "http://"), "", Page(&w.f))
	if err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("got %v", err)
	}
}

func TestAHistoryStaysBounded(t *testing.T) {
	w := newWatched()
	for i := range maxEndings + 50 {
		w.f.Event(lab.Event{Kind: lab.Ended, Run: run(1), Done: i + 1, Record: &store.Record{Status: store.OK}})
	}
	if list, n := w.f.endingsAfter(0); len(list) != maxEndings || n != maxEndings+50 || list[0].Number != 51 {
		t.Errorf("%d endings of %d, from %d", len(list), n, list[0].Number)
	}
	if list, _ := w.f.endingsAfter(maxEndings + 48); len(list) != 2 || list[1].Number != maxEndings+50 {
		t.Errorf("new endings: %+v", list)
	}
}

func TestATitleNamesTheBrokerUnlessAWordOfTheLabelDoes(t *testing.T) {
	for _, c := range []struct{ label, broker, want string }{
		{"kafka messageSize=100", "kafka", "kafka messageSize=100"},
		{"kafka@4.1 messageSize=100", "kafka", "kafka@4.1 messageSize=100"},
		{"client=kafka-go", "kafka", "kafka client=kafka-go"},
		{"nats-streaming rate=5", "nats", "nats nats-streaming rate=5"},
		{"", "nats", "nats"},
	} {
		e := lab.Event{Run: study.Run{Repetition: 1, Point: &study.Point{Label: c.label, Spec: study.Spec{Broker: c.broker}}}}
		if got := Title(e); got != c.want {
			t.Errorf("%s with the label %q is called %q, want %q", c.broker, c.label, got, c.want)
		}
	}
}
