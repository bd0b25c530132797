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
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/worker"
)

// The first three are OpenTelemetry's messaging client metrics under the names that its rules for Prometheus give
// them, with its attributes; the rest has no convention. A point's topics have throw-away names, so the destination is
// given by their template.
var (
	destination = []string{"messaging_system", "messaging_operation_name", "messaging_destination_template", "messaging_destination_temporary"}

	sentMessages      = describe("messaging_client_sent_messages_total", "Messages that the client library reported as sent, confirmed as the guarantee asks; with error_type those that it reported as failed.", append(destination, "error_type")...)
	consumedMessages  = describe("messaging_client_consumed_messages_total", "Messages delivered to the application, over all subscriptions.", destination...)
	operationDuration = describe("messaging_client_operation_duration_seconds", "From handing a message to the client library until the broker's confirmation; without closed loops, where it says how full the window was.", destination...)

	endToEnd     = describe("brokermark_end_to_end_latency_seconds", "From the intended time of sending until delivery; publish latency where nobody subscribes. Without closed loops.", destination[0], destination[2], destination[3])
	backlog      = describe("brokermark_backlog_messages", "Messages due but not delivered or not confirmed.")
	target       = describe("brokermark_target_rate", "Messages per second that the schedule asks for; absent in a closed loop.")
	brokerCPU    = describe("brokermark_broker_cpu_cores", "Processor cores that the broker's processes used over the last half second.")
	generatorCPU = describe("brokermark_generator_cpu_cores", "Processor cores that the load generator used over the last half second.")
	agentCPU     = describe("brokermark_agent_cpu_cores", "Processor cores that each agent's process used over the last half second, with run --agents.", "agent")
	planned      = describe("brokermark_repetitions_planned", "Repetitions of this run, skipped ones included.")
	finished     = describe("brokermark_repetitions_total", "Repetitions that have ended, by status; stored before counts as skipped.", "status")
	timeLeft     = describe("brokermark_time_left_seconds", "Estimate for everything that is still to do.")
	running      = describe("brokermark_run_info", "What runs now.", "study", "point_id", "point", "broker", "measure", "repetition", "stage", "phase")
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// bounds are the upper ends of the histograms' buckets in seconds: OpenTelemetry's for this metric, with finer ones
// below, where most brokers are.
var bounds = []float64{
	50e-6, 100e-6, 250e-6, 500e-6, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60,
}

// Metrics exposes a run in progress. What it shows comes from the events that the lab sends ten times a second anyway:
// a scrape reads copies and touches nothing that a message touches.
type Metrics struct {
	follower *Follower

	mu       sync.Mutex
	event    lab.Event
	points   map[string]*totals // by destination template, so that counters never fall while the process lives
	order    []string
	statuses map[string]int
}

// totals are the counters of one point: of the trials that are over, and of the one that runs.
type totals struct {
	system       string
	past         measure.Count // of the trials that are over
	pastEndToEnd hist.Snapshot
	pastService  hist.Snapshot
	now          worker.Sample
	open         bool // a load with a schedule ran; else there is no latency
}

// NewMetrics exposes what f follows; the same events go to both.
func NewMetrics(f *Follower) *Metrics {
	return &Metrics{follower: f, points: map[string]*totals{}, statuses: map[string]int{}}
}

// Handler answers scrapes.
func (m *Metrics) Handler() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(m)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
}

// Event follows the lab.
func (m *Metrics) Event(e lab.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.event = e
	switch e.Kind {
	case lab.Sampled:
		t := m.totals(e)
		latency := t.now.Latency
		t.now = *e.Sample
		switch {
		case e.ClosedLoop():
			t.now.Latency = nil
		case t.now.Latency == nil:
			t.now.Latency = latency
		}
		t.open = t.open || !e.ClosedLoop()
		return
	case lab.Skipped:
		m.statuses["skipped"]++
	case lab.Ended:
		m.statuses[string(e.Record.Status)]++
	}
	if t := m.points[template(e)]; t != nil { // nil: nothing was sent for it
		t.fold() // another trial begins to count at zero
	}
}

