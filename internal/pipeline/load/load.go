// Package load posts requests to an HTTP endpoint, in a closed loop of threads as the assignment asks for, or in an open
// loop by a schedule. It knows nothing of the server behind the endpoint.
package load

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/schedule"
)

// Load is one load.
type Load struct {
	Address string      // host:port
	TLS     *tls.Config // nil: plain
	Maker   Maker
	Phases  []Phase // closed loop, one after the other

	// Schedule is an open loop: request i is due at its arrival i. Threads is how many can be under way.
	Schedule schedule.Schedule
	Threads  int
	Warmup   time.Duration // the first part of the schedule that is not measured
	Duration time.Duration // of the measured part
	Drain    time.Duration // for requests that are due and still wait when the load ends

	// A request that was not answered, or with 429 or 5xx, is posted again: Retries times, and further until it is Patience
	// late. 0: no further. Where a part is broken on purpose, requests have to wait until it is back.
	Retries  int
	Patience time.Duration
	Backoff  time.Duration // before the first retry; it doubles each time, up to the last of Retries
	Timeout  time.Duration // of one attempt

	// Measuring, if set, is called when the measured part begins, with the time on the clock's axis; Sent when the last request is taken.
	Measuring func(at int64)
	Sent      func()
}

// Phase is a number of threads that each post one request after the other.
type Phase struct {
	Threads int
	// Each is how many requests every thread posts; 0: they share Total.
	Each  int64
	Total int64 // requests of this phase
}

// Requests returns the number of requests that the phase posts.
func (p Phase) Requests() int64 {
	if p.Each > 0 {
		return p.Each * int64(p.Threads)
	}
	return p.Total
}

// TwoPhases returns the assignment's phases: 32 threads that post 1,000 requests each, then the given number of threads
// until total have been posted. With a total below the assignment's 200,000 the first phase keeps its share; below 200 it
// is left out.
func TwoPhases(threads int, total int64) []Phase {
	const first, most, share = 32, 1000, 200
	each := min(most, total/share)
	if each == 0 {
		return []Phase{{Threads: threads, Total: total}}
	}
	return []Phase{{Threads: first, Each: each}, {Threads: threads, Total: total - first*each}}
}

// Fate is the outcome of a request.
type Fate uint8

// The fates of a request.
const (
	Unsent   Fate = iota // due, and never posted
	Accepted             // answered with 2xx
	Failed               // answered otherwise, or not at all, after all retries
)

// Counts are the counts of the measured part.
type Counts struct {
	Due, Sent, Accepted, Failed, Unsent, Retries, Bytes int64
	// Warmed are requests of the warm-up that were accepted.
	Warmed int64
}

// Outcome is the result of a load.
type Outcome struct {
	Counts
	Start    int64         // when the first request was due; times are on the clock's axis
	From     int64         // when the measured part began
	Until    int64         // when it ended: by the schedule, or when the last answer came
	Last     int64         // when the last answer came
	Response hist.Snapshot // from the first attempt's sending to the answer
	FromDue  hist.Snapshot // from when it was due to the answer
	Lag      hist.Snapshot // from when it was due to its sending
	Codes    map[int]int64 // answers, those to retries included; 0: none came
	Fates    []Fate        // by request, those of the warm-up included
	First    int64         // the first request of the measured part
	Err      error         // of the last request that failed
}

// Runner runs one load, once.
type Runner struct {
	load  Load
	total int64
	first int64 // request of the measured part

	next  atomic.Int64
	fates []Fate
	start int64

	due                                                  atomic.Int64 // requests that have fallen due or were taken, those of the warm-up included
	sent, accepted, failed, retries, bytes, last, warmed atomic.Int64
	response, fromDue, lag                               hist.Histogram

	mu    sync.Mutex
	codes map[int]int64
	err   error
}

// NewRunner checks the load.
func NewRunner(l Load) (*Runner, error) {
	if l.Measuring == nil {
		l.Measuring = func(int64) {}
	}
	if l.Sent == nil {
		l.Sent = func() {}
	}
	r := &Runner{load: l, codes: map[int]int64{}}
	switch {
	case l.Maker == nil || l.Address == "":
		return nil, errors.New("a load needs an address and a maker of requests")
	case l.Schedule != nil:
		if l.Threads < 1 || l.Duration <= 0 {
			return nil, fmt.Errorf("an open loop of %d threads for %s; allowed: 1 or more, and a time", l.Threads, l.Duration)
		}
		r.first = l.Schedule.Count(int64(l.Warmup))
		r.total = l.Schedule.Count(int64(l.Warmup + l.Duration))
	default:
		for _, p := range l.Phases {
			if p.Threads < 1 || p.Requests() < 1 {
				return nil, fmt.Errorf("a phase of %d requests by %d threads; allowed: 1 or more of both", p.Requests(), p.Threads)
			}
			r.total += p.Requests()
		}
	}
	if r.total == 0 {
		return nil, errors.New("a load of no requests")
	}
	r.fates = make([]Fate, r.total)
	return r, nil
}

