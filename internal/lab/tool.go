package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/maker"
	"github.com/brokermark/brokermark/internal/secret"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// With a generator that isn't ours, a tool of the broker's maker sends and receives (package maker). The lab makes the topic, starts the
// tool, meters it and the broker from its start to its end, and keeps what it printed. No message is counted here.

// toolRun is the tool of one repetition.
type toolRun struct {
	bench  *bench
	tool   maker.Tool
	point  maker.Point
	args   []string
	admin  driver.Driver // makes and removes the topic, and asks for the broker's count
	stored *store.Tool

	printed []string // the last lines of its output
}

// checkGenerator refuses a point whose generator can't do what it asks for.
func checkGenerator(s study.Spec) error {
	if s.Generator == "" {
		return nil
	}
	t, err := maker.Lookup(s.Generator)
	if err != nil {
		return err
	}
	return t.Refusal(s.Broker, toolPoint(s, []string{"127.0.0.1:1"}, driver.Topic{Partitions: s.PartitionsPerTopic}))
}

// toolPoint is what a spec asks of a tool.
func toolPoint(s study.Spec, addresses []string, topic driver.Topic) maker.Point {
	p := maker.Point{
		Addresses: addresses, Topic: topic.Name, Partitions: topic.Partitions,
		Producers: s.ProducersPerTopic, Consumers: s.ConsumerPerSubscription.Largest(),
		Rate: s.Load.Rate, Size: int(s.MessageSize.Largest()), InFlight: s.InFlight.Messages,
		Windowed: s.InFlight.Messages != s.UsualWindow(), Guarantee: guarantee(s), Client: s.Client, Kept: s.Topic,
	}
	for i := range s.SubscriptionsPerTopic {
		p.Subscriptions = append(p.Subscriptions, subscriptionName(i))
	}
	if s.Measure == study.MeasureCount {
		p.Messages = countedMessages(s, s.Count.Messages, s.Count.Bytes)
	} else {
		p.For = time.Duration(s.Duration)
	}
	return p
}

// measureTool measures a point whose generator is a tool of the broker's maker, and fills the record's result.
func (b *bench) measureTool(ctx context.Context) (err error) {
	t, err := maker.Lookup(b.spec.Generator)
	if err != nil {
		return err
	}
	r := &toolRun{bench: b, tool: t, stored: &store.Tool{Name: t.Name, Version: t.Version()}}
	b.record.Versions.Client = t.Name + " " + t.Version()
	b.record.Settings.Client = b.spec.Client // of the tool's own defaults nothing is known
	b.doubt(doubt.MakersTool, "%s %s sent and received: its rates and latencies, from the actual send, are its own; loss, duplicates and order are unknown", t.Name, t.Version())
	defer func() {
		if r.admin != nil {
			b.closeAdmin(r.admin, err)
		}
	}()
	if err := r.prepare(ctx); err != nil {
		return b.explainDeath(err)
	}
	return r.run(ctx)
}

// prepare makes the topic and translates the point.
func (r *toolRun) prepare(ctx context.Context) (err error) {
	b := r.bench
	b.announce("connecting")
	broker := b.broker.link
	broker.Topology = b.topology(uint16(rand.Uint32()))
	if len(broker.Topology.Subscriptions) == 0 { // the broker is asked for its count by the name of one
		broker.Topology.Subscriptions = []string{subscriptionName(0)}
	}
	if r.admin, err = broker.Open(ctx, b.lab.options.Log); err != nil {
		return err
	}
	if err := b.awaitReplicas(ctx); err != nil {
		return err
	}
	r.point = toolPoint(b.spec, broker.Addresses, broker.Topology.Topics[0])
	r.args, err = r.tool.Arguments(r.point)
	for _, arg := range r.args {
		r.stored.Arguments = append(r.stored.Arguments, shown(arg))
	}
	return err
}

// run runs the tool to its end and keeps its figures.
func (r *toolRun) run(ctx context.Context) error {
	b := r.bench
	stage := "running " + r.tool.Name
	b.report(Event{Kind: Staged, Stage: stage, Target: b.spec.Load.Rate})
	m := newMetering(b, stage, b.spec.Load.Rate)
	m.begin = new(b.readAll())
	err := r.toEnd(ctx, m)
	if b.clients.tool == nil {
		return err
	}
	m.end = new(b.readAll())
	r.stored.BrokerPublished = r.published(ctx)
	f, unread := r.tool.Figures(r.point, r.printed)
	out := worker.Outcome{From: m.begin.at, Until: m.end.at}
	out.Measured.Acked = r.messages(f)
	out.Measured.Sent, out.Measured.Bytes = out.Measured.Acked, out.Measured.Acked*int64(r.point.Size)
	cost, costDoubts := m.finish(ctx, out, nil)
	b.record.Result = &store.Result{
		Measurement: store.Measurement{OfferedRate: b.spec.Load.Rate, PayloadSize: float64(r.point.Size), Cost: cost.Cost},
		Tool:        r.stored,
	}
	if unread == nil {
		b.record.Result.Given = given(f, r.point)
	}
	for _, d := range costDoubts {
		b.doubts().keep(d)
	}
	b.doubtCores(trial{Outcome: out, trialCost: cost}, b.doubts())
	switch {
	case err != nil:
		return err
	case unread != nil:
		return failed("%s ended without the figures that it prints: %v: %s", r.tool.Name, unread, shown(lastOf(r.printed)))
	}
	return cmp.Or(r.keptRate(f), r.tookAll(f))
}

