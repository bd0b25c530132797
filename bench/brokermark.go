package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/brokermark/brokermark/internal/store"
)

// The program's exit codes where it made a record that is not ok.
const exitFailed, exitVoid = 4, 5

// ran is one finished run of the real program.
type ran struct {
	*watched
	flat   printed      // what it printed
	record store.Record // what it stored
}

// printed are the keys of a flat record that the bench reads.
type printed struct {
	Status                 string   `json:"status"`
	Reason                 string   `json:"reason"`
	PublishRate            *float64 `json:"publish_rate"`
	GeneratorCPUPerMillion *float64 `json:"generator_cpu_s_per_million"`
	EndToEndP50            *int64   `json:"e2e_p50_ns"`
	LagP99                 *int64   `json:"lag_p99_ns"`
	PauseP99               *int64   `json:"pause_p99_ns"`
	Lost                   *int64   `json:"lost"`
}

// brokermark runs the real program on a broker that runs already, and wants a run that ended ok.
func (b *bench) brokermark(ctx context.Context, address, broker string, sets []string, flags ...string) (ran, error) {
	r, err := b.program(ctx, broker, sets, append([]string{"--attach", address}, flags...)...)
	if err == nil && r.flat.Status != string(store.OK) {
		err = fmt.Errorf("brokermark's run is %s: %s", r.flat.Status, r.flat.Reason)
	}
	return r, err
}

// program runs the real program on a broker, with 100-byte messages, however that ends.
func (b *bench) program(ctx context.Context, broker string, sets []string, flags ...string) (ran, error) {
	dir, err := os.MkdirTemp("", "brokermark-bench-")
	if err != nil {
		return ran{}, err
	}
	defer os.RemoveAll(dir)
	db := filepath.Join(dir, "bench.db")
	args := append([]string{
		"run", "--format", "jsonl", "--store", db, "--log", filepath.Join(dir, "client.log"),
		"--broker", broker, "--size", strconv.Itoa(messageSize),
	}, flags...)
	for _, s := range slices.Concat(sets, b.sets) {
		args = append(args, "--set", s)
	}
	r := ran{}
	r.watched, err = watch(ctx, nil, b.tool, args...)
	if err != nil && !madeRecord(err) {
		return r, err
	}
	if len(r.lines) != 1 {
		return r, fmt.Errorf("brokermark printed %d lines instead of one\n%s", len(r.lines), r.errors)
	}
	if err := json.Unmarshal([]byte(r.lines[0].text), &r.flat); err != nil {
		return r, fmt.Errorf("brokermark's output: %w", err)
	}
	r.record, err = stored(ctx, db)
	return r, err
}

// madeRecord reports whether a program that ended with an error has made a record all the same.
func madeRecord(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && (exit.ExitCode() == exitFailed || exit.ExitCode() == exitVoid)
}

func stored(ctx context.Context, db string) (store.Record, error) {
	st, err := store.Open(db)
	if err != nil {
		return store.Record{}, err
	}
	defer st.Close()
	records, err := st.Records(ctx, store.Filter{})
	if err != nil {
		return store.Record{}, err
	}
	if len(records) != 1 {
		return store.Record{}, errors.New("brokermark stored no result")
	}
	return records[0], nil
}

// through sends n messages in closed loop and waits until they have all arrived. The processor time is of the whole
// process, as it is of the bare loop; what the program says of its own is set beside the time in which messages passed,
// which is when the process was busiest.
func (b *bench) through(ctx context.Context, address, broker string, n int64, sets ...string) (sample, error) {
	r, err := b.brokermark(ctx, address, broker, append(sets, fmt.Sprintf("count.messages=%d", n)), "--measure", "count")
	if err != nil {
		return sample{}, err
	}
	s := r.sample()
	s.Rate = float64(r.record.Result.Books.Received) / r.record.Result.Count.TotalSeconds
	s.CPU = r.total.Seconds() / float64(n) * 1e6
	load, err := r.busiest(time.Duration(r.record.Result.Count.TotalSeconds * float64(time.Second)))
	if err != nil {
		return sample{}, err
	}
	s.LoadCPU = load.Seconds() / float64(n) * 1e6
	s.Cores = s.CPU * s.Rate / 1e6
	return s, nil
}

// steady takes the rate of a measured phase from the record, and the processor time from outside.
//
// The load is the same in warm-up and measured phase, so a window about as long as the measured phase that begins a
// warm-up after the record's begin lies in it, whatever connecting took (less than a warm-up). It is a little shorter,
// since the process may end with its measured phase and is looked at now and then only:
//
//	began ─ connect ─┬─ warm-up ──┬──── measured ────┐
//	began ─── as long as warm-up ─┬──── window ───┐
func (b *bench) steady(ctx context.Context, address, broker string, sets []string, flags ...string) (sample, error) {
	sets = append(sets, "warmup="+b.warmup.String(), "duration="+b.measure.String())
	r, err := b.brokermark(ctx, address, broker, sets, flags...)
	if err != nil {
		return sample{}, err
	}
	s := r.sample()
	from := r.record.Began.Add(b.warmup)
	if s.Cores, err = r.cores(from, from.Add(b.measure-3*sampleEvery)); err != nil {
		return s, fmt.Errorf("brokermark: %w", err)
	}
	s.Rate = *r.flat.PublishRate
	s.CPU = perMillion(s.Cores, s.Rate)
	return s, nil
}

func (r ran) sample() sample {
	s := sample{Memory: r.memory}
	if r.flat.GeneratorCPUPerMillion != nil {
		s.OwnCPU = *r.flat.GeneratorCPUPerMillion
	}
	if r.flat.EndToEndP50 != nil {
		s.P50 = *r.flat.EndToEndP50
	}
	if r.flat.LagP99 != nil {
		s.Lag = *r.flat.LagP99
	}
	if r.flat.Lost != nil && *r.flat.Lost > 0 {
		s.Note = fmt.Sprintf("%d lost", *r.flat.Lost)
	}
	return s
}

// bare runs one bare loop in a process of its own: p.Messages messages, or for the measured time where that is 0.
// The processor time is of the whole process, connecting included.
func (b *bench) bare(ctx context.Context, p loopPlan) (sample, error) {
	p.Size, p.Time = messageSize, b.measure
	plan, err := json.Marshal(p)
	if err != nil {
		return sample{}, err
	}
	w, err := watch(ctx, nil, "/proc/self/exe", loopArg, string(plan))
	if err != nil {
		return sample{}, err
	}
	var r loopResult
	if len(w.lines) != 1 {
		return sample{}, fmt.Errorf("the bare loop printed %d lines instead of one\n%s", len(w.lines), w.errors)
	}
	if err := json.Unmarshal([]byte(w.lines[0].text), &r); err != nil {
		return sample{}, err
	}
	if r.Received == 0 {
		return sample{}, fmt.Errorf("the bare loop published %d messages and received none\n%s", r.Published, w.errors)
	}
	s := w.sample(float64(max(1, r.Published)), float64(r.Received)/float64(r.Until-r.From)*1e9)
	s.P50 = r.P50
	if lost := r.Published - r.Received; p.Messages > 0 && lost > 0 {
		s.Note = fmt.Sprintf("%d lost", lost)
	}
	return s, nil
}
