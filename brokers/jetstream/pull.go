package jetstream

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

// puller requests messages from the server until Stop. Closed is closed after the last of them was handled.
type puller interface {
	Stop()
	Closed() <-chan struct{}
}

// pull requests messages in the way of client.consume.
func (r *reader) pull(from jetstream.Consumer, client driver.Values) (puller, error) {
	if client.String("consume") == fetch {
		return r.fetch(from, client), nil
	}
	return r.consume(from, client, r.handle)
}

func (r *reader) consume(from jetstream.Consumer, client driver.Values, handle jetstream.MessageHandler) (puller, error) {
	options := []jetstream.PullConsumeOpt{
		jetstream.PullExpiry(client.Duration("PullExpiry")), jetstream.PullHeartbeat(client.Duration("PullHeartbeat")),
		jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) { r.logf("%s: %v", r.name, err) }),
		jetstream.PullMaxMessages(r.most),
	}
	if n := client.Int("PullMaxBytes"); n > 0 {
		options[len(options)-1] = jetstream.PullMaxBytes(int(n))
		if r.most < int(client.Int("PullMaxMessages")) {
			options[len(options)-1] = jetstream.PullMaxMessagesWithBytesLimit(r.most, int(n))
		}
	}
	return from.Consume(handle, options...)
}

// atOnce is the number of messages of a topic that a consumer prefetches: at most as many as a slow application processes in half of
// AckWait. Messages that wait longer in the client are redelivered, because only the client knows them and could report progress.
func (s *session) atOnce(c driver.ConsumerConfig) int {
	client := s.config.Client
	most := int(client.Int("PullMaxMessages"))
	if c.Delay <= 0 || s.policy == jetstream.AckNonePolicy {
		return most
	}
	return max(1, min(most, int(client.Duration("AckWait")/2/c.Delay)/len(c.Topics())))
}

// fetching is a loop that fetches batches.
type fetching struct {
	end    context.CancelFunc
	closed chan struct{}
}

func (f *fetching) Stop() {
	f.end()
	<-f.closed // so that handled messages are acknowledged before the connection is closed
}

func (f *fetching) Closed() <-chan struct{} { return f.closed }

// fetch requests one batch after the other: the next one when the last message of this one was handled.
func (r *reader) fetch(from jetstream.Consumer, client driver.Values) *fetching {
	ctx, end := context.WithCancel(r.ctx)
	f := &fetching{end: end, closed: make(chan struct{})}
	go func() {
		defer close(f.closed)
		defer end()
		for ctx.Err() == nil {
			err := r.batch(ctx, from, client)
			if errors.Is(err, nats.ErrConnectionClosed) {
				return
			}
			if err != nil && !errors.Is(err, context.DeadlineExceeded) { // a deadline means an empty stream
				r.report(err)
				_ = socket.Pause(ctx, tryPause)
			}
		}
	}()
	return f
}

// batch handles the messages of one request. The client leaks a subscription if it can't send the request, so none is made
// without a connection.
func (r *reader) batch(ctx context.Context, from jetstream.Consumer, client driver.Values) error {
	if conn := r.js.Conn(); !conn.IsConnected() && !conn.IsClosed() {
		return nats.ErrDisconnected
	}
	once, done := context.WithTimeout(ctx, deadline(client.Duration("PullExpiry")))
	defer done()
	options := []jetstream.FetchOpt{jetstream.FetchContext(once), jetstream.FetchHeartbeat(client.Duration("PullHeartbeat"))}
	if n := client.Int("PullMaxBytes"); n > 0 {
		options = append(options, jetstream.FetchMaxBytes(int(n)))
	}
	batch, err := from.Fetch(int(client.Int("PullMaxMessages")), options...)
	if err != nil {
		return err
	}
	if r.handleAll(ctx, batch.Messages(), client.Duration("AckWait")/3); ctx.Err() != nil {
		return nil
	}
	return batch.Error()
}

