package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/brokermark/brokermark/internal/crash"
)

// watched are the commands that use client libraries, which may panic in goroutines of their own. Another process of the program
// starts such a command, waits for it, and reports a crash.
var watched = []string{"run", "pipeline", "broker"}

// Program runs the program with the arguments, streams and signals of this process, and returns its exit code.
func Program() int {
	args := os.Args[1:]
	if len(args) > 0 && slices.Contains(watched, args[0]) {
		if e, err := crash.Watch(args); err == nil { // a machine that allows no further process runs it unwatched
			return (&shell{in: os.Stdin, out: os.Stdout, err: os.Stderr}).after(e)
		}
	}
	inside, args := crash.Enter(args)
	s := &shell{in: os.Stdin, out: os.Stdout, err: os.Stderr, watched: inside}
	ctx, stop := s.interruptible(context.Background())
	defer stop()
	code := s.main(ctx, args)
	inside.End()
	return code
}

// errTerminated is the cause of a context that SIGTERM has ended.
var errTerminated = errors.New("terminated")

// interruptible returns a context that the first SIGINT or SIGTERM ends, so that a run can record and clean up. The
// second one ends the program at once; brokers end with it, because their supervisors notice.
func (s *shell) interruptible(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	own := make(chan os.Signal, 2)
	var signals <-chan os.Signal = own
	if s.watched != nil {
		signals = s.watched.Signals
	} else {
		signal.Notify(own, syscall.SIGINT, syscall.SIGTERM)
	}
	go func() {
		if first := <-signals; first == syscall.SIGTERM {
			cancel(errTerminated)
		} else {
			cancel(context.Canceled)
		}
		<-signals
		s.watched.End()
		os.Exit(interruption(ctx))
	}()
	return ctx, func() { signal.Stop(own); cancel(nil) }
}
