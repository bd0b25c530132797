package socket

import (
	"context"
	"testing"
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
