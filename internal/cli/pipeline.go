package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/spf13/cobra"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/pipeline/link"
	"github.com/brokermark/brokermark/internal/pipeline/parts"
	"github.com/brokermark/brokermark/internal/study"
)

func (s *shell) pipelineCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "pipeline server | consumer | load",
		Short: "An application around a broker: HTTP in, a broker between, a consumer out",
		Long: `Pipeline runs the parts of an ingestion pipeline by hand: a server that takes
lift rides in over HTTP and publishes them, a consumer that keeps every skier's
record, and a client that loads the server, or any other HTTP endpoint. As an
experiment a study's key pipeline starts all of them; see docs/pipeline.md.`,
		Example: "  brokermark pipeline server --broker rabbitmq --attach 127.0.0.1:5672\n" +
			"  brokermark pipeline consumer --broker rabbitmq --attach 127.0.0.1:5672 --state rides.db\n" +
			"  brokermark pipeline load http://127.0.0.1:8080 --threads 300",
		Args: cobra.ArbitraryArgs,
		RunE: group,
	}
	c.AddCommand(s.pipelineServerCommand(), s.pipelineConsumerCommand(), s.pipelineLoadCommand())
	return c
}

// part is a server or a consumer, by its flags: which broker it uses, and where it listens itself.
type part struct {
	workload workload
	topic    string
	listen   string
}

// partAxes are the axis flags of run that a part takes, with one value each: which broker is meant and what is asked of it.
var partAxes = []string{"broker", "tls", "delivery", "persistence", "replicas", "partitions"}

// partFlags adds the flags that server and consumer share. listen is the default of --listen.
func partFlags(c *cobra.Command, listen string) *part {
	f := c.Flags()
	p := &part{workload: workload{flags: f}}
	addAxisFlags(c, lists.Filter(axisFlags, func(a axisFlag) bool { return slices.Contains(partAxes, a.name) }))
	f.StringSliceVar(&p.workload.attach, "attach", nil, "`addresses` of the running broker (host:port)")
	addLoginFlags(f)
	f.StringArrayVar(&p.workload.sets, "set", nil, "a client or topic setting by `path=value`, such as client.prefetch=1; repeatable")
	f.StringVar(&p.topic, "topic", "rides", "topic, queue or stream between server and consumer")
	f.StringVar(&p.listen, "listen", listen, "`address` to answer HTTP at")
	return p
}

// broker returns the broker that the flags name. existing says that another part has made the topic.
func (p *part) broker(existing bool) (b link.Broker, err error) {
	if len(p.workload.attach) == 0 {
		return b, badInput("no broker; name a running one with --broker and --attach host:port (brokermark broker up starts one)")
	}
	s := study.New("pipeline")
	if err := p.workload.override(s); err != nil {
		return b, err
	}
	points, err := s.Points()
	if err != nil {
		return b, err
	}
	if len(points) != 1 {
		return b, badInput("a part of a pipeline has one broker and one value for each setting")
	}
	spec := points[0].Spec
	if err := lab.Possible(spec); err != nil {
		return b, err
	}
	b, err = lab.Link(spec)
	b.Topology = link.Topology(p.topic, spec.PartitionsPerTopic)
	b.Topology.Existing = existing
	return b, err
}

func (s *shell) pipelineServerCommand() *cobra.Command {
	config := parts.Defaults()
	var p *part
	var answer, ask, cert, key string
	var join bool
	c := &cobra.Command{
		Use:   "server",
		Short: "Take lift rides in over HTTP and publish them",
		Long: `Server answers POST /skiers/{resortID}/seasons/{seasonID}/days/{dayID}/skiers/{skierID}
with 201 when the broker has confirmed the ride as --delivery and --persistence
demand, or with --answer at-once when it was handed to the broker's client.
GET /openapi.yaml describes everything. It makes the topic, unless --join says
that another server has done so. The first Ctrl-C answers what is under way.`,
		Example: "  brokermark pipeline server --broker rabbitmq --attach 127.0.0.1:5672\n" +
			"  brokermark pipeline server --broker jetstream --attach 127.0.0.1:4222 --pool 4 --window 100\n" +
			"  brokermark pipeline server --broker kafka --attach 127.0.0.1:9092 --listen :8081 --join --answer at-once",
		Args: arguments(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			switch answer {
			case "confirmed":
			case "at-once":
				config.AtOnce = true
			default:
				return badInput("--answer %s: unknown; allowed: confirmed, at-once", answer)
			}
			if err := inRange(map[string]int{"pool": config.Producers, "window": config.Window, "waiting": config.Waiting}); err != nil {
				return err
			}
			if (cert == "") != (key == "") {
				return badInput("--https-cert and --https-key go together")
			}
			b, err := p.broker(join)
			if err != nil {
				return err
			}
			if join {
				config.FirstID = randomFirstID()
			}
			return partEnded(parts.RunServer(c.Context(), parts.Server{Listen: p.listen, Broker: b, Pool: config, Consumer: ask, Cert: cert, Key: key}, io.Discard, s.listening("server")))
		},
	}
	p = partFlags(c, "127.0.0.1:8080")
	f := c.Flags()
	f.IntVar(&config.Producers, "pool", config.Producers, "producers of the broker, shared by all requests")
	f.IntVar(&config.Window, "window", config.Window, "rides that each producer may have unconfirmed")
	f.IntVar(&config.Waiting, "waiting", config.Waiting, "rides that may wait for a producer; more are answered with 503")
	f.DurationVar(&config.Patience, "patience", config.Patience, "how long a ride may wait for a producer before it is answered with 503")
	f.DurationVar(&config.Fate, "confirm-within", config.Fate, "how long a ride may wait for its confirmation before it is answered with 503")
	f.StringVar(&answer, "answer", "confirmed", "when to answer 201: confirmed (by the broker) or at-once")
	f.BoolVar(&join, "join", false, "another server has made the topic")
	f.StringVar(&ask, "consumer", "", "`address` of a consumer to ask for verticals")
	f.StringVar(&cert, "https-cert", "", "certificate for HTTPS, a PEM `file`")
	f.StringVar(&key, "https-key", "", "its key, a PEM `file`")
	return c
}

