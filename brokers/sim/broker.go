package sim

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/brokermark/brokermark/internal/driver"
)

var (
	errKilled  = errors.New("sim: the broker was killed")
	errRefused = errors.New("sim: the broker refused the message")
	errClosed  = errors.New("sim: the producer was closed before the acknowledgement came")
)

// broker is the state behind one address. All times in it are broker time (see freezes). What happens to a message is
// decided when it arrives, from its number and the model; the server only carries it out when its time comes.
type broker struct {
	address  string
	settings settings

	mu        sync.Mutex
	service   service
	delay     delay
	memory    memory
	topics    map[string]*topic
	queues    []*queue
	waiting   int64 // deliveries in all queues
	producers []*producer
	stats     Counts

	freezes freezes
	origin  int64 // now() at the first message; 0 before
	pauses  int64 // how long all ended pauses were
	paused  int64 // now() when the current pause began; 0: running

	cut    bool          // by Cut
	killed chan struct{} // closed by Kill
	users  int           // open drivers
	server *server       // runs while there are users
}

type topic struct {
	name          string
	partitions    int
	subscriptions []*subscription
	turn          int // of the partitions, for messages without a key
}

type subscription struct {
	name   string
	queues []*queue // by partition; with duplicate.after followed by those of second deliveries
}

func newBroker(address string, s settings) *broker {
	return &broker{
		address: address, settings: s, service: service{capacity: s.capacity, warming: s.warming}, delay: newDelay(s),
		memory: memory{limit: s.memory}, topics: map[string]*topic{}, killed: make(chan struct{}),
		freezes: freezes{first: int64(s.stallAt), length: int64(s.stallFor), period: int64(s.stallEvery)},
	}
}

// elapsed returns the real time since the first message, without pauses.
func (b *broker) elapsed(now int64) int64 {
	if b.paused != 0 {
		now = b.paused
	}
	return now - b.origin - b.pauses
}

// wall returns the value of now when broker time passes t.
func (b *broker) wall(t int64) int64 { return b.freezes.real(t) + b.origin + b.pauses }

// create makes the topics and subscriptions of t that don't exist yet.
func (b *broker) create(t driver.Topology, ordering driver.Ordering) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, want := range t.Topics {
		partitions := max(1, want.Partitions)
		have := b.topics[want.Name]
		if have == nil {
			have = &topic{name: want.Name, partitions: partitions}
			b.topics[want.Name] = have
		}
		if have.partitions != partitions {
			return fmt.Errorf("sim: topic %s has %d partitions, not %d", want.Name, have.partitions, partitions)
		}
		for _, name := range t.Subscriptions {
			if have.subscription(name) == nil {
				b.subscribe(have, name, ordering)
			}
		}
	}
	return nil
}

// has returns an error if a topic or a subscription of t is missing.
func (b *broker) has(t driver.Topology) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, want := range t.Topics {
		have := b.topics[want.Name]
		if have == nil {
			return fmt.Errorf("sim: there is no topic %s", want.Name)
		}
		for _, name := range t.Subscriptions {
			if have.subscription(name) == nil {
				return fmt.Errorf("sim: topic %s has no subscription %s", want.Name, name)
			}
		}
	}
	return nil
}

// remove drops the topics of t with everything in them.
func (b *broker) remove(t driver.Topology) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, gone := range t.Topics {
		if b.topics[gone.Name] == nil {
			continue
		}
		for _, s := range b.topics[gone.Name].subscriptions {
			for _, q := range s.queues {
				for ; q.len > 0; b.waiting-- {
					b.memory.release(q.pop().chunk)
				}
			}
			b.queues = slices.DeleteFunc(b.queues, func(q *queue) bool { return slices.Contains(s.queues, q) })
		}
		delete(b.topics, gone.Name)
	}
}

func (b *broker) subscribe(t *topic, name string, ordering driver.Ordering) {
	s := &subscription{name: name}
	queues := t.partitions
	if b.settings.again > 0 {
		queues *= 2
	}
	for i := range queues {
		q := &queue{partition: i % t.partitions, partitions: t.partitions}
		q.byDue = ordering == driver.Unordered && b.settings.distribution != constant
		s.queues = append(s.queues, q)
	}
	b.queues = append(b.queues, s.queues...)
	t.subscriptions = append(t.subscriptions, s)
}

func (t *topic) subscription(name string) *subscription {
	for _, s := range t.subscriptions {
		if s.name == name {
			return s
		}
	}
	return nil
}

// partition returns the partition of a key, and deals out messages without one in turn.
func (t *topic) partition(key []byte) int {
	if t.partitions == 1 {
		return 0
	}
	if len(key) == 0 {
		t.turn = (t.turn + 1) % t.partitions
		return t.turn
	}
	h := uint32(2166136261) // FNV-1a
	for _, c := range key {
		h = (h ^ uint32(c)) * 16777619
	}
	return int(h % uint32(t.partitions))
}

// backlog returns the number of messages that wait in the fullest subscription.
func (t *topic) backlog() int {
	most := 0
	for _, s := range t.subscriptions {
		n := 0
		for _, q := range s.queues {
			n += q.len
		}
		most = max(most, n)
	}
	return most
}
