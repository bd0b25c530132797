package watch

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/study"
)

// Labels of OpenTelemetry's messaging conventions. The topics of a point have throw-away names, so the destination is
// given by their template.
const (
	labelSystem      = "messaging_system"
	labelOperation   = "messaging_operation_name"
	labelDestination = "messaging_destination_template"
	labelTemporary   = "messaging_destination_temporary"
)

// The first three metrics are those of OpenTelemetry's messaging clients, under the names that its rules for Prometheus
// give them. The others have no convention.
var (
	sentMessages = describe("messaging_client_sent_messages_total",
		"Messages that the client library reported as sent, confirmed as the guarantee asks; "+
			"with error_type those that it reported as failed.",
		labelSystem, labelOperation, labelDestination, labelTemporary, "error_type")
	consumedMessages = describe("messaging_client_consumed_messages_total",
		"Messages delivered to the application, over all subscriptions.",
		labelSystem, labelOperation, labelDestination, labelTemporary)
	operationDuration = describe("messaging_client_operation_duration_seconds",
		"From handing a message to the client library until the broker's confirmation; "+
			"without closed loops, where it says how full the window was.",
		labelSystem, labelOperation, labelDestination, labelTemporary)

	endToEnd = describe("brokermark_end_to_end_latency_seconds",
		"From the intended time of sending until delivery; publish latency if there is no subscription. Without closed loops.",
		labelSystem, labelDestination, labelTemporary)

	backlog = describe("brokermark_backlog_messages", "Messages due but not delivered or not confirmed.")
	target  = describe("brokermark_target_rate",
		"Messages per second that the schedule asks for; absent in a closed loop.")
	brokerCPU = describe("brokermark_broker_cpu_cores",
		"Processor cores that the broker's processes used over the last half second.")
	generatorCPU = describe("brokermark_generator_cpu_cores",
		"Processor cores that the load generator used over the last half second.")
	agentCPU = describe("brokermark_agent_cpu_cores",
		"Processor cores that each agent's process used over the last half second, with run --agents.", "agent")

	planned = describe("brokermark_repetitions_planned",
		"Repetitions of this run, skipped and spared ones included.")
	finished = describe("brokermark_repetitions_total",
		"Repetitions that are done, by status; stored before counts as skipped, not needed any more as spared.", "status")
	timeLeft = describe("brokermark_time_left_seconds",
		"Estimate for everything that is still to do; absent between two repetitions.")
	running = describe("brokermark_run_info", "The repetition under way.",
		"study", "point_id", "point", "broker", "measure", "repetition", "stage", "phase")
)

// described holds the descriptions of all metrics.
var described []*prometheus.Desc

func describe(name, help string, labels ...string) *prometheus.Desc {
	d := prometheus.NewDesc(name, help, labels, nil)
	described = append(described, d)
	return d
}

// bucketBounds are the upper bounds of the histograms' buckets in seconds. Those from 5 ms to 10 s are OpenTelemetry's for
// the operation duration; most brokers need the finer ones below.
var bucketBounds = []float64{
	50e-6, 100e-6, 250e-6, 500e-6, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
	30, 60,
}

// Handler answers scrapes.
func (m *Metrics) Handler() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(m)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range described {
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
	repetition := strconv.Itoa(run.Repetition)
	gauge(out, running, 1, p.Study, p.ID, p.Label, p.Spec.Broker, p.Spec.Measure, repetition, v.Stage, v.Phase)
	if v.Now == nil {
		return
	}
	gauge(out, backlog, float64(v.Now.Backlog))
	gauge(out, generatorCPU, v.Now.GeneratorCPU)
	for _, a := range v.Now.Agents {
		gauge(out, agentCPU, a.Cores, a.Name)
	}
	if v.Now.Target > 0 { // 0: a closed loop
		gauge(out, target, v.Now.Target)
	}
	if v.Now.BrokerCPU > 0 { // 0: the broker is not ours to meter
		gauge(out, brokerCPU, v.Now.BrokerCPU)
	}
}

// collect exposes the counters and histograms of a point.
func (p *pointTotals) collect(out chan<- prometheus.Metric, template string) {
	const temporary = "true"
	all := p.past.plus(p.current)
	// The acknowledged ones: sent minus failed could fall between two scrapes.
	counter(out, sentMessages, all.acked, p.broker, "send", template, temporary, "")
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

// validUTF8 replaces bytes of labels that are no UTF-8. Labels hold users' words, and one bad label would spoil the whole
// scrape.
func validUTF8(labels []string) []string {
	valid := make([]string, len(labels))
	for i, label := range labels {
		valid[i] = strings.ToValidUTF8(label, "\ufffd")
	}
	return valid
}
