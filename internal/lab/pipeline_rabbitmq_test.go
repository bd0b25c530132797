package lab_test

import (
	"testing"

	_ "github.com/brokermark/brokermark/brokers/rabbitmq"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

// RabbitMQ's management interface reports the queue's length and its rates; the books show that no ride was lost.
func TestAPipelineOverRabbitMQKnowsItsQueue(t *testing.T) {
	testkit.Live(t)
	testkit.Long(t)                                                // where RabbitMQ has to be fetched first, nothing else can be measured meanwhile
	host, err := provision.NewHost(provision.DefaultDir(), t.Logf) // where RabbitMQ and HAProxy may have been fetched before
	if err != nil {
		t.Fatal(err)
	}
	r := runPoint(t, parseSpec(t, `
broker: rabbitmq
measure: rate
load.rate: 300
duration: 4s
warmup: 500ms
pipeline: {servers: 2, threads: 40, pool: 4}
consumerPerSubscription: 4
client: {prefetch: 1, ack.every: 1}
`), lab.Options{Host: host})
	if r.Status != "ok" {
		t.Fatalf("%s: %s", r.Status, r.Reason)
	}
	b, p := r.Result.Books, r.Result.Pipeline
	if !b.Balanced() || b.Acked != 1200 || b.Received != 1200 || b.LostAcked+b.Duplicated+b.Failed != 0 {
		t.Errorf("%+v", b)
	}
	if p.QueueMax == nil || *p.QueueMax > 1000 {
		t.Errorf("the longest queue is %v", p.QueueMax)
	}
	if m, c := p.QueueBytes, p.ConsumerCapacity; m == nil || *m < 1<<10 || *m > 1<<20 || c == nil || *c <= 0 || *c > 1 {
		t.Errorf("the queue has %v bytes of memory, its consumers a capacity of %v", m, c)
	}
	if p.Balancer != "haproxy 3.0" {
		t.Errorf("the balancer is %q", p.Balancer)
	}
	var in, out, unacked int
	for _, tick := range p.Series {
		if tick.PublishedRate != nil && *tick.PublishedRate > 0 {
			in++
		}
		if tick.DeliveredRate != nil && *tick.DeliveredRate > 0 {
			out++
		}
		if tick.Unacked != nil {
			unacked++
		}
	}
	if len(p.Series) < 6 || in < 2 || out < 2 || unacked < 6 {
		t.Errorf("of %d looks %d have a rate of publishing, %d one of delivering, %d what is unacknowledged", len(p.Series), in, out, unacked)
	}
	for _, name := range []string{"client", "balancer", "server", "broker", "consumer"} {
		if part, ok := p.Part(name); !ok || part.RSSBytes == 0 || part.UserSeconds+part.SystemSeconds <= 0 {
			t.Errorf("%s: %+v", name, part)
		}
	}
}
