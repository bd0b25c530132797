package cli

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/pipeline/link"
	"github.com/brokermark/brokermark/internal/pipeline/parts"
	"github.com/brokermark/brokermark/internal/pipeline/pool"
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

// partFlags say which broker a part uses.
type partFlags struct {
	workload *workload
	topic    string
	listen   string
}

// brokerFlags are those flags of run that say which broker is meant and what is asked of it.
var brokerFlags = []string{"broker", "tls", "delivery", "persistence", "replicas", "partitions"}

func (s *shell) partFlags(c *cobra.Command, listen string) *partFlags {
	w := &workload{sh: s, axes: map[string]*list{}, changed: c.Flags().Changed}
	p := &partFlags{workload: w}
	f := c.Flags()
	f.SortFlags = false
	for _, a := range axisFlags {
		if slices.Contains(brokerFlags, a.name) {
			w.axes[a.name] = new(list)
			f.Var(w.axes[a.name], a.name, a.doc)
		}
	}
	_ = c.RegisterFlagCompletionFunc("broker", cobra.FixedCompletions(driver.Names(), cobra.ShellCompDirectiveNoFileComp))
	f.StringSliceVar(&w.attach, "attach", nil, "`addresses` of the running broker (host:port)")
	w.login = addLoginFlags(f)
	f.StringArrayVar(&w.sets, "set", nil, "a client or topic setting by `path=value`, such as client.prefetch=1; repeatable")
	f.StringVar(&p.topic, "topic", "rides", "topic, queue or stream between server and consumer")
	f.StringVar(&p.listen, "listen", listen, "`address` to answer HTTP at")
	return p
}

// broker is what the flags say of it; existing: another part has made the topic.
func (p *partFlags) broker(existing bool) (b link.Broker, err error) {
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
	var p *partFlags
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
				config.FirstID = instance()
			}
			return partEnded(parts.RunServer(c.Context(), parts.Server{Listen: p.listen, Broker: b, Pool: config, Consumer: ask, Cert: cert, Key: key}, io.Discard, s.listening("server")))
		},
	}
	p = s.partFlags(c, "127.0.0.1:8080")
	poolFlags(c, &config)
	f := c.Flags()
	f.StringVar(&answer, "answer", "confirmed", "when to answer 201: confirmed (by the broker) or at-once")
	f.BoolVar(&join, "join", false, "another server has made the topic")
	f.StringVar(&ask, "consumer", "", "`address` of a consumer to ask for verticals")
	f.StringVar(&cert, "https-cert", "", "certificate for HTTPS, a PEM `file`")
	f.StringVar(&key, "https-key", "", "its key, a PEM `file`")
	return c
}

func poolFlags(c *cobra.Command, config *pool.Config) {
	f := c.Flags()
	f.IntVar(&config.Producers, "pool", config.Producers, "producers of the broker, shared by all requests")
	f.IntVar(&config.Window, "window", config.Window, "rides that each producer may have unconfirmed")
	f.IntVar(&config.Waiting, "waiting", config.Waiting, "rides that may wait for a producer; more are answered with 503")
	f.DurationVar(&config.Patience, "patience", config.Patience, "how long a ride may wait for a producer before it is answered with 503")
	f.DurationVar(&config.Fate, "confirm-within", config.Fate, "how long a ride may wait for its confirmation before it is answered with 503")
}

// instance tells the producers of servers apart that know nothing of each other.
func instance() int {
	var b [2]byte
	_, _ = rand.Read(b[:])
	return 1000 * (1 + int(b[0])<<4 + int(b[1])>>4)
}

func (s *shell) pipelineConsumerCommand() *cobra.Command {
	var p *partFlags
	var threads int
	var state string
	c := &cobra.Command{
		Use:   "consumer",
		Short: "Keep every skier's record of what a server has published",
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
	p = s.partFlags(c, "127.0.0.1:8090")
	c.Flags().IntVar(&threads, "threads", 32, "threads that consume")
	c.Flags().StringVar(&state, "state", "", "SQLite `file`, or postgres://user@host/database, that keeps the records (default: in memory)")
	return c
}

// holdOne has a consumer's thread hold one ride at a time where the client has a setting for that and nobody has set it.
func holdOne(b *link.Broker) {
	const prefetch = "prefetch"
	kind, err := driver.Lookup(b.Broker)
	at := slices.IndexFunc(kind.Settings, func(s driver.Setting) bool { return s.Scope == driver.ClientScope && s.Name == prefetch })
	if _, given := b.Client[prefetch]; err != nil || at < 0 || given {
		return
	}
	client := map[string]any{prefetch: 1}
	maps.Copy(client, b.Client)
	values, err := driver.Decode(kind.Settings, driver.ClientScope, client)
	if err != nil { // said when the broker is opened
		return
	}
	if idle := kind.Settings[at].Idle; idle == nil || idle(b.Guarantee, values) == "" {
		b.Client = client
	}
}

func (s *shell) listening(part string) func(string) {
	return func(address string) { fmt.Fprintf(s.err, "the %s listens on %s\n", part, address) }
}

// inRange refuses numbers of things of which there must be one.
func inRange(flags map[string]int) error {
	for name, n := range flags {
		if n < 1 || n > 100_000 {
			return badInput("--%s %d: allowed: 1 to 100000", name, n)
		}
	}
	return nil
}

// partEnded tells a part that was stopped from one that couldn't go on.
func partEnded(err error) error {
	if err == nil {
		return context.Canceled
	}
	return brokerFailed(err)
}

// runName is in front of the keys of one load: what another one has posted is another ride.
func runName() string {
	var b [4]byte
	_, _ = rand.Read(b[:])
	return "load-" + hex.EncodeToString(b[:]) + "-" + strings.ToLower(time.Now().UTC().Format("20060102T150405"))
}
