package pulsar

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

const chunk = 300 // messages received before the kill at least, sent right after it, and after the restart

// promise is a guarantee with what it allows when a broker dies.
type promise struct {
	g                           driver.Guarantee
	mayLose, mayFail, mayRepeat bool
	cut                         bool // its client surely loses a connection
}

// flow is one producer and one consumer under one promise.
type flow struct {
	promise
	*livetest.Rig
	end  func()
	log  *livetest.Log
	last string // what was sent last
	open int    // messages without an answer when the broker was dead
}

func openFlow(t *testing.T, target driver.Target, p promise) *flow {
	t.Helper()
	c := livetest.Config(t, "pulsar", target, p.g, nil, nil)
	f := &flow{promise: p, Rig: livetest.Open(t, "pulsar", c, livetest.Topic("restart", 1, "s")), log: c.Log.(*livetest.Log)}
	f.end = f.Consume(t, driver.ConsumerConfig{})
	return f
}

// run sends until the broker is dead, then something that it can't have answered, and, when it is back, something more;
// it waits for what the promise owes and closes everything.
func (f *flow) run(t *testing.T, dead, back <-chan struct{}) {
	for ; !closed(dead); time.Sleep(time.Millisecond) {
		if f.Count().Pending < 5*chunk { // slots are left for what comes next
			f.send(t, chunk/10)
		}
	}
	f.send(t, chunk)
	f.open = f.Count().Pending
	<-back
	lane := f.Producer.(*producer).lines[0]
	livetest.Within(livetest.Patience, func() bool { return lane.now() != nil }) // it may have to be made anew
	f.send(t, chunk)
	// What comes again comes before the last messages do: they are the last in the topic. What has not come then, the book
	// shows.
	livetest.Within(livetest.Patience, func() bool {
		c := f.Count()
		return c.Pending == 0 && (c.Lost == 0 || f.mayLose)
	})
	f.end()
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (f *flow) send(t *testing.T, n int) {
	batch := make([]driver.Message, n)
	sent := f.Count().Sent
	for i := range batch {
		f.last = fmt.Sprint(sent + i)
		batch[i].Payload = []byte(f.last)
	}
	if err := f.Book.Send(context.Background(), f.Producer, batch...); err != nil {
		t.Error(err)
	}
}

// breakAndCheck breaks the broker under the load of every promise, mends it, and compares.
func breakAndCheck(t *testing.T, target driver.Target, promises []promise, kill, mend func(context.Context) error) {
	t.Helper()
	flows := make([]*flow, len(promises))
	for i, p := range promises {
		flows[i] = openFlow(t, target, p)
	}
	dead, back := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	for _, f := range flows {
		all.Go(func() { f.run(t, dead, back) })
	}
	for _, f := range flows { // the broker dies while it works
		livetest.Within(livetest.Patience, func() bool { return f.Count().Received >= chunk })
	}
	err := kill(t.Context())
	close(dead)
	if err == nil {
		err = mend(t.Context())
	}
	close(back)
	all.Wait()
	livetest.Must(t, err)
	for _, f := range flows {
		t.Run(fmt.Sprintf("%s %s %s, copies: %d", f.g.Delivery, f.g.Persistence, f.g.Ordering, f.g.Replicas), f.check)
	}
}

func (f *flow) check(t *testing.T) {
	c := f.Count()
	t.Logf("%+v; %d unanswered when the broker was dead", c, f.open)
	if c.Pending > 0 {
		t.Errorf("%d of %d slots were not completed", c.Pending, c.Sent)
	}
	if c.Lost > 0 && !f.mayLose {
		t.Errorf("%d acknowledged messages were never received", c.Lost)
	}
	if c.Repeated > 0 && !f.mayRepeat {
		t.Errorf("%d messages were received again", c.Repeated)
	}
	if c.Failed > 0 && !f.mayFail {
		t.Errorf("%d messages failed, the last with: %v", c.Failed, c.LastErr)
	}
	if err := f.Fates(t, f.last); err != nil {
		t.Errorf("the last message was not acknowledged, the producer has not come back: %v", err)
	}
	switch said := f.log.Last(); {
	case t.Failed():
		t.Logf("the client's last words:\n%s", said)
	case said == "" && f.cut:
		t.Error("the client has lost its connection and written nothing to the log")
	}
}

// throughKillAndRestart ends the only server without warning and starts it again.
func throughKillAndRestart(t *testing.T, in *provision.Instance, target driver.Target) {
	fsync := atLeast
	fsync.Persistence = driver.Fsync
	breakAndCheck(t, target, []promise{
		{g: memory, mayLose: true, mayFail: true, cut: true},
		{g: atMost, mayLose: true, mayFail: true, cut: true},
		{g: atLeast, mayRepeat: true, cut: true},
		{g: unordered(fsync), mayRepeat: true, cut: true},
		{g: exactly, cut: true},
		{g: unordered(exactly), cut: true},
	}, func(ctx context.Context) error { return in.Kill(ctx, 1) }, func(ctx context.Context) error { return in.Restart(ctx, 1) })
}
