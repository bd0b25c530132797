package pool

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// The states of a job. Publish may leave one that waits or was handed over; the line takes one that waits, and settles one
// that was handed over. The first one decides.
const (
	waiting int32 = iota
	handed        // to the client
	settled       // its fate is decided and sent
	left          // by Publish: if it waited it must not be sent, else its fate is not asked for
)

// job is one message. Publish and the line hold one of its references each: the client may use the payload longer than Publish waits.
type job struct {
	payload []byte
	state   atomic.Int32
	refs    atomic.Int32
	fate    chan error
	timer   *time.Timer
}

var jobs = sync.Pool{New: func() any {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &job{fate: make(chan error, 1), timer: t}
}}

func newJob(payload []byte) *job {
	j := jobs.Get().(*job)
	j.payload = append(j.payload[:0], payload...)
	j.state.Store(waiting)
	j.refs.Store(2)
	return j
}

func (j *job) release() {
	if j.refs.Add(-1) > 0 {
		return
	}
	j.timer.Stop()
	jobs.Put(j) // its fate was received if it was sent, which never happens after Publish has left
}

// settle sends the job's fate to Publish. It returns false if the job is settled already, or Publish has left.
func (j *job) settle(err error) bool {
	if !j.state.CompareAndSwap(handed, settled) {
		return false
	}
	j.fate <- err
	return true
}

// line is one producer with its slots.
type line struct {
	pool   *Pool
	client driver.Producer
	free   chan uint32
	slots  []*job // a slot belongs to the line while it is free, to the client until it is Done
	batch  []driver.Message
	taken  []*job
}

func newLine(p *Pool) *line {
	l := &line{pool: p, free: make(chan uint32, p.config.Window), slots: make([]*job, p.config.Window)}
	for s := range l.slots {
		l.free <- uint32(s)
	}
	return l
}

// run takes a free slot first and then a job, so that waiting jobs stay where every producer can take them.
func (l *line) run() {
	for slot := range l.free {
		j, more := <-l.pool.jobs
		if !more {
			l.free <- slot
			return
		}
		l.gather(slot, j)
		if len(l.batch) == 0 {
			continue
		}
		// Where Send fails every slot is completed through Done all the same.
		err := l.client.Send(context.Background(), l.batch)
		if err == nil {
			err = l.client.Flush(context.Background())
		}
		for _, j := range l.taken {
			if l.pool.config.AtOnce && err == nil {
				j.settle(nil)
			}
			j.release()
		}
	}
}

// gather fills the batch with j and whatever else waits, as far as slots are free.
func (l *line) gather(slot uint32, j *job) {
	l.batch, l.taken = l.batch[:0], l.taken[:0]
	for {
		if j.state.CompareAndSwap(waiting, handed) {
			l.slots[slot] = j
			j.refs.Add(1) // one for this batch, one until Done
			l.batch = append(l.batch, driver.Message{Slot: slot, Payload: j.payload})
			l.taken = append(l.taken, j)
		} else { // Publish has left
			j.release()
			l.free <- slot
		}
		if len(l.free) == 0 {
			return
		}
		more := false
		select {
		case j, more = <-l.pool.jobs:
		default:
		}
		if !more {
			return
		}
		slot = <-l.free // there is one: only gather takes from free
	}
}

// Done is called by the client, from any goroutine.
func (l *line) Done(slots []uint32, err error) {
	p := l.pool
	for _, s := range slots {
		j := l.slots[s]
		l.slots[s] = nil
		told := j.settle(err)
		switch {
		case err != nil && !told:
			p.later.Add(1)
		case err == nil && (p.config.AtOnce || !told): // else Publish counts it
			p.published.Add(1)
		}
		j.release()
		l.free <- s
	}
}

// close waits a while for outstanding jobs, then has the client complete the rest.
func (l *line) close(patience time.Duration) error {
	until := time.After(patience)
	for range l.slots {
		select {
		case <-l.free:
		case <-until:
			return l.client.Close()
		}
	}
	return l.client.Close()
}
