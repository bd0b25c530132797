//go:build !linux || portable

package sim

import "time"

// waker is a sleep that can be cut short, as precise as the runtime's timers are.
type waker struct {
	rung  chan struct{}
	timer *time.Timer
}

func newWaker() (*waker, error) {
	w := &waker{rung: make(chan struct{}, 1), timer: time.NewTimer(0)}
	w.timer.Stop()
	return w, nil
}

// sleep returns at time until, or soon after wake. Only one goroutine sleeps.
func (w *waker) sleep(until int64) {
	if until == never {
		<-w.rung
		return
	}
	left := until - now()
	if left <= 0 {
		return
	}
	w.timer.Reset(time.Duration(left))
	defer w.timer.Stop()
	select {
	case <-w.rung:
	case <-w.timer.C:
	}
}

func (w *waker) wake() {
	select {
	case w.rung <- struct{}{}:
	default: // awake already
	}
}

func (w *waker) close() {}

// precise does nothing: only Linux has a timer slack to take away.
func precise() {}