// keptRate makes a run void in which the tool sent fewer messages than were asked for, by what it says.
func (r *toolRun) keptRate(f maker.Figures) error {
	p, name := r.point, r.tool.Name
	const unknown = "whether it or the broker set the pace is not known"
	switch {
	case f.Sent > 0 && float64(f.Sent) < leastOfRate*float64(p.OrRate()):
		return void("%s says that it sent %d messages where %d were asked for; %s", name, f.Sent, p.OrRate(), unknown)
	case f.Sent == 0 && f.SendRate < leastOfRate*p.Rate:
		return void("%s says that it sent %.0f/s where %.0f/s were asked for; %s", name, f.SendRate, p.Rate, unknown)
	}
	return nil
}

// tookAll voids a run if the broker counted fewer messages than the tool sent.
func (r *toolRun) tookAll(f maker.Figures) error {
	sent, counted, least := r.messages(f), r.stored.BrokerPublished, 1.0
	if f.Sent == 0 && r.point.Messages == 0 { // of a rate and a time, which are rounded
		least = leastOfRate
	}
	if counted == nil || float64(*counted) >= least*float64(sent) {
		return nil
	}
	return void("the broker counted %d of the %d messages that %s sent by its own figures; the fate of the others is not known", *counted, sent, r.tool.Name)
}

const (
	leastOfRate = 0.98 // of a rate that was asked for, as for our own generator
	// mostPrinted bounds the lines of a tool's output that are read, and keptLines those that a record holds.
	mostPrinted, keptLines = 2000, 20
	toolPatience           = time.Minute // for its start, and for its end after the load
)

// toEnd starts the tool and waits until it ends, while the meters are read. A tool that takes several times as long as it should is ended.
func (r *toolRun) toEnd(ctx context.Context, m *metering) error {
	b := r.bench
	guarded, unguard := b.guard(ctx)
	defer func() { _ = unguard() }()
	in, err := b.startProcesses(guarded, r.tool.Options(r.args))
	if err != nil {
		return errStart{cause: fmt.Errorf("start %s: %w", r.tool.Name, err)}
	}
	b.clients.tool = in
	patience := toolPatience + time.Duration(b.spec.Drain) + time.Duration(3*study.EstimateSeconds(b.spec)*float64(time.Second))
	limited, cancel := context.WithTimeout(guarded, patience)
	defer cancel()
	endMeters := clock.Repeat(meterEvery, m.readLive)
	err = in.Wait(limited)
	endMeters()
	r.printed = in.LogTail(1, mostPrinted)
	for _, line := range r.printed[max(0, len(r.printed)-keptLines):] {
		r.stored.Printed = append(r.stored.Printed, shown(line))
	}
	switch died := unguard(); {
	case died != nil:
		return died
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return failed("%s had not ended after %s: %s", r.tool.Name, patience.Round(time.Second), shown(lastOf(r.printed)))
	case err != nil:
		return failed("%v", err)
	}
	return nil
}

// shown is a line or an argument as a record keeps it: without secrets, and a long one without its end, such as a payload.
func shown(text string) string {
	const most = 500
	if text = secret.Redact(text); len(text) > most {
		return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(text[:most], ""), len(text))
	}
	return text
}

// lastOf is the end of an output, for a sentence.
func lastOf(lines []string) string {
	return strings.Join(lines[max(0, len(lines)-3):], "; ")
}

// messages is how many messages the tool sent, by which its cost is divided.
func (r *toolRun) messages(f maker.Figures) int64 {
	switch {
	case f.Sent > 0:
		return f.Sent
	case r.point.Messages > 0:
		return r.point.Messages
	}
	return int64(f.SendRate * r.point.For.Seconds())
}

// published is how many messages the broker has taken for the topic, by its own count; nil if it doesn't say. A broker that has just
// been started may take seconds until it can.
func (r *toolRun) published(ctx context.Context) *int64 {
	w := queueWatch{}
	w.gauge, _ = r.admin.(driver.Gauge)
	if w.gauge == nil {
		return nil
	}
	const tries, apart = 10, 500 * time.Millisecond
	for range tries {
		if s, ok := w.ask(ctx); ok {
			return reported(s.queue.Published)
		}
		if clock.Pause(ctx, apart) != nil {
			return nil
		}
	}
	return nil
}

// given are the figures by the keys of metrics. Latencies are from the actual send.
func given(f maker.Figures, p maker.Point) map[string]float64 {
	figures := map[string]float64{}
	through := f.SendRate
	if f.SendRate > 0 {
		figures["publish_rate"] = f.SendRate
	}
	if f.ReceiveRate > 0 {
		figures["receive_rate"] = f.ReceiveRate
		through = min(through, f.ReceiveRate/float64(max(1, len(p.Subscriptions))))
	}
	if through > 0 {
		figures["throughput"] = through
	}
	if through > 0 && p.Messages > 0 {
		figures["total_s"] = float64(cmp.Or(f.Sent, p.Messages)) / through
	}
	for kind, latency := range map[string]map[string]float64{"service": f.Publish, "e2e_service": f.EndToEnd} {
		for statistic, ns := range latency {
			figures[kind+"_"+statistic+"_ns"] = ns
		}
	}
	return figures
}