// handleAll handles a batch as it arrives. Every so often it reports to the server that the waiting messages are in progress:
// otherwise those that wait for longer than AckWait would come again.
func (r *reader) handleAll(ctx context.Context, incoming <-chan jetstream.Msg, every time.Duration) {
	next, told := 0, time.Now()
	for r.waiting = r.waiting[:0]; ctx.Err() == nil; next++ {
		r.waiting = arrived(r.waiting, incoming)
		if next == len(r.waiting) {
			m, ok := <-incoming
			if !ok {
				return
			}
			r.waiting, next = append(r.waiting[:0], m), 0
		}
		if r.policy != jetstream.AckNonePolicy && time.Since(told) > every {
			for _, m := range r.waiting[next:] {
				r.report(m.InProgress())
			}
			told = time.Now()
		}
		r.handle(r.waiting[next])
	}
}

// arrived appends the messages that have arrived.
func arrived(waiting []jetstream.Msg, incoming <-chan jetstream.Msg) []jetstream.Msg {
	for {
		select {
		case m, ok := <-incoming:
			if !ok {
				return waiting
			}
			waiting = append(waiting, m)
		default:
			return waiting
		}
	}
}

// deadline is a timeout from which the client derives at least this expiry: it subtracts a tenth, at most a second.
func deadline(expiry time.Duration) time.Duration {
	return expiry + min(expiry/9, time.Second) + 10*time.Millisecond
}

// following is an ordered consumer: the client makes a consumer without acknowledgements on the server, and another one from the
// next place in the stream on whenever a message is missing or the connection was lost.
type following struct {
	reader  *reader
	client  driver.Values
	created time.Time // when the stream was created
	current puller
	end     context.CancelFunc
	closed  chan struct{}
	one     sync.Mutex // the client may call the handler of the next consumer while that of the last one still runs
}

// follow begins at the subscription's place.
func (r *reader) follow(try context.Context, client driver.Values) (puller, error) {
	ctx, end := context.WithCancel(r.ctx)
	f := &following{reader: r, client: client, end: end, closed: make(chan struct{})}
	if err := f.begin(try, r.course.next); err != nil {
		end()
		return nil, err
	}
	connected := r.js.Conn().StatusChanged(nats.CONNECTED)
	go func() {
		defer close(f.closed)
		defer r.js.Conn().RemoveStatusListener(connected)
		f.follow(ctx, connected)
	}()
	return f, nil
}

func (f *following) Stop() { f.end() }

func (f *following) Closed() <-chan struct{} { return f.closed }

func (f *following) begin(ctx context.Context, at uint64) error {
	r := f.reader
	stream, err := r.js.Stream(ctx, r.stream)
	if err != nil {
		return err
	}
	consumer, err := stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
		NamePrefix: r.durable + "-" + nuid.Next(), DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: at,
	})
	if err != nil {
		return err
	}
	f.current, err = r.consume(consumer, f.client, func(m jetstream.Msg) {
		f.one.Lock()
		defer f.one.Unlock()
		r.handle(m)
	})
	if err == nil {
		f.created = stream.CachedInfo().Created
	}
	return err
}

// follow begins anew with a recreated stream: one in memory whose server was restarted. Its places begin at 1, and the client
// would wait for the place after its last one.
func (f *following) follow(ctx context.Context, connected <-chan nats.Status) {
	defer func() { <-f.current.Closed() }()
	defer func() { f.current.Stop() }()
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.current.Closed():
			return
		case <-connected:
			f.again(ctx)
		}
	}
}

func (f *following) again(ctx context.Context) {
	for ; ctx.Err() == nil; _ = socket.Pause(ctx, tryPause) {
		var stream jetstream.Stream
		err := within(ctx, func(ctx context.Context) (err error) {
			stream, err = f.reader.js.Stream(ctx, f.reader.stream)
			return err
		})
		if err == nil && stream.CachedInfo().Created.Equal(f.created) {
			return
		}
		if err == nil {
			f.current.Stop()
			<-f.current.Closed()
			err = within(ctx, func(ctx context.Context) error { return f.begin(ctx, 1) })
		}
		if err == nil {
			f.reader.logf("%s: the stream was made anew; it is followed from its beginning", f.reader.name)
			return
		}
		f.reader.report(fmt.Errorf("follow the stream: %w", err))
	}
}
