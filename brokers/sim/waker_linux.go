//go:build !portable

package sim

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"
)

// waker is a sleep that is precise and can be cut short. A runtime timer is half a millisecond late and a
// clock_nanosleep can't be interrupted; ppoll on an eventfd is late by tens of microseconds, and a write ends it.
type waker struct {
	event int
	poll  []unix.PollFd
	word  [8]byte
}

func newWaker() (*waker, error) {
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("sim: eventfd: %w", err)
	}
	return &waker{event: fd, poll: []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}}, nil
}

// sleep returns at time until, or soon after wake. Only one goroutine sleeps, locked to its thread.
func (w *waker) sleep(until int64) {
	var timeout *unix.Timespec
	if until != never {
		left := until - now()
		if left <= 0 {
			return
		}
		ts := unix.NsecToTimespec(left)
		timeout = &ts
	}
	if n, _ := unix.Ppoll(w.poll, timeout, nil); n > 0 { // an error is EINTR: the caller looks at the time again
		_, _ = unix.Read(w.event, w.word[:])
	}
}

var one = binary.NativeEndian.AppendUint64(nil, 1)

func (w *waker) wake() { _, _ = unix.Write(w.event, one) } // fails only when 2^64-2 wakes are pending: awake then

func (w *waker) close() { _ = unix.Close(w.event) }

// precise takes the timer slack of the calling thread away.
func precise() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) }
