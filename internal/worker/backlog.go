package worker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
)

// A backlog trial measures how fast consumers receive the messages that were sent while they were off. For example, 1,000,000
// messages are sent and confirmed; that is filling the backlog. Then two consumers are connected, and draining begins. The second
// one has registered at 7.0 s, when the first has already received 10,000 messages. The last message comes at 9.0 s. So the
// backlog was drained at 990,000 messages in 2.0 s.

// ErrRanDry ends a trial whose backlog held fewer messages than the broker had confirmed, or whose broker stopped delivering.
var ErrRanDry = errors.New("the backlog stopped draining")

// drainBacklog connects the consumers to a backlog that has been sent, and blocks until it is drained (backlogGoal). It returns an
// ErrRanDry if nothing comes any more. With Backlog.Meanwhile, the producers send until then.
func (w *Worker) drainBacklog(ctx context.Context, t *trial) (BacklogDrain, error) {
	t.awaitConfirmations(ctx)
	filled := w.plan.filled(t)
	if t.lagging.apart() {
		t.awaitTail(ctx, filled.tailing)
		now := t.recording.books.Histograms(measure.Measured)
		t.filling = &now
	}
	if t.load.Filled != nil { // it blocks until draining may begin
		if err := t.load.Filled(ctx); err != nil {
			return BacklogDrain{}, err
		}
	}
	d := BacklogDrain{Filled: filled.messages, FilledBytes: filled.bytes, FilledAt: w.lastAck()}
	connect, cancel := context.WithTimeout(ctx, w.plan.Connect)
	defer cancel()
	registered, err := w.consumers.start(connect, true)
	if err != nil {
		return d, err
	}
	stopSending := w.sendMeanwhile(ctx, t)
	err = w.awaitDeliveries(ctx, t, t.backlogGoal(filled.deliveries))
	came := w.consumers.span()
	if came.Lagging != nil {
		came.First, came.Last = came.Lagging.First, came.Lagging.Last
	}
	if errors.Is(err, ErrRanDry) {
		came.At = came.Last // the time of waiting in vain is not part of draining
	}
	d.setTiming(registered, came, t.drained())
	return d, bothErrors(err, stopSending())
}

// filled is the size of a filled backlog.
type filled struct {
	messages, bytes int64 // in the topics of consumers that lag
	deliveries      int64 // to all subscriptions that lag
	tailing         int64 // deliveries to all others
}

// filled returns what a trial has filled so far.
func (p *Plan) filled(t *trial) filled {
	c := t.recording.books.Count()
	subscriptions := int64(len(p.Topology.Subscriptions))
	lagging := min(int64(p.Lagging.Subscriptions), subscriptions)
	if p.Lagging.Topics >= len(p.Topology.Topics) {
		return filled{c.Acked, c.Bytes, c.Acked * lagging, c.Acked * (subscriptions - lagging)}
	}
	var messages int64
	for _, producer := range p.Producers {
		if producer.Topic < p.Lagging.Topics {
			messages += t.recording.books.Confirmed(producer.ID)
		}
	}
	bytes := math.Round(float64(c.Bytes) * float64(messages) / float64(max(1, c.Sent)))
	deliveries := messages * lagging
	return filled{messages, int64(bytes), deliveries, c.Acked*subscriptions - deliveries}
}

// markLagging has the missing deliveries of consumers that lag booked apart, as their deliveries are.
func (p *Plan) markLagging(t *trial) {
	if !t.lagging.apart() {
		return
	}
	for _, producer := range p.Producers {
		for subscription := range p.Topology.Subscriptions {
			if p.lags(producer.Topic, subscription) {
				t.recording.books.SetLagging(producer.ID, subscription)
			}
		}
	}
}

// drained returns how many deliveries have come to the consumers that drain the backlog.
func (t *trial) drained() int64 { return deliveriesOf(t.lagging, t.recording.books.Count()) }

// awaitTail blocks until the consumers that don't lag have received this many deliveries and booked their latencies, but no
// longer than the drain allowance: later deliveries count as received while the backlog drains.
func (t *trial) awaitTail(ctx context.Context, deliveries int64) {
	waited := t.newTimer()
	for t.recording.books.Count().Received < deliveries && waited.Awake() < t.load.Drain && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	// Consumers in another process report their latencies only now and then.
	booked := t.newTimer()
	for t.recording.books.EndToEnd().Count() < deliveries && booked.Awake() < 2*latenciesEvery*reportEvery && ctx.Err() == nil {
		time.Sleep(reportEvery)
	}
}

// sendMeanwhile begins to send the load of Backlog.Meanwhile, if any. stop ends that and returns its error.
func (w *Worker) sendMeanwhile(ctx context.Context, t *trial) (stop func() error) {
	if t.load.Backlog.Meanwhile == nil {
		return func() error { return nil }
	}
	toSend := course{main: t.load.Backlog.Meanwhile, start: clock.Now()}
	ended := make(chan error, 1)
	go func() { ended <- w.sendAll(ctx, t, toSend) }()
	return func() error {
		t.endMeasuring(clock.Now()) // no message is due from now on
		t.halt()
		return <-ended
	}
}

// awaitConfirmations blocks until every message sent has been confirmed or refused, but no longer than the drain allowance. It also
// returns when ctx ends: the step after it fails then.
func (t *trial) awaitConfirmations(ctx context.Context) {
	waited := t.newTimer()
	for !resolved(t.recording.books.Count()) && waited.Awake() < t.load.Drain && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
}

