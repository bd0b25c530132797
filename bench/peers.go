package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/provision"
)

// The brokers' own tools that have to be fetched; Kafka's comes with its server.
const (
	perfTest  = "com.rabbitmq:perf-test:2.22.1"
	natsBench = "github.com/nats-io/nats.go/examples/nats-bench"
)

// jvmPatience is for a tool that never says what it does.
const jvmPatience = time.Minute

// installed makes a peer tool available below the host's installations, once.
func installed(ctx context.Context, h *provision.Host, name string, fill func(ctx context.Context, i *provision.Install) error) (string, error) {
	dir := filepath.Join(h.Dir, "install", name)
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), name+"-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	i := &provision.Install{Dir: temp, Log: func(format string, args ...any) { progress(format, args...) }}
	if err := fill(ctx, i); err != nil {
		return "", fmt.Errorf("install %s: %w", name, err)
	}
	return dir, os.Rename(temp, dir)
}

// interval reads one line of a tool's running report: how many messages a second it sent (or how many in all, see
// count) since the line before.
type interval struct {
	pattern  *regexp.Regexp
	count    bool // the first group counts messages; else it is a rate
	received bool // the second group is the rate of messages received
}

var (
	producerPerformance = interval{pattern: regexp.MustCompile(`^(\d+) records sent, [\d.]+ records/sec`), count: true}
	perfTestLine        = interval{pattern: regexp.MustCompile(`sent: ([\d.,]+) msg/s,.* received: ([\d.,]+) msg/s`), received: true}
)

func (i interval) parse(text string) (sent, received float64, ok bool) {
	m := i.pattern.FindStringSubmatch(text)
	if m == nil {
		return 0, 0, false
	}
	sent, errS := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
	if i.received {
		received, _ = strconv.ParseFloat(strings.ReplaceAll(m[2], ",", ""), 64)
	}
	return sent, received, errS == nil
}

// jvm runs a Java tool until it has been warm for long enough to measure: the part before warm is discounted, of the
// next lines (one a second) both the messages and the processor time are taken. Then the tool is ended.
func (b *bench) jvm(ctx context.Context, i interval, warm func(elapsed time.Duration, messages float64) bool, args ...string) (sample, error) {
	ctx, cancel := context.WithTimeout(ctx, jvmPatience+b.measure)
	defer cancel()
	var base line // the report at whose end the tool was warm
	var s sample
	began, last, messages, arrived := time.Now(), time.Now(), 0.0, 0.0
	w, err := watch(ctx, func(lines []line) bool {
		now := lines[len(lines)-1]
		sent, received, ok := i.parse(now.text)
		if !ok {
			return false
		}
		elapsed := now.at.Sub(last).Seconds()
		last = now.at
		if !i.count {
			sent *= elapsed
		}
		messages += sent
		if base.text == "" {
			if warm(now.at.Sub(began), messages) {
				base = now
			}
			return false
		}
		s.Rate += sent
		arrived += received * elapsed
		length := now.at.Sub(base.at)
		if length < b.measure {
			return false
		}
		s.Note = fmt.Sprintf("warm after %.1f M messages, %.0f s", (messages-s.Rate)/1e6, base.at.Sub(began).Seconds())
		if i.received {
			s.Rate = min(s.Rate, arrived)
		}
		s.Rate /= length.Seconds()
		s.Cores = float64(now.cpu-base.cpu) / float64(length)
		return true
	}, "java", args...)
	if err != nil {
		return sample{}, err
	}
	if s.Cores == 0 {
		return sample{}, fmt.Errorf("%s ended before it was warm and measured\n%s", args[len(args)-1], w.errors)
	}
	s.CPU, s.Memory = perMillion(s.Cores, s.Rate), w.memory
	return s, nil
}
