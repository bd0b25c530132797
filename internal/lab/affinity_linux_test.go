package lab_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
)

// The generator leaves the broker's core alone, so that the broker can use all of it.
func TestTheOnlyCoreOfABrokerIsNamed(t *testing.T) {
	testkit.Long(t)
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	if all.Count() < 2 {
		testkit.Lacks(t, "there is one core only")
	}
	first := 0
	for !all.IsSet(first) {
		first++
	}
	var one unix.CPUSet
	one.Set(first)
	others := all
	others.Clear(first)
	for _, broker := range []string{"rabbitmq", "jetstream"} {
		t.Run(broker, func(t *testing.T) {
			in, err := sharedHost(t).Start(t.Context(), provision.Options{Broker: broker})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = in.Stop(t.Context()) }()
			of, err := in.Processes(1)
			if err != nil {
				t.Fatal(err)
			}
			pin(t, one, of...)
			pin(t, others, os.Getpid())
			defer pin(t, all, os.Getpid())
			checkLimit(t, runOnce(t, longSpec(t, func(s *study.Spec) {
				s.Broker, s.Persistence, s.Attach, s.InFlight.Messages = broker, "log", in.Addresses(), 1000
				asFastAsItCan(s, 5*time.Second)
				s.Warmup.For, s.Drain = study.Duration(3*time.Second), study.Duration(30*time.Second)
			}), lab.Options{}), "affinity", "may run on 1")
		})
	}
}

// pin makes all threads of the processes, and those that they start, run on these cores only.
func pin(t *testing.T, on unix.CPUSet, pids ...int) {
	t.Helper()
	pinned := 0
	for _, pid := range pids {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
		for _, thread := range threads {
			if id, err := strconv.Atoi(filepath.Base(thread)); err == nil && unix.SchedSetaffinity(id, &on) == nil {
				pinned++
			}
		}
	}
	if pinned == 0 {
		t.Fatalf("no thread of %v was pinned", pids)
	}
}
