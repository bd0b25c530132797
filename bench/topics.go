package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// wide is a load on many topics, each with one producer and one consumer.
type wide struct {
	broker string
	topics int
	sets   []string // beside the defaults
	server map[string]any
	first  time.Duration
}

const (
	wideRate    = 5000 // messages per second, over all topics
	firstWithin = 15 * time.Second
)

// many shows what rate a broker reaches on many topics, how late the generator sends, and how long it takes until
// everything is made and the first message has come. The broker runs already.
func many(w wide) func(*bench, context.Context) error {
	return func(b *bench, ctx context.Context) error {
		return b.with(ctx, provision.Options{Broker: w.broker, Server: w.server}, func(in *provision.Instance) error {
			s := section{
				Title:    strings.TrimSpace(fmt.Sprintf("%d topics on %s, 100 B %s", w.topics, w.broker, strings.Join(w.sets, " "))),
				Settings: fmt.Sprintf("1 producer and 1 consumer per topic, %d/s over all topics, every default else; the broker runs already", wideRate),
			}
			runs := runs{Name: "Brokermark"}
			for pair := range b.pairs {
				x, err := b.wide(ctx, in.Addresses()[0], w)
				if err != nil {
					return fmt.Errorf("%s: %w", s.Title, err)
				}
				runs.Samples = append(runs.Samples, x)
				progress("%s, run %d of %d: %s, first message after %s", s.Title, pair+1, b.pairs, describe("Brokermark", x), time.Duration(x.First).Round(10*time.Millisecond))
			}
			s.Runs = append(s.Runs, runs)
			share := each(runs.Samples, func(x sample) float64 { return x.Rate / wideRate })
			s.Verdicts = append(s.Verdicts, atLeast(s.Title+": "+runs.Name+", share of the rate", share, 0.98, percentForm))
			s.bound(runs, "p99 of schedule lag", func(x sample) float64 { return float64(x.Lag) }, 1e6, timeForm)
			s.bound(runs, "time to the first message", func(x sample) float64 { return float64(x.First) }, float64(w.first), timeForm)
			b.report.Sections = append(b.report.Sections, s)
			return nil
		})
	}
}

func (b *bench) wide(ctx context.Context, address string, w wide) (sample, error) {
	metrics, err := freeAddress()
	if err != nil {
		return sample{}, err
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	var first atomic.Int64
	began := time.Now()
	go func() {
		if at, ok := firstMessage(watching, "http://"+metrics+"/metrics"); ok {
			first.Store(int64(at.Sub(began)))
		}
	}()
	sets := append(slices.Clone(w.sets), fmt.Sprintf("topics=%d", w.topics), "warmup="+b.warmup.String(), "duration="+b.measure.String())
	r, err := b.program(ctx, w.broker, sets, "--attach", address, "--metrics", metrics, "--measure", "rate", "--rate", strconv.Itoa(wideRate))
	if err != nil {
		return sample{}, err
	}
	x := r.sample()
	x.CPU, x.OwnCPU = x.OwnCPU, 0 // thousands of connections take memory of their own, which the bound on all runs isn't about
	x.First, x.Note = first.Load(), string(r.record.Status)
	if r.record.Reason != "" {
		x.Note += ": " + r.record.Reason
	}
	if r.flat.PauseP99 != nil { // the machine's own, below which no lag can be
		x.Note += fmt.Sprintf(", a thread that only sleeps %s late at p99", time.Duration(*r.flat.PauseP99).Round(10*time.Microsecond))
	}
	if r.flat.PublishRate != nil {
		x.Rate = *r.flat.PublishRate
	}
	if x.First == 0 || x.Rate == 0 {
		return x, fmt.Errorf("no message came: %s", x.Note)
	}
	return x, nil
}

// freeAddress is one without a listener.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// firstMessage scrapes the program's own metrics until they tell of a delivery, and returns when; false: ctx ended first.
func firstMessage(ctx context.Context, url string) (time.Time, bool) {
	for clock.Pause(ctx, 20*time.Millisecond) == nil {
		if anyDelivered(url) {
			return time.Now(), true
		}
	}
	return time.Time{}, false
}

func anyDelivered(url string) bool {
	response, err := http.Get(url)
	if err != nil {
		return false // it doesn't listen yet
	}
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if delivered(lines.Text()) {
			return true
		}
	}
	return false
}

// delivered tells of a line of a scrape whether it counts deliveries, and not zero.
func delivered(line string) bool {
	name, value, ok := strings.Cut(line, "} ")
	return ok && strings.HasPrefix(name, "messaging_client_consumed_messages_total{") && value != "0" && value != "0.0"
}

// search is how long the search for what a broker sustains takes, from the start of the broker to the record.
func search(broker string) func(*bench, context.Context) error {
	return func(b *bench, ctx context.Context) error {
		const most = 50 * time.Second
		s := section{
			Title:    "Search on " + broker + ", 100 B",
			Settings: "1 topic, 1 producer, 1 consumer, every default; bounds within 5 %; the broker is started for each search",
		}
		c := runs{Name: "Brokermark"}
		for n := range b.pairs {
			r, err := b.program(ctx, broker, []string{"sustainable.width=0.05"}, "--measure", "sustainable")
			if err != nil {
				return fmt.Errorf("%s: %w", s.Title, err)
			}
			x := r.sample()
			x.Took = int64(r.record.Took())
			x.Rate, x.Note = searched(r.record)
			c.Samples = append(c.Samples, x)
			progress("%s, %s, search %d of %d: %s, %s", s.Title, c.Name, n+1, b.pairs, time.Duration(x.Took).Round(100*time.Millisecond), x.Note)
		}
		s.bound(c, "time of a search", func(x sample) float64 { return float64(x.Took) }, float64(most), timeForm)
		s.Runs = append(s.Runs, c)
		b.report.Sections = append(b.report.Sections, s)
		return nil
	}
}

// searched is the rate that a search found, and what else there is to say of it.
func searched(r store.Record) (rate float64, note string) {
	note = string(r.Status)
	if r.Reason != "" {
		note += ": " + r.Reason
	}
	for _, d := range r.Doubts {
		if d.Code == "incomplete-search" {
			note += ", " + d.Code
		}
	}
	if r.Result == nil || r.Result.Sustainable == nil {
		return 0, note
	}
	found := r.Result.Sustainable
	return found.Low, fmt.Sprintf("%s, %d trials, %s", results.BoundsText(found.Low, found.High, found.HeldNs), len(found.Trials), note)
}
