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

// Discipline is what keeps this host's time of day and how far, by its own account, that is from true time. It says nothing
// of the axis, which no one sets, and stands beside the bound that was measured.
type Discipline struct {
	By     string        // "chrony", "PTP" or "kernel"
	Source string        `json:",omitempty"` // which server or clock it follows, in its own words
	Bound  time.Duration // of the error
}

// askWithin bounds what a program is waited for.
const askWithin = 2 * time.Second

// Disciplined asks chrony, PTP's pmc and the kernel, in this order; false where none of them knows a bound. It blocks for at
// most some seconds.
func Disciplined(ctx context.Context) (Discipline, bool) {
	for _, from := range []struct {
		command []string
		read    func(string) (Discipline, error)
	}{
		{[]string{"chronyc", "-c", "tracking"}, tracking},
		{[]string{"pmc", "-u", "-b", "0", "GET CURRENT_DATA_SET"}, currentDataSet},
	} {
		text, err := said(ctx, from.command)
		if err != nil {
			continue // it isn't installed, or doesn't run
		}
		if d, err := from.read(text); err == nil {
			return d, true
		}
	}
	return disciplinedByKernel()
}

func said(ctx context.Context, command []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.WaitDelay = askWithin
	text, err := c.Output()
	return string(text), err
}

var errUnsynchronised = errors.New("it is not synchronised")

// tracking reads what `chronyc -c tracking` prints: a line of 14 fields, of which the 2nd names the source, the 5th is by how
// much the system's time is off, the 11th and 12th are root delay and root dispersion, all in seconds, and the last is the
// leap status. The bound is that of chrony's manual: |system time| + root dispersion + root delay/2.
func tracking(text string) (Discipline, error) {
	fields := strings.Split(strings.TrimSpace(text), ",")
	if len(fields) != 14 {
		return Discipline{}, fmt.Errorf("chronyc: %d fields instead of 14", len(fields))
	}
	if fields[13] == "Not synchronised" {
		return Discipline{}, fmt.Errorf("chronyc: %w", errUnsynchronised)
	}
	system, err := number(fields[4], nil)
	delay, err := number(fields[10], err)
	dispersion, err := number(fields[11], err)
	if err != nil {
		return Discipline{}, fmt.Errorf("chronyc: %w", err)
	}
	return Discipline{By: "chrony", Source: fields[1], Bound: time.Duration((math.Abs(system) + dispersion + delay/2) * 1e9)}, nil
}

// currentDataSet reads what `pmc 'GET CURRENT_DATA_SET'` prints of PTP's daemon, in ns: how far the clock is off its master,
// by a path whose two ways are taken to be equal. They differ by its whole delay at most.
func currentDataSet(text string) (Discipline, error) {
	values := map[string]string{}
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 2 {
			values[f[0]] = f[1]
		}
	}
	steps, err := number(values["stepsRemoved"], nil)
	offset, err := number(values["offsetFromMaster"], err)
	delay, err := number(values["meanPathDelay"], err)
	switch {
	case err != nil:
		return Discipline{}, fmt.Errorf("pmc: %w", err)
	case steps < 1: // it is the master
		return Discipline{}, fmt.Errorf("pmc: %w", errUnsynchronised)
	}
	return Discipline{By: "PTP", Bound: time.Duration(math.Abs(offset) + delay)}, nil
}

// maxBound is the largest number that is believed, whatever its unit.
const maxBound = 1e9

// number reads one that a bound can be made of, unless an earlier one could not be read.
func number(text string, earlier error) (float64, error) {
	if earlier != nil {
		return 0, earlier
	}
	v, err := strconv.ParseFloat(text, 64)
	if err == nil && !(math.Abs(v) <= maxBound) {
		err = fmt.Errorf("%s is more than %.0g", text, float64(maxBound))
	}
	return v, err
}