// randomFirstID returns the ID of a server's first producer: a multiple of 1,000 from 1,000 to 4,096,000, so that the IDs of
// servers that don't know of each other hardly ever meet.
func randomFirstID() int { return 1000 * (1 + rand.IntN(4096)) }

func (s *shell) pipelineConsumerCommand() *cobra.Command {
	var p *part
	var threads int
	var state string
	c := &cobra.Command{
		Use:   "consumer",
		Short: "Keep every skier's record of the rides that a server has published",
		Long: `Consumer takes rides from the broker and acknowledges each when it is counted.
The topic must be there: start a server first. With --state the record is a
SQLite file, or in a PostgreSQL database that several consumers may share; it
survives a crash, and no ride counts twice. How many rides a thread may hold
before it acknowledges is a setting of the broker's client, such as
--set client.prefetch=10 of RabbitMQ, where it is 1 here unless it is set.`,
		Example: "  brokermark pipeline consumer --broker rabbitmq --attach 127.0.0.1:5672 --set client.prefetch=10\n" +
			"  brokermark pipeline consumer --broker jetstream --attach 127.0.0.1:4222 --threads 4 --state rides.db\n" +
			"  brokermark pipeline consumer --broker kafka --attach 127.0.0.1:9092 --topic rides",
		Args: arguments(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := inRange(map[string]int{"threads": threads}); err != nil {
				return err
			}
			b, err := p.broker(true)
			if err != nil {
				return err
			}
			holdOne(&b)
			return partEnded(parts.RunConsumer(c.Context(), parts.Consumer{Listen: p.listen, Broker: b, Threads: threads, State: state}, io.Discard, s.listening("consumer")))
		},
	}
	p = partFlags(c, "127.0.0.1:8090")
	c.Flags().IntVar(&threads, "threads", 32, "threads that consume")
	c.Flags().StringVar(&state, "state", "", "SQLite `file`, or postgres://user@host/database, that keeps the records (default: in memory)")
	return c
}

// holdOne sets prefetch to 1, so that a thread of a consumer holds one ride at a time, unless the client has no such setting or the
// user has set it.
func holdOne(b *link.Broker) {
	const prefetch = "prefetch"
	kind, err := driver.Lookup(b.Broker)
	if err != nil {
		return
	}
	at := slices.IndexFunc(kind.Settings, func(s driver.Setting) bool { return s.Scope == driver.ClientScope && s.Name == prefetch })
	_, given := b.Client[prefetch]
	if at < 0 || given {
		return
	}
	client := map[string]any{prefetch: 1}
	maps.Copy(client, b.Client)
	values, err := driver.Decode(kind.Settings, driver.ClientScope, client)
	if err != nil {
		return // the same error comes when the broker is opened
	}
	if idle := kind.Settings[at].Idle; idle == nil || idle(b.Guarantee, values) == "" { // the setting has an effect
		b.Client = client
	}
}

func (s *shell) listening(part string) func(string) {
	return func(address string) { fmt.Fprintf(s.err, "the %s listens on %s\n", part, address) }
}

// inRange refuses numbers, by flag, of things of which there must be at least one.
func inRange(flags map[string]int) error {
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		if n := flags[name]; n < 1 || n > 100_000 {
			return badInput("--%s %d: allowed: 1 to 100000", name, n)
		}
	}
	return nil
}

// partEnded returns the error of a part that has ended: Canceled if it was stopped, or why it couldn't go on.
func partEnded(err error) error {
	if err == nil {
		return context.Canceled
	}
	return brokerFailed(err)
}
