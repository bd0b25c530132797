package lab_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/testkit"
)

// A stream of somebody else, to which he publishes all the time, is sent to, read as he publishes, and read from its start. It stays as it is.
func TestATopicOfSomebodyElseIsMeasuredAndStaysAsItIs(t *testing.T) {
	testkit.Live(t)
	const before = 20_000
	h := sharedHost(t)
	in, err := h.Start(t.Context(), provision.Options{Broker: "jetstream"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Stop(t.Context()) }()
	conn, err := nats.Connect("nats://" + in.Addresses()[0])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn, jetstream.WithPublishAsyncMaxPending(2*before))
	if err != nil {
		t.Fatal(err)
	}
	made, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders.>"}, MaxMsgs: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}
	publish := func(n int) {
		if _, err := js.PublishAsync("orders.new", fmt.Appendf(nil, "order %d", n)); err != nil {
			t.Error(err)
		}
	}
	for n := range before {
		publish(n)
	}
	<-js.PublishAsyncComplete()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for n := before; ; n++ {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				publish(n)
			}
		}
	}()
	run := func(settings string) store.Record {
		t.Helper()
		s := parseSpec(t, fmt.Sprintf("broker: jetstream\nattach: ['%s']\ntopicName: orders.new\ndelivery: at-least-once\npersistence: log\n", in.Addresses()[0])+settings)
		db := openStore(t)
		if _, err := lab.Run(t.Context(), runsOf(s), lab.Options{Host: h, Store: db}); err != nil {
			t.Fatal(err)
		}
		r := readRecords(t, db)[0]
		if r.Status != store.OK || r.Result == nil {
			t.Fatalf("%s: %s %s", settings, r.Status, r.Reason)
		}
		return r
	}
	sent := run("measure: count\ncount.messages: 1000\nproducerDelay: 1ms\n")
	if b := sent.Result.Books; b.Sent != 1000 || b.Received != 1000 || b.Lost+b.Duplicated+b.Corrupted != 0 {
		t.Errorf("%+v", b)
	}
	said := false
	for _, d := range sent.Doubts {
		said = said || d.Code == "others" && strings.Contains(d.Text, "messages of others came from topic orders.new")
	}
	if !said {
		t.Errorf("nothing is said of others: %v", sent.Doubts)
	}
	now := run("measure: read\nread.from: now\nwarmup: 1s\nduration: 2s\n").Result
	if rate := now.ReceiveRate; rate < 200 || rate > 1000 || now.Read.Messages == 0 || now.Latency.EndToEnd.Count() != 0 {
		t.Errorf("%.0f/s, %+v; somebody sends up to 1,000/s", rate, now.Read)
	}
	close(stop)
	<-stopped
	<-js.PublishAsyncComplete()
	start := run("measure: read\nread.from: start\nduration: 20s\n").Result
	info, err := made.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r := start.Read; uint64(r.Messages) != info.State.Msgs || r.Held == nil || *r.Held != r.Messages || start.ReceiveRate < 1000 || start.Seconds > 15 {
		t.Errorf("%+v in %.2f s; it holds %d", r, start.Seconds, info.State.Msgs)
	}
	if info.State.FirstSeq != 1 || info.State.Msgs < before+1000 || info.State.Consumers != 0 || info.Config.MaxMsgs != 1_000_000 || len(streams(t, js)) != 1 {
		t.Errorf("%+v, %+v", info.State, info.Config)
	}
}
