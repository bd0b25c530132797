package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/maker"
	"github.com/brokermark/brokermark/internal/provision"
)

// peakRun sets Brokermark against the bare loop over the same client on one running server, both as fast as they can: on
// Kafka, "Brokermark" beside "bare franz-go". Each run has a topic of its own: bench-1, bench-2, …
type peakRun struct {
	b        *bench
	broker   string
	address  string
	bareName string
	plan     loopPlan                                     // of the bare loop; its address, messages and, where empty, name are filled in
	create   func(ctx context.Context, name string) error // makes a topic; nil: the bare loop needs none to be made
	after    func(ctx context.Context) error              // clears up behind every run; may be nil
	sets     []string                                     // for Brokermark
	topics   int                                          // named so far
	messages int64                                        // of every run; 0 until the unrecorded one has told what takes the measured time
}

// compare has the bare loop first, then Brokermark, then further contenders. Brokermark has to be as fast as the bare loop, at no more processor time;
// more are further targets.
func (r *peakRun) compare(ctx context.Context, s section, further []contender, more ...target) error {
	contenders := append([]contender{{r.bareName, r.bare}, {tunedProgram, r.through}}, further...)
	targets := append([]target{{of: tunedProgram, against: r.bareName, rate: 1, cpu: 1}}, more...)
	return r.b.compare(ctx, s, contenders, targets, r.after)
}

// topic names the topic of the next run.
func (r *peakRun) topic() string {
	r.topics++
	return fmt.Sprintf("bench-%d", r.topics)
}

func (r *peakRun) bare(ctx context.Context) (sample, error) {
	p := r.plan
	p.Address, p.Messages = r.address, r.messages
	if p.Name == "" {
		p.Name = r.topic()
	}
	if r.create != nil {
		if err := r.create(ctx, p.Name); err != nil {
			return sample{}, fmt.Errorf("make %s: %w", p.Name, err)
		}
	}
	s, err := r.b.bare(ctx, p)
	if r.messages == 0 {
		r.messages = r.b.enough(s)
	}
	return s, err
}

func (r *peakRun) through(ctx context.Context) (sample, error) {
	return r.b.through(ctx, r.address, r.broker, r.messages, r.sets...)
}

// produceOnly is Brokermark without a consumer; sets are beside those of its other runs.
func (r *peakRun) produceOnly(sets ...string) contender {
	all := slices.Concat(r.sets, []string{"subscriptionsPerTopic=0"}, sets)
	return contender{tunedProgram + ", produce only", func(ctx context.Context) (sample, error) {
		return r.b.steady(ctx, r.address, r.broker, all, "--measure", "peak")
	}}
}

// declare makes a topic as Brokermark would, from outside of what is measured.
func (r *peakRun) declare(ctx context.Context, name string, persistence driver.Persistence, client map[string]any) error {
	d, err := r.open(ctx, name, persistence, client)
	if err != nil {
		return err
	}
	return d.Close()
}

// open is declare with the driver that has made the topic, which the caller closes.
func (r *peakRun) open(ctx context.Context, name string, persistence driver.Persistence, client map[string]any) (driver.Driver, error) {
	kind, err := driver.Lookup(r.broker)
	if err != nil {
		return nil, err
	}
	c := driver.Config{Target: driver.Target{Addresses: []string{r.address}}, Guarantee: driver.Guarantee{
		Delivery: driver.AtLeastOnce, Persistence: persistence, Replicas: 1, Acks: driver.AcksLeader, Ordering: driver.Unordered,
	}}
	if c.Client, err = driver.Decode(kind.Settings, driver.ClientScope, client); err != nil {
		return nil, err
	}
	c.Topic, _ = driver.Decode(kind.Settings, driver.TopicScope, nil) // defaults
	d, err := kind.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	err = d.Setup(ctx, driver.Topology{Topics: []driver.Topic{{Name: name, Partitions: 1}}, Subscriptions: []string{"s0"}})
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// tool is the command by which a tool of the broker's maker does what a point asks for, with the run's message size on its server.
func (r *peakRun) tool(ctx context.Context, name string, p maker.Point) (c provision.Command, err error) {
	t, err := maker.Lookup(name)
	if err != nil {
		return c, err
	}
	install, err := r.b.host.Install(ctx, name, "")
	if err != nil {
		return c, err
	}
	p.Addresses, p.Size = []string{r.address}, messageSize
	args, err := t.Arguments(p)
	if err != nil {
		return c, err
	}
	return t.Command(install, os.TempDir(), args)
}

// figures reads what a tool of a broker's maker printed of a point.
func (w *watched) figures(name string, p maker.Point) (maker.Figures, error) {
	t, err := maker.Lookup(name)
	if err != nil {
		return maker.Figures{}, err
	}
	var lines []string
	for _, l := range w.lines {
		lines = append(lines, l.text)
	}
	return t.Figures(p, lines)
}

// headers is the part that sets payloads that arrive untouched, with the messages' identity in a header, beside those that have it in them.
// It has no target: what the identity costs there is the client library's, such as nats.go's, which makes a map of each message's headers.
func headers(o provision.Options, sets ...string) func(*bench, context.Context) error {
	return func(b *bench, ctx context.Context) error {
		return b.with(ctx, o, func(in *provision.Instance) error {
			file, err := os.CreateTemp("", "brokermark-payload-")
			if err != nil {
				return err
			}
			defer os.Remove(file.Name())
			_, err = file.Write(bytes.Repeat([]byte("x"), messageSize))
			if err = errors.Join(err, file.Close()); err != nil {
				return err
			}
			r := &peakRun{b: b, broker: o.Broker, address: in.Addresses()[0], messages: firstCount}
			through := func(more ...string) func(context.Context) (sample, error) {
				return func(ctx context.Context) (sample, error) {
					r.sets = append(more, sets...)
					s, err := r.through(ctx)
					if r.messages == firstCount && err == nil {
						r.messages = b.enough(s)
					}
					return s, err
				}
			}
			var list []contender
			for _, mode := range []string{driver.Tuned, driver.Stock} {
				body, header, own := "in the body, "+mode, "in a header, "+mode, "in the body and 5 headers of 20 B, "+mode
				list = append(list,
					contender{body, through("client.mode=" + mode)},
					contender{header, through("client.mode="+mode, "payloadFile="+file.Name())},
					contender{own, through("client.mode="+mode, "headers.count=5", "headers.size=20")})
			}
			return b.compare(ctx, section{
				Title: "Identity in headers, " + o.Broker + ", 100 B", oneMode: true,
				Settings: fmt.Sprintf("1 topic, 1 producer, 1 consumer, defaults and %v; a header's name has 10 characters, its value 43", sets),
			}, list, nil, nil)
		})
	}
}

// firstCount is how many messages the unrecorded run sends, which tells how many take the measured time.
const firstCount = 200_000
