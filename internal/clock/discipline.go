package clock

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Discipline says which program keeps this host's time of day, and how far that may be off. It says nothing of the axis, which
// nobody sets. It is shown beside the bound between two hosts that was measured.
type Discipline struct {
	By     string        // "chrony", "PTP" or "kernel"
	Source string        `json:",omitempty"` // the server or clock that it follows, as it names it
	Bound  time.Duration // of the error, by its own account
}

// askTimeout bounds how long a program may take to answer.
const askTimeout = 2 * time.Second

// Disciplined asks chrony, then PTP's pmc, then the kernel. It returns false if none of them knows how far the time is off. Each
// of the two programs holds it up for four seconds at most if it doesn't answer. One whose answer can't be read is passed over.
func Disciplined(ctx context.Context) (Discipline, bool) {
	// An error of outputOf means that the program is not installed, or that its daemon does not run.
	if output, err := outputOf(ctx, "chronyc", "-c", "tracking"); err == nil {
		if d, err := parseTracking(output); err == nil {
			return d, true
		}
	}
	if output, err := outputOf(ctx, "pmc", "-u", "-b", "0", "GET CURRENT_DATA_SET"); err == nil {
		if d, err := parseCurrentDataSet(output); err == nil {
			return d, true
		}
	}
	return disciplinedByKernel()
}

func outputOf(ctx context.Context, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	c := exec.CommandContext(ctx, program, args...)
	c.WaitDelay = askTimeout // do not wait for ever for a child that holds the pipe
	output, err := c.Output()
	return string(output), err
}

var errUnsynchronised = errors.New("the clock is not synchronised")

// parseTracking parses the output of `chronyc -c tracking`: one line of comma-separated fields, times in seconds. The bound is
// the one that chrony's manual gives: |system time| + root dispersion + root delay/2. With 12 µs, 0.5 ms and 4 ms that is 2.512 ms.
func parseTracking(output string) (Discipline, error) {
	const (
		sourceField         = 1
		systemTimeField     = 4
		rootDelayField      = 10
		rootDispersionField = 11
		leapField           = 13
		fields              = 14
	)
	field := strings.Split(strings.TrimSpace(output), ",")
	if len(field) < fields { // later versions may have more
		return Discipline{}, fmt.Errorf("chronyc: %d fields instead of %d", len(field), fields)
	}
	if field[leapField] == "Not synchronised" {
		return Discipline{}, fmt.Errorf("chronyc: %w", errUnsynchronised)
	}
	p := numbers{most: mostSeconds}
	system, delay, dispersion := p.parse(field[systemTimeField]), p.parse(field[rootDelayField]), p.parse(field[rootDispersionField])
	if p.err != nil {
		return Discipline{}, fmt.Errorf("chronyc: %w", p.err)
	}
	bound := math.Abs(system) + dispersion + delay/2
	return Discipline{By: "chrony", Source: field[sourceField], Bound: time.Duration(bound * 1e9)}, nil
}

// parseCurrentDataSet parses the output of `pmc 'GET CURRENT_DATA_SET'`: lines of a name and a value, times in ns. PTP computes
// the offset from the master on the assumption that both ways of the path take equally long, so it may be off by the path's
// whole delay.
func parseCurrentDataSet(output string) (Discipline, error) {
	values := map[string]string{}
	for line := range strings.Lines(output) {
		if f := strings.Fields(line); len(f) == 2 {
			values[f[0]] = f[1]
		}
	}
	p := numbers{most: mostNs}
	steps, offset, delay := p.parse(values["stepsRemoved"]), p.parse(values["offsetFromMaster"]), p.parse(values["meanPathDelay"])
	switch {
	case p.err != nil:
		return Discipline{}, fmt.Errorf("pmc: %w", p.err)
	case steps < 1: // this host is the master and follows nobody
		return Discipline{}, fmt.Errorf("pmc: %w", errUnsynchronised)
	}
	return Discipline{By: "PTP", Bound: time.Duration(math.Abs(offset) + delay)}, nil
}

// numbers parses several numbers and keeps the first error.
type numbers struct {
	most float64 // the largest number that is believed
	err  error
}

// The largest numbers that are believed: 30 years. A Duration, which ends at 292 years, can hold the sum of three.
const (
	mostSeconds = 1e9
	mostNs      = mostSeconds * 1e9
)

func (p *numbers) parse(text string) float64 {
	if p.err != nil {
		return 0
	}
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		p.err = err
	case math.IsNaN(v) || math.Abs(v) > p.most:
		p.err = fmt.Errorf("%s is not a number up to %.0g", text, p.most)
	}
	return v
}
