package busiest

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/testkit"
)

// spin uses a core until it is told to end, in turns with other goroutines that are ready.
func spin(end *atomic.Bool) {
	for n := 0; !end.Load(); n++ {
	}
}

// idle sleeps most of the time.
func idle(end *atomic.Bool) {
	for !end.Load() {
		time.Sleep(time.Millisecond)
	}
}

func TestTheBusiestGoroutineIsNamedWithItsOwnerAndItsShare(t *testing.T) {
	var end atomic.Bool
	var running sync.WaitGroup
	w := Start()
	if w == nil {
		testkit.Without(t, "this process is being profiled")
	}
	if again := Start(); again != nil {
		t.Error("the process is watched twice")
	}
	for _, name := range []string{"consumer 0", "consumer 1"} {
		Do(context.Background(), name, func(context.Context) { running.Go(func() { idle(&end) }) })
	}
	Do(context.Background(), "consumer 2", func(context.Context) { running.Go(func() { spin(&end) }) })
	time.Sleep(time.Second)
	end.Store(true)
	running.Wait()
	w.Stop()
	got := w.Busiest()
	t.Logf("%+v", got)
	if !strings.HasPrefix(got.Name, "busiest.TestTheBusiest") || !strings.HasSuffix(got.Name, " of consumer 2") {
		t.Errorf("%q is the busiest; want that of consumer 2", got.Name)
	}
	if got.Share < 0.3 || got.Share > 1.1 { // the machine may be busy
		t.Errorf("a goroutine that never waits used %.2f of a core", got.Share)
	}
}

func TestTheSameFunctionOfAnotherOwnerIsAnotherGoroutine(t *testing.T) {
	name, used := most([]sample{
		{Stack{Used: 30}, "a/b.read", "consumer 0"},
		{Stack{Used: 40}, "a/b.read", "consumer 1"},
		{Stack{Used: 20}, "a/b.read", "consumer 0"},
		{Stack{Used: 45}, "a/b.write", "consumer 0"},
		{Stack{Used: 1000}, "runtime.gcBgMarkWorker", ""},
		{Stack{Used: 1000}, "", ""},
	})
	if name != "b.read of consumer 0" || used != 50 {
		t.Errorf("%q with %d, want b.read of consumer 0 with 50", name, used)
	}
	if name, used := most(nil); name != "" || used != 0 {
		t.Errorf("%q with %d of no samples", name, used)
	}
}

func TestWhatIsNoProfileIsRefused(t *testing.T) {
	for _, text := range []string{"\xff", "\x12\x05\x0a", "\x12\x01\xff", "\x22\x03\x22\x01\xff"} {
		if got, err := parse([]byte(text)); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}
