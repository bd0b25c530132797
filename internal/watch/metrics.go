package watch

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/study"
)

// Labels of OpenTelemetry's messaging conventions. The topics of a point have throw-away names, so the destination is given by their
// template.
const (
	labelSystem      = "messaging_system"
	labelOperation   = "messaging_operation_name"
	labelDestination = "messaging_destination_template"
	labelTemporary   = "messaging_destination_temporary"
)

// The first three metrics are those of OpenTelemetry's messaging clients, under the names that its rules for Prometheus give them. The
// others have no convention.
var (
	sentMessages = describe("messaging_client_sent_messages_total",
		"Messages that the client library reported as sent, confirmed as the guarantee asks; with error_type those that it reported as failed.",
		labelSystem, labelOperation, labelDestination, labelTemporary, "error_type")
	consumedMessages = describe("messaging_client_consumed_messages_total", "Messages delivered to the application, over all subscriptions.",
		labelSystem, labelOperation, labelDestination, labelTemporary)
	operationDuration = describe("messaging_client_operation_duration_seconds",
		"From handing a message to the client library until the broker's confirmation; without closed loops, where it says how full the window was.",
		labelSystem, labelOperation, labelDestination, labelTemporary)

	endToEnd = describe("brokermark_end_to_end_latency_seconds",
		"From the intended time of sending until delivery; publish latency where nobody subscribes. Without closed loops.",
		labelSystem, labelDestination, labelTemporary)
	backlog      = describe("brokermark_backlog_messages", "Messages due but not delivered or not confirmed.")
	target       = describe("brokermark_target_rate", "Messages per second that the schedule asks for; absent in a closed loop.")
	brokerCPU    = describe("brokermark_broker_cpu_cores", "Processor cores that the broker's processes used over the last half second.")
	generatorCPU = describe("brokermark_generator_cpu_cores", "Processor cores that the load generator used over the last half second.")
	agentCPU     = describe("brokermark_agent_cpu_cores", "Processor cores that each agent's process used over the last half second, with run --agents.", "agent")
	planned      = describe("brokermark_repetitions_planned", "Repetitions of this run, skipped and spared ones included.")
	finished     = describe("brokermark_repetitions_total", "Repetitions that are done, by status; stored before counts as skipped, not needed any more as spared.", "status")
	timeLeft     = describe("brokermark_time_left_seconds", "Estimate for everything that is still to do; absent between two repetitions.")
	running      = describe("brokermark_run_info", "The repetition under way.", "study", "point_id", "point", "broker", "measure", "repetition", "stage", "phase")
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// bucketBounds are the upper bounds of the histograms' buckets in seconds. Those from 5 ms to 10 s are OpenTelemetry's for the operation
// duration; most brokers need the finer ones below.
var bucketBounds = []float64{
	50e-6, 100e-6, 250e-6, 500e-6, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60,
}

// Metrics is a Prometheus collector of a run in progress. It keeps copies of the samples that the lab takes anyway: a scrape touches
// nothing that a message touches.
type Metrics struct {
	follower *Follower

	mu       sync.Mutex
	points   map[string]*pointTotals // by the template of their topics' names
	statuses map[string]int          // repetitions that are done
}

// NewMetrics exposes the run that f follows. Both have to receive the same events.
func NewMetrics(f *Follower) *Metrics {
	return &Metrics{follower: f, points: map[string]*pointTotals{}, statuses: map[string]int{}}
}

// pointTotals are the counters of a point. The lab counts every trial from zero, but a Prometheus counter must never fall, so the trials
// that are over are added up.
type pointTotals struct {
	broker     string
	past       totals // of the trials that are over
	current    totals // of the trial that runs; zero between two trials
	hasLatency bool   // a trial with a schedule ran; the latency of a closed loop says nothing
}

// totals are the counters of one or more trials.
type totals struct {
	acked, failed, received int64
	endToEnd, service       hist.Snapshot
}

func (t totals) plus(o totals) totals {
	return totals{
		acked: t.acked + o.acked, failed: t.failed + o.failed, received: t.received + o.received,
		endToEnd: t.endToEnd.Merge(o.endToEnd), service: t.service.Merge(o.service),
	}
}

// Event takes the next event of the lab. Any event but a sample ends the trial that ran.
func (m *Metrics) Event(e lab.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e.Kind == lab.Sampled {
		m.pointOf(e.Run).sample(e)
		return
	}
	switch e.Kind {
	case lab.Ended:
		m.statuses[string(e.Record.Status)]++
	case lab.Skipped:
		m.statuses["skipped"]++
	case lab.Spared:
		m.statuses["spared"]++
	}
	if p := m.points[topicTemplate(e.Run)]; p != nil {
		p.past, p.current = p.past.plus(p.current), totals{}
	}
}

func (m *Metrics) pointOf(r study.Run) *pointTotals {
	template := topicTemplate(r)
	if m.points[template] == nil {
		m.points[template] = &pointTotals{broker: r.Point.Spec.Broker}
	}
	return m.points[template]
}

// topicTemplate describes the names that the lab gives to the topics of a point.
func topicTemplate(r study.Run) string {
	id := r.Point.ID
	return "bm-" + id[:min(len(id), 8)] + "-{repetition}-{run}-{topic}"
}

// sample replaces the counters of the trial that runs. Only every fifth sample has histograms; until the next one the last ones stay.
func (p *pointTotals) sample(e lab.Event) {
	counts := e.Sample.Count
	p.current.acked, p.current.failed, p.current.received = counts.Acked, counts.Failed, counts.Received
	if e.ClosedLoop() {
		return
	}
	p.hasLatency = true
	if l := e.Sample.Latency; l != nil {
		p.current.endToEnd, p.current.service = l.EndToEnd, l.Service
	}
}

// Handler answers scrapes.
func (m *Metrics) Handler() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(m)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		sentMessages, consumedMessages, operationDuration, endToEnd, backlog, target, brokerCPU, generatorCPU, agentCPU, planned, finished, timeLeft, running,
	} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	view, run := m.follower.viewOfRun(time.Now())
	collectView(out, view, run)
	m.mu.Lock()
	defer m.mu.Unlock()
	for template, p := range m.points {
		p.collect(out, template)
	}
	for status, n := range m.statuses {
		counter(out, finished, int64(n), status)
	}
}

