package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

const messageSize = 100 // bytes

// bench is one call of this program.
type bench struct {
	host    *provision.Host
	tool    string // the brokermark binary
	pairs   int
	warmup  time.Duration // before the measured time of every run; the JVM tools have rules of their own
	measure time.Duration
	report  document
	sets    []string // for every run of the program, beside its own
}

// contender is one way to put load on the broker.
type contender struct {
	name string
	run  func(ctx context.Context) (sample, error)
}

// The program beside a bare loop, with its client tuned and as the library's documentation uses it.
const (
	tunedProgram = "Brokermark, tuned"
	stockProgram = "Brokermark"
)

// bothModes puts the program with a stock client behind the one whose client is tuned. It has no target: beside the bare
// loop it shows what the harness costs, beside the tuned one what the tuning gives.
func (b *bench) bothModes(list []contender) (all []contender) {
	for _, c := range list {
		in := func(mode string) func(context.Context) (sample, error) { // a peer knows no modes
			return func(ctx context.Context) (sample, error) {
				b.sets = []string{"client.mode=" + mode}
				defer func() { b.sets = nil }()
				return c.run(ctx)
			}
		}
		if all = append(all, contender{c.name, in(driver.Tuned)}); c.name == tunedProgram {
			all = append(all, contender{stockProgram, in(driver.Stock)})
		}
	}
	return all
}

// target is what one contender has to reach against another, as the median of the ratios pair by pair.
type target struct {
	of, against string
	rate        float64 // at least
	cpu         float64 // at most; 0: nothing is asked
}

// compare runs the contenders one after the other, again and again: A B C A B C. after, unless nil, clears up behind
// every run. The first contender runs once more, unrecorded, at the start: the broker has to get warm, too. A contender
// that fails runs no more; the others go on, and the error comes after what they gave.
func (b *bench) compare(ctx context.Context, s section, list []contender, targets []target, after func(context.Context) error) error {
	one := func(c contender) (sample, error) {
		r, err := c.run(ctx)
		if err == nil && after != nil {
			err = after(ctx)
		}
		if err != nil {
			return r, fmt.Errorf("%s: %s: %w", s.Title, c.name, err)
		}
		return r, nil
	}
	if !s.oneMode {
		list = b.bothModes(list)
	}
	if _, err := one(list[0]); err != nil {
		return err
	}
	s.Runs = make([]runs, len(list))
	failures := make([]error, len(list))
	for pair := range b.pairs {
		for i, c := range list {
			if failures[i] != nil || ctx.Err() != nil {
				continue
			}
			r, err := one(c)
			if err != nil {
				failures[i] = err
				progress("left out from now on: %v", err)
				continue
			}
			s.Runs[i].Name = c.name
			s.Runs[i].Samples = append(s.Runs[i].Samples, r)
			progress("%s, pair %d of %d: %s", s.Title, pair+1, b.pairs, describe(c.name, r))
		}
	}
	s.Runs = slices.DeleteFunc(s.Runs, func(r runs) bool { return r.Samples == nil })
	if len(s.Runs) > 0 {
		for _, t := range targets {
			s.judge(t)
		}
		s.agreement()
		b.report.Sections = append(b.report.Sections, s)
	}
	return errors.Join(append(failures, ctx.Err())...)
}

// samples are those of the named contender: nil if it never ran.
func (s *section) samples(name string) []sample {
	for _, r := range s.Runs {
		if r.Name == name {
			return r.Samples
		}
	}
	return nil
}

// judge judges the pairs in which both contenders ran, if there are any.
func (s *section) judge(t target) {
	a, c := s.samples(t.of), s.samples(t.against)
	if len(a) == 0 || len(c) == 0 {
		return
	}
	what := fmt.Sprintf("%s: %s ÷ %s, ", s.Title, t.of, t.against)
	s.Verdicts = append(s.Verdicts, atLeast(what+"messages/s", ratios(a, c, rateOf), t.rate, ratioForm))
	if t.cpu > 0 {
		s.Verdicts = append(s.Verdicts, atMost(what+"CPU per message", ratios(a, c, cpuOf), t.cpu, ratioForm))
	}
}

// agreement sets what Brokermark's own records say of its processor time beside what was seen from outside, both of the time in
// which messages passed: to start, connect and store costs the same whether few messages pass or many.
func (s *section) agreement() {
	const tolerance = 0.1 // its window begins elsewhere in the same load
	for _, r := range s.Runs {
		if r.Samples[0].OwnCPU == 0 {
			continue
		}
		list := each(r.Samples, func(x sample) float64 { return math.Abs(x.OwnCPU/cmp.Or(x.LoadCPU, x.CPU) - 1) })
		s.Verdicts = append(s.Verdicts, atMost(
			fmt.Sprintf("%s: %s, its own CPU figure differs from the one seen from outside by", s.Title, r.Name), list, tolerance, percentForm))
	}
}

// memory judges the largest resident set of every Brokermark process seen.
func (b *bench) memory() {
	const bound = 200e6
	v := verdict{What: "largest resident set of any Brokermark run", Bound: bound, Form: bytesForm, Low: math.Inf(1)}
	for _, s := range b.report.Sections {
		for _, r := range s.Runs {
			for _, x := range r.Samples {
				if x.OwnCPU > 0 {
					v.Value = max(v.Value, float64(x.Memory))
					v.Low = min(v.Low, float64(x.Memory))
				}
			}
		}
	}
	if v.High = v.Value; v.Value > 0 {
		b.report.Sections = append(b.report.Sections, section{Title: "Memory", Verdicts: []verdict{v}})
	}
}

// with starts a broker for as long as do takes.
func (b *bench) with(ctx context.Context, o provision.Options, do func(in *provision.Instance) error) error {
	progress("starting %s", o.Broker)
	in, err := b.host.Start(ctx, o)
	if err != nil {
		return fmt.Errorf("start %s: %w", o.Broker, err)
	}
	defer func() {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		_ = in.Stop(stopping)
	}()
	return do(in)
}
