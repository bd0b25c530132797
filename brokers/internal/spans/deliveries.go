package spans

import (
	"strconv"
	"strings"
	"sync"
)

// Deliveries are the messages that the consumers of subscriptions have delivered. The zero value is empty. Safe for use by
// several goroutines.
type Deliveries struct {
	mu   sync.Mutex
	sets map[origin]*Set
}

// origin is a producer as a subscription of a topic sees it.
type origin struct {
	topic, subscription int
	producer            string
}

// First enters a message, and reports whether the subscription had not delivered it yet. The identity is the producer's name, a
// dash and the message's number; any other one, of another program, always comes for the first time.
func (d *Deliveries) First(topic, subscription int, identity string) bool {
	producer, text, _ := strings.Cut(identity, "-")
	number, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	key := origin{topic, subscription, producer}
	set := d.sets[key]
	if set == nil {
		if d.sets == nil {
			d.sets = map[origin]*Set{}
		}
		set = &Set{}
		d.sets[key] = set
	}
	return set.Add(number)
}
