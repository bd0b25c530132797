package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/provision"
)

// jvmPatience is for a tool that never says what it does, or that takes long to end.
const jvmPatience = 2 * time.Minute

// built makes a peer tool that is written in Go available below the host's installations, once: the command of a module that this one
// requires, as its go.mod and go.sum name it.
func built(ctx context.Context, h *provision.Host, version, pkg string) (program string, err error) {
	tool := path.Base(pkg)
	program = filepath.Join(h.Dir, "install", tool+"-"+version, "bin", tool)
	if _, err := os.Stat(program); !errors.Is(err, fs.ErrNotExist) {
		return program, err
	}
	progress("building %s", pkg)
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", program, pkg).CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w: %s", pkg, err, out)
	}
	return program, nil
}

// interval reads one report of a running tool: how many messages a second it sent (or how many in all, see count)
// since the report before.
type interval struct {
	pattern  *regexp.Regexp
	least    time.Duration // measured, where the reports differ much from one another
	lines    int           // the report's last lines, all of which the pattern sees
	count    bool          // the first group counts messages; else it is a rate
	received bool          // the second group is the rate of messages received
	ends     bool          // by itself, and has then taken back all that it sent; others are ended when measured
}

var (
	producerPerformance = interval{pattern: regexp.MustCompile(`^(\d+) records sent, [\d.]+ records/sec`), lines: 1, count: true}
	perfTestReport      = interval{pattern: regexp.MustCompile(`sent: ([\d.,]+) msg/s,.* received: ([\d.,]+) msg/s`), lines: 1, received: true}
	artemisPerfReport   = interval{pattern: regexp.MustCompile(`(?s)^--- sent: +(\d+) msg/sec.*\n--- received: +(\d+) msg/sec`), lines: 4, received: true, ends: true, least: 10 * time.Second}
)

func (i interval) parse(lines []line) (sent, received float64, ok bool) {
	var report strings.Builder
	for _, l := range lines[max(0, len(lines)-i.lines):] {
		report.WriteString(l.text + "\n")
	}
	m := i.pattern.FindStringSubmatch(report.String())
	if m == nil {
		return 0, 0, false
	}
	sent, errS := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
	if i.received {
		received, _ = strconv.ParseFloat(strings.ReplaceAll(m[2], ",", ""), 64)
	}
	return sent, received, errS == nil
}

// measure goes through the output of a tool that began then. Reports from before the tool is warm are discounted; of the next
// ones, which come once a second, both the messages and the processor time are taken until they span least. ok is false while
// there are not enough reports.
func (i interval) measure(lines []line, began time.Time, warm warmth, least time.Duration) (s sample, ok bool) {
	var base *line // the report at whose end the tool was warm
	var before, sent, arrived float64
	last := began
	for n := range lines {
		now := &lines[n]
		messages, received, isReport := i.parse(lines[:n+1])
		if !isReport {
			continue
		}
		elapsed := now.at.Sub(last).Seconds()
		last = now.at
		if !i.count {
			messages *= elapsed
		}
		if base == nil {
			before += messages
			if warm(now.at.Sub(began), before) {
				base = now
			}
			continue
		}
		sent += messages
		arrived += received * elapsed
		length := now.at.Sub(base.at)
		if length < least {
			continue
		}
		passed, worked := sent, sent
		if i.received { // one may be ahead of the other for a while, and both take processor time
			passed, worked = min(sent, arrived), (sent+arrived)/2
		}
		s.Rate = passed / length.Seconds()
		s.Cores = float64(now.cpu-base.cpu) / float64(length)
		s.CPU = perMillion(s.Cores, worked/length.Seconds())
		s.Note = fmt.Sprintf("warm after %.1f M messages, %.0f s", before/1e6, base.at.Sub(began).Seconds())
		return s, true
	}
	return s, false
}

// warmth reports whether a tool is warm that has run for so long and sent so many messages.
type warmth func(elapsed time.Duration, messages float64) bool

// jvm runs a Java tool until it has been warm for long enough to measure. Then the tool is ended, unless it ends.
func (b *bench) jvm(ctx context.Context, i interval, warm warmth, path string, args ...string) (sample, error) {
	ctx, cancel := context.WithTimeout(ctx, jvmPatience+b.measure)
	defer cancel()
	began, least := time.Now(), max(b.measure, i.least)
	w, err := watch(ctx, func(lines []line) bool {
		_, measured := i.measure(lines, began, warm, least)
		return measured && !i.ends
	}, path, args...)
	if err != nil {
		return sample{}, err
	}
	s, measured := i.measure(w.lines, began, warm, least)
	if !measured {
		return sample{}, fmt.Errorf("%s %s ended before it was warm and measured\n%s", path, strings.Join(args, " "), w.errors)
	}
	s.Memory = w.memory
	return s, nil
}
