package socket

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestBlockedCallIsCutAfterItsContextHasEndedAndNoOther(t *testing.T) {
	t.Parallel()
	cut := make(chan struct{})
	w := NewWatch(func() { close(cut) })
	ctx, cancel := context.WithCancel(t.Context())
	w.Enter(ctx)
	w.Leave()
	cancel() // nobody is in a call: nothing to cut
	select {
	case <-cut:
		t.Fatal("cut without a call")
	case <-time.After(3 * patience):
	}
	ctx, cancel = context.WithCancel(t.Context())
	w.Enter(ctx)
	cancel()
	<-cut // or the test's time is over
	w.Leave()
	w.Stop()
}

func TestACallIsNotCutBecauseTheContextOfAnEarlierOneHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cuts atomic.Int64
		w := NewWatch(func() { cuts.Add(1) })
		setUp, done := context.WithCancel(t.Context())
		w.Enter(setUp)
		w.Leave()
		done()
		synctest.Wait() // the watch has seen that it ended
		run, stop := context.WithCancel(t.Context())
		w.Enter(run) // a broker that holds its publishers back
		time.Sleep(time.Minute)
		if cuts.Load() != 0 {
			t.Error("cut, though its own context lives")
		}
		stop()
		time.Sleep(3 * patience)
		if n := cuts.Load(); n != 1 {
			t.Errorf("cut %d times after its own context has ended", n)
		}
		w.Leave()
		w.Stop()
	})
}