func (m *Metrics) totals(e lab.Event) *totals {
	name := template(e)
	t := m.points[name]
	if t == nil {
		t = &totals{system: e.Run.Point.Spec.Broker}
		m.points[name] = t
		m.order = append(m.order, name)
	}
	return t
}

// template is the names of a point's topics, as the lab makes them.
func template(e lab.Event) string {
	id := e.Run.Point.ID
	return "bm-" + id[:min(len(id), 8)] + "-{repetition}-{run}-{topic}"
}

func (t *totals) fold() {
	p, n := &t.past, t.now.Count
	p.Acked += n.Acked
	p.Failed += n.Failed
	p.Received += n.Received
	if l := t.now.Latency; l != nil {
		t.pastEndToEnd, t.pastService = t.pastEndToEnd.Merge(l.EndToEnd), t.pastService.Merge(l.Service)
	}
	t.now = worker.Sample{}
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
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	v := m.follower.View(time.Now())
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range m.order {
		m.points[name].collect(out, name)
	}
	for status, n := range m.statuses {
		out <- prometheus.MustNewConstMetric(finished, prometheus.CounterValue, float64(n), status)
	}
	gauge(planned, float64(v.Total))
	gauge(timeLeft, float64(v.LeftNs)/1e9)
	if v.Title == "" {
		return
	}
	p := m.event.Run.Point
	gauge(running, 1, strings.ToValidUTF8(p.Study, "\ufffd"), p.ID, strings.ToValidUTF8(p.Label, "\ufffd"), p.Spec.Broker, p.Spec.Measure, strconv.Itoa(m.event.Run.Repetition), strings.ToValidUTF8(v.Stage, "\ufffd"), v.Phase)
	if v.Now == nil {
		return
	}
	gauge(backlog, float64(v.Now.Backlog))
	gauge(generatorCPU, v.Now.GeneratorCPU)
	for _, a := range v.Now.Agents {
		gauge(agentCPU, a.Cores, strings.ToValidUTF8(a.Name, "\ufffd"))
	}
	if v.Now.Target > 0 {
		gauge(target, v.Now.Target)
	}
	if v.Now.BrokerCPU > 0 {
		gauge(brokerCPU, v.Now.BrokerCPU)
	}
}

func (t *totals) collect(out chan<- prometheus.Metric, template string) {
	count := func(d *prometheus.Desc, n int64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	c := t.past
	c.Acked += t.now.Count.Acked
	c.Failed += t.now.Count.Failed
	c.Received += t.now.Count.Received
	send := []string{t.system, "send", template, "true"}
	count(sentMessages, c.Acked, append(send, "")...) // handed over ones less the failed would fall at times
	if c.Failed > 0 {
		count(sentMessages, c.Failed, append(send, "_OTHER")...)
	}
	count(consumedMessages, c.Received, t.system, "receive", template, "true")
	if !t.open {
		return
	}
	e2e, service := t.pastEndToEnd, t.pastService
	if l := t.now.Latency; l != nil {
		e2e, service = e2e.Merge(l.EndToEnd), service.Merge(l.Service)
	}
	histogram(out, operationDuration, service, send...)
	histogram(out, endToEnd, e2e, t.system, template, "true")
}

func histogram(out chan<- prometheus.Metric, d *prometheus.Desc, s hist.Snapshot, labels ...string) {
	buckets := map[float64]uint64{}
	for _, b := range bounds {
		buckets[b] = uint64(s.Count() - s.CountAbove(int64(math.Round(b*1e9))))
	}
	out <- prometheus.MustNewConstHistogram(d, uint64(s.Count()), s.Mean()/1e9*float64(s.Count()), buckets, labels...)
}
