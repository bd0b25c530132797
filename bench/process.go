package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// sampleEvery is how often a generator's processor time is read: all of them from outside, in the same way.
const sampleEvery = 50 * time.Millisecond

// reading is one look at a process.
type reading struct {
	at  time.Time
	cpu time.Duration // user and system, of all threads and descendants that still run; ended threads included
}

// line is a line of a process's output with the processor time at which it was read.
type line struct {
	text string
	reading
}

// watched is a generator that has run.
type watched struct {
	readings []reading
	lines    []line // stdout
	errors   string // the end of stderr
	memory   int64  // largest resident sets of the process and its descendants, bytes
	total    time.Duration
}

// watch runs a generator to its end and watches it from outside. enough, unless nil, is asked after every line of
// stdout whether the process may be ended now. The process dies with ctx and with this program.
func watch(ctx context.Context, enough func([]line) bool, path string, args ...string) (*watched, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.SysProcAttr = diesWithUs()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w := &watched{}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var sampling sync.WaitGroup
	gone := make(chan struct{})
	sampling.Go(func() { w.follow(cmd.Process.Pid, gone) })
	ended := w.read(out, cmd.Process.Pid, enough)
	if ended {
		stop()
	}
	close(gone)
	sampling.Wait()
	err = cmd.Wait()
	w.errors = tail(stderr.String(), 15)
	w.total = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if n := len(w.readings); n > 0 { // a program that is ended from here has not waited for its children
		w.total = max(w.total, w.readings[n-1].cpu)
	}
	if err != nil && !ended {
		return w, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args[:min(2, len(cmd.Args))], " "), err, w.errors)
	}
	return w, nil
}

// sample counts all of the processor time that the process has used, for so many messages at a rate per second.
func (w *watched) sample(messages, rate float64) sample {
	cpu := w.total.Seconds() / messages * 1e6
	return sample{Rate: rate, CPU: cpu, Cores: cpu * rate / 1e6, Memory: w.memory}
}

// read collects the lines of stdout until it is closed or enough says so.
func (w *watched) read(out io.Reader, pid int, enough func([]line) bool) (ended bool) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		w.lines = append(w.lines, line{lines.Text(), look(pid)})
		if enough != nil && enough(w.lines) {
			return true
		}
	}
	return false
}

// follow takes readings of the process until it is gone.
func (w *watched) follow(pid int, gone <-chan struct{}) {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for used := time.Duration(0); ; {
		if r := look(pid); r.cpu > used { // less: a part of it has ended, and so will the rest
			used = r.cpu
			w.readings = append(w.readings, r)
		}
		if len(w.readings)%5 == 0 {
			w.memory = max(w.memory, resident(pid))
		}
		select {
		case <-gone:
			return
		case <-tick.C:
		}
	}
}

// resident is the sum of the largest resident sets of a process and its descendants, bytes. What they share counts for each
// of them. What wait reports is not of this program alone.
func resident(pid int) (sum int64) {
	for _, p := range family(pid) {
		if proc, err := procfs.NewProc(p); err == nil {
			if s, err := proc.NewStatus(); err == nil {
				sum += int64(s.VmHWM)
			}
		}
	}
	return sum
}

// family lists a process and its descendants: Brokermark does its work in a child (decision 040).
func family(pid int) []int {
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", all[i]))
		for _, t := range threads {
			text, _ := os.ReadFile(t) // gone meanwhile: no children
			for _, child := range strings.Fields(string(text)) {
				if id, err := strconv.Atoi(child); err == nil {
					all = append(all, id)
				}
			}
		}
	}
	return all
}

// look reads the processor clocks of a process and its descendants, which have the scheduler's resolution instead of the
// 10 ms of /proc/PID/stat. A clock's number is made as in clock_getcpuclockid.
func look(pid int) reading {
	const schedulerClock = 2
	r := reading{at: time.Now()}
	for _, p := range family(pid) {
		var t unix.Timespec
		if unix.ClockGettime(int32(^p<<3|schedulerClock), &t) == nil {
			r.cpu += time.Duration(t.Nano())
		}
	}
	return r
}

// cpuAt is the processor time used until at, between the two nearest readings.
func (w *watched) cpuAt(at time.Time) (time.Duration, error) {
	i, _ := slices.BinarySearchFunc(w.readings, at, func(r reading, t time.Time) int { return cmp.Compare(r.at.UnixNano(), t.UnixNano()) })
	if i == 0 || i == len(w.readings) {
		return 0, errors.New("the process was not running at the edges of the window that counts")
	}
	a, b := w.readings[i-1], w.readings[i]
	return a.cpu + time.Duration(float64(b.cpu-a.cpu)*float64(at.Sub(a.at))/float64(b.at.Sub(a.at))), nil
}

// cores is the number of processor cores that were busy for the process between two times.
func (w *watched) cores(from, until time.Time) (float64, error) {
	a, errA := w.cpuAt(from)
	b, errB := w.cpuAt(until)
	return float64(b-a) / float64(until.Sub(from)), cmp.Or(errA, errB)
}

// busiest is the processor time of the window of that length in which most was used.
func (w *watched) busiest(length time.Duration) (most time.Duration, err error) {
	for i, r := range w.readings {
		used, errAt := w.cpuAt(r.at.Add(length))
		if errAt != nil {
			if i == 0 {
				err = errAt
			}
			break
		}
		most = max(most, used-r.cpu)
	}
	return most, err
}

func tail(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