// collectView exposes what happens now: v, and the repetition under way if v has a title.
func collectView(out chan<- prometheus.Metric, v View, run study.Run) {
	gauge(out, planned, float64(v.Total))
	if v.Title == "" {
		return
	}
	gauge(out, timeLeft, float64(v.LeftNs)/1e9)
	p := run.Point
	gauge(out, running, 1, p.Study, p.ID, p.Label, p.Spec.Broker, p.Spec.Measure, strconv.Itoa(run.Repetition), v.Stage, v.Phase)
	if v.Now == nil {
		return
	}
	gauge(out, backlog, float64(v.Now.Backlog))
	gauge(out, generatorCPU, v.Now.GeneratorCPU)
	for _, a := range v.Now.Agents {
		gauge(out, agentCPU, a.Cores, a.Name)
	}
	if v.Now.Target > 0 {
		gauge(out, target, v.Now.Target)
	}
	if v.Now.BrokerCPU > 0 {
		gauge(out, brokerCPU, v.Now.BrokerCPU)
	}
}

// collect exposes the counters and histograms of a point.
func (p *pointTotals) collect(out chan<- prometheus.Metric, template string) {
	const temporary = "true"
	all := p.past.plus(p.current)
	counter(out, sentMessages, all.acked, p.broker, "send", template, temporary, "") // sent minus failed could fall between two scrapes
	if all.failed > 0 {
		counter(out, sentMessages, all.failed, p.broker, "send", template, temporary, "_OTHER")
	}
	counter(out, consumedMessages, all.received, p.broker, "receive", template, temporary)
	if p.hasLatency {
		histogram(out, operationDuration, all.service, p.broker, "send", template, temporary)
		histogram(out, endToEnd, all.endToEnd, p.broker, template, temporary)
	}
}

func gauge(out chan<- prometheus.Metric, d *prometheus.Desc, v float64, labels ...string) {
	out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, validUTF8(labels)...)
}

func counter(out chan<- prometheus.Metric, d *prometheus.Desc, n int64, labels ...string) {
	out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), validUTF8(labels)...)
}

// histogram exposes a histogram of nanoseconds in seconds.
func histogram(out chan<- prometheus.Metric, d *prometheus.Desc, s hist.Snapshot, labels ...string) {
	buckets := map[float64]uint64{} // cumulative counts by upper bound
	for _, bound := range bucketBounds {
		buckets[bound] = uint64(s.Count() - s.CountAbove(int64(math.Round(bound*1e9))))
	}
	sum := s.Mean() / 1e9 * float64(s.Count())
	out <- prometheus.MustNewConstHistogram(d, uint64(s.Count()), sum, buckets, validUTF8(labels)...)
}

// validUTF8 replaces bytes of labels that are no UTF-8. Labels hold users' words, and one bad label would spoil the whole scrape.
func validUTF8(labels []string) []string {
	valid := make([]string, len(labels))
	for i, label := range labels {
		valid[i] = strings.ToValidUTF8(label, "\ufffd")
	}
	return valid
}