// lastAck returns when the last message so far was confirmed; 0 if none was.
func (w *Worker) lastAck() int64 {
	var last int64
	for _, c := range w.clients {
		last = max(last, c.activity.Load().lastAck.Load())
	}
	return last
}

// drainGoal is when the draining of a backlog ends: after a number of deliveries or a time, whichever comes first. Either may be
// unlimited.
type drainGoal struct {
	deliveries int64
	within     time.Duration // by the clock, as is the time of draining in the outcome
}

// backlogGoal returns the goal of draining a backlog of so many deliveries. With 2 subscriptions and a Ratio of 0.9, a backlog of
// 1,000 messages, which are 2,000 deliveries, is drained after 1,800 of them.
func (t *trial) backlogGoal(all int64) drainGoal {
	b := t.load.Backlog
	switch {
	case b.Ratio > 0:
		share := math.Round(b.Ratio * float64(all)) // 0.57 · 100 is a little less than 57
		return drainGoal{deliveries: int64(share), within: unlimited}
	case b.Meanwhile != nil: // new messages come all the time, so only the time ends it
		return drainGoal{deliveries: unlimited, within: b.For}
	}
	return drainGoal{deliveries: all, within: b.For}
}

// awaitDeliveries blocks until a goal is reached. It returns ErrRanDry if nothing comes any more.
func (w *Worker) awaitDeliveries(ctx context.Context, t *trial, goal drainGoal) error {
	began := time.Now()
	draining := t.newTimer() // excludes the time in which this process stood still
	unchanged := t.newChangeTimer()
	for {
		received := t.drained()
		silent := unchanged.update(received) // for how long nothing has come
		if received >= goal.deliveries || time.Since(began) > goal.within {
			return nil
		}
		if most := mostSilence(t.load.Drain, draining.Awake()-silent, received > 0); silent > most {
			return ranDry(received, goal.deliveries, most)
		}
		if err := w.wait(ctx, time.Millisecond); err != nil {
			return err
		}
	}
}

// ranDry returns an ErrRanDry: received of wanted deliveries came, which may be unlimited, and then none for a time.
func ranDry(received, wanted int64, silent time.Duration) error {
	silent = silent.Round(time.Millisecond)
	if wanted == unlimited {
		return fmt.Errorf("%w: %d deliveries, then nothing for %s", ErrRanDry, received, silent)
	}
	return fmt.Errorf("%w: %d of %d deliveries, then nothing for %s", ErrRanDry, received, wanted, silent)
}

// mostSilence returns how long nothing may come from a backlog before the rest counts as missing. Before the first delivery that
// is the whole allowance. Then it is as long as draining has taken so far, but at least 5 s and at most 30 s: a broker that has
// delivered 1,500,000 messages in four seconds doesn't hold the last ones back for minutes.
func mostSilence(allowance, draining time.Duration, begun bool) time.Duration {
	const least, most = deliveryGap, 30 * time.Second
	if !begun {
		return allowance
	}
	return min(allowance, max(least, min(draining, most)))
}

// setTiming sets From, To and Received, given how many deliveries had come by came.At. The timing begins when the last consumer has
// registered: if 10,000 of 1,000,000 deliveries came before that, 990,000 count. If most came before that, 600,000 for example, too
// few would be left. Then the timing begins with the first delivery, at came.First, and all 1,000,000 count.
func (d *BacklogDrain) setTiming(registered registration, came span, received int64) {
	d.From, d.To, d.Received = registered.At, came.At, received-registered.Before
	if registered.Before > received/2 {
		d.From, d.Received = came.First, received
	}
}

// Lagging says which consumers lag: they are connected after a backlog trial has filled its backlog. They are the consumers of the first
// Topics topics and of the last Subscriptions subscriptions. If these are not all consumers, the others tail: they receive messages as
// they are sent, while the backlog is filled and while it drains. Deliveries and latencies of the two kinds are counted apart.
//
// For example, of 3 topics and 2 subscriptions, Lagging{Topics: 3, Subscriptions: 1} has subscription 0 tail and subscription 1 lag.
// The zero Lagging has none lag.
type Lagging struct{ Topics, Subscriptions int }

// of returns the Lagging of a plan with only these topics, in ascending order.
func (l Lagging) of(topics []int) Lagging {
	return Lagging{sort.SearchInts(topics, l.Topics), l.Subscriptions}
}

// lags reports whether the consumers of a subscription of a topic lag.
func (p *Plan) lags(topic, subscription int) bool {
	return topic < p.Lagging.Topics && subscription >= len(p.Topology.Subscriptions)-p.Lagging.Subscriptions
}

// laggingConsumers returns which of the plan's consumers lag; nil if none does.
func (p *Plan) laggingConsumers() laggards {
	list := make(laggards, len(p.Consumers))
	for i, c := range p.Consumers {
		list[i] = p.lags(c.Topic, c.Subscription)
	}
	if !slices.Contains(list, true) {
		return nil
	}
	return list
}

// laggards says of each consumer whether it lags; nil: none does.
type laggards []bool

// of reports whether consumer i lags.
func (l laggards) of(i int) bool { return l != nil && l[i] }

// apart reports whether some consumers lag and others don't, which are then counted apart.
func (l laggards) apart() bool { return slices.Contains(l, true) && slices.Contains(l, false) }