// Progress returns the counts of the measured part so far.
func (r *Runner) Progress() Counts {
	return Counts{
		Due: max(0, r.due.Load()-r.first), Sent: r.sent.Load(), Accepted: r.accepted.Load(), Failed: r.failed.Load(),
		Retries: r.retries.Load(), Bytes: r.bytes.Load(), Warmed: r.warmed.Load(),
	}
}

// Run blocks until the load is over or ctx ends; requests under way are waited for.
func (r *Runner) Run(ctx context.Context) Outcome {
	r.start = clock.Now()
	if r.load.Schedule != nil {
		r.open(ctx)
	} else {
		r.closed(ctx)
	}
	o := Outcome{
		Counts: r.Progress(), Start: r.start, From: r.start, Until: r.last.Load(), Last: r.last.Load(),
		Response: r.response.Snapshot(), FromDue: r.fromDue.Snapshot(), Lag: r.lag.Snapshot(),
		Codes: r.codes, Fates: r.fates, First: r.first, Err: r.err,
	}
	if r.load.Schedule != nil {
		o.From += int64(r.load.Warmup)
		o.Until = o.From + int64(r.load.Duration)
	}
	o.Due = r.total - r.first
	o.Unsent = o.Due - o.Sent
	return o
}

// closed runs the phases.
func (r *Runner) closed(ctx context.Context) {
	r.load.Measuring(r.start)
	var upTo int64
	for _, p := range r.load.Phases {
		upTo += p.Requests()
		var threads sync.WaitGroup
		for range p.Threads {
			threads.Go(func() {
				t := r.thread()
				defer t.close()
				for n := int64(0); (p.Each == 0 || n < p.Each) && ctx.Err() == nil; n++ {
					request := r.next.Add(1) - 1
					if request >= upTo {
						return
					}
					r.due.Add(1)
					t.post(ctx, request, clock.Now())
				}
			})
		}
		threads.Wait()
		r.next.Store(upTo) // threads that found nothing left have counted too
	}
	r.load.Sent()
}

// open has threads take requests when their time comes. If all threads wait for an answer, the request is posted late, with
// its own due time.
func (r *Runner) open(ctx context.Context) {
	due := make(chan struct{}, r.total)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go r.pace(ctx, due)
	end := r.start + int64(r.load.Warmup+r.load.Duration+r.load.Drain)
	var threads sync.WaitGroup
	for range r.load.Threads {
		threads.Go(func() {
			t := r.thread()
			defer t.close()
			for range due {
				if ctx.Err() != nil || clock.Now() > end {
					return
				}
				request := r.next.Add(1) - 1
				t.post(ctx, request, r.start+r.load.Schedule.At(request))
			}
		})
	}
	threads.Wait()
}

// coalesce is the span that one wake-up of the pacer serves: it releases all requests that are due within it.
const coalesce = int64(200 * time.Microsecond)

// pace releases a request to the threads at each arrival.
func (r *Runner) pace(ctx context.Context, due chan<- struct{}) {
	defer close(due)
	s := clock.NewSleeper()
	defer s.Close()
	arrivals := schedule.Sequential(r.load.Schedule)
	told := false
	for i := int64(0); i < r.total; {
		if !told && i >= r.first {
			told = true
			r.load.Measuring(r.start + int64(r.load.Warmup))
		}
		at := r.start + arrivals.At(i)
		for now := clock.Now(); now < at; now = clock.Now() {
			if ctx.Err() != nil {
				return
			}
			s.SleepUntil(min(max(at, now+coalesce), now+int64(100*time.Millisecond)))
		}
		if ctx.Err() != nil {
			return
		}
		for n := schedule.Due(arrivals, i, clock.Now()-r.start, int(min(r.total-i, 10_000))); n > 0; n-- {
			r.due.Add(1)
			due <- struct{}{}
			i++
		}
	}
	r.load.Sent()
}
