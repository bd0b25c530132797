// Bench compares Brokermark with bare loops over the same client libraries and with the brokers' own tools: same
// broker, same minutes, same settings. It knows brokers only through their recipes, and judges nothing but speed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	_ "github.com/brokermark/brokermark/brokers"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/provision"
)

func main() {
	provision.Main() // first: this process may have been started to be a broker or to look after one
	if len(os.Args) == 3 && os.Args[1] == loopArg {
		os.Exit(loopMain(os.Args[2]))
	}
	if len(os.Args) == 3 && os.Args[1] == httpArg {
		fmt.Fprintln(os.Stderr, httpMain(os.Args[2]))
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// part is one group of figures.
type part struct {
	name string
	run  func(*bench, context.Context) error
}

var parts = []part{
	{"start", (*bench).start},
	{"harness", (*bench).harness},
	{"kafka", (*bench).kafkaPeak},
	{"rabbitmq", (*bench).rabbitPeak},
	{"rabbitmq-stream", (*bench).streamPeak},
	{"nats", (*bench).natsPeak},
	{"jetstream", (*bench).jetstreamPeak},
	{"redis", (*bench).redisPeak},
	{"artemis", (*bench).artemisPeak},
	{"activemq", (*bench).activemqPeak},
	{"qpid", (*bench).qpidPeak},
	{"pulsar", (*bench).pulsarPeak},
	{"rocketmq", (*bench).rocketPeak},
	{"mosquitto", (*bench).mosquittoPeak},
	{"nats-streaming", (*bench).stanPeak},
	{"pipeline", (*bench).pipeline},
	{"pacing", (*bench).pacing},
	{"day", (*bench).day},
	{"headers-kafka", headers(provision.Options{Broker: "kafka", Server: kafkaServer}, "acks=leader")},
	{"headers-nats", headers(provision.Options{Broker: "nats"})},
	{"headers-rabbitmq", headers(provision.Options{Broker: "rabbitmq"}, "delivery=at-most-once")},
	{"search-kafka", search("kafka")},
	{"search-rabbitmq", search("rabbitmq")},
	{"search-jetstream", search("jetstream")},
	{"search-nats", search("nats")},
	{"search-pulsar", search("pulsar")},
	{"search-redis", search("redis")},
	{"topics-kafka", many(wide{broker: "kafka", topics: 1000, first: firstWithin})},
	{"topics-kafka-index", many(wide{broker: "kafka", topics: 1000, sets: []string{"topicConfig.segment.index.bytes=65536"}, first: firstWithin})},
	{"topics-rabbitmq", many(wide{broker: "rabbitmq", topics: 1000, first: firstWithin})},
	{"topics-rabbitmq-shared", many(wide{broker: "rabbitmq", topics: 1000, sets: []string{"connections=1"}, first: firstWithin})},
	{"topics-nats", many(wide{broker: "nats", topics: 1000, first: firstWithin})},
	{"topics-jetstream", many(wide{broker: "jetstream", topics: 1000, first: firstWithin})},
	{"topics-jetstream-shared", many(wide{broker: "jetstream", topics: 1000, sets: []string{"connections=1"}, first: firstWithin})},
	{"topics-jetstream-memory", many(wide{broker: "jetstream", topics: 1000, sets: []string{"persistence=memory"}, first: firstWithin})},
	{"topics-redis", many(wide{broker: "redis", topics: 1000, server: redisLog, first: firstWithin})},
	{"many-topics-nats", many(wide{broker: "nats", topics: 10_000, first: 10 * firstWithin})},
	{"many-topics-redis", many(wide{broker: "redis", topics: 10_000, server: redisLog, first: 10 * firstWithin})},
}

// groups are names for several parts.
var groups = []string{"headers", "search", "topics", "many-topics"}

func run(ctx context.Context) error {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	b := &bench{warmup: 2 * time.Second}
	only := flag.String("only", "", "run only these parts, with commas: "+strings.Join(names, ", "))
	flag.IntVar(&b.pairs, "pairs", 5, "how often every contender runs")
	length := flag.Float64("seconds", 5, "measured time of every run")
	flag.StringVar(&b.tool, "brokermark", filepath.Join("bin", "brokermark"), "the program to measure, as make build leaves it")
	out := flag.String("out", filepath.Join("bench", "results", time.Now().Format("2006-01-02T1504")), "where the figures go, without .md and .json; empty: nowhere")
	flag.Parse()
	b.measure = time.Duration(*length * float64(time.Second))
	chosen, err := choose(*only, names)
	switch {
	case err != nil:
		return err
	case flag.NArg() > 0:
		return fmt.Errorf("unknown argument %q", flag.Arg(0))
	case b.pairs < 1 || b.measure < time.Second:
		return errors.New("at least 1 pair of at least 1 second is needed")
	}
	if err := b.begin(ctx); err != nil {
		return err
	}
	failures := b.runParts(ctx, chosen)
	b.report.print(os.Stdout, table.Writer.Render)
	if *out != "" && len(b.report.Sections) > 0 {
		if err := b.report.save(*out); err != nil {
			return err
		}
		fmt.Printf("\nWritten to %s.md and %s.json\n", *out, *out)
	}
	return failures
}

func choose(only string, names []string) ([]string, error) {
	if only == "" {
		return names, nil
	}
	var chosen []string
	for _, c := range strings.Split(only, ",") {
		switch {
		case slices.Contains(names, c):
			chosen = append(chosen, c)
		case slices.Contains(groups, c):
			for _, name := range names {
				if strings.HasPrefix(name, c+"-") {
					chosen = append(chosen, name)
				}
			}
		default:
			return nil, fmt.Errorf("--only %s: no such part; there are %s, and for several of them %s", c, strings.Join(names, ", "), strings.Join(groups, ", "))
		}
	}
	return chosen, nil
}

// begin prepares what all parts need.
func (b *bench) begin(ctx context.Context) error {
	version, err := exec.CommandContext(ctx, b.tool, "version").Output()
	if err != nil {
		return fmt.Errorf("%s version: %w; make build makes it", b.tool, err)
	}
	b.report = document{
		Began: time.Now(), Host: lab.HostFacts(), Tool: string(version), Pairs: b.pairs,
		Seconds: b.measure.Seconds(), Warmup: b.warmup.Seconds(),
	}
	b.host, err = provision.NewHost(provision.DefaultDir(), progress)
	return err
}

// runParts goes on after a part that couldn't run, and returns all that went wrong.
func (b *bench) runParts(ctx context.Context, chosen []string) error {
	var failures error
	for _, p := range parts {
		if !slices.Contains(chosen, p.name) || ctx.Err() != nil {
			continue
		}
		if err := p.run(b, ctx); err != nil {
			progress("%s could not run: %v", p.name, err)
			failures = errors.Join(failures, err)
		}
	}
	b.memory()
	return errors.Join(failures, ctx.Err())
}

// progress reports what is going on to the user who waits.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format("15:04:05 ")+format+"\n", args...)
}
