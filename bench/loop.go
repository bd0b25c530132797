package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"time"
)

// loopArg, as the first argument, makes this program the child process that runs one bare loop.
const loopArg = "loop"

// loopPlan is what a bare loop is told: the least that a program needs to produce, consume and take the latency.
type loopPlan struct {
	Client  string // kafka, rabbitmq, nats, amqp10, …: see bareLoops
	Address string // host:port
	Name    string // of the topic, queue or subject; exists already where the broker wants that
	Size    int    // bytes
	Window  int    // messages that may be unconfirmed
	Confirm bool   // RabbitMQ: confirms, persistent messages, consumer acknowledgements
	Plain   bool   // NATS Streaming: a subscription of its own, neither durable nor in a group, as stan-bench has it
	// Messages end the loop when they have all arrived; where it is 0, time does, and the rate is of what arrived.
	Messages int64
	Time     time.Duration
	Rate     float64 // messages per second, paced with the runtime's own sleep; 0: as fast as the window allows
}

// loopResult is what it answers: one JSON object on stdout.
type loopResult struct {
	From, Until         int64 // from the first message sent to the last one received, unix ns
	Published, Received int64 // published is confirmed where the client is told
	P50                 int64 // end to end, ns
}

// books are what a loop counts. The producing side writes published and failure, the consuming side all else.
type books struct {
	published atomic.Int64
	failure   atomic.Pointer[error] // of the first message that failed before the end
	_         [56]byte
	received  atomic.Int64
	latency   latencies
}

func (b *books) took(now int64, payload []byte) {
	b.latency.add(now - int64(binary.LittleEndian.Uint64(payload)))
}

// answered books what became of a message that was sent. After the end of ctx, failures mean nothing.
func (b *books) answered(ctx context.Context, err error) {
	switch {
	case err == nil:
		b.published.Add(1)
	case ctx.Err() == nil:
		b.failure.CompareAndSwap(nil, &err)
	}
}

// arrived books one message that has just come in.
func (b *books) arrived(payload []byte) {
	b.took(time.Now().UnixNano(), payload)
	b.received.Add(1)
}

func stamp(payload []byte, now time.Time) {
	binary.LittleEndian.PutUint64(payload, uint64(now.UnixNano()))
}

// bodies makes n payloads of random bytes.
func bodies(n, size int) [][]byte {
	random := rand.NewChaCha8([32]byte{1})
	all := make([][]byte, n)
	for i := range all {
		all[i] = make([]byte, size)
		_, _ = random.Read(all[i]) // never fails
	}
	return all
}

// bareLoop sends Messages messages, or until ctx ends, and receives until ctx ends; started is called when the
// consumer is registered, just before the first message.
type bareLoop func(ctx context.Context, p loopPlan, b *books, started func()) error

var bareLoops = map[string]bareLoop{
	"kafka": kafkaLoop, "rabbitmq": rabbitLoop, "nats": natsLoop, "amqp10": amqp10Loop, "mosquitto": mosquittoLoop, "stan": stanLoop,
	"rabbitmq-stream": streamLoop, "pulsar": pulsarLoop, "jetstream": jetstreamLoop, "redis": redisLoop,
	"rocketmq": rocketLoop,
}

// more reports whether message i, from 0, is to be sent, and waits until it is due.
func (p loopPlan) more(ctx context.Context, i int64, began time.Time) bool {
	if p.Rate > 0 {
		time.Sleep(time.Until(began.Add(time.Duration(float64(i) / p.Rate * 1e9))))
	}
	return ctx.Err() == nil && (p.Messages == 0 || i < p.Messages)
}

// sendAll sends the plan's messages until one fails, and returns at the end of ctx. It writes them into as many payloads as ring says,
// in turn: a client that copies a payload before send returns needs one only.
func (p loopPlan) sendAll(ctx context.Context, b *books, ring int, send func(body []byte)) {
	all := bodies(ring, p.Size)
	for i, began := int64(0), time.Now(); b.failure.Load() == nil && p.more(ctx, i, began); i++ {
		body := all[i%int64(ring)]
		stamp(body, time.Now())
		send(body)
	}
	<-ctx.Done()
}

// loopMain is the child's main.
func loopMain(plan string) int {
	var p loopPlan
	if err := json.Unmarshal([]byte(plan), &p); err != nil {
		fmt.Fprintln(os.Stderr, "bench loop:", err)
		return 2
	}
	r, err := runLoop(p)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench loop:", err)
		return 1
	}
	_ = json.NewEncoder(os.Stdout).Encode(r)
	return 0
}

func runLoop(p loopPlan) (loopResult, error) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var b books
	started, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- bareLoops[p.Client](ctx, p, &b, func() { close(started) }) }()
	if err := awaitStart(started, ended); err != nil {
		return loopResult{}, err
	}
	r := loopResult{From: time.Now().UnixNano()}
	if p.Messages == 0 {
		time.Sleep(p.Time)
		r.Until = time.Now().UnixNano()
	} else {
		r.Until = b.arrival(p.Messages)
	}
	r.Published, r.Received = b.published.Load(), b.received.Load()
	stop()
	err := <-ended
	if failure := b.failure.Load(); failure != nil {
		err = errors.Join(err, fmt.Errorf("send: %w", *failure))
	}
	r.P50 = b.latency.quantile(0.5)
	return r, err
}

// arrival waits until n messages have arrived, or nothing does any more, and returns when the last one did.
func (b *books) arrival(n int64) int64 {
	const quiet = 5 * time.Second
	seen, at := int64(-1), time.Now()
	for now := at; now.Sub(at) < quiet; now = time.Now() {
		if r := b.received.Load(); r != seen {
			if seen, at = r, now; r >= n {
				break
			}
		}
		time.Sleep(time.Millisecond)
	}
	return at.UnixNano()
}

func awaitStart(started <-chan struct{}, ended <-chan error) error {
	select {
	case <-started:
		return nil
	case err := <-ended:
		return err
	case <-time.After(20 * time.Second):
		return fmt.Errorf("the consumer was not registered within 20 s")
	}
}
